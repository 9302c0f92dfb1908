# Requests from vectors and matrices of probabilities: of an event, or of several classes.

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
