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

# ---- Data frames and formulas ----

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
  tryCatch(eval(expression, frame, environment), error = function(error) {
    hint <- if (is.name(expression) && !is.null(frame)) suggest_name(as.character(expression), names(frame)) else ""
    fail("`", name_of_expression(expression), "` of the formula cannot be evaluated: ", conditionMessage(error), ".", hint)
  })
}

name_of_expression <- function(expression) {
  if (is.name(expression)) as.character(expression) else paste(deparse(expression), collapse = " ")
}

# ---- Fitted models ----

as_request.glm <- function(data, outcome, forecasts, options, source) {
  name <- if (grepl("^[[:alpha:]][[:alnum:]._]*$", source)) source else "glm"
  as_request.list(structure(list(data), names = name), outcome, forecasts, options, source)
}

# ---- Probabilities ----

as_request.numeric <- function(data, outcome, forecasts, options, source) {
  if (is.null(outcome)) fail("`outcome` is missing: sr_evaluate(probabilities, outcome = y).")
  model <- if (is.null(forecasts)) "model" else forecasts
  if (!is.character(model) || length(model) != if (is.matrix(data)) max(1L, length(model)) else 1L) {
    fail("`forecasts` must be the name of the model; got ", describe_class(forecasts), ".")
  }
  if (!is.matrix(data)) return(as_request.list(structure(list(data), names = model), outcome, NULL, options, source))
  if (is_of_classes(data, outcome, options)) {
    return(as_request.list(structure(list(data), names = model[1]), outcome, NULL, options, source))
  }
  models <- lapply(seq_len(ncol(data)), function(place) as.vector(data[, place]))
  names(models) <- name_models(data, forecasts)
  as_request.list(models, outcome, NULL, options, source)
}

as_request.matrix <- function(data, outcome, forecasts, options, source) {
  if (!is.numeric(data)) {
    fail("A matrix of forecasts must hold numbers; got ", describe_class(data), ".")
  }
  as_request.numeric(data, outcome, forecasts, options, source)
}

name_models <- function(data, forecasts) {
  names <- if (is.null(forecasts)) colnames(data) else forecasts
  if (is.null(names)) names <- character(ncol(data))
  unnamed <- !nzchar(names)
  names[unnamed] <- if (ncol(data) == 1) "model" else paste0("model_", seq_len(ncol(data)))[unnamed]
  if (length(names) != ncol(data)) {
    fail("`forecasts` must name the ", ncol(data), " columns of the matrix; got ", length(names), " names.")
  }
  names
}

# Whether the columns of a matrix are the classes of one model, and not several models of an event.
is_of_classes <- function(data, outcome, options) {
  if (!is.null(options$classes)) return(TRUE)
  levels <- levels(outcome)
  if (length(levels) == 2) return(ncol(data) == 2 && setequal(colnames(data), levels))
  length(levels) > 2
}

# A named list of fitted models, of vectors, or of matrices with a column for each class.
as_request.list <- function(data, outcome, forecasts, options, source) {
  check_models(data)
  newdata <- if (is.data.frame(outcome)) outcome else options$newdata
  options$newdata <- NULL
  outcomes <- if (!is.null(outcome) && !is.data.frame(outcome)) outcome
  models <- lapply(data, function(model) if (inherits(model, "glm")) read_glm(model, newdata) else model)
  fitted <- vapply(data, inherits, NA, "glm")
  if (is.null(outcomes) && !any(fitted)) fail("`outcome` is missing: sr_evaluate(models, outcome = y).")
  if (is.null(outcomes)) return(request_of_fits(models, fitted, options))
  probabilities <- lapply(models, function(model) if (is.list(model)) model$p else model)
  check_order(probabilities, outcomes)
  table <- list(columns = list(outcome = outcomes), n = NROW(outcomes), used = "outcome", outcome = "outcome")
  add_probabilities(table, probabilities, options)
}

check_models <- function(models) {
  if (!length(models) || is.null(names(models)) || !all(nzchar(names(models))) || anyDuplicated(names(models))) {
    fail("A list of models needs a name for each, and names must differ: list(logit = fit_1, boost = fit_2).")
  }
  known <- vapply(models, function(model) inherits(model, "glm") || is.numeric(model), NA)
  if (!all(known)) {
    wrong <- names(models)[!known][1]
    fail("`", wrong, "` must be a fitted glm, or numbers; got ", describe_class(models[[wrong]]), ".",
         describe_other_model(models[[wrong]]))
  }
}

check_order <- function(probabilities, outcomes) {
  first <- probabilities[[1]]
  are_swapped <- is.numeric(outcomes) && is.null(dim(outcomes)) && all(first %in% c(0, 1, NA)) &&
    any(outcomes > 0 & outcomes < 1, na.rm = TRUE)
  if (are_swapped) fail("The outcomes seem to come first; write sr_evaluate(probabilities, outcome = y).")
}

# Models of the same rows, with the outcomes that they were fitted to, or those of new data.
request_of_fits <- function(models, fitted, options) {
  first <- models[fitted][[1]]
  for (name in names(models)[fitted]) {
    if (!identical(models[[name]]$y, first$y) || !identical(models[[name]]$weight, first$weight)) {
      fail("The models were fitted to different outcomes: those of `", names(models)[fitted][1], "` and `", name,
           "` differ. To fix: give the rows on which all of them are compared as newdata.")
    }
  }
  columns <- c(structure(list(first$y), names = first$outcome), first$data[setdiff(names(first$data), first$outcome)])
  table <- list(columns = columns, n = length(first$y), used = first$outcome, outcome = first$outcome)
  if (!is.null(first$weight)) {
    if (!is.null(options$weight)) fail("`weight` is given, but the models have counts as weights already.")
    table$columns$trials <- first$weight
    options$weight <- "trials"
    options$weight_kind <- if (all(first$weight == round(first$weight))) "frequency" else "sampling"
  }
  add_probabilities(table, lapply(models, function(model) if (is.list(model)) model$p else model), options)
}

# The outcomes, the probabilities and the other columns of a fitted binomial model.
read_glm <- function(model, newdata) {
  if (!model$family$family %in% c("binomial", "quasibinomial")) {
    fail("A fitted glm must be of the family binomial; got ", model$family$family, ".")
  }
  found <- if (is.null(newdata)) read_fitted(model) else read_predicted(model, newdata)
  found$outcome <- name_of_expression(stats::formula(model)[[2]])
  found
}

read_fitted <- function(model) {
  p <- as.vector(model$fitted.values)
  successes <- as.vector(model$y)
  trials <- as.vector(model$prior.weights)
  if (is.null(successes)) fail("The model was fitted with y = FALSE. To fix: fit it with y = TRUE, or give newdata.")
  rows <- names(model$fitted.values)
  data <- if (is.data.frame(model$data)) as.list(model$data[match(rows, rownames(model$data)), , drop = FALSE])
  if (all(trials == 1) && all(successes %in% c(0, 1))) {
    return(list(y = label_outcomes(model, successes), p = p, data = data))
  }
  # Each row stands for trials, of which a share succeeded: a row of successes and a row of failures.
  counts <- c(trials * successes, trials * (1 - successes))
  counts <- ifelse(abs(counts - round(counts)) < 1e-8, round(counts), counts)
  kept <- counts > 0
  list(y = rep(c(1, 0), each = length(p))[kept], p = c(p, p)[kept], weight = counts[kept],
       data = lapply(data, function(column) rep(column, 2)[kept]))
}

# Outcomes with the labels of a response with two levels, else 0 and 1.
label_outcomes <- function(model, successes) {
  levels <- response_levels(model)
  if (length(levels) == 2) factor(levels[successes + 1], levels) else successes
}

response_levels <- function(model) {
  response <- tryCatch(stats::model.response(stats::model.frame(model)), error = function(error) NULL)
  levels(response)
}

read_predicted <- function(model, newdata) {
  formula <- stats::formula(model)
  y <- tryCatch(eval(formula[[2]], newdata, environment(formula)), error = function(error) NULL)
  if (is.null(y) || NROW(y) != nrow(newdata) || !is.null(dim(y))) {
    fail("`newdata` must have the outcomes of the model, ", name_of_expression(formula[[2]]), ", one for each row.")
  }
  levels <- response_levels(model)
  if (is.factor(y) || is.character(y)) {
    y <- if (length(levels) == 2) factor(y, levels) else as.numeric(as.character(y) != levels[1])
  }
  p <- as.vector(stats::predict(model, newdata = newdata, type = "response"))
  list(y = y, p = p, data = as.list(newdata))
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
  if (distances[near] > max(1, nchar(name) / 3)) return("")
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

is_classified <- function(table, forecasts, options) {
  is.list(forecasts) || !is.null(options$classes) || nlevels(table$columns[[table$outcome]]) > 2
}

list_classes <- function(table, options) {
  if (!is.null(options$classes)) return(as.character(options$classes))
  outcome <- table$columns[[table$outcome]]
  if (!is.factor(outcome)) {
    fail("`classes` is missing: give the labels of the classes in their order, or make the outcome a factor.")
  }
  levels(outcome)
}

# The probabilities of each model as a matrix, from columns that are listed or named MODEL_CLASS.
columns_of_classes <- function(table, forecasts, classes) {
  if (!is.list(forecasts)) {
    forecasts <- structure(lapply(forecasts, paste, classes, sep = "_"), names = forecasts)
  }
  if (is.null(names(forecasts)) || !all(nzchar(names(forecasts)))) {
    fail("`forecasts` must name each model: list(logit = c(\"p_low\", \"p_mid\", \"p_high\")).")
  }
  lapply(forecasts, function(columns) {
    check_present(columns, table)
    do.call(cbind, table$columns[columns])
  })
}

# Add probabilities: vectors for an event, or matrices with a column for each class.
add_probabilities <- function(table, models, options) {
  outcome <- table$columns[[table$outcome]]
  are_matrices <- vapply(models, is.matrix, NA)
  if (any(are_matrices) && !all(are_matrices)) {
    fail("Models must be vectors of probabilities, or all of them matrices with a column for each class.")
  }
  if (any(are_matrices) && nlevels(outcome) == 2 && is.null(options$classes)) {
    models <- lapply(models, function(model) arrange_classes(model, levels(outcome))[, 2])
    are_matrices <- FALSE
  }
  sizes <- vapply(models, NROW, 0L)
  if (any(sizes != table$n)) {
    fail("There must be a forecast for each of the ", table$n, " outcomes; ",
         list_named(sizes[sizes != table$n][1]), ".")
  }
  if (any(are_matrices)) return(add_classes(table, models, options))
  if (nlevels(outcome) > 2 && is.null(options$positive)) {
    fail("The outcome has ", nlevels(outcome), " levels, but forecasts are of one event. To fix: give a matrix ",
         "with a column for each level, or the level of the event as `positive`.")
  }
  named <- free_names(names(models), names(table$columns)[names(table$columns) %in% table$used])
  table$columns[named] <- lapply(models, as.vector)
  finish_options(table, named, options)
}

add_classes <- function(table, models, options) {
  classes <- list_classes(table, options)
  outcome <- table$columns[[table$outcome]]
  options$classes <- classes
  if (is.null(options$ordered) && is.ordered(outcome)) options$ordered <- TRUE
  if (any(grepl("=", names(models), fixed = TRUE))) fail("Names of models of several classes must not contain `=`.")
  table$columns[[table$outcome]] <- factor(as.character(outcome), unique(c(classes, unique(as.character(outcome)))))
  for (name in names(models)) {
    own <- paste(name, classes, sep = "_")
    if (any(own %in% table$used)) fail("Names of models and classes must not give the same column: ", own[own %in% table$used][1], ".")
    table$columns[own] <- split_columns(arrange_classes(models[[name]], classes))
    table$used <- c(table$used, own)
  }
  finish_options(table, names(models), options, columns = character())
}

# The columns of a matrix in the order of the classes: by their names, or as they are if they have none.
arrange_classes <- function(model, classes) {
  named <- colnames(model)
  if (ncol(model) != length(classes)) {
    fail("A matrix of probabilities must have a column for each of the ", length(classes), " classes; got ",
         ncol(model), ".")
  }
  if (!is.null(named) && setequal(named, classes)) model[, match(classes, named), drop = FALSE] else model
}

split_columns <- function(matrix) lapply(seq_len(ncol(matrix)), function(place) as.vector(matrix[, place]))

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
