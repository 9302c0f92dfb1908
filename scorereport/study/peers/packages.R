# Numbers of R packages on one case: y outcomes, a and b forecasts of two models, weights and clusters of rows,
# and two vectors of grades. Sourced after shared.R, in one process for all packages.

# glm goes on until its coefficients stay the same.
exact <- list(epsilon = 1e-15, maxit = 100)

# survey evaluates calls of these functions where it was called, which sees base R only.
model.frame <- stats::model.frame
na.pass <- stats::na.pass
glm <- stats::glm

line_of <- function(y, a) stats::glm(y ~ stats::qlogis(a), family = stats::binomial(), control = exact)

of_pROC <- function(y, a, b, ...) {
  first <- pROC::roc(y, a, levels = c(0, 1), direction = "<", quiet = TRUE)
  second <- pROC::roc(y, b, levels = c(0, 1), direction = "<", quiet = TRUE)
  test <- pROC::roc.test(first, second, paired = TRUE, method = "delong")
  list(
    auc = c(pROC::auc(first), pROC::auc(second)),
    variances = c(pROC::var(first), pROC::var(second), pROC::cov(first, second)),
    interval = pROC::ci.auc(first, method = "delong")[c(1, 3)],
    statistic = test$statistic,
    p_value = test$p.value
  )
}

of_rms <- function(y, a, ...) {
  found <- rms::val.prob(a, y, pl = FALSE)
  list(
    brier = found["Brier"],
    rank = found[c("C (ROC)", "Dxy")],
    explained = found[c("R2", "D", "D:Chi-sq", "Q")],
    unreliability = found[c("U", "U:Chi-sq", "U:p")],
    spiegelhalter = found[c("S:z", "S:p")]
  )
}

of_survey <- function(y, a, weight, cluster, ...) {
  data <- data.frame(y = y, x = stats::qlogis(a), score = (a - y)^2, weight = weight, cluster = cluster)
  weighted <- survey::svydesign(ids = ~1, weights = ~weight, data = data)
  clustered <- survey::svydesign(ids = ~cluster, weights = ~1, data = data)
  mean_of <- function(design) {
    found <- survey::svymean(~score, design)
    c(stats::coef(found), survey::SE(found))
  }
  # the values, not their names, which it would look for elsewhere
  line <- do.call(survey::svyglm, list(y ~ x, clustered, family = stats::quasibinomial(), control = exact))
  list(
    weighted_mean = mean_of(weighted),
    clustered_mean = mean_of(clustered),
    line = stats::coef(line),
    line_errors = sqrt(diag(stats::vcov(line)))
  )
}

of_sandwich <- function(y, a, b, cluster, lags, ...) {
  difference <- stats::lm((a - y)^2 - (b - y)^2 ~ 1)
  by_time <- sandwich::NeweyWest(difference, lag = lags, prewhite = FALSE, adjust = TRUE)
  by_cluster <- sandwich::vcovCL(line_of(y, a), cluster = cluster, type = "HC1")
  list(newey_west = sqrt(by_time[1, 1]), line_errors = sqrt(diag(by_cluster)))
}

of_clubSandwich <- function(y, a, cluster, ...) {
  score <- (a - y)^2
  found <- clubSandwich::coef_test(stats::lm(score ~ 1), vcov = "CR2", cluster = cluster)
  list(mean = c(found$beta, found$SE), freedom = found$df)
}

of_psych <- function(grade, predicted, grades, ...) {
  table <- table(factor(grade, seq_len(grades)), factor(predicted, seq_len(grades)))
  list(kappa = psych::cohen.kappa(unclass(table))$weighted.kappa)
}

packages <- list(
  pROC = of_pROC, rms = of_rms, survey = of_survey, sandwich = of_sandwich, clubSandwich = of_clubSandwich,
  psych = of_psych
)

# The version of each package, or why there is none.
hello <- function() {
  described <- lapply(names(packages), function(name) {
    tryCatch(
      {
        suppressPackageStartupMessages(loadNamespace(name))
        as.character(utils::packageVersion(name))
      },
      error = function(e) paste("absent:", conditionMessage(e))
    )
  })
  c(stats::setNames(described, names(packages)), R = paste(R.version$major, R.version$minor, sep = "."))
}

compute <- function(package, ...) {
  lapply(packages[[package]](...), as.numeric)
}

operations <- list(hello = hello, compute = compute)
