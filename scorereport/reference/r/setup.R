# Installs reliabilitydiag into the user's library: Rscript setup.R RESULT REPOSITORY AGAIN
# The repository is CRAN, at the mirror that the user has chosen or else the first of R's list. The result is
# written to the file RESULT: a line that states what was done, or "failed: " with a reason.

arguments <- commandArgs(trailingOnly = TRUE)
result <- arguments[1]
repository <- arguments[2]
again <- arguments[3] == "again"
package <- "reliabilitydiag"

finish <- function(...) {
  writeLines(enc2utf8(paste0(...)), result, useBytes = TRUE)
  quit(save = "no")
}

loads <- function() {
  tryCatch(!is.null(loadNamespace(package)), error = function(e) {
    message(conditionMessage(e))
    FALSE
  })
}

described <- function() {
  paste0(package, " ", utils::packageVersion(package), " in ", dirname(system.file(package = package)))
}

user_library <- function() {
  configured <- strsplit(Sys.getenv("R_LIBS_USER"), .Platform$path.sep)[[1]]
  configured <- configured[nzchar(configured) & configured != "NULL"]
  # R does not search any other library of a user
  path <- if (length(configured) > 0) path.expand(configured[1]) else .libPaths()[1]
  dir.create(path, recursive = TRUE, showWarnings = FALSE)
  if (file.access(path, 2) != 0) finish("failed: the library ", path, " cannot be written to")
  path
}

if (!again && nzchar(system.file(package = package)) && loads()) {
  finish("nothing to do: there is ", described())
}

library_path <- user_library()
.libPaths(c(library_path, .libPaths()))
if (nzchar(repository)) {
  options(repos = c(CRAN = repository))
} else if (identical(unname(getOption("repos")["CRAN"]), "@CRAN@")) {
  utils::chooseCRANmirror(graphics = FALSE, ind = 1, local.only = TRUE)
}
message("Installing ", package, " from ", getOption("repos")[1], " into ", library_path)
written <- function() file.info(file.path(library_path, package, "DESCRIPTION"))$mtime
before <- written()
tryCatch(
  utils::install.packages(package, lib = library_path),
  error = function(e) message(conditionMessage(e))
)

if (is.na(written()) || identical(written(), before)) finish("failed: ", package, " was not installed")
if (!loads()) finish("failed: ", package, " was installed but does not load")
finish("installed ", described())
