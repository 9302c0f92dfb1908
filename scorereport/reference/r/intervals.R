# Intervals of rates, mean scores and skills.

wilson <- function(rate, n, level) {
  n <- rep_len(n, length(rate))
  square <- stats::qnorm((1 + level) / 2)^2
  middle <- (n * rate + square / 2) / (n + square)
  reach <- sqrt(square * (n * rate * (1 - rate) + square / 4)) / (n + square)
  lower <- ifelse(rate == 0, 0, pmax(middle - reach, 0))
  upper <- ifelse(rate == 1, 1, pmin(middle + reach, 1))
  list(lower = ifelse(n > 0, lower, NaN), upper = ifelse(n > 0, upper, NaN))
}

on_log_odds <- function(rate, error, quantile) {
  reach <- quantile * error / (rate * (1 - rate))
  list(lower = stats::plogis(stats::qlogis(rate) - reach), upper = stats::plogis(stats::qlogis(rate) + reach))
}

# Clopper and Pearson's exact interval of a share of cases; their number need not be whole.
clopper_pearson <- function(rate, n, level) {
  events <- rate * n
  tail <- (1 - level) / 2
  c(
    if (rate > 0) stats::qbeta(tail, events, n - events + 1) else 0,
    if (rate < 1) stats::qbeta(1 - tail, events + 1, n - events) else 1
  )
}

# A rate of 0 or 1 per row: value, error and limits.
rate_entry <- function(units, happened, level) {
  rate <- weighted_mean(happened, units)
  error <- mean_error(happened, units)
  if (units$kind == "rows") {
    limits <- wilson(rate, units$total, level)
  } else if (rate == 0 || rate == 1) {
    limits <- wilson(rate, effective_draws(units), level)
  } else {
    limits <- on_log_odds(rate, error, quantile_of(level, freedom_of_clusters(units)))
  }
  c(rate, error, limits$lower, limits$upper)
}

# The mean score of a constant forecast, or of the perfect one, at each share of events. An outcome that never
# occurs does not count.
mean_at_share <- function(score, share, forecast = NULL) {
  of <- function(outcome) score(rep(outcome, length(share)), if (is.null(forecast)) rep(outcome, length(share)) else forecast)
  ifelse(share == 0, 0, share * of(1)) + ifelse(share == 1, 0, (1 - share) * of(0))
}

# The uncertainty of a score, a function of the share of events: value, error and limits from those of the share.
uncertainty_entry <- function(score, share) {
  value <- mean_at_share(score, share[1], share[1])
  error <- if (share[2] == 0) 0 else abs(diff(score(c(1, 0), rep(share[1], 2)))) * share[2]
  if (anyNA(share[3:4])) {
    return(c(value, error, NaN, NaN))
  }
  shares <- seq(share[3], share[4], length.out = 1001)
  c(value, error, range(mean_at_share(score, shares, shares)))
}

# ---- The distribution of resamples of a mean score and of its skill, from moments ----

# Error, limits of the BCa and of the percentile interval, and the kurtosis, from sums of powers of the influence
# of rows; `bias` and `bend` are those of the second-order terms of a function of means.
from_influence <- function(value, influence, units, level, bias = 0, bend = 0) {
  n <- number_of_draws(units)
  times <- if (units$kind == "rows") units$weight else 1
  powers <- vapply(2:4, function(k) sum(times * influence^k), numeric(1))
  spread <- sqrt(powers[1]) / n
  if (is.na(spread) || !(spread > 1e-14 * abs(value))) {
    return(c(spread, NaN, NaN, NaN, NaN, NaN))
  }
  acceleration <- powers[2] / (6 * powers[1]^1.5)
  skewness <- 6 * acceleration + 6 * bend / spread^3
  kurtosis <- powers[3] / powers[1]^2 - 3 / n
  shift <- bias / spread
  z <- stats::qnorm(c((1 - level) / 2, (1 + level) / 2))
  ends <- function(z) {
    rise <- kurtosis / 24 * (z^3 - 3 * z) - skewness^2 / 36 * (2 * z^3 - 5 * z)
    value + spread * (shift + z + skewness / 6 * (z^2 - 1) + rise)
  }
  middle <- skewness / 6 - shift
  limits <- c(ends(middle + (middle + z) / (1 - acceleration * (middle + z))), ends(z))
  # a mean of weighted rows or clusters is a quotient, so that resamples may have another error
  c(spread, limits, if (units$kind == "rows") kurtosis else NaN)
}

# A mean score and its skill: each its value, then the numbers of `from_influence`. With clusters or weights the
# total weight of a resample varies too.
score_moments <- function(units, score, values, level) {
  mean <- weighted_mean(values, units)
  share <- weighted_mean(units$y, units)
  gain <- mean_at_share(score, share, share) - mean_at_share(score, share)
  skill <- if (isTRUE(gain != 0)) (mean_at_share(score, share, share) - mean) / gain else NaN
  nothing <- rep(NaN, 6)
  if (!is.finite(mean) || number_of_draws(units) < 2) {
    return(list(score = c(mean, nothing), skill = c(skill, nothing)))
  }
  away <- moved_by(units, values - mean)
  outcome <- moved_by(units, units$y - share)
  weight <- if (units$kind == "rows") 0 else moved_by(units, rep(1, length(units$y))) - 1
  times <- if (units$kind == "rows") units$weight else 1
  n <- number_of_draws(units)
  product <- function(one, other) sum(times * one * other) / n^2
  with_weight <- product(away, weight)
  of_score <- from_influence(
    mean, away, units, level,
    bias = -with_weight, bend = -with_weight * product(away, away)
  )
  if (units$kind == "clusters") of_score[1] <- mean_error(values, units)
  slopes <- skill_derivatives(score, mean, share, mean_error(units$y, units))
  if (is.null(slopes)) {
    return(list(score = c(mean, of_score), skill = c(skill, nothing)))
  }
  influence <- slopes$by_score * away + slopes$by_outcome * outcome
  skill_with_weight <- product(influence, weight)
  with_outcome <- product(influence, outcome)
  of_skill <- from_influence(
    skill, influence, units, level,
    bias = slopes$second_order(product(outcome, outcome), product(outcome, away)) - skill_with_weight,
    bend = slopes$second_order(with_outcome^2, with_outcome * product(influence, away)) -
      skill_with_weight * product(influence, influence)
  )
  if (units$kind == "clusters") {
    of_skill[1] <- mean_error(skill_influence(score, values, units$y, share, skill), units)
  }
  list(score = c(mean, of_score), skill = c(skill, of_skill))
}

# The influence of cases on a skill by its derivatives.
skill_influence <- function(score, values, y, share, skill) {
  outcomes <- c(0, 1)
  constant <- score(outcomes, rep(share, 2))
  of <- constant - skill * (constant - score(outcomes, outcomes))
  (of[y + 1] - values) / (mean_at_share(score, share, share) - mean_at_share(score, share))
}

# Weighted sums of each draw, over the mean weight of a draw.
moved_by <- function(units, values) {
  switch(units$kind,
    rows = values,
    weights = units$weight * values * length(values) / units$total,
    clusters = sum_by(units$weight * values, units$cluster) * max(units$cluster) / units$total
  )
}

# The skill as a function of mean score and share of events; derivatives by the share are differences over one
# standard error. Nothing where the skill is not defined within three of them.
skill_derivatives <- function(score, mean, share, step) {
  shares <- share + step * (-3:3)
  if (is.na(step) || step == 0 || shares[1] <= 0 || shares[7] >= 1) {
    return(NULL)
  }
  reference <- mean_at_share(score, shares, shares)
  gain <- reference - mean_at_share(score, shares)
  if (!all(is.finite(gain)) || any(gain == 0)) {
    return(NULL)
  }
  skills <- (reference - mean) / gain
  slopes <- -1 / gain
  rise <- function(values) (values[5] - values[3]) / (2 * step)
  list(
    by_score = slopes[4], by_outcome = rise(skills),
    second_order = function(outcome, both) {
      rise(slopes) * both + (skills[5] - 2 * skills[4] + skills[3]) / step^2 / 2 * outcome
    }
  )
}
