skip_without_command <- function() {
  skip_if_not(sr_available(), "The command line of scorereport was not found")
}

forecasts <- function() {
  p <- c(0.1, 0.1, 0.2, 0.3, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
  data.frame(y = c(0, 0, 1, 0, 0, 1, 0, 1, 1, 1), p = p, q = rev(p))
}

request <- function(...) {
  given <- list(...)
  fixed <- given[intersect(c("data", "outcome", "forecasts"), names(given))]
  rest <- given[setdiff(names(given), names(fixed))]
  scorereport:::make_request(fixed$data, fixed$outcome, fixed$forecasts, rest, "data")
}
