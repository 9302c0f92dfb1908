# Functions of both references, in base R alone: the scores, and parts of an answer that may fail separately.

# Scores of one case, lower is better; each takes outcomes first, as summary.reliabilitydiag calls them, and
# may take one forecast for all of them. The formulas are those of the registry of scores, expressions in the
# outcome y, the forecast x, the ends a and b of the interval of costs, and the two functions defined here.
# Only the observed outcome enters a score: the logarithm of the other may be infinite.
score_functions <- function(scores, formulas, costs) {
  a <- costs[1]
  b <- costs[2]
  clip <- function(p) pmax(a, pmin(b, p))
  outcome_probability <- function(y, p) ifelse(y == 1, p, 1 - p)
  functions <- lapply(formulas, function(text) eval(parse(text = paste("function(y, x)", text))))
  names(functions) <- scores
  functions
}

# Results from counts of events and non-events at each distinct forecast: the area under the ROC curve, and
# Murphy's reliability, resolution and uncertainty of the Brier score.
count_entries <- function(x, y, weight) {
  totals <- c(sum(weight), sum(weight * y))
  weight <- weight / max(weight) # so that products of sums neither vanish nor overflow
  place <- match(x, sort(unique(x)))
  events <- as.numeric(tapply(weight * y, place, sum))
  others <- as.numeric(tapply(weight * (1 - y), place, sum))
  held <- events + others > 0
  value <- sort(unique(x))[held]
  events <- events[held]
  others <- others[held]
  below <- cumsum(others) - others
  n <- events + others
  rate <- sum(events) / sum(n)
  list(
    totals = totals,
    auc = sum(events * (below + others / 2)) / (sum(events) * sum(others)),
    murphy = c(
      sum(n * (events / n - value)^2) / sum(n),
      sum(n * (events / n - rate)^2) / sum(n),
      rate * (1 - rate)
    )
  )
}

# Measures of K classes. `y` holds the observed classes, from 1; `p` the probabilities, class by class;
# `cost` the cost of each decision, a row for each observed class, or nothing. For each measure: mean of the
# forecast, of the best constant and of the perfect forecast.
class_entries <- function(y, p, weight, size, ordered, cost) {
  held <- weight > 0 # weight 0 times an infinite score is 0
  p <- matrix(p, ncol = size)[held, , drop = FALSE]
  y <- y[held]
  weight <- weight[held]
  cost <- if (length(cost) > 0) matrix(cost, ncol = size, byrow = TRUE) else usual_cost(size, ordered)
  observed <- vapply(seq_len(size), function(k) sum(weight[y == k]), numeric(1))
  label <- first_largest(p)
  joint <- joint_weights(y, label, weight, size)
  measures <- c(
    class_means(y, p, weight, observed, ordered),
    list(
      accuracy = c(sum(diag(joint)), max(observed), sum(observed)) / sum(observed),
      macro_f1 = f1_of(joint),
      expected_cost = c(
        sum(cost * joint), min(colSums(observed * cost)), sum(observed * diag(cost))
      ) / sum(observed)
    ),
    if (ordered) list(quadratic_weighted_kappa = kappa_of(joint))
  )
  c(under("class", measures), list(came = observed, joint = as.numeric(t(joint))))
}

usual_cost <- function(size, ordered) {
  if (ordered) outer(seq_len(size), seq_len(size), "-")^2 / (size - 1)^2 else 1 - diag(size)
}

# The predicted class: the likeliest, the first of those that tie. max.col would treat near values as ties.
first_largest <- function(p) {
  label <- rep(1L, nrow(p))
  largest <- p[, 1]
  for (k in seq_len(ncol(p))[-1]) {
    is_larger <- p[, k] > largest
    label[is_larger] <- k
    largest <- pmax(largest, p[, k])
  }
  label
}

joint_weights <- function(y, label, weight, size) {
  sums <- tapply(weight, list(factor(y, seq_len(size)), factor(label, seq_len(size))), sum)
  matrix(ifelse(is.na(sums), 0, sums), ncol = size)
}

class_means <- function(y, p, weight, observed, ordered) {
  classes <- which(observed > 0) # the shares of the classes are the forecast of each observed class
  shares <- matrix(
    observed / sum(observed),
    nrow = length(classes), ncol = length(observed), byrow = TRUE
  )
  forecast <- class_losses(y, p, ordered)
  constant <- class_losses(classes, shares, ordered)
  lapply(stats::setNames(names(forecast), names(forecast)), function(name) {
    c(
      sum(weight * forecast[[name]]) / sum(weight),
      sum(observed[classes] * constant[[name]]) / sum(observed),
      0
    )
  })
}

# Losses of single cases; those of ordered classes are means over the K - 1 thresholds.
class_losses <- function(y, p, ordered) {
  size <- ncol(p)
  is_observed <- outer(y, seq_len(size), "==")
  of_observed <- rowSums(ifelse(is_observed, p, 0))
  missed <- first_largest(p) != y
  brier <- rowSums((p - is_observed)^2)
  losses <- list(
    multiclass_brier = brier,
    multiclass_log_loss = -log(of_observed),
    multiclass_spherical = 1 - of_observed / sqrt(rowSums(p^2)),
    penalized_brier = brier + missed * (size - 1) / size,
    penalized_log_loss = -log(of_observed) + missed * log(size)
  )
  if (!ordered) {
    return(losses)
  }
  deviation <- vapply(seq_len(size - 1), function(k) {
    pmin(rowSums(p[, seq_len(k), drop = FALSE]), 1) - (y <= k)
  }, numeric(length(y)))
  deviation <- matrix(deviation, nrow = length(y))
  c(losses, list(
    rps = rowSums(deviation^2) / (size - 1),
    sa_rps = (rowSums(abs(deviation)) / (size - 1))^2
  ))
}

# Neither has a reference: F1 is not a mean, and kappa is a skill itself.
f1_of <- function(joint) {
  both <- rowSums(joint) + colSums(joint)
  c(mean((2 * diag(joint) / both)[both > 0]), NaN, NaN)
}

kappa_of <- function(joint) {
  distance <- (row(joint) - col(joint))^2
  joint <- joint / sum(joint) # so that products of sums neither vanish nor overflow
  by_chance <- outer(rowSums(joint), colSums(joint))
  c(1 - sum(distance * joint) / sum(distance * by_chance), 0, 1)
}

# The entries of a list under a common name: band.x, band.lower, band.upper.
under <- function(name, entries) stats::setNames(entries, paste(name, names(entries), sep = "."))

# A part of an answer, or the reason why it failed; other parts are not affected.
part <- function(name, entries) {
  tryCatch(
    under(name, suppressMessages(suppressWarnings(entries))),
    error = function(e) under(name, list(error = conditionMessage(e)))
  )
}

# Isotonic regression in the order of forecasts; outcomes of equal forecasts are in falling order, so they
# share a block. Before the first event the fit is 0, after the last non-event it is 1; these cases are left
# out, because isoreg would scan all cases again for each of them.
recalibrate <- function(x, y) {
  ord <- order(x, -y)
  sorted <- y[ord]
  fitted <- sorted
  if (any(sorted == 1) && any(sorted == 0)) {
    first <- match(1, sorted)
    last <- length(sorted) + 1L - match(0, rev(sorted))
    if (first < last) fitted[first:last] <- stats::isoreg(sorted[first:last])$yf
  }
  cep <- numeric(length(x))
  cep[ord] <- fitted
  cep
}

# isoreg has no weights: this pools adjacent violators over distinct forecasts.
recalibrate_weighted <- function(x, y, weight) {
  weight <- weight / max(weight) # so that products of sums neither vanish nor overflow
  value <- sort(unique(x))
  place <- match(x, value)
  total <- as.numeric(tapply(weight, place, sum))
  events <- as.numeric(tapply(weight * y, place, sum))
  held <- which(total > 0)
  top <- 0L
  first <- integer(length(held))
  n <- numeric(length(held))
  s <- numeric(length(held))
  for (k in seq_along(held)) {
    top <- top + 1L
    first[top] <- k
    n[top] <- total[held[k]]
    s[top] <- events[held[k]]
    while (top > 1L && s[top - 1L] * n[top] >= s[top] * n[top - 1L]) {
      n[top - 1L] <- n[top - 1L] + n[top]
      s[top - 1L] <- s[top - 1L] + s[top]
      top <- top - 1L
    }
  }
  sizes <- diff(c(first[seq_len(top)], length(held) + 1L))
  fitted <- rep(s[seq_len(top)] / n[seq_len(top)], sizes)
  along_curve(value[held], fitted, x)
}

# Forecasts of weight 0 are interpolated linearly between their neighbours.
along_curve <- function(value, fitted, x) {
  if (length(value) == 1) {
    return(rep(fitted, length(x)))
  }
  stats::approx(value, fitted, xout = x, rule = 2, ties = "ordered")$y
}

decompose <- function(score, x, y, cep, weight) {
  held <- weight > 0 # weight 0 times an infinite score is 0
  mean_score <- function(p) sum((weight * score(y, p))[held]) / sum(weight)
  forecast <- mean_score(x)
  recalibrated <- mean_score(cep)
  constant <- mean_score(rep(sum(weight * y) / sum(weight), length(y)))
  list(c(forecast, forecast - recalibrated, constant - recalibrated, constant, mean_score(y)))
}

# Quantiles of curves fitted to resampled cases, with outcomes drawn from `chance`; a curve is missing beyond
# the forecasts that were drawn.
resampled_band <- function(x, chance, level, draws) {
  value <- sort(unique(x))
  curves <- replicate(draws, {
    drawn <- sample(length(x), replace = TRUE)
    y <- stats::rbinom(length(x), 1, chance[drawn])
    fitted <- recalibrate(x[drawn], y)
    once <- which(!duplicated(x[drawn])) # equal forecasts have equal fits, and approx takes long to average
    if (length(once) == 1) {
      ifelse(value == x[drawn][1], fitted[1], NA)
    } else {
      stats::approx(x[drawn][once], fitted[once], xout = value)$y
    }
  })
  curves <- matrix(curves, nrow = length(value))
  levels <- c((1 - level) / 2, (1 + level) / 2)
  bounds <- apply(curves, 1, stats::quantile, probs = levels, na.rm = TRUE, names = FALSE)
  band_entries(value, bounds[1, ], bounds[2, ], level)
}

resampled_bands <- function(x, y, level, draws, prefix = "") {
  c(
    part(paste0(prefix, "consistency"), resampled_band(x, x, level, draws)),
    part(paste0(prefix, "confidence"), resampled_band(x, recalibrate(x, y), level, draws))
  )
}

band_entries <- function(x, lower, upper, level) {
  list(x = as.numeric(x), lower = as.numeric(lower), upper = as.numeric(upper), level = as.numeric(level))
}

bin_entries <- function(n, x_min, x_max, cep) {
  list(n = as.numeric(n), x_min = as.numeric(x_min), x_max = as.numeric(x_max), cep = as.numeric(cep))
}

# Answers one request; an error becomes part of the answer and does not end the process.
answer <- function(what, ...) {
  tryCatch(
    {
      started <- proc.time()[["elapsed"]]
      found <- suppressMessages(suppressWarnings(operations[[what]](...)))
      c(found, seconds = proc.time()[["elapsed"]] - started)
    },
    error = function(e) list(error = conditionMessage(e))
  )
}
