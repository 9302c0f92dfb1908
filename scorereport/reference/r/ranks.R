# The AUC from ranks, with DeLong's error and Newcombe's shape of interval.

# The share of the other class that each case is correctly ordered against; ties count half. NaN if a class is
# absent.
placements <- function(units, p) {
  y <- units$y
  if (all(y == y[1])) {
    return(rep(NaN, length(y)))
  }
  if (all(units$weight == 1)) {
    above <- rank(p)
    shares <- numeric(length(p))
    shares[y == 1] <- (above[y == 1] - rank(p[y == 1])) / sum(y == 0)
    shares[y == 0] <- 1 - (above[y == 0] - rank(p[y == 0])) / sum(y == 1)
    return(shares)
  }
  ifelse(y == 1, weight_below(p, units$weight * (1 - y)), 1 - weight_below(p, units$weight * y))
}

# The share of the weight below each forecast, with half of what lies at it.
weight_below <- function(p, weight) {
  order <- order(p)
  starts <- c(TRUE, diff(p[order]) > 0)
  value <- cumsum(starts)
  at <- as.numeric(rowsum(weight[order], value))
  upto <- cumsum(at)
  shares <- numeric(length(p))
  shares[order] <- ((upto - at / 2) / upto[length(upto)])[value]
  shares
}

# The mean of placements, or of their differences: with its error and degrees of freedom.
placement_mean <- function(units, shares) {
  y <- units$y
  if (all(y == y[1])) {
    return(list(value = NaN, error = NaN, freedom = Inf))
  }
  events <- take_rows(units, y == 1)
  others <- take_rows(units, y == 0)
  value <- weighted_mean(shares[y == 1], events)
  if (units$kind == "clusters") {
    return(c(list(value = value), placement_error_of_clusters(units, shares)))
  }
  variances <- c(mean_error(shares[y == 1], events), mean_error(shares[y == 0], others))^2
  error <- sqrt(sum(variances))
  if (is.nan(error) || error == 0) {
    return(list(value = value, error = error, freedom = Inf))
  }
  freedom <- c(freedom_of_class(events), freedom_of_class(others))
  spread <- sum(variances^2 / freedom)
  if (is.nan(spread) || spread <= 0) {
    return(list(value = value, error = NaN, freedom = Inf))
  }
  list(value = value, error = error, freedom = error^4 / spread)
}

freedom_of_class <- function(units) {
  if (units$counted) units$total - 1 else freedom_of_mean(units$weight, case_weight(units))
}

# Both class means as a fit of two columns over clusters. No answer if a class is in fewer than two clusters.
placement_error_of_clusters <- function(units, shares) {
  y <- units$y
  clusters <- max(units$cluster)
  held <- c(length(unique(units$cluster[y == 1])), length(unique(units$cluster[y == 0])))
  if (clusters < 2 || min(held) < 2) {
    return(list(error = NaN, freedom = Inf))
  }
  weight <- units$weight
  mean_of <- function(rows) sum((weight * shares)[rows]) / sum(weight[rows])
  away <- weight * (shares - ifelse(y == 1, mean_of(y == 1), mean_of(y == 0)))
  sums <- unname(rowsum(cbind(weight * y, 0, weight * (1 - y), away * y, away * (1 - y)), units$cluster))
  reduced <- reduced_covariance(
    sums[, 1:3, drop = FALSE], sums[, 4:5, drop = FALSE], c(1, 1), case_weight(units)
  )
  list(error = sqrt(sum(reduced$covariance)), freedom = reduced$freedom(c(1, 1)))
}

newcombe_variance <- function(auc, cases) {
  auc * (1 - auc) * (1 + (sum(cases) / 2 - 1) * ((1 - auc) / (2 - auc) + auc / (1 + auc))) / prod(cases)
}

# How DeLong's variance relates to Newcombe's; a smaller one counts only as far as wrongly ordered cases
# support it.
variance_ratio <- function(error, auc, cases) {
  ratio <- error^2 / newcombe_variance(auc, cases)
  wrong <- 4 * auc * (1 - auc) * min(cases)
  if (ratio >= 1) ratio else 1 - (1 - ratio) * wrong / (wrong + 5)
}

# The effective number of cases, or of draws, of each class.
class_sizes <- function(units, by_draws) {
  vapply(c(1, 0), function(outcome) {
    weight <- units$weight[units$y == outcome]
    if (by_draws && units$kind == "clusters" && length(weight) > 0) {
      weight <- sum_by(weight, units$cluster[units$y == outcome])
      return(sum(weight)^2 / sum(weight^2))
    }
    if (units$counted || length(weight) == 0) sum(weight) else sum(weight)^2 / sum(weight^2)
  }, numeric(1))
}

# The numbers of independent cases, of events and of non-events.
independent_cases <- function(units) {
  all <- units
  all$y <- rep(1, length(units$y))
  c(class_sizes(all, by_draws = TRUE)[1], class_sizes(units, by_draws = TRUE))
}

# Value, error and limits of the AUC: all areas within reach of the value by their own error.
auc_entry <- function(units, shares, level) {
  found <- placement_mean(units, shares)
  value <- found$value
  if (is.nan(value)) {
    return(c(rep(NaN, 4), Inf))
  }
  seen <- value > 0 && value < 1 && !is.nan(found$error)
  limits <- if (seen && found$error == 0) {
    c(value, value)
  } else {
    cases <- class_sizes(units, by_draws = !seen)
    scale <- if (seen) variance_ratio(found$error, value, cases) else 1
    reach <- quantile_of(level, found$freedom) * sqrt(scale)
    c(lower_area(value, cases, reach), 1 - lower_area(1 - value, cases, reach))
  }
  c(value, found$error, min(limits[1], value), max(limits[2], value), found$freedom)
}

lower_area <- function(value, cases, reach) {
  if (value == 0) {
    return(0)
  }
  excess <- function(auc) value - auc - reach * sqrt(newcombe_variance(auc, cases))
  upper <- min(value, 1 - .Machine$double.neg.eps)
  if (excess(upper) >= 0) {
    return(upper)
  }
  stats::uniroot(excess, c(0, upper), tol = 1e-16, maxiter = 10000)$root
}

# ---- Differences of two models ----

# Both means, their difference, its error, limits, statistic and p-value.
paired_entry <- function(means, value, error, freedom, level, largest) {
  if (isTRUE(largest == 0) || isTRUE(error <= 1e-14 * largest)) error <- 0
  if (is.nan(error) || error == 0) {
    limit <- if (!is.nan(value) && value == 0 && !is.nan(error)) 0 else NaN
    return(c(means, value, error, limit, limit, NaN, NaN))
  }
  reach <- quantile_of(level, freedom) * error
  c(means, value, error, value - reach, value + reach, value / error, two_sided(value / error, freedom))
}

score_difference <- function(units, first, second, level) {
  means <- c(weighted_mean(first, units), weighted_mean(second, units))
  if (!all(is.finite(means))) {
    return(c(means, means[1] - means[2], rep(NaN, 5)))
  }
  away <- first - second
  if (!is.null(units$time)) {
    error <- error_in_time(away, units)
    freedom <- freedom_in_time(units)
  } else {
    error <- mean_error(away, units)
    freedom <- if (units$kind == "clusters") freedom_of_clusters(units) else max(number_of_draws(units) - 1, 1)
    if (is.nan(freedom)) freedom <- 1
  }
  paired_entry(means, weighted_mean(away, units), error, freedom, level, max(abs(away)))
}

area_difference <- function(units, first, second, level) {
  away <- first - second
  found <- placement_mean(units, away)
  if (!is.null(units$time)) {
    found$error <- if (is.nan(found$value)) NaN else error_in_time(area_influence(units, first, second), units)
    found$freedom <- freedom_in_time(units)
  }
  means <- c(mean_of_events(units, first), mean_of_events(units, second))
  entry <- paired_entry(means, found$value, found$error, found$freedom, level, max(abs(away)))
  entry[5:6] <- pmax(-1, pmin(1, entry[5:6]))
  entry
}

mean_of_events <- function(units, shares) {
  sum((units$weight * shares)[units$y == 1]) / sum(units$weight[units$y == 1])
}

# The influence of each case on the difference of two areas: deviations whose mean is 0.
area_influence <- function(units, first, second) {
  away <- first - second
  found <- numeric(length(away))
  for (outcome in c(1, 0)) {
    rows <- units$y == outcome
    of_class <- sum(units$weight[rows])
    found[rows] <- (away[rows] - sum((units$weight * away)[rows]) / of_class) * units$total / of_class
  }
  found
}
