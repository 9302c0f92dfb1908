# Objects of the R package reliabilitydiag that hold fits made elsewhere; sourced after package.R.
# The package makes the object, so that its parts are those of its version, and its numbers are replaced.

# `names`: the forecasts; of the i-th of them, the other vectors have the suffix _i. Cases are ordered by
# forecast; each bin has `bin_n` of them. Without a band, `region_x` has no values.
assemble <- function(file, names, y, ...) {
  given <- list(...)
  part <- function(name, i) given[[paste0(name, "_", i)]]
  forecasts <- lapply(seq_along(names), function(i) part("x", i))
  table <- as.data.frame(stats::setNames(forecasts, names), optional = TRUE)
  fit <- reliabilitydiag::reliabilitydiag(table, y = as.integer(y), region.level = NA)
  kept <- attributes(fit)
  fit <- unclass(fit)
  for (i in seq_along(names)) {
    bins <- data.frame(
      bin_id = seq_along(part("bin_n", i)),
      n = as.integer(part("bin_n", i)),
      x_min = part("bin_x_min", i),
      x_max = part("bin_x_max", i),
      CEP_pav = part("bin_cep", i)
    )
    count <- length(part("region_x", i))
    regions <- data.frame(
      x = as.numeric(part("region_x", i)),
      lower = as.numeric(part("region_lower", i)),
      upper = as.numeric(part("region_upper", i)),
      n = as.integer(part("region_n", i)),
      method = rep(part("method", i), count),
      level = rep(part("level", i), count),
      position = rep(part("position", i), count)
    )
    fit[[i]]$cases$bin_id <- rep(bins$bin_id, bins$n)
    fit[[i]]$cases$CEP_pav <- rep(bins$CEP_pav, bins$n)
    fit[[i]]$bins <- tibble::as_tibble(bins)[names(fit[[i]]$bins)]
    fit[[i]]$regions <- tibble::as_tibble(regions)[names(fit[[i]]$regions)]
  }
  attributes(fit) <- kept
  attr(fit, "names") <- names
  saveRDS(fit, file)
  list(cases = length(y))
}

operations$assemble <- assemble
