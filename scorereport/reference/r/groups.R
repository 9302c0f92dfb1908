# Groups of rows: scores and AUCs in each, and tests of whether they are the same in all.

# Cochran's Q of values with their errors; with degrees of freedom of the errors, Welch's F. Statistic, degrees of
# freedom and p-value.
cochran <- function(value, error, freedom) {
  size <- length(value)
  weight <- 1 / error^2
  share <- weight / sum(weight)
  q <- sum(((value - sum(share * value)) / error)^2)
  uncertainty <- sum((1 - share)^2 / freedom)
  if (uncertainty == 0) {
    return(c(q, size - 1, stats::pchisq(q, size - 1, lower.tail = FALSE)))
  }
  ratio <- q / (size - 1) / (1 + 2 * (size - 2) / (size^2 - 1) * uncertainty)
  c(q, size - 1, stats::pf(ratio, size - 1, (size^2 - 1) / (3 * uncertainty), lower.tail = FALSE))
}

# Errors of AUCs if all groups had the common one: Newcombe's at that AUC, scaled as in an interval.
common_errors <- function(value, error, cases) {
  scale <- vapply(seq_along(value), function(k) {
    seen <- value[k] > 0 && value[k] < 1 && error[k] > 0
    if (seen) variance_ratio(error[k], value[k], cases[, k]) else 1
  }, numeric(1))
  common <- mean(value)
  for (round in 1:20) {
    variance <- scale * vapply(seq_along(value), function(k) newcombe_variance(common, cases[, k]), numeric(1))
    if (any(variance == 0)) break
    common <- sum(value / variance) / sum(1 / variance)
  }
  sqrt(variance)
}

# Whether an error is known; an AUC of 0 or 1 gets its error from the common AUC.
is_known <- function(value, error, of_areas) {
  is.finite(value) & ((!is.nan(error) & error > 0) | (of_areas & value %in% c(0, 1)))
}

compare_groups <- function(value, error, cases, of_areas, freedom) {
  known <- is_known(value, error, of_areas)
  if (sum(known) < 2) {
    return(rep(NaN, 3))
  }
  value <- value[known]
  error <- error[known]
  cases <- cases[, known, drop = FALSE]
  used <- if (of_areas) rep(Inf, length(value)) else pmax(pmin(cases[1, ], cases[2, ]) - 1, 1)
  if (of_areas) error <- common_errors(value, error, cases)
  if (!is.null(freedom)) used <- ifelse(is.finite(freedom[known]), freedom[known], 1)
  if (any(!(error > 0))) {
    return(rep(NaN, 3))
  }
  cochran(value, error, used)
}

# One group: prevalence, and for each model AUC, mean scores with errors, and components of the isotonic fit.
group_entries <- function(units, functions, level, infers) {
  found <- list(
    sample = if (infers) sample_entries(units, functions, level),
    independent = independent_cases(units),
    sizes = if (units$kind == "clusters") {
      c(sum(units$weight * units$y), sum(units$weight * (1 - units$y)))
    } else {
      class_sizes(units, by_draws = FALSE)
    }
  )
  models <- lapply(seq_len(ncol(units$p)), function(k) {
    p <- units$p[, k]
    shares <- placements(units, p)
    cep <- if (all(units$weight == 1)) recalibrate(p, units$y) else recalibrate_weighted(p, units$y, units$weight)
    parts <- lapply(functions, function(score) decompose(score, p, units$y, cep, units$weight)[[1]])
    if (!infers) {
      area <- c(placement_mean(units, shares)$value, rep(NaN, 4))
      return(c(under("auc", list(interval = area)), under("parts", parts)))
    }
    moments <- lapply(functions, function(score) score_moments(units, score, score(units$y, p), level))
    c(
      under("auc", list(interval = auc_entry(units, shares, level))),
      under("parts", parts),
      under("score", do.call(c, moments)),
      under("rate", list(misclassification = rate_entry(units, wrong(units, p), level)))
    )
  })
  list(found = found, models = models)
}

# Whether each decision by the likelier outcome is wrong.
wrong <- function(units, p) as.numeric((p > 0.5) != (units$y == 1))
