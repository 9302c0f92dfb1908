# What an evaluation needs: a table of columns, and which of them are outcomes, forecasts, groups, weights, ...
# A request is a list of `columns` and of `options` for the command line.

# Options that name columns of the data, in R by names or by vectors.
ROLES <- c("weight", "groups", "cluster", "time", "grade")

# Options of the command line that have no meaning here.
RESERVED <- c(output = "sr_report(..., file = )", from = "sr_report(evaluation, file = )",
              json = "as.data.frame()", show = "as.data.frame()", table = "a data frame", file = "sr_report()",
              quiet = "nothing", arguments = "nothing")

make_request <- function(data, outcome, forecasts, options, source) {
  check_options(options)
  if (is.null(outcome)) outcome <- options$formula
  options$formula <- NULL
  if (is.null(data) && is.null(outcome)) {
    fail("`data` is missing: give a data frame, a formula, a fitted glm, or probabilities.")
  }
  if (inherits(outcome, "formula")) {  # sr_evaluate(y ~ p, data = d) and sr_evaluate(d, y ~ p)
    given <- data
    data <- outcome
    outcome <- given
  }
  names(options)[names(options) == "group"] <- "groups"
  request <- as_request(data, outcome, forecasts, options, source)
  request$source <- source
  request
}

check_options <- function(options) {
  if (length(options) && (is.null(names(options)) || !all(nzchar(names(options))))) {
    fail("All arguments after `forecasts` are named, such as groups = \"region\" or level = 0.9.")
  }
  twice <- names(options)[duplicated(names(options))]
  if (length(twice)) fail("`", twice[1], "` is given twice.")
  reserved <- intersect(names(options), names(RESERVED))
  if (length(reserved)) {
    fail("`", reserved[1], "` is an option of the command line only; in R, use ", RESERVED[[reserved[1]]], ".")
  }
}

as_request <- function(data, outcome, forecasts, options, source) UseMethod("as_request")

as_request.default <- function(data, outcome, forecasts, options, source) {
  if (inherits(data, "sr_evaluation")) fail("`data` is an evaluation already: plot(), summary() and sr_report() show it.")
  fail("`data` must be a data frame, a formula, a fitted glm, a vector or matrix of probabilities, or a named ",
       "list of such models; got ", describe_class(data), ".", describe_other_model(data))
}

describe_other_model <- function(data) {
  if (!is.list(data) && !isS4(data)) return("")
  " For other models, give probabilities: sr_evaluate(predict(model, ...), outcome = y)."
}

# ---- From columns to options ----

open_table <- function(data) {
  list(columns = as.list(data), n = nrow(data), used = character(), outcome = NULL)
}

# Give a role to a column that is named, or to a vector with a value for each row.
add_role <- function(table, value, role) {
  if (is.character(value) && (length(value) == 1 || all(value %in% names(table$columns)))) {
    check_present(value, table)
    name <- value
  } else {
    added <- if (is.list(value)) value else list(value)
    name <- free_names(if (is.null(names(added))) role else names(added), names(table$columns))
    lengths <- vapply(added, NROW, 0L)
    if (any(lengths != table$n)) {
      fail("`", role, "` must name a column, or have a value for each of the ", table$n, " rows; got ",
           lengths[lengths != table$n][1], " values.")
    }
    table$columns[name] <- added
  }
  table$used <- c(table$used, name)
  table[[role]] <- name
  table
}

free_names <- function(wanted, taken) {
  utils::tail(make.unique(c(taken, wanted), sep = "_"), length(wanted))
}

check_present <- function(names, table) {
  there <- names(table$columns)
  for (name in names) {
    if (!name %in% there) {
      shown <- paste0("`", utils::head(there, 12), "`", collapse = ", ")
      more <- if (length(there) > 12) paste0(" and ", length(there) - 12, " more") else ""
      fail("There is no column `", name, "`; the columns are ", shown, more, ".", suggest_name(name, there))
    }
    if (sum(there == name) > 1) fail("There are ", sum(there == name), " columns `", name, "`; names must differ.")
  }
}

suggest_name <- function(name, known) {
  if (!length(known)) return("")
  distances <- utils::adist(name, known, ignore.case = TRUE)[1, ]
  near <- which.min(distances)
  if (distances[near] > max(1, nchar(name) / 3) || distances[near] >= nchar(name)) return("")
  paste0(" Did you mean `", known[near], "`?")
}

list_named <- function(values) paste0(names(values), " ", values, collapse = ", ")

finish_request <- function(table, forecasts, options) {
  if (is_classified(table, forecasts, options)) {
    models <- columns_of_classes(table, forecasts, list_classes(table, options))
    return(add_probabilities(table, models, options))
  }
  check_present(forecasts, table)
  finish_options(table, as.character(forecasts), options)
}

finish_options <- function(table, forecasts, options, columns = forecasts) {
  table$used <- c(table$used, columns)
  for (role in intersect(ROLES, names(options))) {
    if (is.null(options[[role]])) next
    table <- add_role(table, options[[role]], role)
    options[[role]] <- table[[role]]
  }
  outcome <- table$columns[[table$outcome]]
  is_binary <- is.null(options$classes)
  if (is_binary && is.null(options$positive) && nlevels(outcome) == 2) options$positive <- levels(outcome)[2]
  options <- c(list(outcome = table$outcome, forecasts = forecasts), options)
  list(columns = table$columns[unique(table$used)], options = options)
}

# The name of the data in reports: that of the first object, if it may be the name of a file everywhere.
source_name <- function(expression) {
  name <- if (is.language(expression)) all.vars(expression)[1] else NA
  if (grepl("^[A-Za-z][A-Za-z0-9._-]{0,59}$", name)) name else "data"
}
