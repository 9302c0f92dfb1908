# Rscript diagram_work.R ROWS OUTCOMES FORECASTS: the work of diagram_work.py, with reliabilitydiag.
arguments <- commandArgs(TRUE)
n <- as.numeric(arguments[1])
y <- readBin(arguments[2], "double", n)
x <- as.data.frame(matrix(readBin(arguments[3], "double", 3 * n), nrow = n))
suppressMessages(library(reliabilitydiag))
target <- tempfile(fileext = ".pdf")

draw <- function(x, y) {
  fits <- reliabilitydiag(x, y = y, xtype = "continuous", region.method = "resampling", n.boot = 100)
  grDevices::pdf(target)
  suppressWarnings(print(ggplot2::autoplot(fits)))
  grDevices::dev.off()
  summary(fits, score = "brier")
}
invisible(draw(x[1:1000, ], y[1:1000]))
taken <- c()
while (length(taken) < 3 && sum(taken) < 5) {
  taken <- c(taken, system.time(found <- draw(x, y))[["elapsed"]])
}
parts <- as.numeric(t(as.matrix(found[c("miscalibration", "discrimination", "uncertainty")])))
status <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
cat(sprintf(
  '{"seconds": %.6g, "held": %.0f, "parts": [%s], "version": "%s"}\n',
  min(taken), 1024 * as.numeric(gsub("[^0-9]", "", status)),
  paste(sprintf("%.17g", parts), collapse = ", "), packageVersion("reliabilitydiag")
))
