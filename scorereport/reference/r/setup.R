# Installs reliabilitydiag and what it needs from a repository into a library of scorereport's own; sourced
# after shared.R and installation.R. The operations are asked one after the other, in the same process.

# The address of the repository: the one that is asked for, or CRAN at the mirror that the user has chosen, or
# else the first of R's list of mirrors.
find_repository <- function(repository) {
  chosen <- getOption("repos")
  chosen <- c(chosen[names(chosen) == "CRAN"], chosen, "@CRAN@")[[1]]
  if (chosen == "@CRAN@") chosen <- utils::getCRANmirrors(local.only = TRUE)$URL[1]
  repository <- if (nzchar(repository)) repository else chosen
  list(address = sub("/+$", "", repository), R = paste(R.version$major, R.version$minor, sep = "."))
}

# Whether the repository answers at all; an error says why not.
reach <- function(repository) {
  reasons <- character()
  for (file in c("PACKAGES.rds", "PACKAGES.gz", "PACKAGES")) {
    reason <- failure_to_read(paste0(utils::contrib.url(repository, "source"), "/", file))
    if (length(reason) == 0) {
      return(list(reached = 1))
    }
    reasons <- c(reasons, reason)
  }
  stop(reasons[1])
}

failure_to_read <- function(address) {
  tryCatch(
    {
      con <- url(address, "rb")
      on.exit(close(con))
      if (length(readBin(con, "raw", 1)) == 0) "its index is empty"
    },
    warning = conditionMessage,
    error = conditionMessage
  )
}

# What the repository offers for this R: ready-built packages where R has such, otherwise sources.
offered <- function(repository) {
  for (kind in unique(c(if (.Platform$pkgType != "source") "binary", "source"))) {
    index <- utils::available.packages(repos = repository, type = kind)
    if ("reliabilitydiag" %in% rownames(index)) {
      return(list(index = index, kind = kind))
    }
  }
  stop("it has no package reliabilitydiag for R ", getRversion())
}

# All packages that are needed and that R does not bring.
list_needed <- function(repository) {
  rows <- row_of(offered(repository)$index)
  needed <- closure_of("reliabilitydiag", rows, c("Depends", "Imports", "LinkingTo"))
  list(packages = setdiff(needed, rownames(shipped())))
}

# What comes with R itself.
shipped <- function() {
  found <- installed(.Library)
  found[!is.na(found[, "Priority"]), , drop = FALSE]
}

# What is to be installed into `library`. Packages of R itself and, unless `is_alone`, of the distribution are
# used as they are where they suit; then a package of the distribution never gets a dependency from elsewhere,
# with which it was not built. What an earlier call has installed is kept.
plan <- function(repository, library, is_alone) {
  from <- offered(repository)
  index <- from$index
  given <- installed(c(if (!is_alone) distribution_library(), .Library))
  if (is_alone) given <- given[!is.na(given[, "Priority"]), , drop = FALSE]
  resolved <- resolve("reliabilitydiag", index, given)
  wanted <- resolved$wanted
  kept <- kept_packages(library, index, wanted)
  unlink(file.path(library, setdiff(dir(library, all.files = TRUE, no.. = TRUE), kept)), recursive = TRUE)
  list(
    packages = setdiff(wanted, kept), count = length(wanted),
    is_mixed = any(is.na(given[resolved$taken, "Priority"])), is_source = from$kind == "source"
  )
}

# The needed packages: those that can be taken from `given`, and the others.
resolve <- function(package, index, given) {
  given <- given[setdiff(rownames(given), package), , drop = FALSE]
  repeat {
    rows_of <- function(name) if (name %in% rownames(given)) given[name, ] else row_of(index)(name)
    needed <- closure_of(package, rows_of, c("Depends", "Imports", "LinkingTo"))
    taken <- intersect(needed, rownames(given))
    unfit <- unfit_packages(taken, given, setdiff(needed, taken), rows_of)
    if (length(unfit) == 0) break
    given <- given[setdiff(rownames(given), unfit), , drop = FALSE]
  }
  wanted <- setdiff(needed, rownames(given))
  absent <- setdiff(wanted, rownames(index))
  if (length(absent) > 0) {
    stop("it does not have ", absent[1], " for R ", getRversion(), ", which ", package, " needs")
  }
  list(wanted = wanted, taken = setdiff(needed, wanted))
}

# Packages that are too old for another one, and those that were built with one that is taken from elsewhere.
unfit_packages <- function(taken, given, wanted, rows_of) {
  required <- do.call(rbind, lapply(Filter(Negate(is.null), lapply(c(wanted, taken), rows_of)), requirements))
  required <- required[required$package %in% taken, ]
  is_unmet <- vapply(seq_len(nrow(required)), function(i) {
    !is_met(given[required$package[i], "Version"], required$operator[i], required$version[i])
  }, logical(1))
  is_cut <- vapply(taken, function(name) {
    any(requirements(given[name, ], c("Depends", "Imports"))$package %in% wanted)
  }, logical(1))
  is_base <- given[taken, "Priority"] %in% "base"
  setdiff(unique(c(required$package[is_unmet], taken[is_cut])), taken[is_base])
}

# Packages of an earlier call that are what the repository offers, and depend on such only.
kept_packages <- function(library, index, wanted) {
  found <- installed(library)
  kept <- intersect(rownames(found), wanted)
  kept <- kept[found[kept, "Version"] == index[kept, "Version"]]
  repeat {
    is_kept <- vapply(kept, function(name) {
      all(intersect(requirements(index[name, ])$package, wanted) %in% kept)
    }, logical(1))
    if (all(is_kept)) {
      return(kept)
    }
    kept <- kept[is_kept]
  }
}

# Returns the packages that could not be installed. Help pages are left out: nobody reads them there.
install <- function(repository, library, packages, cores) {
  use_library(library)
  # R also runs in processes of its own here, which must find the same packages.
  Sys.setenv(R_LIBS_USER = library, R_PROFILE_USER = file.path(library, "no profile"))
  options(timeout = max(300, getOption("timeout")), install.packages.compile.from.source = "never")
  if (!nzchar(Sys.which(Sys.getenv("MAKE", "make")))) cores <- 1
  from <- offered(repository)
  utils::install.packages(
    packages,
    lib = library, repos = repository, type = from$kind, dependencies = FALSE, Ncpus = cores,
    INSTALL_opts = c("--no-docs", "--no-multiarch")
  )
  found <- installed(library)
  is_there <- vapply(packages, function(name) {
    name %in% rownames(found) && found[name, "Version"] == from$index[name, "Version"]
  }, logical(1))
  list(failed = packages[!is_there])
}

operations <- list(
  find_repository = find_repository, reach = reach, list_needed = list_needed, plan = plan, install = install
)
