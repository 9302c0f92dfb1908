# Files between R and the command line. They lie in a folder that is removed after each call.

make_folder <- function() {
  folder <- tempfile("scorereport-")
  dir.create(folder, mode = "0700")
  folder
}

absolute_path <- function(path) {
  path <- path.expand(path)
  is_absolute <- grepl("^(/|\\\\|[A-Za-z]:)", path)
  enc2utf8(ifelse(is_absolute, path, file.path(getwd(), path)))
}

write_utf8 <- function(text, file) {
  connection <- file(file, "wb")
  on.exit(close(connection))
  writeBin(charToRaw(enc2utf8(as.character(text))), connection)
}

# Write columns without loss: numbers in binary, times and factors as they are. Texts become factors, which
# are shorter in a file and read faster.
write_data <- function(columns, file) {
  plain <- Map(plain_column, columns, names(columns))
  names(plain) <- enc2utf8(names(columns))
  frame <- structure(plain, class = "data.frame", row.names = .set_row_names(length(plain[[1]])))
  saveRDS(frame, file, compress = FALSE, version = 3)
}

plain_column <- function(x, name) {
  if (inherits(x, "POSIXlt")) x <- as.POSIXct(x)
  if (inherits(x, c("Date", "POSIXct"))) return(x)
  if (inherits(x, "integer64")) return(plain_integer64(x))
  if (is.character(x)) return(factor_of(x))
  if (is.factor(x)) return(plain_factor(x))
  if (!is.null(dim(x)) && length(dim(x)) == 1) dim(x) <- NULL
  if (!is.null(dim(x)) || !(is.logical(x) || is.numeric(x))) {
    fail("`", name, "` must be a vector of numbers, logical values, texts, dates or times, or a factor; got ",
         describe_class(x), ".")
  }
  as.vector(unclass(x))
}

plain_factor <- function(x) {
  if (anyNA(levels(x))) return(factor_of(as.character(x)))
  levels <- enc2utf8(levels(x))
  structure(as.integer(x), levels = levels, class = if (is.ordered(x)) c("ordered", "factor") else "factor")
}

factor_of <- function(x) {
  levels <- unique(x[!is.na(x)])
  structure(match(x, levels), levels = enc2utf8(levels), class = "factor")
}

# integer64 of the package bit64 keeps whole numbers in the bits of doubles; up to 2^53 they are exact as doubles.
plain_integer64 <- function(x) {
  halves <- readBin(writeBin(as.vector(unclass(x)), raw(), endian = "little"), "integer", 2 * length(x), 4, endian = "little")
  places <- seq_along(x)
  low <- halves[2 * places - 1]
  high <- halves[2 * places]
  # the smallest integer of 32 bits is NA in R; that of 64 bits is NA in bit64
  low <- ifelse(is.na(low), 2^31, ifelse(low < 0, low + 2^32, low))
  value <- ifelse(is.na(high), -2^31, high) * 2^32 + low
  ifelse(value == -2^63, NA, value)
}

describe_class <- function(x) {
  paste0(paste(class(x), collapse = "/"), if (!is.null(dim(x))) paste0(" of ", paste(dim(x), collapse = " x ")))
}

# ---- Documents ----

read_document <- function(file) {
  text <- paste(readLines(file, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
  jsonlite::fromJSON(text, simplifyVector = FALSE)
}

read_frame <- function(table) {
  names <- vapply(table$columns, function(column) column$name, "")
  columns <- lapply(table$columns, function(column) read_column(column$values, column$type))
  n <- if (length(columns)) length(columns[[1]]) else 0L
  structure(columns, names = names, class = "data.frame", row.names = .set_row_names(n), caption = table$caption)
}

read_column <- function(values, type) {
  empty <- vapply(values, is.null, NA)
  values[empty] <- NA
  switch(type,
    number = read_numbers(values),
    integer = read_numbers(values, whole = TRUE),
    logical = as.logical(unlist_or(values, logical())),
    as.character(unlist_or(values, character()))
  )
}

# JSON has no infinity and no NaN, which the documents write as texts. unlist() would make texts of all numbers,
# with 15 digits.
read_numbers <- function(values, whole = FALSE) {
  are_texts <- vapply(values, is.character, NA)
  numbers <- numeric(length(values))
  numbers[!are_texts] <- as.numeric(unlist_or(values[!are_texts], numeric()))
  special <- c("Infinity" = Inf, "-Infinity" = -Inf, "NaN" = NaN)
  numbers[are_texts] <- special[unlist_or(values[are_texts], character())]
  fits <- whole && all(is.na(numbers) | abs(numbers) <= .Machine$integer.max)
  if (fits) as.integer(numbers) else numbers
}

unlist_or <- function(values, empty) {
  if (length(values)) unlist(values, use.names = FALSE) else empty
}

# ---- Configurations as lists ----

# A configuration is the path of a .toml file, or a list with the same tables.
write_configuration <- function(config, folder) {
  if (is.character(config)) return(absolute_path(config))
  if (!is.list(config) || is.null(names(config))) {
    fail("`config` must be the path of a .toml file, or a named list with its tables, such as ",
         "list(limits = list(brier = 0.2)); got ", describe_class(config), ".")
  }
  write_utf8(paste0(toml_table(config), "\n"), file.path(folder, "config.toml"))
  "config.toml"
}

toml_table <- function(table) {
  entries <- vapply(names(table), function(key) paste0(toml_text(key), " = ", toml_value(table[[key]])), "")
  paste(entries, collapse = "\n")
}

toml_value <- function(value) {
  if (is.list(value) && (!is.null(names(value)) || !length(value))) {
    entries <- strsplit(toml_table(value), "\n", fixed = TRUE)[[1]]
    return(paste0("{ ", paste(entries, collapse = ", "), " }"))
  }
  if (is.null(value) || !is.atomic(value) && !is.list(value)) {
    fail("`config` must hold texts, numbers, logical values, dates and lists of them; got ",
         describe_class(value), ".")
  }
  if (is.list(value) || length(value) != 1) {
    return(paste0("[", paste(vapply(as.list(value), toml_value, ""), collapse = ", "), "]"))
  }
  if (is.na(value)) fail("`config` must not hold missing values.")
  if (is.logical(value)) return(tolower(as.character(value)))
  if (inherits(value, "Date")) return(format(value))
  if (is.numeric(value)) return(toml_number(value))
  toml_text(as.character(value))
}

toml_number <- function(value) {
  if (is.infinite(value)) return(if (value > 0) "inf" else "-inf")
  if (is.integer(value) || value == round(value) && abs(value) < 2^53) return(sprintf("%.0f", value))
  number_text(value)
}

# A list in one line may not hold line breaks, so that all special characters are escaped, as in JSON.
toml_text <- function(text) {
  as.character(jsonlite::toJSON(enc2utf8(text), auto_unbox = TRUE))
}

# The shortest text that gives the same number again: 17 digits always do.
number_text <- function(x) {
  for (digits in 15:17) {
    text <- sprintf("%.*g", digits, x)
    if (identical(as.numeric(text), as.numeric(x))) break
  }
  text
}
