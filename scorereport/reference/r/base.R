# The answers of base R alone, by stats::isoreg and plain arithmetic; sourced after shared.R.

hello <- function() {
  list(R = paste(R.version$major, R.version$minor, sep = "."), platform = R.version$platform)
}

# Neighbours are one bin if their recalibrated probabilities are equal up to rounding.
pool_bins <- function(x, cep, weight) {
  held <- which(weight > 0)
  ord <- held[order(x[held])]
  starts <- c(TRUE, diff(cep[ord]) > 1e-12)
  bin <- cumsum(starts)
  ends <- c(which(starts)[-1] - 1, length(ord))
  bin_entries(tapply(weight[ord], bin, sum), x[ord][starts], x[ord][ends], cep[ord][starts])
}

discrete_band <- function(x, level) {
  counts <- rle(sort(x))
  p <- counts$values
  half <- stats::qnorm((1 + level) / 2) * sqrt(p * (1 - p) / counts$lengths)
  band_entries(p, pmax(0, p - half), pmin(1, p + half), level)
}

# Chernoff's quantile is that of the engine: base R has no Airy function of a complex argument.
continuous_band <- function(x, level, chernoff) {
  n <- length(x)
  grid <- seq(0, 1, by = 0.01)
  bandwidth <- n^(-2 / 5)
  density <- vapply(grid, function(p) {
    mean(stats::dbeta(x, p / bandwidth + 1, (1 - p) / bandwidth + 1))
  }, numeric(1))
  half <- ifelse(grid * (1 - grid) == 0, 0, chernoff * (4 * grid * (1 - grid) / (n * density))^(1 / 3))
  band_entries(grid, pmax(0, grid - half), pmin(1, grid + half), level)
}

# `banded_x`: the forecasts of the continuous band, none for all; `banded_y` has no influence on it.
certify <- function(x, y, level, scores, formulas, costs, banded_x, banded_y, drawn_x, drawn_y, draws, seed,
                    lone, chernoff, weight = rep(1, length(x))) {
  is_plain <- all(weight == 1)
  cep <- if (is_plain) recalibrate(x, y) else recalibrate_weighted(x, y, weight)
  functions <- score_functions(scores, formulas, costs)
  decomposed <- lapply(functions, decompose, x = x, y = y, cep = cep, weight = weight)
  found <- c(
    under("score", do.call(c, decomposed)),
    under("bins", pool_bins(x, cep, weight)),
    list(cep = cep),
    count_entries(x, y, weight)
  )
  if (!is_plain) {
    return(found)
  }
  set.seed(seed)
  c(
    found,
    part("discrete", discrete_band(x, level)),
    part("continuous", continuous_band(if (length(banded_x) == 0) x else banded_x, level, chernoff)),
    if (draws > 0) resampled_bands(drawn_x, drawn_y, level, draws)
  )
}

operations <- c(list(hello = hello, certify = certify), shared_operations)
