# The command line of the Python package: found once in a session, called with files.

session <- new.env(parent = emptyenv())

fail <- function(..., class = NULL, exit_code = NULL) {
  message <- paste0(...)
  stop(structure(
    class = c(class, "scorereport_error", "error", "condition"),
    list(message = message, call = NULL, exit_code = exit_code)
  ))
}

sr_available <- function() {
  !inherits(tryCatch(sr_command(), error = identity), "error")
}

sr_command <- function(refresh = FALSE) {
  wanted <- Sys.getenv("SCOREREPORT_PYTHON")
  known <- session$command
  if (refresh || is.null(known) || !identical(known$wanted, wanted)) {
    session$command <- NULL
    found <- if (nzchar(wanted)) find_named(wanted) else find_on_path()
    check_version(found)
    found$wanted <- wanted
    session$command <- structure(found, class = "sr_command")
  }
  session$command
}

print.sr_command <- function(x, ...) {
  cat("scorereport ", x$version, ": ", paste(c(x$program, x$arguments), collapse = " "), "\n", sep = "")
  invisible(x)
}

# The Python that SCOREREPORT_PYTHON names: an interpreter, or the folder of a virtual environment.
find_named <- function(wanted) {
  program <- locate_program(wanted)
  if (!nzchar(program)) {
    fail("SCOREREPORT_PYTHON is ", wanted, ", where there is no Python. To fix: let it name the python ",
         "of the environment in which scorereport is installed, or unset it.", class = "scorereport_absent")
  }
  found <- ask_version(program, c("-m", "scorereport"))
  if (is.null(found)) {
    fail("SCOREREPORT_PYTHON is ", wanted, ", which cannot import scorereport. To fix: ",
         program, " -m pip install scorereport", class = "scorereport_absent")
  }
  found
}

locate_program <- function(wanted) {
  inside <- file.path(wanted, c("bin/python", "Scripts/python.exe"))
  candidates <- c(if (dir.exists(wanted)) inside[file.exists(inside)] else wanted, "")
  program <- candidates[1]
  # not normalizePath(): the python of a virtual environment is a link that must be called by its name
  if (file.exists(program) && !dir.exists(program)) absolute_path(program) else unname(Sys.which(program))
}

find_on_path <- function() {
  tried <- list(list("scorereport", character()), list("python3", c("-m", "scorereport")),
                list("python", c("-m", "scorereport")))
  for (each in tried) {
    program <- unname(Sys.which(each[[1]]))
    found <- if (nzchar(program)) ask_version(program, each[[2]])
    if (!is.null(found)) return(found)
  }
  fail("The Python package scorereport was not found: there is no scorereport on the path, and no python3 or ",
       "python that can import it. To fix: install it (pip install scorereport), and let the environment ",
       "variable SCOREREPORT_PYTHON name the python in which it is installed, for example ",
       "Sys.setenv(SCOREREPORT_PYTHON = \"~/venv/bin/python\").", class = "scorereport_absent")
}

# The version that a program states; NULL if it is not scorereport.
ask_version <- function(program, arguments) {
  output <- tempfile("scorereport-version-")
  on.exit(unlink(output))
  status <- run_program(program, c(arguments, "--version"), output = output, errors = FALSE)
  text <- if (identical(status, 0L)) readLines(output, warn = FALSE) else ""
  version <- sub("^scorereport ([0-9][0-9.]*).*$", "\\1", text[grepl("^scorereport [0-9]", text)])
  if (length(version) != 1) return(NULL)
  list(program = program, arguments = arguments, version = version)
}

# Documents may change with the first two numbers of a version.
check_version <- function(found) {
  own <- as.character(utils::packageVersion("scorereport"))
  if (!identical(minor_version(own), minor_version(found$version))) {
    fail("This is the R package scorereport ", own, ", but ", found$program, " has scorereport ",
         found$version, ". To fix: ", paste(c(found$program, found$arguments), collapse = " "),
         " r-package installs the R package that fits; then restart R.", class = "scorereport_absent")
  }
}

minor_version <- function(version) sub("^([0-9]+[.][0-9]+).*$", "\\1", version)

# Run the command line on arguments in a file, so that neither shells nor locales change them. Returns its exit
# code and what it wrote on standard error.
call_command <- function(arguments, folder) {
  command <- sr_command()
  write_utf8(jsonlite::toJSON(enc2utf8(arguments)), file.path(folder, "arguments.json"))
  errors <- file.path(folder, "errors.txt")
  code <- run_program(command$program, c(command$arguments, "--arguments", "arguments.json"),
                      output = file.path(folder, "output.txt"), errors = errors, folder = folder)
  list(code = code, text = readLines(errors, warn = FALSE, encoding = "UTF-8"))
}

run_program <- function(program, arguments, output, errors, folder = NULL) {
  if (!is.null(folder)) {
    before <- setwd(folder)
    on.exit(setwd(before))
  }
  # R CMD check sets R_TESTS, with which the R of a certificate would not start.
  restore <- set_environment(PYTHONIOENCODING = "utf-8", R_TESTS = NA, LD_LIBRARY_PATH = library_path_outside())
  on.exit(restore(), add = TRUE)
  suppressWarnings(system2(program, arguments, stdout = output, stderr = errors, stdin = ""))
}

# LD_LIBRARY_PATH without what R adds for itself: with that, a Python that is not the system's would load the
# libraries of the system's. NA if nothing is left.
library_path_outside <- function() {
  if (is.null(session$added)) session$added <- library_path_of_r()
  entries <- strsplit(Sys.getenv("LD_LIBRARY_PATH"), ":", fixed = TRUE)[[1]]
  left <- setdiff(entries, session$added)
  if (length(left)) paste(left, collapse = ":") else NA_character_
}

# What the script that starts R puts into LD_LIBRARY_PATH.
library_path_of_r <- function() {
  script <- file.path(R.home("etc"), "ldpaths")
  if (.Platform$OS.type != "unix" || !file.exists(script)) return(character())
  code <- paste0("LD_LIBRARY_PATH=; . ", shQuote(script), "; printf %s \"$LD_LIBRARY_PATH\"")
  added <- suppressWarnings(system2("sh", c("-c", shQuote(code)), stdout = TRUE, stderr = FALSE))
  unlist(strsplit(added, ":", fixed = TRUE))
}

set_environment <- function(...) {
  new <- c(...)
  old <- Sys.getenv(names(new), unset = NA, names = TRUE)
  apply_environment(new)
  function() apply_environment(old)
}

apply_environment <- function(values) {
  for (name in names(values)) {
    if (is.na(values[[name]])) Sys.unsetenv(name) else do.call(Sys.setenv, as.list(values[name]))
  }
}

# Exit codes that are results: done, a limit is breached, warnings, the certificate failed.
RESULTS <- c(done = 0L, breached = 1L, warnings = 3L, uncertified = 5L)

check_outcome <- function(outcome) {
  if (!outcome$code %in% RESULTS) {
    fail(describe_failure(outcome), class = "scorereport_refused", exit_code = outcome$code)
  }
  outcome$code
}

describe_failure <- function(outcome) {
  said <- outcome$text[nzchar(outcome$text)]
  if (!length(said)) {
    return(paste0("The command line of scorereport ended with code ", outcome$code, " and said nothing."))
  }
  own <- grep("^(scorereport|Error): ", said)
  if (length(own)) said <- said[own[1]:length(said)]
  name_as_arguments(paste(sub("^(scorereport|Error): ", "", said), collapse = "\n"))
}

# Options are named as arguments of R in messages: `--smallest-group` is `smallest_group`.
name_as_arguments <- function(text) {
  text <- gsub(" [(]--[^)]*[)]", "", text)  # the same again for the command line
  text <- sub("^No such option: ([^ ]+) ?", "There is no argument `\\1`. ", text)
  text <- trimws(sub("[(]Possible options: (.*)[)]$", "Did you mean one of \\1?", text))
  found <- unique(regmatches(text, gregexpr("--[a-z][a-z-]*", text))[[1]])
  for (option in found[order(-nchar(found))]) {
    name <- gsub("-", "_", sub("^--", "", option), fixed = TRUE)
    text <- gsub(paste0(option, "(?![a-z-])"), arguments_of_options(name), text, perl = TRUE)
  }
  text
}

arguments_of_options <- function(name) {
  known <- c(group = "groups", forecast = "forecasts", threshold = "thresholds",
             retention_fraction = "retention_fractions")
  if (name %in% names(known)) known[[name]] else name
}
