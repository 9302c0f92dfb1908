# The answers of the R package reliabilitydiag; sourced after shared.R and installation.R.
# Nothing is ever printed: print.reliabilitydiag would open a graphics device.

diagram <- function(x, y, ...) reliabilitydiag::reliabilitydiag(forecast = x, y = y, ...)

# Versions, and whether the package works; `library` is scorereport's own, if it has the package.
hello <- function(library = character()) {
  use_library(library)
  version_of <- function(name) {
    if (nzchar(system.file(package = name))) as.character(utils::packageVersion(name)) else "absent"
  }
  found <- version_of("reliabilitydiag")
  is_there <- found != "absent"
  c(
    if (is_there) find_problem(),
    list(location = if (is_there) dirname(system.file(package = "reliabilitydiag")) else ""),
    R = paste(R.version$major, R.version$minor, sep = "."),
    platform = R.version$platform,
    reliabilitydiag = found,
    monotone = version_of("monotone"),
    libraries = paste(.libPaths(), collapse = ", ")
  )
}

scored_entries <- function(fit, score) {
  table <- summary(fit, score = score)
  y <- fit[[1]]$cases$y
  perfect <- mean(score(y, y))
  list(c(table$mean_score, table$miscalibration, table$discrimination, table$uncertainty, perfect))
}

band <- function(x, y, level, method, position, draws = 1) {
  found <- diagram(
    x, y,
    region.level = level, region.method = method, region.position = position, n.boot = draws
  )[[1]]$regions
  band_entries(found$x, found$lower, found$upper, found$level[1])
}

# `banded_x`, `banded_y`: the cases of the continuous band, none for all: its density needs much memory.
# `drawn_x`, `drawn_y`: the cases, all or some, whose bands are resampled. If a draw may contain a `lone`
# forecast, the bands of the package are wrong, and base R draws them as well.
certify <- function(x, y, level, scores, formulas, costs, banded_x, banded_y, drawn_x, drawn_y, draws, seed,
                    lone) {
  if (length(banded_x) == 0) {
    banded_x <- x
    banded_y <- y
  }
  fit <- diagram(x, y, region.level = NA)
  cases <- fit[[1]]$cases
  bins <- fit[[1]]$bins
  cep <- numeric(length(x))
  cep[cases$case_id] <- cases$CEP_pav
  functions <- score_functions(scores, formulas, costs)
  set.seed(seed)
  c(
    under("score", do.call(c, lapply(functions, function(score) scored_entries(fit, score)))),
    under("bins", bin_entries(bins$n, bins$x_min, bins$x_max, bins$CEP_pav)),
    list(cep = cep),
    count_entries(x, y, rep(1, length(x))),
    part("discrete", band(x, y, level, "discrete_asymptotics", "diagonal")),
    part("continuous", band(banded_x, banded_y, level, "continuous_asymptotics", "diagonal")),
    if (draws > 0) {
      c(
        part("consistency", band(drawn_x, drawn_y, level, "resampling", "diagonal", draws)),
        part("confidence", band(drawn_x, drawn_y, level, "resampling", "estimate", draws)),
        if (lone) resampled_bands(drawn_x, drawn_y, level, draws, prefix = "base_")
      )
    }
  )
}

# The data of Table 2 of the paper, which are part of the package.
niamey <- function() {
  data <- reliabilitydiag::precip_Niamey_2016
  lapply(as.list(data[c("obs", "ENS", "EPC", "EMOS", "Logistic")]), as.numeric)
}

# The known defects of the package, each in its smallest example.
defects <- function(x, y, values) {
  snapped <- summary(diagram(x, y, xvalues = values, region.level = NA))
  wrong_log <- summary(diagram(x, y, region.level = NA), score = "log")
  restricted <- tryCatch(
    {
      diagram(x, y, region.method = "restricted_resampling")
      "works"
    },
    error = function(e) "fails"
  )
  set.seed(1)
  p_value <- reliabilitydiag::miscalibration_test(rep(c(0.1, 0.9), 50), rep(c(1, 0), 50))$pvalue
  list(
    snapped = c(snapped$miscalibration, snapped$discrimination),
    wrong_log = wrong_log$mean_score,
    restricted = restricted,
    p_value = p_value,
    end_of_table = band(x, y, 0.9999, "continuous_asymptotics", "diagonal")$lower
  )
}

operations <- c(
  list(hello = hello, certify = certify, niamey = niamey, defects = defects), shared_operations
)
