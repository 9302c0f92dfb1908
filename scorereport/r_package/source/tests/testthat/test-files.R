test_that("columns are written without loss", {
  columns <- list(
    number = c(pi, 1 / 3, NA, NaN, Inf, -Inf, .Machine$double.xmin),
    whole = c(1:5, NA, .Machine$integer.max),
    truth = c(TRUE, FALSE, NA, TRUE, TRUE, FALSE, NA),
    day = as.Date(c("2026-11-19", NA, "1969-12-31", "2000-02-29", "2026-01-01", "1900-01-01", "2100-12-31")),
    time = as.POSIXct(c(0, NA, 1e9 + 0.25, -1, 1, 2, 3), origin = "1970-01-01", tz = "Europe/Lisbon"),
    ordered = factor(c("b", NA, "a", "b", "a", "c", "c"), levels = c("c", "b", "a"), ordered = TRUE)
  )
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  scorereport:::write_data(columns, file)
  found <- readRDS(file)
  for (name in names(columns)) expect_identical(found[[name]], columns[[name]])
})

test_that("texts become factors with the same texts", {
  texts <- c("caf\u00e9", NA, "", "a, b", "caf\u00e9", "\U1F600")
  plain <- scorereport:::plain_column(texts, "x")
  expect_identical(as.character(plain), texts)
  expect_identical(as.character(scorereport:::plain_column(addNA(factor(texts)), "x")), texts)
})

test_that("times of other classes and attributes of numbers are made plain", {
  time <- as.POSIXlt("2026-11-19 12:00:00", tz = "UTC")
  expect_identical(scorereport:::plain_column(time, "x"), as.POSIXct(time))
  labelled <- structure(c(1, 2), label = "Age", class = "labelled")
  expect_identical(scorereport:::plain_column(labelled, "x"), c(1, 2))
  expect_identical(scorereport:::plain_column(array(1:3, 3), "x"), 1:3)
})

test_that("whole numbers of 64 bits are decoded without their package", {
  bits <- c("0000000000000000", "0100000000000000", "ffffffffffffffff", "0000000001000000", "0000008000000000", "0000000000000080")
  bytes <- as.raw(strtoi(unlist(lapply(bits, function(b) substring(b, seq(1, 15, 2), seq(2, 16, 2)))), 16L))
  x <- structure(readBin(bytes, "double", 6, endian = "little"), class = "integer64")
  expect_identical(scorereport:::plain_column(x, "x"), c(0, 1, -1, 2^32, 2^31, NA))
})

test_that("columns that cannot be read are refused by name", {
  for (wrong in list(list(1, 2), matrix(1, 2, 2), 1i, as.raw(1), NULL)) {
    expect_error(scorereport:::plain_column(wrong, "odd"), "`odd` must be a vector of numbers", class = "scorereport_error")
  }
})

test_that("numbers come back with all digits, infinities and missing values", {
  text <- "[0.1,0.30000000000000004,\"NaN\",\"Infinity\",\"-Infinity\",null,5e-324]"
  values <- jsonlite::fromJSON(text, simplifyVector = FALSE)
  expect_identical(scorereport:::read_column(values, "number"), c(0.1, 0.1 + 0.2, NaN, Inf, -Inf, NA, 5e-324))
  expect_identical(scorereport:::read_column(list(1L, NULL, 3L), "integer"), c(1L, NA, 3L))
  expect_identical(scorereport:::read_column(list(1, 1e12), "integer"), c(1, 1e12))
  expect_identical(scorereport:::read_column(list(TRUE, NULL), "logical"), c(TRUE, NA))
  expect_identical(scorereport:::read_column(list("NaN", NULL), "text"), c("NaN", NA))
  expect_identical(scorereport:::read_column(list(), "number"), numeric())
})

test_that("numbers of options keep all digits", {
  for (x in c(0.1, 1 / 3, 0.1 + 0.2, 1e-300, 2021, 5e-324)) {
    expect_identical(as.numeric(scorereport:::number_text(x)), x)
  }
  expect_identical(scorereport:::number_text(0.1), "0.1")
})

test_that("lists are configurations", {
  config <- list(limits = list(brier = list(warn = 0.19, fail = 1)), report = list(title = "a \"b\"\n\u00e9"),
                 day = as.Date("2026-11-19"), names = c("a", "b"), on = TRUE, high = Inf, none = list())
  expect_identical(scorereport:::toml_table(config), paste(
    "\"limits\" = { \"brier\" = { \"warn\" = 0.19, \"fail\" = 1 } }", "\"report\" = { \"title\" = \"a \\\"b\\\"\\n\u00e9\" }",
    "\"day\" = 2026-11-19", "\"names\" = [\"a\", \"b\"]", "\"on\" = true", "\"high\" = inf", "\"none\" = {  }", sep = "\n"))
  expect_error(scorereport:::toml_value(NA), "`config` must not hold missing values.")
  expect_error(scorereport:::toml_value(sum), "got function")
})
