# Options of the command line, from arguments with the names that they have in Python.

# Arguments that are not named like their options.
OPTION_NAMES <- c(groups = "group", forecasts = "forecast", thresholds = "threshold",
                  retention_fractions = "retention-fraction")
# What switches off an option that is a flag; the others have none and are left out.
OPPOSITES <- c(ordered = "unordered", normalize = "no-normalize", scale = "no-scale")

list_arguments <- function(options, folder) {
  unlist(Map(write_option, names(options), options, MoreArgs = list(folder = folder)), use.names = FALSE)
}

write_option <- function(name, value, folder) {
  if (is.null(value)) return(character())
  if (is.atomic(value) && anyNA(value)) fail("`", name, "` must not be missing.")
  option <- paste0("--", gsub("_", "-", if (name %in% names(OPTION_NAMES)) OPTION_NAMES[[name]] else name, fixed = TRUE))
  special <- switch(name,
    classes = paste0(option, "=", quote_names(value)),
    cost_matrix = paste0(option, "=", write_costs(value, folder)),
    reference = paste0(option, "=", write_reference(value, folder)),
    cost_interval = c(option, vapply(value, number_text, "")),
    config = paste0(option, "=", write_configuration(value, folder)),
    temporary_folder = , templates = , checkpoints = , sign = , junit = paste0(option, "=", absolute_path(value))
  )
  if (!is.null(special)) return(special)
  if (!is.atomic(value)) fail("`", name, "` must be numbers, texts or logical values; got ", describe_class(value), ".")
  if (is.logical(value) && length(value) == 1) return(write_flag(name, option, value))
  paste0(option, "=", option_text(value))
}

write_flag <- function(name, option, value) {
  if (name == "positive") return(paste0(option, "=", value))
  if (value) return(option)
  if (name %in% names(OPPOSITES)) paste0("--", OPPOSITES[[name]]) else character()
}

option_text <- function(value) {
  if (is.numeric(value) && is.null(attr(value, "class"))) vapply(value, number_text, "") else enc2utf8(as.character(value))
}

quote_names <- function(names) {
  paste0("\"", gsub("\"", "\"\"", enc2utf8(as.character(names)), fixed = TRUE), "\"", collapse = ",")
}

# Costs are the path of a .csv file without a header, or a matrix: a row for each observed class.
write_costs <- function(costs, folder) {
  if (is.character(costs)) return(absolute_path(costs))
  if (!is.matrix(costs) || !is.numeric(costs)) {
    fail("`cost_matrix` must be a matrix of numbers, or the path of a .csv file; got ", describe_class(costs), ".")
  }
  rows <- apply(costs, 1, function(row) paste(vapply(row, number_text, ""), collapse = ","))
  write_utf8(paste0(paste(rows, collapse = "\n"), "\n"), file.path(folder, "costs.csv"))
  "costs.csv"
}

# A reference sample is a data frame, or the path of a file.
write_reference <- function(reference, folder) {
  if (is.character(reference)) return(absolute_path(reference))
  if (!is.data.frame(reference)) {
    fail("`reference` must be a data frame, or the path of a file; got ", describe_class(reference), ".")
  }
  is_plain <- vapply(reference, function(column) is.null(dim(column)) && is.atomic(column), NA)
  write_data(as.list(reference)[is_plain], file.path(folder, "reference.rds"))
  "reference.rds"
}
