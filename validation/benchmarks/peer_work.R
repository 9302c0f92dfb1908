# Rscript peer_work.R WORK ROWS OUTCOMES FORECASTS: the work of peer_work.py, with reliabilitydiag.
arguments <- commandArgs(TRUE)
n <- as.numeric(arguments[2])
y <- readBin(arguments[3], "double", n)
x <- readBin(arguments[4], "double", n)
suppressMessages(library(reliabilitydiag))

decompose <- function(x, y) {
  summary(reliabilitydiag(x = x, y = y, xtype = "continuous", region.level = NA), score = "brier")
}
band <- function(x, y) {
  summary(reliabilitydiag(x = x, y = y, xtype = "continuous", region.method = "resampling", n.boot = 100),
          score = "brier")
}
work <- list(decompose = decompose, band = band)[[arguments[1]]]
invisible(work(x[1:1000], y[1:1000]))
taken <- c()
while (length(taken) < 3 && sum(taken) < 5) {
  taken <- c(taken, system.time(found <- work(x, y))[["elapsed"]])
}
status <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
cat(sprintf(
  '{"seconds": %.6g, "held": %.0f, "parts": [%.17g, %.17g, %.17g], "version": "%s"}\n',
  min(taken), 1024 * as.numeric(gsub("[^0-9]", "", status)), found$miscalibration, found$discrimination,
  found$uncertainty, packageVersion("reliabilitydiag")
))
