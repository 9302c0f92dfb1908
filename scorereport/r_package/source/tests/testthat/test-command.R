with_variable <- function(value, code) {
  before <- Sys.getenv("SCOREREPORT_PYTHON", unset = NA)
  Sys.setenv(SCOREREPORT_PYTHON = value)
  on.exit(if (is.na(before)) Sys.unsetenv("SCOREREPORT_PYTHON") else Sys.setenv(SCOREREPORT_PYTHON = before))
  force(code)
}

test_that("a Python that is not there is named", {
  with_variable("/nowhere/python", {
    expect_false(sr_available())
    expect_error(sr_command(), "SCOREREPORT_PYTHON is /nowhere/python, where there is no Python", class = "scorereport_absent")
  })
})

test_that("a program without scorereport is named", {
  with_variable(file.path(R.home("bin"), "Rscript"), {
    expect_error(sr_command(), "which cannot import scorereport", class = "scorereport_absent")
  })
})

test_that("another version is refused", {
  found <- list(program = "python", arguments = c("-m", "scorereport"), version = "99.1.0")
  expect_error(scorereport:::check_version(found), "python has scorereport 99.1.0. To fix: python -m scorereport r-package")
})

test_that("options in messages are named as arguments", {
  said <- list(code = 2L, text = c("Usage: scorereport", "Error: No such option: --sed (Possible options: --seed)"))
  expect_identical(scorereport:::describe_failure(said), "There is no argument `sed`. Did you mean one of seed?")
  said$text <- "scorereport: `--smallest-group` must be a whole number; give --group."
  expect_identical(scorereport:::describe_failure(said), "`smallest_group` must be a whole number; give groups.")
  expect_identical(scorereport:::describe_failure(list(code = 9L, text = "")),
                   "The command line of scorereport ended with code 9 and said nothing.")
})

test_that("the library path of R is not that of Python", {
  skip_on_os("windows")
  entries <- strsplit(c(scorereport:::library_path_outside()), ":", fixed = TRUE)[[1]]
  expect_false(file.path(R.home(), "lib") %in% entries)
})
