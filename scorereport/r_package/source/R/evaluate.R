# Evaluations, reports and certificates: each call of the command line, and what it gives back.

sr_evaluate <- function(data = NULL, outcome = NULL, forecasts = NULL, ..., config = NULL, certify = FALSE) {
  request <- make_request(data, outcome, forecasts, list(...), name_source(substitute(data), substitute(outcome)))
  run_request(request, config = config, certify = certify)$evaluation
}

sr_certify <- function(data = NULL, outcome = NULL, forecasts = NULL, ..., config = NULL) {
  if (inherits(data, "sr_evaluation")) {
    if (is.null(data$certificate)) {
      fail("This evaluation has no certificate, for which R needs the rows. To fix: give sr_certify() the ",
           "arguments of sr_evaluate(), or evaluate with certify = TRUE.")
    }
    return(certificate_of(data))
  }
  request <- make_request(data, outcome, forecasts, list(...), name_source(substitute(data), substitute(outcome)))
  certificate_of(run_request(request, config = config, certify = TRUE)$evaluation)
}

sr_report <- function(data = NULL, outcome = NULL, forecasts = NULL, ..., file = "report.pdf", config = NULL,
                      certify = FALSE, quiet = FALSE) {
  files <- check_files(file)
  found <- if (inherits(data, "sr_evaluation")) {
    if (!is.null(outcome) || !is.null(forecasts) || certify) {
      fail("An evaluation is reported as it is: `outcome`, `forecasts` and `certify` belong to sr_evaluate().")
    }
    run_document(data, list(...), files, config)
  } else {
    request <- make_request(data, outcome, forecasts, list(...), name_source(substitute(data), substitute(outcome)))
    run_request(request, config = config, certify = certify, files = files)
  }
  if (!quiet) describe_report(found)
  verdict <- attr(found$evaluation, "verdict")
  invisible(if (nzchar(verdict)) structure(files, verdict = verdict) else files)
}

# A formula names its data in the other argument.
name_source <- function(data, outcome) {
  is_formula <- is.call(data) && identical(data[[1]], as.name("~"))
  if (is_formula) source_name(outcome) else source_name(data)
}

check_files <- function(file) {
  if (!is.character(file) || !length(file) || anyNA(file)) {
    fail("`file` must be names of files, such as \"report.pdf\"; got ", describe_class(file), ".")
  }
  absolute_path(file)
}

describe_report <- function(found) {
  for (line in found$written) message(line)
  verdict <- attr(found$evaluation, "verdict")
  if (nzchar(verdict)) message("Verdict on the limits: ", verdict, ".")
}

# Evaluate the rows of a request; also write other files of the report.
run_request <- function(request, config, certify, files = character()) {
  folder <- make_folder()
  on.exit(unlink(folder, recursive = TRUE))
  data <- paste0(request$source, ".rds")
  write_data(request$columns, file.path(folder, data))
  own <- if (!is.null(config)) list(config = config)
  if (isTRUE(certify)) own$certify <- TRUE
  arguments <- list_arguments(c(own, request$options), folder)
  run_report(c(data, arguments), files, folder)
}

# Report an evaluation again from its results document, without the data.
run_document <- function(evaluation, options, files, config) {
  folder <- make_folder()
  on.exit(unlink(folder, recursive = TRUE))
  check_options(options)
  write_utf8(attr(evaluation, "document"), file.path(folder, "results.json"))
  own <- if (!is.null(config)) list(config = config)
  run_report(c("--from=results.json", list_arguments(c(own, options), folder)), files, folder)
}

run_report <- function(arguments, files, folder) {
  outputs <- c("evaluation.json", "evaluation.tables.json", files)
  outcome <- call_command(c("report", arguments, "--quiet", paste0("--output=", outputs)), folder)
  code <- check_outcome(outcome)
  written <- outcome$text[grepl(" written[.]", outcome$text) & !startsWith(outcome$text, "evaluation.")]
  list(evaluation = read_evaluation(folder, code), written = written)
}

read_evaluation <- function(folder, code) {
  document <- paste(readLines(file.path(folder, "evaluation.json"), warn = FALSE, encoding = "UTF-8"), collapse = "\n")
  found <- read_document(file.path(folder, "evaluation.tables.json"))
  tables <- lapply(found$tables, read_frame)
  names(tables) <- vapply(found$tables, function(table) table$name, "")
  about <- found[setdiff(names(found), c("version", "tables"))]
  about$models <- as.character(unlist(about$models))
  about$classes <- as.character(unlist(about$classes))
  about$events <- read_numbers(list(about$events))
  if (code == RESULTS["uncertified"]) warning(about$certificate_sentence, call. = FALSE)
  do.call(structure, c(list(tables, class = "sr_evaluation", document = document), about))
}

# ---- Certificates ----

certificate_of <- function(evaluation) {
  structure(evaluation$certificate, class = c("sr_certificate", "data.frame"),
            verdict = attr(evaluation, "certificate"), sentence = attr(evaluation, "certificate_sentence"))
}

# The sentence, and what does not simply agree, with the reasons.
print.sr_certificate <- function(x, most = 10, ...) {
  cat(strwrap(attr(x, "sentence")), sep = "\n")
  rest <- as.data.frame(x)[x$verdict != "agrees", ]
  rest <- rest[order(rest$verdict %in% c("expected deviation", "not compared")), ]
  shown <- describe_comparisons(rest)
  if (length(shown)) cat("\n")
  print_sentences(shown, most, c("group of comparisons that do not agree", "groups of comparisons that do not agree"))
  if (nrow(x)) cat("\nas.data.frame() has all ", nrow(x), " comparisons.\n", sep = "")
  invisible(x)
}

# A sentence for each verdict, quantity and reason, with the subjects that share it.
describe_comparisons <- function(rest) {
  keys <- paste(rest$verdict, rest$quantity, rest$reason, sep = "\r")
  groups <- split(seq_len(nrow(rest)), factor(keys, unique(keys)))
  vapply(groups, function(rows) {
    first <- rest[rows[1], ]
    subjects <- paste(unique(rest$subject[rows]), collapse = ", ")
    trimws(paste0(first$verdict, ": ", subjects, ", ", first$quantity, ". ", first$reason))
  }, "", USE.NAMES = FALSE)
}

as.data.frame.sr_certificate <- function(x, ...) {
  structure(x, class = "data.frame", verdict = NULL, sentence = NULL, caption = NULL)
}

# A part of a certificate is a data frame, for the sentence is about all of it.
`[.sr_certificate` <- function(x, ...) as.data.frame(x)[...]
