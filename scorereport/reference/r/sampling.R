# Errors of means: rows that were drawn independently, weighted rows, clusters, and rows in time.

# The rows with a weight, and what of them was drawn: rows that are counted as often as their weight says
# ("rows"), rows that were drawn once and weigh differently ("weights"), or whole clusters ("clusters").
# `time` orders the rows; where it is empty, and where there are clusters, they do not depend in time.
drawn_units <- function(y, p, weight, counted, cluster, time) {
  held <- weight > 0
  kind <- if (length(cluster) > 0) "clusters" else if (counted == 1) "rows" else "weights"
  list(
    y = y[held],
    p = p[held, , drop = FALSE],
    weight = weight[held],
    kind = kind,
    counted = counted == 1,
    cluster = if (length(cluster) > 0) match(cluster[held], unique(cluster[held])),
    time = if (length(time) > 0 && length(cluster) == 0) time[held],
    total = sum(weight)
  )
}

take_rows <- function(units, rows) {
  units$y <- units$y[rows]
  units$p <- units$p[rows, , drop = FALSE]
  units$weight <- units$weight[rows]
  if (!is.null(units$cluster)) units$cluster <- match(units$cluster[rows], unique(units$cluster[rows]))
  if (!is.null(units$time)) units$time <- units$time[rows]
  units$total <- sum(units$weight)
  units
}

# The weight of a case: weights divided by it count cases.
case_weight <- function(units) if (units$counted) 1 else sum(units$weight^2) / units$total

number_of_draws <- function(units) {
  switch(units$kind, rows = units$total, weights = length(units$y), clusters = max(units$cluster))
}

weighted_mean <- function(values, units) sum(units$weight * values) / units$total

sum_by <- function(values, code) as.numeric(rowsum(values, code))

# The root of the sum over draws of squared deviations, corrected for the mean that was estimated.
mean_error <- function(values, units) {
  draws <- number_of_draws(units)
  if (draws <= 1) {
    return(NaN)
  }
  away <- values - weighted_mean(values, units)
  spread <- switch(units$kind,
    rows = sum(units$weight * away^2) * draws / (draws - 1),
    weights = sum((units$weight * away)^2) * draws / (draws - 1),
    clusters = {
      share <- sum_by(units$weight, units$cluster) / units$total
      sums <- sum_by(units$weight * away, units$cluster)
      sum(ifelse(share < 1, sums^2 / (1 - share), 0))
    }
  )
  sqrt(spread) / units$total
}

# Satterthwaite's degrees of freedom of a contrast of at most two coefficients, whose covariance is reduced in
# bias (CR2). `s` holds the information of each draw: that of the first coefficient, the product, that of the
# second. Rows of a draw are correlated a little in the working model; `common` shifts the fit of all rows
# equally. No answer where a draw determines a coefficient alone.
correlation_of_rows <- 0.005

reduced_covariance <- function(s, score, common, case) {
  total <- colSums(s)
  root <- root_of(matrix(total[c(1, 2, 2, 3)], 2), -1 / 2)
  leverage <- sandwich_of(root, s)
  reduction <- inverse_roots(cbind(1 - leverage[, 1], -leverage[, 2], 1 - leverage[, 3]))
  moved <- times_each(reduction, score %*% root) %*% root
  list(
    covariance = crossprod(moved),
    freedom = function(contrast) {
      turned <- solve(root, common)
      shared <- correlation_of_rows / case * outer(turned, turned)
      adjusted <- times_each(reduction, matrix(root %*% contrast, nrow(s), 2, byrow = TRUE))
      carried <- times_each(leverage, adjusted)
      shifts <- times_each(leverage, matrix(turned, nrow(s), 2, byrow = TRUE))
      together <- correlation_of_rows / case * crossprod(shifts)
      alone <- rowSums(adjusted * carried) + rowSums((carried %*% shared) * carried)
      factor <- cbind(carried, times_each(leverage, carried %*% shared))
      core <- rbind(cbind(together - diag(2), -diag(2)), cbind(-diag(2), matrix(0, 2, 2)))
      own <- rowSums((factor %*% core) * factor)
      square <- core %*% crossprod(factor)
      sum(alone + own)^2 / (sum(alone^2) + 2 * sum(alone * own) + sum(square * t(square)))
    }
  )
}

# The same of one coefficient, such as a mean.
freedom_of_mean <- function(weight, case) {
  share <- weight / sum(weight)
  if (length(weight) < 2 || any(1 - share < 1e-9)) {
    return(NaN)
  }
  scale <- correlation_of_rows / case * sum(weight)
  adjusted <- 1 / sqrt(1 - share)
  moved <- share * adjusted
  alone <- adjusted * moved + scale * moved^2
  carried <- share * scale * moved
  own <- (scale * sum(share^2) - 1) * moved^2 - 2 * moved * carried
  factor <- cbind(moved, carried)
  core <- matrix(c(scale * sum(share^2) - 1, -1, -1, 0), 2)
  square <- core %*% crossprod(factor)
  sum(alone + own)^2 / (sum(alone^2) + 2 * sum(alone * own) + sum(square * t(square)))
}

freedom_of_clusters <- function(units) {
  if (units$kind != "clusters") {
    return(Inf)
  }
  freedom_of_mean(sum_by(units$weight, units$cluster), case_weight(units))
}

# A power of a symmetric matrix.
root_of <- function(matrix, power) {
  parts <- eigen(matrix, symmetric = TRUE)
  parts$vectors %*% (parts$values^power * t(parts$vectors))
}

# root S root for each row of `s`, which holds the three entries of a symmetric matrix.
sandwich_of <- function(root, s) {
  a <- root[1, 1]
  b <- root[1, 2]
  d <- root[2, 2]
  cbind(
    a^2 * s[, 1] + 2 * a * b * s[, 2] + b^2 * s[, 3],
    a * b * s[, 1] + (a * d + b^2) * s[, 2] + b * d * s[, 3],
    b^2 * s[, 1] + 2 * b * d * s[, 2] + d^2 * s[, 3]
  )
}

# The inverse of the symmetric root of each of many symmetric matrices: A^(1/2) = (A + s I) / t with the root s
# of the determinant and t^2 the trace plus 2 s.
inverse_roots <- function(a) {
  determinant <- a[, 1] * a[, 3] - a[, 2]^2
  if (any(determinant < 1e-9)) stop("one draw determines a coefficient alone")
  s <- sqrt(determinant)
  t <- sqrt(a[, 1] + a[, 3] + 2 * s)
  cbind(a[, 3] + s, -a[, 2], a[, 1] + s) / (s * t)
}

# The product of each of many symmetric matrices with a row of a table.
times_each <- function(a, rows) {
  cbind(a[, 1] * rows[, 1] + a[, 2] * rows[, 2], a[, 2] * rows[, 1] + a[, 3] * rows[, 2])
}

# ---- In time ----

fewest_times <- 30

number_of_times <- function(units) length(unique(units$time))

number_of_cosines <- function(times) max(floor(0.75 * times^(1 / 3) + 1e-9), 4)

# The covariance of totals of series, a column for each, from their projections on the slowest cosines.
slow_covariance <- function(sums) {
  times <- nrow(sums)
  cosines <- cos(pi * outer(seq_len(times) - 0.5, seq_len(number_of_cosines(times))) / times)
  projected <- crossprod(cosines, sums)
  2 * crossprod(projected) / ncol(cosines)
}

sums_in_time <- function(values, units) rowsum(values, match(units$time, sort(unique(units$time))))

# The error of a mean of rows in time: by cosines, or of independent times where they are few.
error_in_time <- function(values, units) {
  sums <- sums_in_time(units$weight * (values - weighted_mean(values, units)), units)
  times <- nrow(sums)
  if (times >= fewest_times) {
    return(sqrt(slow_covariance(sums)[1, 1]) / units$total)
  }
  if (times < 2) NaN else sqrt(sum(sums^2) * times / (times - 1)) / units$total
}

freedom_in_time <- function(units) {
  times <- number_of_times(units)
  if (times >= fewest_times) number_of_cosines(times) else max(times - 1, 1)
}

# ---- Tests ----

two_sided <- function(statistic, freedom) 2 * stats::pt(-abs(statistic), freedom)

quantile_of <- function(level, freedom) stats::qt((1 + level) / 2, freedom)

# p-values adjusted for their number; those that are not defined do not count.
adjust <- function(p) {
  p[is.nan(p)] <- NA
  adjusted <- stats::p.adjust(p, "holm")
  adjusted[is.na(adjusted)] <- NaN
  adjusted
}
