# Requests from data frames and formulas.

as_request.data.frame <- function(data, outcome, forecasts, options, source) {
  if (is.null(outcome)) fail("`outcome` is missing: name the column of outcomes.")
  if (is.null(forecasts)) fail("`forecasts` is missing: name a column of probabilities for each model.")
  table <- open_table(data)
  table <- add_role(table, outcome, "outcome")
  if (!is.character(forecasts) && !is.list(forecasts)) {
    fail("`forecasts` must be names of columns, or, for several classes, a list of the columns of each model; ",
         "got ", describe_class(forecasts), ".")
  }
  finish_request(table, forecasts, options)
}

as_request.formula <- function(data, outcome, forecasts, options, source) {
  if (!is.null(forecasts)) fail("`forecasts` and a formula exclude each other: y ~ a + b names the forecasts a and b.")
  if (!is.null(outcome) && !is.data.frame(outcome)) {
    fail("A formula needs a data frame, as in sr_evaluate(y ~ p, data); got ", describe_class(outcome), ".")
  }
  if (length(data) != 3) fail("The formula has no outcome: write outcome ~ forecast + forecast.")
  frame <- outcome
  terms <- stats::terms(expand_dot(data, frame, options))
  if (any(attr(terms, "order") > 1) || !length(attr(terms, "term.labels"))) {
    fail("The right side of the formula must be forecasts joined by `+`; got ",
         paste(deparse(data[[3]]), collapse = " "), ".")
  }
  variables <- as.list(attr(terms, "variables"))[-1]
  names <- vapply(variables, name_of_expression, "")
  values <- lapply(variables, evaluate_variable, frame, environment(data))
  names(values) <- names
  lengths <- vapply(values, NROW, 0L)
  if (length(unique(lengths)) != 1) {
    fail("The variables of the formula have different lengths: ", list_named(lengths), ".")
  }
  others <- if (is.null(frame)) list() else as.list(frame)[setdiff(names(frame), names)]
  table <- list(columns = c(values, others), n = lengths[[1]], used = names[1], outcome = names[1])
  finish_request(table, names[-1], options)
}

# A dot stands for all columns that have no other role.
expand_dot <- function(formula, frame, options) {
  if (is.null(frame) || !"." %in% all.vars(formula[[3]])) return(formula)
  taken <- c(all.vars(formula[[2]]), unlist(Filter(is.character, options[intersect(names(options), ROLES)])))
  rest <- setdiff(names(frame), taken)
  joined <- Reduce(function(a, b) call("+", a, b), lapply(rest, as.name))
  formula[[3]] <- do.call(substitute, list(formula[[3]], list(. = joined)))
  formula
}

evaluate_variable <- function(expression, frame, environment) {
  name <- name_of_expression(expression)
  hint <- if (is.name(expression) && !is.null(frame)) suggest_name(name, names(frame)) else ""
  values <- tryCatch(eval(expression, frame, environment), error = function(error) {
    fail("`", name, "` of the formula cannot be evaluated: ", conditionMessage(error), ".", hint)
  })
  # a column that is missing may have the name of a function, such as `q`
  if (is.function(values)) fail("`", name, "` of the formula is a function, not values.", hint)
  values
}

name_of_expression <- function(expression) {
  if (is.name(expression)) as.character(expression) else paste(deparse(expression), collapse = " ")
}
