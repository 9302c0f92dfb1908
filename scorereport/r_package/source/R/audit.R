# The history of an audit as data frames.

sr_audit_history <- function(config = "audit.toml", all = FALSE, last = NULL,
                             what = c("records", "judgements", "numbers")) {
  what <- match.arg(what)
  records <- read_records(config, all, last)
  switch(what,
    records = describe_records(records),
    judgements = bind_items(records, JUDGEMENT_COLUMNS, function(record) record$judgements),
    numbers = bind_items(records, NUMBER_COLUMNS, function(record) record$snapshot$numbers)
  )
}

read_records <- function(config, all, last) {
  folder <- make_folder()
  on.exit(unlink(folder, recursive = TRUE))
  options <- c(if (isTRUE(all)) "--all", if (!is.null(last)) paste0("--last=", option_text(last)), "--json")
  check_outcome(call_command(c("audit", "history", absolute_path(config), options), folder))
  read_document(file.path(folder, "output.txt"))
}

# A value of each record, or of each item; NA where it has none.
pick_text <- function(items, ...) {
  vapply(items, function(item) {
    value <- find_value(item, c(...))
    if (is.null(value)) NA_character_ else as.character(value)
  }, "")
}

pick_number <- function(items, ..., whole = FALSE) {
  values <- lapply(items, function(item) {
    value <- find_value(item, c(...))
    if (is.null(value)) NA else value
  })
  read_numbers(values, whole = whole)
}

find_value <- function(item, path) {
  for (name in path) item <- item[[name]]
  item
}

describe_records <- function(records) {
  annulled <- pick_number(records, "annuls", whole = TRUE)
  id <- pick_number(records, "id", whole = TRUE)
  data.frame(
    id = id,
    audit = pick_text(records, "audit"),
    kind = pick_text(records, "kind"),
    period = pick_text(records, "period", "label"),
    attempt = pick_number(records, "attempt", whole = TRUE),
    status = pick_text(records, "status"),
    annulled = id %in% annulled[!is.na(annulled)],
    exit_code = pick_number(records, "exit_code", whole = TRUE),
    rows = pick_number(records, "rows", whole = TRUE),
    verdict = pick_text(records, "summary", "verdict"),
    certificate = pick_text(records, "certificate"),
    reason = pick_text(records, "reason"),
    as_of = read_time(pick_text(records, "as_of")),
    started = read_time(pick_text(records, "started")),
    finished = read_time(pick_text(records, "finished")),
    source = pick_text(records, "source"),
    data_sha256 = pick_text(records, "data_sha256"),
    results_sha256 = pick_text(records, "results_sha256"),
    sha256 = pick_text(records, "sha256"),
    stringsAsFactors = FALSE
  )
}

# Columns of the items of records, by their types.
JUDGEMENT_COLUMNS <- c(model = "text", group = "text", measure = "text", value = "number", lower = "number",
                       upper = "number", level = "number", warn_lower = "number", warn_upper = "number",
                       fail_lower = "number", fail_upper = "number", verdict = "text", sentence = "text")
NUMBER_COLUMNS <- c(model = "text", measure = "text", value = "number", lower = "number", upper = "number")

# A row for each item of each record, such as its judgements.
bind_items <- function(records, columns, find_items) {
  items <- lapply(records, find_items)
  counts <- lengths(items)
  flat <- unlist_items(items)
  found <- Map(function(name, type) {
    if (type == "text") pick_text(flat, name) else pick_number(flat, name)
  }, names(columns), columns)
  data.frame(
    id = rep(pick_number(records, "id", whole = TRUE), counts),
    audit = rep(pick_text(records, "audit"), counts),
    period = rep(pick_text(records, "period", "label"), counts),
    found,
    stringsAsFactors = FALSE
  )
}

unlist_items <- function(items) do.call(c, c(list(list()), items))

read_time <- function(text) {
  zoned <- sub("([+-][0-9]{2}):([0-9]{2})$", "\\1\\2", sub("Z$", "+00:00", text))
  as.POSIXct(zoned, format = "%Y-%m-%dT%H:%M:%OS%z", tz = "UTC")
}
