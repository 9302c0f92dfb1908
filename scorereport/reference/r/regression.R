# The calibration line by stats::glm.fit, and tests of calibration.

log_likelihood <- function(log_odds, y, weight) {
  sum(weight * stats::plogis((2 * y - 1) * log_odds, log.p = TRUE))
}

# A logistic regression by iterated weighted least squares, and one more step of Newton's method; nothing where
# the equations of the maximum do not hold.
fit_logistic <- function(columns, y, weight, offset = rep(0, length(y)), start = NULL) {
  fitted <- stats::glm.fit(columns, y,
    weights = weight, offset = offset, start = start, family = stats::binomial(), intercept = FALSE,
    control = list(epsilon = 1e-14, maxit = 200)
  )
  at <- fitted$coefficients
  for (step in 1:2) {
    chance <- stats::plogis(offset + drop(columns %*% at))
    information <- crossprod(columns, weight * chance * (1 - chance) * columns)
    towards <- solve(information, crossprod(columns, weight * (y - chance)))
    at <- at + drop(towards)
  }
  if (anyNA(at) || any(abs(towards) > 1e-8 * (1 + abs(at)))) stop("glm did not converge")
  list(at = unname(at), information = information, log_odds = offset + drop(columns %*% at))
}

# Whether a slope exists: neither class lies entirely above the other.
overlap <- function(x, y) {
  events <- range(x[y == 1])
  others <- range(x[y == 0])
  events[1] < others[2] && others[1] < events[2]
}

# The fit of intercept and slope, or of the intercept with the slope held at 1, with its covariance and the
# degrees of freedom of each error. NaN where there is none.
fit_line <- function(units, p, with_slope) {
  y <- units$y
  size <- 1 + with_slope
  if (any(p == 0 | p == 1) || all(y == y[1])) {
    return(no_line(size))
  }
  x <- stats::qlogis(p)
  if (with_slope && !overlap(x, y)) {
    return(no_line(size))
  }
  columns <- if (with_slope) cbind(1, x) else matrix(1, length(x), 1)
  offset <- if (with_slope) rep(0, length(x)) else x
  start <- if (with_slope) c(0, 1) else 0
  fitted <- tryCatch(
    fit_logistic(columns, y, units$weight, offset, start),
    error = function(e) fit_logistic(columns, y, units$weight, offset)
  )
  c(list(at = fitted$at, log_odds = fitted$log_odds), error_of_line(units, columns, fitted))
}

no_line <- function(size) {
  list(at = rep(NaN, size), covariance = matrix(NaN, size, size), freedom = rep(Inf, size))
}

error_of_line <- function(units, columns, fitted) {
  size <- ncol(columns)
  chance <- stats::plogis(fitted$log_odds)
  if (!is.null(units$time) && number_of_times(units) >= fewest_times) {
    influence <- (units$weight * (units$y - chance) * columns) %*% solve(fitted$information)
    freedom <- rep(number_of_cosines(number_of_times(units)), size)
    return(list(covariance = slow_covariance(sums_in_time(influence, units)), freedom = freedom))
  }
  if (units$kind == "rows") {
    return(list(covariance = solve(fitted$information), freedom = rep(Inf, size)))
  }
  if (number_of_draws(units) <= size) stop("one draw determines a coefficient alone")
  spread <- chance * (1 - chance)
  sums <- line_sums(units, columns, chance)
  case <- sum(units$weight * spread * (if (units$counted) spread else units$weight * spread)) /
    sum(units$weight * spread)
  if (size == 1) {
    share <- sums$s[, 1] / sum(sums$s[, 1])
    if (any(1 - share < 1e-9)) stop("one draw determines a coefficient alone")
    moved <- sums$score[, 1] / sum(sums$s[, 1]) / sqrt(1 - share)
    return(list(covariance = matrix(sum(moved^2)), freedom = freedom_of_mean(sums$s[, 1], case)))
  }
  reduced <- reduced_covariance(sums$s, sums$score, c(1, 0), case)
  list(covariance = reduced$covariance, freedom = c(reduced$freedom(c(1, 0)), reduced$freedom(c(0, 1))))
}

# Information and score of each draw.
line_sums <- function(units, columns, chance) {
  information <- units$weight * chance * (1 - chance)
  x <- if (ncol(columns) == 2) columns[, 2] else 0 * information
  s <- information * cbind(1, x, x^2)
  score <- units$weight * (units$y - chance) * cbind(1, x)
  if (units$kind == "clusters") {
    s <- rowsum(s, units$cluster)
    score <- rowsum(score, units$cluster)
  }
  list(s = unname(s), score = unname(score))
}

# Slope, intercept and the intercept at slope 1: value, error, both limits, and the Wald statistic and p-value
# against 1, 0 and 0.
line_entries <- function(units, p, level) {
  joint <- fit_line(units, p, TRUE)
  if (is.nan(joint$at[1])) units$time <- NULL # errors over time are those of both fits, or of none
  alone <- fit_line(units, p, FALSE)
  value <- c(joint$at[2:1], alone$at)
  error <- sqrt(c(diag(joint$covariance)[2:1], alone$covariance[1]))
  freedom <- c(joint$freedom[2:1], alone$freedom)
  reach <- quantile_of(level, freedom) * error
  wald <- (value - c(1, 0, 0)) / error
  names <- c("slope", "intercept", "intercept_at_slope_one")
  entries <- lapply(seq_along(names), function(k) {
    p_value <- two_sided(wald[k], freedom[k])
    c(value[k], error[k], value[k] - reach[k], value[k] + reach[k], wald[k], p_value, freedom[k])
  })
  c(stats::setNames(entries, names), list(unreliability = joint_test(units, p, joint)))
}

# That intercept is 0 and slope 1 together: statistic and p-value. From the likelihood where there is one, else
# Wald's; the p-value is not computed for clusters and weights, where it has Hotelling's distribution.
joint_test <- function(units, p, joint) {
  if (is.nan(joint$at[1])) {
    return(c(NaN, NaN))
  }
  in_time <- !is.null(units$time) && number_of_times(units) >= fewest_times
  if (units$kind == "rows" && !in_time) {
    rise <- log_likelihood(joint$log_odds, units$y, units$weight) -
      log_likelihood(stats::qlogis(p), units$y, units$weight)
    ratio <- 2 * max(rise, 0)
    return(c(ratio, stats::pchisq(ratio, 2, lower.tail = FALSE)))
  }
  off <- joint$at - c(0, 1)
  wald <- sum(off * solve(joint$covariance, off))
  if (!in_time) {
    return(wald)
  }
  cosines <- number_of_cosines(number_of_times(units))
  below <- cosines - 1
  c(wald, stats::pf(wald * below / (2 * cosines), 2, below, lower.tail = FALSE))
}

# ---- Sums over all rows, and groups of rows ----

# Spiegelhalter's z and that of calibration in the large, with p-values.
sum_entries <- function(units, p) {
  squares <- null_squares(units, p)
  list(
    spiegelhalter = sum_test(units, p, 1 - 2 * p, squares),
    in_the_large = sum_test(units, p, rep(1, length(p)), squares)
  )
}

sum_test <- function(units, p, factor, squares) {
  terms <- units$weight * factor * (units$y - p)
  freedom <- Inf
  if (units$kind == "clusters") {
    sums <- sum_by(terms, units$cluster)
    sizes <- sum_by(abs(terms), units$cluster)
    sums[abs(sums) <= 1e-13 * sizes] <- 0
    share <- sum_by(units$weight, units$cluster) / units$total
    away <- sums - share * sum(sums)
    away[abs(away) <= 1e-13 * (sizes + share * sum(sizes))] <- 0
    variance <- if (length(sums) < 2) NaN else sum(ifelse(share < 1, away^2 / (1 - share), 0))
    freedom <- freedom_of_clusters(units)
  } else {
    variance <- sum(squares * factor^2 * p * (1 - p))
    if (!is.null(units$time) && number_of_times(units) >= fewest_times && variance > 0) {
      in_time <- slow_covariance(sums_in_time(terms, units))[1, 1]
      if (in_time > 0) {
        variance <- in_time
        freedom <- number_of_cosines(number_of_times(units))
      }
    }
  }
  z <- if (!is.nan(variance) && variance > 0) sum(terms) / sqrt(variance) else NaN
  c(z, two_sided(z, freedom))
}

# What each row adds to a variance, over p (1 - p): its count; or, if it was drawn once, the product of its
# weights as an event and as a non-event, of which one is observed. Their ratio is that of the mean weights of
# events and non-events among rows with similar forecasts, as far as chance does not explain it.
null_squares <- function(units, p) {
  if (units$counted || units$kind == "clusters") {
    return(units$weight)
  }
  order <- order(p, units$y, units$weight)
  ratio <- numeric(length(p))
  ratio[order] <- outcome_ratios(p[order], units$y[order], units$weight[order])
  ifelse(units$y == 1, units$weight^2 / ratio, units$weight^2 * ratio)
}

outcome_ratios <- function(p, y, weight) {
  cell <- cut_into_cells(p, y)
  of_cell <- tapply(seq_along(p), cell, function(rows) {
    events <- weight[rows][y[rows] == 1]
    others <- weight[rows][y[rows] == 0]
    logarithm <- log(mean(events) / mean(others))
    if (length(events) < 2 || length(others) < 2 || logarithm == 0) {
      return(1)
    }
    relative <- function(w) (mean(w^2) - mean(w)^2) / mean(w)^2 / (length(w) - 1)
    exp(logarithm * max(1 - max(relative(events) + relative(others), 0) / logarithm^2, 0))
  })
  as.numeric(of_cell)[cell]
}

# Cells of at least 50 events and 50 non-events, at most 200 cells; no tie is split.
cut_into_cells <- function(p, y) {
  n <- length(p)
  fewest <- max(50, ceiling(n / 400))
  events <- which(y == 1)
  others <- which(y == 0)
  starts <- 1
  repeat {
    at <- starts[length(starts)]
    last_event <- sum(events < at) + fewest
    last_other <- sum(others < at) + fewest
    if (last_event > length(events) || last_other > length(others)) break
    last <- max(events[last_event], others[last_other])
    starts <- c(starts, findInterval(p[last], p) + 1)
  }
  cuts <- if (length(starts) > 2) starts[2:(length(starts) - 1)] else numeric()
  findInterval(seq_len(n), c(1, cuts))
}

# Hosmer and Lemeshow: a group ends at the forecast that completes its tenth of the cases.
hosmer_lemeshow <- function(units, p, groups = 10) {
  order <- order(p)
  x <- p[order]
  weight <- units$weight[order]
  y <- units$y[order]
  running <- cumsum(weight)
  wanted <- seq_len(groups - 1) / groups * running[length(running)] * (1 - 1e-12)
  last <- x[findInterval(wanted, running, left.open = TRUE) + 1]
  group <- findInterval(x, unique(last), left.open = TRUE)
  squares <- null_squares(units, p)[order]
  sums <- rowsum(cbind(weight * (y - x), weight * x, weight * (1 - x), squares), group)
  variance <- sums[, 4] * sums[, 2] * sums[, 3] / (sums[, 2] + sums[, 3])^2
  terms <- sums[, 1]^2 / variance
  counted <- terms[!is.nan(terms)]
  freedom <- length(counted)
  statistic <- if (freedom > 0) sum(counted) else NaN
  c(statistic, stats::pchisq(statistic, freedom, lower.tail = FALSE), freedom)
}

# Ljung and Box: sums of residuals of the recalibrated forecast at successive times. Statistic, p-value, lags.
autocorrelation <- function(units, p) {
  cep <- if (all(units$weight == 1)) recalibrate(p, units$y) else recalibrate_weighted(p, units$y, units$weight)
  sums <- as.numeric(sums_in_time(units$weight * (units$y - cep), units))
  lags <- min(5, length(sums) - 1)
  if (length(sums) < fewest_times || sum((sums - mean(sums))^2) <= 0) {
    return(c(NaN, NaN, lags))
  }
  found <- stats::Box.test(sums, lag = lags, type = "Ljung-Box")
  c(found$statistic, found$p.value, lags)
}

# ---- The same line in all groups ----

# That all groups have the same intercept, or line: statistic, degrees of freedom and p-value by likelihood.
line_by_group <- function(units, p, group, with_slope) {
  nothing <- c(NaN, NaN, NaN)
  if (any(p == 0 | p == 1)) {
    return(nothing)
  }
  estimable <- tapply(seq_along(p), group, function(rows) {
    y <- units$y[rows]
    any(y == 1) && any(y == 0) && (!with_slope || overlap(p[rows], y))
  })
  kept <- as.logical(estimable)[match(group, as.numeric(names(estimable)))]
  codes <- unique(group[kept])
  if (length(codes) < 2) {
    return(nothing)
  }
  reached <- function(rows) {
    fitted <- fit_line(take_rows(units, rows), p[rows], with_slope)
    log_likelihood(fitted$log_odds, units$y[rows], units$weight[rows])
  }
  apart <- sum(vapply(codes, function(code) reached(which(group == code)), numeric(1)))
  ratio <- max(2 * (apart - reached(which(kept))), 0)
  freedom <- (1 + with_slope) * (length(codes) - 1)
  c(ratio, freedom, stats::pchisq(ratio, freedom, lower.tail = FALSE))
}
