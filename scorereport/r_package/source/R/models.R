# Requests from fitted models, and from named lists of models.

as_request.glm <- function(data, outcome, forecasts, options, source) {
  name <- if (grepl("^[[:alpha:]][[:alnum:]._]*$", source)) source else "glm"
  as_request.list(structure(list(data), names = name), outcome, forecasts, options, source)
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
