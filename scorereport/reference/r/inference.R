# Answers about the models of an evaluation together: calibration, intervals, decisions, comparisons, groups.
# Each number is computed from outcomes and forecasts; a part that fails does not affect the others.

# `y`, `p`, `weight`: outcomes, forecasts of all models, model after model, and weights; `counted` is 1 if weights
# count equal rows. `thresholds` are those of the decision table, `compared` those of differences of net benefit,
# and `curve` those of decision curves. With `infers` 0, there are no errors and tests.
infer <- function(y, p, weight, counted, cluster, time, level, scores, formulas, costs, thresholds, compared,
                  curve, infers) {
  units <- drawn_units(y, matrix(p, nrow = length(y)), weight, counted, cluster, time)
  functions <- score_functions(scores, formulas, costs)
  infers <- infers == 1
  models <- seq_len(ncol(units$p))
  about <- function(topic, entries) {
    do.call(c, lapply(models, function(k) part(paste0("m", k, ".", topic), entries(units$p[, k]))))
  }
  found <- c(
    about("table", function(p) threshold_entries(tally(units, p, thresholds), thresholds)),
    about("compared", function(p) {
      sums <- tally(units, p, compared)
      list(net_benefit = net_benefit(sums, compared), treat_all = net_benefit_of_all(sums, compared))
    }),
    about("curve", function(p) curve_entries(units, p, curve, level, infers))
  )
  if (!infers) {
    return(found)
  }
  areas <- lapply(models, function(k) placements(units, units$p[, k]))
  tests <- c(
    about("line", function(p) line_entries(units, p, level)),
    about("sums", function(p) sum_entries(units, p)),
    if (units$kind != "clusters") about("tenths", function(p) list(hosmer_lemeshow = hosmer_lemeshow(units, p))),
    if (!is.null(units$time)) about("time", function(p) list(autocorrelation = autocorrelation(units, p)))
  )
  c(
    found,
    part("sample", sample_entries(units, functions, level)),
    list(independent = independent_cases(units)),
    tests,
    part("holm", adjust_over_models(tests, models)),
    about("rate", function(p) {
      list(misclassification = rate_entry(units, wrong(units, p), level))
    }),
    about("score", function(p) {
      do.call(c, lapply(functions, function(score) score_moments(units, score, score(units$y, p), level)))
    }),
    do.call(c, lapply(models, function(k) {
      part(paste0("m", k, ".auc"), list(interval = auc_entry(units, areas[[k]], level)))
    })),
    about("limits", function(p) do.call(c, threshold_limits(units, p, thresholds, level))),
    part("pairs", compare_pairs(units, functions, areas, level))
  )
}

# p-values of each test adjusted over the models, where all of them are known.
adjust_over_models <- function(tests, models) {
  places <- c(
    line.slope = 6, line.intercept_at_slope_one = 6, line.unreliability = 2, sums.spiegelhalter = 2,
    sums.in_the_large = 2, tenths.hosmer_lemeshow = 2, time.autocorrelation = 2
  )
  found <- lapply(names(places), function(name) {
    p <- lapply(models, function(k) tests[[paste0("m", k, ".", name)]])
    if (all(lengths(p) >= places[[name]])) adjust(vapply(p, function(test) test[places[[name]]], numeric(1)))
  })
  Filter(length, stats::setNames(found, names(places)))
}

sample_entries <- function(units, functions, level) {
  share <- rate_entry(units, units$y, level)
  c(
    list(prevalence = share),
    lapply(functions, uncertainty_entry, share = share)
  )
}

# Differences of every pair of models by each score and by the AUC, with p-values adjusted over the pairs: a row
# for each pair.
compare_pairs <- function(units, functions, areas, level) {
  if (ncol(units$p) < 2) {
    return(list(none = 0))
  }
  pairs <- utils::combn(ncol(units$p), 2)
  of_pairs <- function(values, difference) {
    rows <- apply(pairs, 2, function(pair) difference(units, values[[pair[1]]], values[[pair[2]]], level))
    as.numeric(rbind(rows, adjust(rows[8, ])))
  }
  by_score <- lapply(functions, function(score) {
    values <- lapply(seq_len(ncol(units$p)), function(k) score(units$y, units$p[, k]))
    of_pairs(values, score_difference)
  })
  c(by_score, list(roc_auc = of_pairs(areas, area_difference)))
}

# Answers about the groups of a column, numbered from 1 by `group`; 0 is a row whose group is not asked about.
# `scored` is 1 for groups that are large enough.
infer_groups <- function(y, p, weight, counted, cluster, level, scores, formulas, costs, group, scored, infers) {
  held <- weight > 0 & group > 0
  p <- matrix(p, nrow = length(y))
  all <- drawn_units(y, p, ifelse(held, weight, 0), counted, cluster, numeric())
  code <- group[held]
  functions <- score_functions(scores, formulas, costs)
  infers <- infers == 1
  rows <- split(seq_along(code), factor(code, seq_along(scored)))
  answers <- lapply(which(scored == 1), function(g) {
    group_entries(take_rows(all, rows[[g]]), functions, level, infers)
  })
  names(answers) <- sprintf("g%d", which(scored == 1))
  counted <- vapply(seq_along(scored), function(g) {
    chosen <- group == g
    c(sum(chosen), sum(weight[chosen]), sum((weight * y)[chosen]))
  }, numeric(3))
  found <- c(
    list(counts = as.numeric(t(counted))), # rows of all groups, then their weights, then their events
    do.call(c, lapply(names(answers), function(name) under(name, group_vectors(answers[[name]]))))
  )
  if (!infers || length(answers) < 2) {
    return(found)
  }
  tests <- do.call(c, lapply(seq_len(ncol(p)), function(k) {
    part(paste0("m", k, ".tests"), group_tests(all, code, answers, k, which(scored == 1), names(functions)))
  }))
  known <- tests[lengths(tests) == 3]
  c(found, tests, list(holm = adjust(vapply(known, function(test) test[3], numeric(1)))))
}

group_vectors <- function(answer) {
  models <- lapply(seq_along(answer$models), function(k) under(paste0("m", k), answer$models[[k]]))
  c(under("sample", answer$found$sample), answer$found["independent"], do.call(c, models))
}

# Tests of one model over all groups: Cochran's Q of AUC and of scores, and of the calibration line.
group_tests <- function(units, code, answers, k, scored, names) {
  cases <- vapply(answers, function(answer) answer$found$sizes, numeric(2))
  number <- function(name, place) vapply(answers, function(answer) answer$models[[k]][[name]][place], numeric(1))
  freedom <- NULL
  if (units$kind == "clusters") freedom <- number("auc.interval", 5)
  tests <- list(
    roc_auc = compare_groups(number("auc.interval", 1), number("auc.interval", 2), cases, TRUE, freedom)
  )
  if (units$kind != "rows") {
    return(tests)
  }
  for (name in intersect(c("brier", "log_loss"), names)) {
    means <- number(paste0("parts.", name), 1)
    errors <- number(paste0("score.", name, ".score"), 2)
    tests[[name]] <- compare_groups(means, errors, cases, FALSE, NULL)
  }
  rows <- which(code %in% scored)
  of_scored <- take_rows(units, rows)
  tests$intercept <- line_by_group(of_scored, of_scored$p[, k], code[rows], FALSE)
  tests$line <- line_by_group(of_scored, of_scored$p[, k], code[rows], TRUE)
  tests
}

shared_operations <- list(classes = class_entries, infer = infer, infer_groups = infer_groups)
