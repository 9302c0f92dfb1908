test_that("a formula gives the columns of a data frame", {
  d <- forecasts()
  named <- request(data = d, outcome = "y", forecasts = c("p", "q"))
  expect_identical(named$columns, as.list(d))
  expect_identical(named$options[c("outcome", "forecasts")], list(outcome = "y", forecasts = c("p", "q")))
  for (other in list(request(data = y ~ p + q, outcome = d), request(data = d, outcome = y ~ p + q),
                     request(data = d, formula = y ~ p + q), request(data = d, outcome = y ~ .))) {
    expect_identical(other, named)
  }
  computed <- request(data = y > 0.5 ~ I(p / 2), outcome = d)
  expect_identical(computed$columns, list(`y > 0.5` = d$y > 0.5, `I(p/2)` = I(d$p / 2)))
})

test_that("roles are names of columns or vectors", {
  d <- transform(forecasts(), sex = rep(c("f", "m"), 5))
  expect_identical(request(data = d, outcome = "y", forecasts = "p", groups = "sex")$columns$sex, d$sex)
  by_vector <- request(data = d, outcome = "y", forecasts = "p", group = d$sex, weight = 1:10)
  expect_identical(by_vector$options$groups, "groups")
  expect_identical(by_vector$columns$weight, 1:10)
  two <- request(data = d$p, outcome = d$y, groups = list(sex = d$sex, half = 1:10 > 5))
  expect_identical(two$options$groups, c("sex", "half"))
})

test_that("factors say what the event and the classes are", {
  d <- transform(forecasts(), y = factor(ifelse(y == 1, "yes", "no")))
  expect_identical(request(data = d, outcome = "y", forecasts = "p")$options$positive, "yes")
  both <- cbind(yes = d$p, no = 1 - d$p)
  expect_identical(request(data = both, outcome = d$y)$columns$model, d$p)
  y <- factor(c("low", "high", "mid"), levels = c("low", "mid", "high"), ordered = TRUE)
  p <- matrix(1:9 / 10, 3, dimnames = list(NULL, c("high", "mid", "low")))
  classes <- request(data = p, outcome = y)
  expect_identical(classes$options[c("classes", "ordered")], list(classes = c("low", "mid", "high"), ordered = TRUE))
  expect_identical(classes$columns$model_low, p[, "low"])
  frame <- data.frame(y = y, a_low = p[, 1], a_mid = p[, 2], a_high = p[, 3])
  expect_identical(request(data = frame, outcome = "y", forecasts = "a")$columns$a_low, p[, 1])
})

test_that("fitted models give outcomes, probabilities and columns", {
  d <- datasets::infert
  fit <- stats::glm(case ~ age, stats::binomial(), d)
  found <- request(data = list(age = fit), groups = "education")
  expect_equal(found$columns$age, unname(stats::fitted(fit)))
  expect_identical(found$columns$education, d$education)
  new <- request(data = list(age = fit), newdata = d[1:9, ])
  expect_identical(new$columns$case, d$case[1:9])
  expect_equal(new$columns$age, unname(stats::predict(fit, d[1:9, ], type = "response")))
})

test_that("counts of successes become weighted rows", {
  d <- data.frame(x = 1:4, won = c(1, 0, 3, 4), lost = c(2, 3, 1, 0))
  fit <- stats::glm(cbind(won, lost) ~ x, stats::binomial(), d)
  found <- request(data = list(fit = fit))
  expect_identical(sum(found$columns$trials[found$columns[[1]] == 1]), 8)
  expect_identical(sum(found$columns$trials), 14)
  expect_identical(found$options$weight_kind, "frequency")
})

test_that("rows with missing values that a fit left out are left out of all columns", {
  d <- datasets::infert
  d$age[3] <- NA
  fit <- stats::glm(case ~ age, stats::binomial(), d, na.action = stats::na.exclude)
  found <- request(data = list(age = fit), groups = "education")
  expect_identical(lengths(found$columns), c(case = 247L, age = 247L, education = 247L))
  expect_identical(found$columns$education, d$education[-3])
})

test_that("wrong arguments are refused in a sentence", {
  d <- forecasts()
  expect_error(sr_evaluate(), "`data` is missing")
  expect_error(sr_evaluate(d, "y"), "`forecasts` is missing")
  expect_error(sr_evaluate(d, "y", "pp"), "There is no column `pp`; the columns are `y`, `p`, `q`. Did you mean `p`?", fixed = TRUE)
  expect_error(sr_evaluate(d, "y", "p", "q"), "All arguments after `forecasts` are named")
  expect_error(sr_evaluate(d, "y", "p", seed = 1, seed = 2), "`seed` is given twice")
  expect_error(sr_evaluate(d$y, d$p), "The outcomes seem to come first")
  expect_error(sr_evaluate(d$p[1:3], d$y), "There must be a forecast for each of the 10 outcomes; model 3.", fixed = TRUE)
  expect_error(sr_evaluate(stats::lm(y ~ p, d)), "got lm. For other models, give probabilities")
  expect_error(sr_evaluate(stats::glm(y ~ p, data = d)), "must be of the family binomial; got gaussian")
  expect_error(sr_evaluate(list(d$p), d$y), "A list of models needs a name for each")
  expect_error(sr_evaluate(y ~ p:q, d), "forecasts joined by `+`", fixed = TRUE)
  expect_error(sr_evaluate(y ~ absent, d), "`absent` of the formula cannot be evaluated")
  expect_error(sr_evaluate(y ~ sum, d), "`sum` of the formula is a function, not values.", fixed = TRUE)
  expect_error(sr_evaluate(d, "y", "p", groups = 1:3), "have a value for each of the 10 rows; got 3 values")
  expect_error(sr_evaluate(d, "y", "p", output = "x.pdf"), "use sr_report(..., file = )", fixed = TRUE)
  expect_error(sr_report(d, "y", "p", file = 1), "`file` must be names of files")
})

test_that("a name is suggested only if it shares letters with the given one", {
  expect_identical(scorereport:::suggest_name("bost", c("logit", "boost")), " Did you mean `boost`?")
  expect_identical(scorereport:::suggest_name("b", c("y", "a")), "")
  expect_identical(scorereport:::suggest_name("B", c("b", "a")), " Did you mean `b`?")
})
