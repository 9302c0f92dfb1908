library(testthat)
library(scorereport)

test_check("scorereport")
