# Answers requests of the process that started Rscript: the numbers of requests are read from standard input,
# vectors are exchanged through files, and a line with the token announces an answer. All other output is
# ignored.
#
# Rscript serve.R FOLDER TOKEN SOURCE...

read_vectors <- function(path) {
  con <- file(path, "rb")
  on.exit(close(con))
  vectors <- list()
  while (length(name <- readBin(con, "character")) > 0 && nzchar(name)) {
    kind <- readBin(con, "character")
    size <- readBin(con, "double", endian = "little")
    vectors[[name]] <- if (kind == "texts") {
      readBin(con, "character", n = size)
    } else {
      readBin(con, "double", n = size, endian = "little")
    }
  }
  vectors
}

write_vectors <- function(path, vectors) {
  partial <- paste0(path, ".part")
  con <- file(partial, "wb")
  for (name in names(vectors)) {
    vector <- vectors[[name]]
    is_text <- is.character(vector)
    writeBin(c(name, if (is_text) "texts" else "numbers"), con)
    writeBin(as.double(length(vector)), con, endian = "little")
    if (is_text) writeBin(enc2utf8(vector), con) else writeBin(as.double(vector), con, endian = "little")
  }
  close(con)
  file.rename(partial, path)
}

arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
token <- arguments[2]
# The parent is base R, so that a profile has no effect.
code <- new.env(parent = baseenv())
for (path in arguments[-(1:2)]) sys.source(path, envir = code)

requests <- file("stdin", "r")
while (length(number <- readLines(requests, n = 1)) > 0) {
  request <- read_vectors(file.path(folder, paste0(number, ".request")))
  write_vectors(file.path(folder, paste0(number, ".answer")), do.call(code$answer, request))
  cat("\n", token, " ", number, "\n", sep = "")
  flush(stdout())
}
