# Evaluations as R shows them: printed, summarized, as data frames.

sr_tables <- function(x) {
  check_evaluation(x)
  captions <- vapply(x, function(table) attr(table, "caption"), "")
  tables <- data.frame(table = names(x), rows = vapply(x, nrow, 0L), contents = captions, row.names = NULL,
                       stringsAsFactors = FALSE)
  structure(tables, class = c("sr_tables", "data.frame"))
}

# Contents are sentences: they are continued below each other rather than below the names.
print.sr_tables <- function(x, ...) {
  if (!identical(names(x), c("table", "rows", "contents"))) return(NextMethod())
  columns <- paste(format(c("table", x$table)), format(c("rows", format(x$rows, big.mark = ",")), justify = "right"))
  width <- max(getOption("width") - nchar(columns[1]) - 2, 30)
  for (i in seq_along(columns)) {
    lines <- strwrap(c("contents", x$contents)[i], width)
    starts <- c(columns[i], rep(strrep(" ", nchar(columns[i])), max(length(lines) - 1, 0)))
    cat(paste(starts, if (length(lines)) lines else ""), sep = "\n")
  }
  invisible(x)
}

check_evaluation <- function(x) {
  if (!inherits(x, "sr_evaluation")) fail("`x` must be an evaluation, from sr_evaluate(); got ", describe_class(x), ".")
}

as.data.frame.sr_evaluation <- function(x, row.names = NULL, optional = FALSE, table = "summary", ...) {
  if (!is.character(table) || length(table) != 1 || !table %in% names(x)) {
    name <- if (is.character(table)) table[1] else describe_class(table)
    fail("This evaluation has no table `", name, "`; it has ", paste(names(x), collapse = ", "), ".",
         suggest_name(name, names(x)))
  }
  frame <- structure(x[[table]], caption = NULL)
  if (!is.null(row.names)) rownames(frame) <- row.names
  frame
}

# ---- Printing ----

describe_rows <- function(x) {
  rows <- format(attr(x, "rows"), big.mark = ",")
  if (attr(x, "kind") != "binary") {
    kind <- if (attr(x, "kind") == "ordinal") "ordered classes" else "classes"
    return(paste0(rows, " rows, ", length(attr(x, "classes")), " ", kind, " of ", attr(x, "outcome")))
  }
  events <- attr(x, "events")
  paste0(rows, " rows, ", format(events, big.mark = ",", digits = 15), " events of ", attr(x, "outcome"),
         if ("prevalence" %in% x$intervals$measure) {
           paste0(" (", format_share(x$intervals$value[x$intervals$measure == "prevalence"]), ")")
         })
}

format_share <- function(share) paste0(formatC(100 * share, format = "f", digits = 1), " %")

# Names of the main score, and of what ranks models, by the kind of outcome.
main_score <- function(x) {
  switch(attr(x, "kind"), binary = "brier", multiclass = "multiclass_brier", ordinal = "rps")
}

print.sr_evaluation <- function(x, digits = 4, findings = 5, ...) {
  models <- length(attr(x, "models"))
  cat("Evaluation of ", models, if (models == 1) " model on " else " models on ", describe_rows(x), "\n\n", sep = "")
  measure <- if (attr(x, "kind") == "binary") "roc_auc" else "accuracy"
  wanted <- c("model", main_score(x), "skill", "miscalibration", "discrimination", "miscalibration_p_value", measure)
  print_numbers(x$summary[intersect(wanted, names(x$summary))], digits)
  print_findings(x, findings)
  if (nzchar(attr(x, "verdict"))) cat("\nVerdict on the limits: ", attr(x, "verdict"), "\n", sep = "")
  if (nzchar(attr(x, "certificate_sentence"))) cat("\n", paste0(strwrap(attr(x, "certificate_sentence")), "\n"), sep = "")
  cat("\nIntervals have level ", format_share(attr(x, "level")), ". sr_tables() lists the ", length(x),
      " tables, $name gives one;\nsummary(), plot() and sr_report(file = \"report.pdf\") show more.\n", sep = "")
  invisible(x)
}

print_numbers <- function(frame, digits) {
  shown <- lapply(frame, function(column) {
    if (is.numeric(column)) format_number(column, digits) else column
  })
  names(shown) <- sub("miscalibration_p_value", "p_value", names(shown), fixed = TRUE)
  print(as.data.frame(shown, stringsAsFactors = FALSE, check.names = FALSE), row.names = FALSE)
}

format_number <- function(x, digits) {
  is_whole <- is.integer(x) || all(is.na(x) | x == round(x)) && any(abs(x) > 1, na.rm = TRUE)
  text <- if (is_whole) format(x, big.mark = ",", digits = 15) else formatC(x, format = "f", digits = digits)
  sub("^-(0[.]0*)$", "\\1", text)
}

print_findings <- function(x, most = Inf) {
  found <- x$findings$finding
  if (!length(found) || most < 1) return()
  cat("\n")
  print_sentences(found, most, c("finding in $findings", "findings in $findings"))
}

# Sentences as a list; `what` describes one that is not shown, and several.
print_sentences <- function(sentences, most, what) {
  for (sentence in utils::head(sentences, most)) cat(strwrap(sentence, prefix = "  ", initial = "- "), sep = "\n")
  more <- length(sentences) - most
  if (more > 0) cat("- ", more, " more ", what[1 + (more > 1)], "\n", sep = "")
}

# ---- Summaries ----

summary.sr_evaluation <- function(object, ...) {
  about <- list(description = describe_rows(object), level = attr(object, "level"), findings = object$findings)
  structure(structure(object$summary, caption = NULL), class = c("summary.sr_evaluation", "data.frame"), about = about)
}

# A column for each model, and a row for each number with its interval.
print.summary.sr_evaluation <- function(x, digits = 4, ...) {
  about <- attr(x, "about")
  cat(about$description, "\n\n", sep = "")
  numbers <- setdiff(names(x)[vapply(x, is.numeric, NA)], c(grep("_(lower|upper)$", names(x), value = TRUE)))
  cells <- lapply(numbers, function(name) format_interval(x, name, digits))
  shown <- matrix(unlist(cells), nrow = length(numbers), byrow = TRUE, dimnames = list(numbers, x$model))
  print(noquote(shown), right = TRUE)
  cat("\nIntervals have level ", format_share(about$level), ".\n", sep = "")
  print_findings(about)
  invisible(x)
}

format_interval <- function(x, name, digits) {
  value <- format_number(x[[name]], digits)
  lower <- x[[paste0(name, "_lower")]]
  upper <- x[[paste0(name, "_upper")]]
  if (is.null(lower) || all(is.na(lower))) return(value)
  paste0(value, " [", formatC(lower, format = "f", digits = digits), ", ", formatC(upper, format = "f", digits = digits), "]")
}
