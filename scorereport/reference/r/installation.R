# The libraries in which R packages are searched, and whether reliabilitydiag gives the right numbers; in base R
# alone, sourced after shared.R.

# A library of scorereport's own is searched first, and those of the user are not searched at all: packages of
# both would not fit together. Without one, R searches the libraries of the user and of the system.
use_library <- function(library) {
  if (length(library) == 0) {
    return(invisible())
  }
  paths <- c(library, distribution_library(), .Library)
  if ("include.site" %in% names(formals(.libPaths))) {
    .libPaths(paths, include.site = FALSE)
  } else {
    .libPaths(paths)
  }
}

# Where Debian and Ubuntu put ready-built packages; nothing else is installed there.
distribution_library <- function() {
  path <- file.path(R.home(), "site-library")
  path[dir.exists(path)]
}

# What a package, a row of `installed.packages` or `available.packages`, requires of others.
requirements <- function(row, fields = c("Depends", "Imports", "LinkingTo")) {
  texts <- row[intersect(fields, names(row))]
  texts <- trimws(unlist(strsplit(texts[!is.na(texts)], ",")))
  pattern <- "^([[:alnum:].]+)[[:space:]]*(\\([[:space:]]*([<>=!]+)[[:space:]]*([-0-9.]+)[[:space:]]*\\))?$"
  texts <- grep(pattern, texts[!grepl("^R([[:space:](]|$)", texts)], value = TRUE)
  data.frame(
    package = sub(pattern, "\\1", texts), operator = sub(pattern, "\\3", texts),
    version = sub(pattern, "\\4", texts), stringsAsFactors = FALSE
  )
}

is_met <- function(version, operator, required) {
  difference <- utils::compareVersion(version, required)
  switch(operator,
    ">=" = difference >= 0, ">" = difference > 0, "<=" = difference <= 0, "<" = difference < 0,
    "==" = difference == 0, "!=" = difference != 0, TRUE
  )
}

# All packages that these need, directly or indirectly, with themselves; `rows_of` finds the row of a package.
closure_of <- function(packages, rows_of, fields = c("Depends", "Imports")) {
  found <- character()
  while (length(packages <- setdiff(packages, found)) > 0) {
    found <- c(found, packages)
    rows <- Filter(Negate(is.null), lapply(packages, rows_of))
    packages <- unlist(lapply(rows, function(row) requirements(row, fields)$package))
  }
  found
}

# What is searched for packages, the first of each name.
installed <- function(libraries = .libPaths()) {
  found <- utils::installed.packages(libraries, noCache = TRUE)
  found[!duplicated(found[, "Package"]), , drop = FALSE]
}

row_of <- function(rows) {
  function(name) if (name %in% rownames(rows)) rows[name, ]
}

# ---- Whether it works ----

# Returns nothing if all numbers are right; else the name of a wrong one or the reason of an error, with two
# packages that do not fit together. What a package lacks often shows only when a band is computed.
find_problem <- function() {
  culprits <- character()
  note <- function(error) if (length(culprits) == 0) culprits <<- callers_of_error()
  tryCatch(
    withCallingHandlers(
      {
        wrong <- wrong_numbers()
        if (length(wrong) > 0) list(wrong = wrong[1])
      },
      error = note
    ),
    error = function(error) describe_failure(error, culprits)
  )
}

# The names of what does not come out as known from an example. Its bins are {0.1}, {0.2, 0.2, 0.4},
# {0.6, 0.6} and {0.8, 0.9}. A consistency band without resampling has known bounds: those of the binomial
# distribution at a forecast, and in the continuous case Chernoff's 95 % quantile times
# (4 p (1 - p) / (n f(p)))^(1/3), where f is the density of the forecasts by beta kernels.
wrong_numbers <- function() {
  x <- c(0.1, 0.2, 0.2, 0.4, 0.6, 0.6, 0.8, 0.9)
  y <- c(0, 0, 1, 0, 1, 0, 1, 1)
  recalibrated <- rep(c(0, 1 / 3, 1 / 2, 1), c(1, 3, 2, 2))
  region <- function(...) {
    reliabilitydiag::reliabilitydiag(forecast = x, y = y, region.level = 0.9, ...)[[1]]$regions
  }
  fit <- reliabilitydiag::reliabilitydiag(forecast = x, y = y, region.level = NA)
  scores <- summary(fit)
  best <- mean((recalibrated - y)^2)
  discrete <- region(region.method = "discrete_asymptotics", region.position = "diagonal")
  continuous <- region(region.method = "continuous_asymptotics", region.position = "diagonal")
  p <- c(0.1, 0.2, 0.4, 0.6, 0.8, 0.9)
  upper <- pmin(1, p + stats::qnorm(0.95) * sqrt(p * (1 - p) / c(1, 2, 1, 2, 1, 1)))
  width <- length(x)^(-2 / 5)
  density <- mean(stats::dbeta(x, 0.5 / width + 1, 0.5 / width + 1))
  half <- 0.845081 * (1 / (length(x) * density))^(1 / 3)
  # Drawing bounds must leave the random numbers of R as they were.
  drawn <- with_seed(1, region(region.method = "resampling", region.position = "diagonal", n.boot = 5))
  is_wrong <- c(
    "fit" = !agree(fit[[1]]$cases$CEP_pav[order(fit[[1]]$cases$case_id)], recalibrated),
    "decomposition" = !agree(
      c(scores$mean_score, scores$miscalibration, scores$discrimination, scores$uncertainty),
      c(mean((x - y)^2), mean((x - y)^2) - best, 1 / 4 - best, 1 / 4)
    ),
    "discrete band" = !agree(discrete$upper, upper),
    "continuous band" = !agree(continuous$upper[which.min(abs(continuous$x - 0.5))], min(1, 0.5 + half), 1e-5),
    "resampled band" = !agree(drawn$x, p) ||
      !all(0 <= drawn$lower & drawn$lower <= drawn$upper & drawn$upper <= 1)
  )
  names(is_wrong)[is_wrong]
}

agree <- function(found, known, tolerance = 1e-12) {
  length(found) == length(known) && isTRUE(all(abs(found - known) <= tolerance))
}

with_seed <- function(seed, entries) {
  before <- if (exists(".Random.seed", globalenv())) get(".Random.seed", globalenv())
  on.exit(if (is.null(before)) {
    rm(".Random.seed", envir = globalenv())
  } else {
    assign(".Random.seed", before, globalenv())
  })
  set.seed(seed)
  entries
}

# ---- Why it does not work ----

# The packages whose functions were running when an error occurred, the innermost first.
callers_of_error <- function() {
  frames <- rev(seq_len(sys.nframe()))
  names <- vapply(frames, function(i) environmentName(topenv(environment(sys.function(i)))), character(1))
  rle(names[nzchar(names)])$values
}

describe_failure <- function(error, culprits) {
  found <- installed()
  reason <- first_line(innermost(error))
  pair <- find_unmet(found)
  if (length(pair) == 0) pair <- find_pair(culprits, reason, found)
  c(
    list(reason = reason),
    if (length(pair) > 0) {
      list(caller = describe_package(found[pair[1], ]), callee = describe_package(found[pair[2], ]))
    }
  )
}

describe_package <- function(row) paste0(row["Package"], " ", row["Version"], " (in ", row["LibPath"], ")")

# A package and another one whose version it excludes.
find_unmet <- function(found) {
  for (name in intersect(closure_of("reliabilitydiag", row_of(found)), rownames(found))) {
    required <- requirements(found[name, ], c("Depends", "Imports"))
    for (i in which(required$package %in% rownames(found))) {
      version <- found[required$package[i], "Version"]
      if (!is_met(version, required$operator[i], required$version[i])) {
        return(c(name, required$package[i]))
      }
    }
  }
  character()
}

# The innermost package that needs one with a function that the error names, as C code leaves no other trace; or
# else that called a function of another one. Packages that only report errors of others do not count as callers.
find_pair <- function(culprits, reason, found) {
  culprits <- setdiff(culprits, c("base", "rlang", "lifecycle", "cli"))
  culprits <- culprits[culprits %in% rownames(found)[is.na(found[, "Priority"])]]
  named <- unlist(regmatches(reason, gregexpr("[[:alnum:]._]+(?=\\(\\))", reason, perl = TRUE)))
  for (caller in culprits) {
    for (callee in intersect(requirements(found[caller, ])$package, rownames(found))) {
      if (any(vapply(named, function(name) mentions(callee, name), logical(1)))) {
        return(c(caller, callee))
      }
    }
  }
  for (i in seq_along(culprits)) {
    for (caller in culprits[-seq_len(i)]) {
      if (culprits[i] %in% requirements(found[caller, ])$package) {
        return(c(caller, culprits[i]))
      }
    }
  }
  character()
}

# Whether a package has a function of this name in R or in its compiled code.
mentions <- function(package, name) {
  if (requireNamespace(package, quietly = TRUE) && exists(name, asNamespace(package), inherits = FALSE)) {
    return(TRUE)
  }
  files <- list.files(system.file("libs", package = package), full.names = TRUE, recursive = TRUE)
  any(vapply(files, function(file) {
    length(grepRaw(name, readBin(file, "raw", file.size(file)), fixed = TRUE)) > 0
  }, logical(1)))
}

# Errors of rlang repeat the error that caused them.
innermost <- function(error) {
  while (inherits(error$parent, "condition")) error <- error$parent
  error
}

first_line <- function(error) sub("[.]$", "", trimws(strsplit(conditionMessage(error), "\n")[[1]][1]))
