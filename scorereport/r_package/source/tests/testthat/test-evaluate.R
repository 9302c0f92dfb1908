test_that("numbers are those of the formulas", {
  skip_without_command()
  d <- forecasts()
  evaluation <- sr_evaluate(d, "y", c("p", "q"), resamples = 0)
  expect_s3_class(evaluation, "sr_evaluation")
  expect_identical(evaluation$scores$model, c("p", "q"))
  expect_equal(evaluation$scores$brier, c(mean((d$y - d$p)^2), mean((d$y - d$q)^2)), tolerance = 1e-14)
  parts <- evaluation$decompositions
  expect_equal(parts$score, parts$miscalibration - parts$discrimination + parts$uncertainty, tolerance = 1e-12)
  expect_true(all(vapply(evaluation, is.data.frame, NA)))
})

test_that("an infinite score is a number", {
  skip_without_command()
  scores <- sr_evaluate(c(0, 0.5, 1), outcome = c(1, 0, 1), resamples = 0)$scores
  expect_identical(scores$log_loss, Inf)
})

test_that("all ways of giving the same rows give the same numbers", {
  skip_without_command()
  fit <- stats::glm(case ~ spontaneous, stats::binomial(), datasets::infert)
  d <- transform(datasets::infert, p = stats::fitted(fit))
  scores <- function(...) unlist(sr_evaluate(..., resamples = 0)$scores[-1])
  expected <- scores(d, "case", "p")
  expect_identical(scores(case ~ p, d), expected)
  expect_identical(scores(fit), expected)
  expect_identical(scores(fit, newdata = d), expected)
  expect_identical(scores(d$p, outcome = factor(d$case, 0:1, c("no", "yes"))), expected)
  expect_identical(scores(cbind(m = d$p), outcome = d$case == 1), expected)
})

test_that("names may be in any language and contain anything", {
  skip_without_command()
  d <- forecasts()
  names(d) <- c("r\u00e9sultat, final", "--mod\u00e8le \"a\"", "p=q 'b' $x")
  evaluation <- sr_evaluate(d, names(d)[1], names(d)[2:3], resamples = 0)
  expect_identical(enc2utf8(evaluation$scores$model), enc2utf8(names(d)[2:3]))
  expect_identical(enc2utf8(attr(evaluation, "outcome")), enc2utf8(names(d)[1]))
})

test_that("classes may contain commas", {
  skip_without_command()
  y <- cut(1:6, c(0, 2, 4, 6), ordered_result = TRUE)
  p <- matrix(1 / 3, 6, 3, dimnames = list(NULL, levels(y)))
  evaluation <- sr_evaluate(p, outcome = y, resamples = 0)
  expect_identical(attr(evaluation, "classes"), levels(y))
  expect_identical(attr(evaluation, "kind"), "ordinal")
})

test_that("errors of the command line are conditions with its sentence and code", {
  skip_without_command()
  d <- forecasts()
  expect_error(sr_evaluate(d, "y", "p", sed = 1), "There is no argument `sed`. Did you mean one of ", fixed = TRUE)
  wrong <- tryCatch(sr_evaluate(transform(d, p = p * 2), "y", "p"), error = identity)
  expect_s3_class(wrong, "scorereport_refused")
  expect_identical(wrong$exit_code, 4L)
  expect_match(conditionMessage(wrong), "`p` must lie in [0, 1]; got ", fixed = TRUE)
  d$p[3] <- NA
  expect_error(sr_evaluate(d, "y", "p"), "`p` must not be missing")
  expect_identical(attr(sr_evaluate(d, "y", "p", missing = "drop", resamples = 0), "rows"), 9L)
})

test_that("breached limits are results", {
  skip_without_command()
  d <- forecasts()
  evaluation <- sr_evaluate(d, "y", "q", resamples = 50, config = list(limits = list(brier = 0.01)))
  expect_identical(attr(evaluation, "verdict"), "fail")
  expect_identical(evaluation$verdicts$verdict, "fail")
})

test_that("evaluations are printed, summarized and turned into data frames", {
  skip_without_command()
  evaluation <- sr_evaluate(forecasts(), "y", c("p", "q"), resamples = 50)
  expect_output(print(evaluation), "Evaluation of 2 models on 10 rows, 5 events of y (50.0 %)", fixed = TRUE)
  expect_output(print(summary(evaluation)), "brier +0\\.1590 \\[")
  expect_identical(as.data.frame(evaluation)$model, c("p", "q"))
  expect_identical(nrow(as.data.frame(evaluation, table = "scores")), 2L)
  expect_error(as.data.frame(evaluation, table = "score"), "Did you mean `scores`?", fixed = TRUE)
  tables <- sr_tables(evaluation)
  expect_identical(tables$table, names(evaluation))
  printed <- capture.output(print(tables))
  expect_match(printed[1], "^table +rows contents$")
  expect_true(all(nchar(printed) <= getOption("width")))
  expect_output(print(tables["table"]), "summary")
})

test_that("all diagrams are drawn and parameters restored", {
  skip_without_command()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  before <- graphics::par(c("mfrow", "mar"))
  binary <- sr_evaluate(forecasts(), "y", c("p", "q"), resamples = 50)
  for (kind in c("reliability", "roc", "murphy", "decision", "components", "forecasts")) {
    expect_identical(plot(binary, kind), binary)
  }
  expect_identical(plot(binary, "rel", models = 2, band = "confidence", coverage = "simultaneous"), binary)
  y <- factor(rep(c("a", "b", "c"), 4))
  classes <- sr_evaluate(matrix(1 / 3, 12, 3), outcome = y, resamples = 20)
  for (kind in c("reliability", "components", "forecasts", "confusion", "retention")) {
    expect_identical(plot(classes, kind), classes)
  }
  expect_identical(graphics::par(c("mfrow", "mar")), before)
  expect_error(plot(binary, "rok"), "Did you mean `roc`?", fixed = TRUE)
  expect_error(plot(classes, "roc"), "needs forecasts of an event")
  expect_error(plot(binary, models = "pp"), "There is no model `pp`")
})

test_that("reports are written from rows and from evaluations, where they are named", {
  skip_without_command()
  folder <- tempfile("r\u00e9ports ")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  evaluation <- sr_evaluate(forecasts(), "y", "p", resamples = 50)
  files <- file.path(folder, c("results.json", "card.md"))
  limits <- list(limits = list(brier = 0.9))
  expect_message(sr_report(evaluation, file = files, config = limits), "Verdict on the limits: pass")
  expect_true(all(file.exists(files)))
  again <- sr_report(forecasts(), "y", "p", resamples = 50, file = files[1], quiet = TRUE)
  expect_true(file.exists(again))
  expect_null(attr(again, "verdict"))
  expect_error(sr_report(evaluation, file = file.path(folder, "x.docx")), "must end in .pdf")
  expect_error(sr_report(evaluation, file = files[2], certify = TRUE), "reported as it is")
})

test_that("certificates are data frames", {
  skip_without_command()
  certificate <- sr_certify(forecasts(), "y", "p", resamples = 0)
  expect_s3_class(certificate, "sr_certificate")
  expect_true(nzchar(attr(certificate, "sentence")))
  found <- as.data.frame(certificate)
  expect_output(print(certificate), paste("as.data.frame() has all", nrow(found), "comparisons"), fixed = TRUE)
  found$verdict[2:13] <- "differs"
  found$quantity[2] <- "a name"
  broken <- structure(found, class = c("sr_certificate", "data.frame"), sentence = "Failed.")
  expect_output(print(broken), "^Failed.\n\n- differs: p, a name")
  found[2:13, c("quantity", "reason")] <- list("another name", "")
  found$subject[3] <- "q"
  alike <- structure(found, class = c("sr_certificate", "data.frame"), sentence = "Failed.")
  expect_identical(grep("- differs", capture.output(print(alike)), value = TRUE), "- differs: p, q, another name.")
  found$quantity[2:13] <- paste("name", 2:13)
  many <- structure(found, class = c("sr_certificate", "data.frame"), sentence = "Failed.")
  expect_output(print(many, most = 3), "more groups of comparisons that do not agree", fixed = TRUE)
  expect_error(sr_certify(sr_evaluate(forecasts(), "y", "p", resamples = 0)), "This evaluation has no certificate")
})

test_that("nothing is left in the temporary folder", {
  skip_without_command()
  before <- list.files(tempdir())
  sr_evaluate(forecasts(), "y", "p", resamples = 0)
  try(sr_evaluate(forecasts(), "y", "p", resamples = -1), silent = TRUE)
  expect_identical(list.files(tempdir()), before)
})
