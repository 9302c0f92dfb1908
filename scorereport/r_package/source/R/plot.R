# Diagrams of evaluations, in base graphics.

INK <- "#1b2430"
MUTED <- "#6b7685"
RULE <- "#e3e7ec"
QUIET <- "#c9ced5"
# Distinguishable for colour-blind readers and, by lightness, in grey.
COLOURS <- c("#1f5f99", "#d57a12", "#3c1d50", "#0a8f93", "#802945")

KINDS <- c("reliability", "roc", "murphy", "decision", "components", "forecasts", "confusion", "retention")

plot.sr_evaluation <- function(x, which = "reliability", models = NULL, band = c("consistency", "confidence", "none"),
                               coverage = c("pointwise", "simultaneous"), view = NULL, ...) {
  which <- match_kind(which)
  models <- check_models_shown(models, attr(x, "models"))
  switch(which,
    reliability = plot_reliability(x, models, match.arg(band), match.arg(coverage), view, ...),
    roc = plot_roc(x, models, ...),
    murphy = plot_murphy(x, models, ...),
    decision = plot_decision(x, models, ...),
    components = plot_components(x, models, ...),
    forecasts = plot_forecasts(x, models, view, ...),
    confusion = plot_confusion(x, models, ...),
    retention = plot_retention(x, models, ...)
  )
  invisible(x)
}

match_kind <- function(which) {
  found <- if (is.character(which) && length(which) == 1) pmatch(which, KINDS) else NA
  if (is.na(found)) {
    name <- if (is.character(which)) which[1] else describe_class(which)
    fail("`which` must be one of ", paste(KINDS, collapse = ", "), "; got ", name, ".", suggest_name(name, KINDS))
  }
  KINDS[found]
}

check_models_shown <- function(models, known) {
  if (is.null(models)) return(known)
  if (is.numeric(models)) models <- known[models]
  for (model in models) {
    if (!model %in% known) {
      fail("There is no model `", model, "`; the models are ", paste(known, collapse = ", "), ".",
           suggest_name(as.character(model), known))
    }
  }
  models
}

# The rows of a table for some models; an error says what the table needs.
take_table <- function(x, name, models, needs) {
  table <- x[[name]]
  if (is.null(table)) fail("This evaluation has no table `", name, "`, which needs ", needs, ".")
  table[table$model %in% models, , drop = FALSE]
}

# ---- Parts of diagrams ----

# Panels side by side, or in the given rows; returns what sets the parameters of before.
open_panels <- function(n, square = FALSE, rows = NULL) {
  before <- graphics::par(no.readonly = TRUE)
  if (n > 1) {
    is_even <- !is.null(rows) && n > rows && n %% rows == 0
    graphics::par(mfrow = if (is_even) c(rows, n / rows) else if (n <= 3) c(1, n) else rev(grDevices::n2mfrow(n)))
  }
  graphics::par(mar = c(4, 4.4, 2.2, 0.8), mgp = c(2.9, 0.6, 0), tcl = -0.25, las = 1, fg = MUTED, col.axis = INK,
                col.lab = INK, col.main = INK, font.main = 2, cex.main = 1, pty = if (square) "s" else "m")
  function() graphics::par(before)
}

open_panel <- function(xlim, ylim, xlab, ylab, title, ...) {
  arguments <- list(x = NULL, xlim = xlim, ylim = ylim, xlab = xlab, ylab = ylab, main = title, bty = "n")
  given <- list(...)
  arguments[names(given)] <- given
  do.call(graphics::plot.default, arguments)
  graphics::grid(col = RULE, lty = 1)
}

draw_band <- function(x, lower, upper, colour) {
  known <- !is.na(lower) & !is.na(upper)
  graphics::polygon(c(x[known], rev(x[known])), c(lower[known], rev(upper[known])),
                    col = grDevices::adjustcolor(colour, alpha.f = 0.18), border = NA)
}

# Between its points a band of the shape "step" keeps its lower bound to the right, its upper to the left.
band_corners <- function(band) {
  n <- nrow(band)
  if (n < 2 || band$shape[1] != "step") return(band[c("forecast", "lower", "upper")])
  at <- c(band$forecast[1], as.vector(rbind(band$forecast[-n], band$forecast[-1])))
  list(forecast = at, lower = band$lower[c(1, rep(seq_len(n - 1), each = 2))],
       upper = band$upper[c(1, rep(2:n, each = 2))])
}

# Bars from 0; those of single values, whose bins have no width, get one that can be seen.
draw_bars <- function(bins, heights, colour) {
  missing <- pmax(0.008 - (bins$upper - bins$lower), 0) / 2
  graphics::rect(bins$lower - missing, 0, bins$upper + missing, heights, col = colour, border = "white", lwd = 0.4)
}

colour_of <- function(places) COLOURS[(places - 1) %% length(COLOURS) + 1]
line_of <- function(places) (places - 1) %% 6 + 1

draw_legend <- function(labels, place, ...) {
  graphics::legend(place, legend = labels, col = colour_of(seq_along(labels)), lty = line_of(seq_along(labels)),
                   lwd = 2, bty = "n", text.col = INK, cex = 0.9, ...)
}

# ---- Calibration ----

plot_reliability <- function(x, models, band, coverage, view, ...) {
  panels <- list_panels(take_table(x, "reliability_curves", models, "probabilities"), view)
  restore <- open_panels(length(panels), square = TRUE, rows = length(models))
  on.exit(restore())
  for (panel in panels) {
    draw_reliability(panel, match_rows(x$histograms, panel), match_band(x$bands, panel, band, coverage), ...)
    describe_parts(x, panel)
  }
}

# The rows of each model, or, with several classes, of each view of it: by class unless another is chosen.
list_panels <- function(table, view) {
  if (is.null(table$view)) return(unname(split(table, factor(table$model, unique(table$model)))))
  kinds <- unique(table$view)
  view <- if (is.null(view)) kinds[1] else view
  if (!view %in% kinds) fail("`view` must be one of ", paste(kinds, collapse = ", "), "; got ", view, ".")
  table <- table[table$view == view, , drop = FALSE]
  whose <- paste(table$model, table$label, sep = "\r")
  unname(split(table, factor(whose, unique(whose))))
}

match_rows <- function(table, panel) {
  owners <- intersect(c("model", "view", "label"), names(panel))
  same <- rep(TRUE, nrow(table))
  for (owner in owners) same <- same & table[[owner]] == panel[[owner]][1]
  table[same, , drop = FALSE]
}

match_band <- function(bands, panel, band, coverage) {
  if (is.null(bands) || band == "none") return(NULL)
  found <- match_rows(bands, panel)
  found <- found[found$kind == band & found$coverage == coverage, , drop = FALSE]
  found[found$method == found$method[1], , drop = FALSE]
}

title_panel <- function(panel) {
  if (is.null(panel$view)) return(panel$model[1])
  paste0(panel$model[1], ": ", if (panel$view[1] == "threshold") "up to " else "", panel$label[1])
}

draw_reliability <- function(curve, histogram, band, xlab = "forecast probability", ylab = "recalibrated probability",
                             main = title_panel(curve), ...) {
  open_panel(c(0, 1), c(0, 1), xlab, ylab, main, ...)
  if (!is.null(histogram) && nrow(histogram)) {
    draw_bars(histogram, 0.14 * histogram$n / max(histogram$n), QUIET)
  }
  if (!is.null(band) && nrow(band)) {
    corners <- band_corners(band)
    draw_band(corners$forecast, corners$lower, corners$upper, COLOURS[1])
  }
  graphics::segments(0, 0, 1, 1, col = MUTED, lty = 2)
  graphics::lines(curve$forecast, curve$cep, col = COLOURS[1], lwd = 2)
  if (nrow(curve) == 1) graphics::points(curve$forecast, curve$cep, col = COLOURS[1], pch = 19)
}

# The components of the main score in the corner of a panel.
describe_parts <- function(x, panel) {
  if (!is.null(panel$view)) {
    parts <- match_rows(rename_column(x$views, "kind", "view"), panel)
  } else {
    parts <- x$decompositions[x$decompositions$model == panel$model[1] & x$decompositions$measure == "brier", ]
  }
  if (!nrow(parts)) return()
  numbers <- formatC(unlist(parts[1, c("miscalibration", "discrimination", "uncertainty")]), format = "f", digits = 4)
  graphics::legend("topleft", legend = paste(c("MCB", "DSC", "UNC"), numbers), bty = "n", cex = 0.85, text.col = INK)
}

rename_column <- function(table, from, to) {
  names(table)[names(table) == from] <- to
  table
}

# ---- Curves of all models in one panel ----

plot_roc <- function(x, models, ...) {
  table <- take_table(x, "roc_curves", models, "forecasts of an event")
  table <- table[table$curve == "roc", ]
  restore <- open_panels(1, square = TRUE)
  on.exit(restore())
  open_panel(c(0, 1), c(0, 1), "false positive rate", "true positive rate", "", ...)
  graphics::segments(0, 0, 1, 1, col = MUTED, lty = 2)
  draw_lines(table, models, "fpr", "tpr")
  area <- x$scores$roc_auc[match(models, x$scores$model)]
  draw_legend(paste0(models, ", AUC ", formatC(area, format = "f", digits = 3)), "bottomright")
}

plot_murphy <- function(x, models, ...) {
  table <- take_table(x, "murphy_curves", models, "forecasts of an event")
  table <- both_limits(table[table$part == "score", ])
  restore <- open_panels(1)
  on.exit(restore())
  open_panel(c(0, 1), c(0, max(table$value)), "cost ratio", "mean elementary score", "", ...)
  draw_lines(table, models, "theta", "value")
  draw_legend(models, "topright")
}

# A curve that jumps has two values at a cost ratio: the limits from both sides.
both_limits <- function(table) {
  twice <- table[rep(seq_len(nrow(table)), each = 2), c("model", "theta")]
  twice$value <- as.vector(rbind(table$left, table$right))
  twice
}

plot_decision <- function(x, models, ...) {
  table <- take_table(x, "decision_curves", models, "forecasts of an event")
  highest <- max(table$net_benefit, table$upper, na.rm = TRUE)
  restore <- open_panels(1)
  on.exit(restore())
  open_panel(range(table$threshold), c(-highest / 3, highest * 1.08), "threshold probability", "net benefit", "", ...)
  one <- table[table$model == models[1], ]
  graphics::abline(h = 0, col = MUTED)
  graphics::lines(one$threshold, one$treat_all, col = MUTED, lty = 3, lwd = 1.5)
  if (length(models) == 1 && !is.null(one$lower)) draw_band(one$threshold, one$lower, one$upper, COLOURS[1])
  draw_lines(table, models, "threshold", "net_benefit")
  places <- seq_along(models)
  graphics::legend("topright", legend = c(models, "treat all", "treat none"), bty = "n", text.col = INK, cex = 0.9,
                   col = c(colour_of(places), MUTED, MUTED), lty = c(line_of(places), 3, 1), lwd = 2)
}

plot_retention <- function(x, models, ...) {
  table <- take_table(x, "retention", models, "several classes")
  chosen <- table[table$score == table$score[1] & table$metric == table$metric[1], ]
  restore <- open_panels(1)
  on.exit(restore())
  values <- range(chosen$value, chosen$lower, chosen$upper, na.rm = TRUE)
  values[2] <- values[2] + 0.12 * diff(values)
  open_panel(range(chosen$fraction), values, "share of rows set aside", gsub("_", " ", chosen$metric[1]), "", ...)
  if (length(models) == 1) draw_band(chosen$fraction, chosen$lower, chosen$upper, COLOURS[1])
  draw_lines(chosen, models, "fraction", "value")
  draw_legend(models, "topleft", horiz = TRUE)
}

draw_lines <- function(table, models, across, up) {
  for (place in seq_along(models)) {
    own <- table[table$model == models[place], ]
    graphics::lines(own[[across]], own[[up]], col = colour_of(place), lty = line_of(place), lwd = 2)
  }
}

# ---- Numbers of models ----

# Miscalibration across, discrimination up: on a line of slope 1 all models have the same score.
plot_components <- function(x, models, measure = main_score(x), ...) {
  table <- take_table(x, "decompositions", models, "forecasts")
  if (!measure %in% table$measure) {
    fail("`measure` must be one of ", paste(unique(table$measure), collapse = ", "), "; got ", measure, ".")
  }
  table <- table[table$measure == measure, ]
  xlim <- c(0, max(table$miscalibration, 1e-12) * 1.15)
  ylim <- c(0, max(table$discrimination, 1e-12) * 1.15)
  restore <- open_panels(1)
  on.exit(restore())
  open_panel(xlim, ylim, "miscalibration", "discrimination", paste("components of the score", gsub("_", " ", measure)), ...)
  for (score in pretty(table$uncertainty[1] + c(-ylim[2], xlim[2]), n = 8)) {
    graphics::abline(a = table$uncertainty[1] - score, b = 1, col = QUIET)
  }
  graphics::points(table$miscalibration, table$discrimination, pch = 19, col = colour_of(seq_along(models)), cex = 1.3)
  is_right <- table$miscalibration > mean(xlim)
  graphics::text(table$miscalibration, table$discrimination, paste0(table$model, " (", formatC(table$score, format = "f", digits = 4), ")"),
                 pos = ifelse(is_right, 2, 4), col = INK, cex = 0.9)
}

plot_forecasts <- function(x, models, view, ...) {
  panels <- list_panels(take_table(x, "histograms", models, "probabilities"), view)
  restore <- open_panels(length(panels), rows = length(models))
  on.exit(restore())
  for (panel in panels) {
    open_panel(c(0, 1), c(0, max(panel$n)), "forecast probability", "rows", title_panel(panel), ...)
    draw_bars(panel, panel$n, QUIET)
    draw_bars(panel, panel$events, COLOURS[1])
  }
  graphics::legend("topright", legend = c("without the event", "with the event"), fill = c(QUIET, COLOURS[1]),
                   border = NA, bty = "n", text.col = INK, cex = 0.85)
}

plot_confusion <- function(x, models, ...) {
  table <- take_table(x, "confusion", models, "several classes")
  classes <- attr(x, "classes")
  restore <- open_panels(length(models), square = TRUE)
  on.exit(restore())
  for (model in models) draw_confusion(table[table$model == model, ], classes, model, ...)
}

draw_confusion <- function(table, classes, model, ...) {
  n <- length(classes)
  graphics::par(mar = c(5, 6, 2.2, 1))
  graphics::plot.default(NULL, xlim = c(0.5, n + 0.5), ylim = c(n + 0.5, 0.5), xlab = "predicted class", ylab = "",
                         main = model, bty = "n", axes = FALSE, ...)
  graphics::axis(1, seq_len(n), classes, tick = FALSE, las = if (n > 4) 2 else 1, cex.axis = 0.8)
  graphics::axis(2, seq_len(n), classes, tick = FALSE, cex.axis = 0.8)
  across <- match(table$called, classes)
  down <- match(table$came, classes)
  totals <- tapply(table$weight, factor(table$came, classes), sum)
  share <- table$weight / pmax(totals[table$came], 1e-300)
  shades <- grDevices::colorRampPalette(c("white", COLOURS[1]))(101)
  graphics::rect(across - 0.5, down - 0.5, across + 0.5, down + 0.5, col = shades[round(100 * share) + 1], border = "white")
  graphics::text(across, down, format_number(table$weight, 1), col = ifelse(share > 0.55, "white", INK), cex = 0.8)
}
