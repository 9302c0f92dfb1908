# Decisions at thresholds: counts, rates, net benefit, regret and interventions avoided, with limits.

# Sums of weights of true and false positives, false and true negatives at each threshold; forecasts equal to a
# threshold are flagged or, just `beyond` it, are not.
tally <- function(units, p, thresholds, beyond = FALSE) {
  sorted <- sort(unique(thresholds))
  place <- findInterval(p, sorted, left.open = beyond) # the number of thresholds that flag a case
  sums <- function(chosen) {
    found <- rowsum(units$weight * chosen, place)
    at <- numeric(length(sorted) + 1)
    at[as.numeric(rownames(found)) + 1] <- found
    below <- cumsum(at)[seq_along(sorted)][match(thresholds, sorted)]
    list(below = below, above = rev(cumsum(rev(at)))[-1][match(thresholds, sorted)])
  }
  events <- sums(units$y)
  others <- sums(1 - units$y)
  list(tp = events$above, fp = others$above, fn = events$below, tn = others$below, total = units$total)
}

odds_of <- function(t) ifelse(t < 1, t / (1 - t), NaN)

net_benefit <- function(sums, t) (sums$tp - sums$fp * odds_of(t)) / sums$total

net_benefit_of_all <- function(sums, t) (sums$tp + sums$fn - (sums$fp + sums$tn) * odds_of(t)) / sums$total

regret <- function(sums, t) (t * sums$fp + (1 - t) * sums$fn) / sums$total

# Fewer interventions per 100 cases than by treating all, with as many events treated.
avoided <- function(sums, t) {
  ifelse(t > 0 & t < 1, 100 * (net_benefit(sums, t) - net_benefit_of_all(sums, t)) / odds_of(t), NaN)
}

threshold_entries <- function(sums, t) {
  list(
    flagged = (sums$tp + sums$fp) / sums$total,
    sensitivity = sums$tp / (sums$tp + sums$fn),
    specificity = sums$tn / (sums$tn + sums$fp),
    positive_predictive_value = sums$tp / (sums$tp + sums$fp),
    negative_predictive_value = sums$tn / (sums$tn + sums$fn),
    net_benefit = net_benefit(sums, t),
    regret = regret(sums, t),
    true_positives = sums$tp, false_positives = sums$fp,
    false_negatives = sums$fn, true_negatives = sums$tn,
    interventions_avoided = avoided(sums, t)
  )
}

# For each rate, the counts of its numerator and the others of its denominator.
rates <- list(
  flagged = list(c("tp", "fp"), c("fn", "tn")),
  sensitivity = list("tp", "fn"),
  specificity = list("tn", "fp"),
  positive_predictive_value = list("tp", "fp"),
  negative_predictive_value = list("tn", "fn")
)

# Values and limits of rates, and of sums of two shares of all cases (Zou, Donner).
threshold_limits <- function(units, p, t, level) {
  sums <- tally(units, p, t)
  parts <- c("tp", "fp", "fn", "tn")
  others <- function(part) setdiff(parts, part)
  bound <- function(top, rest) bound_rate(units, p, t, sums, top, rest, level)
  both <- function(one, two, first, second) {
    combine(
      bound(one, others(one)), bound(two, others(two)), first, second,
      correlation_of_shares(units, p, t, sums, one, two)
    )
  }
  odds <- odds_of(t)
  over_all <- both("tn", "fn", odds, -1)
  per_hundred <- ifelse(t > 0 & t < 1, 100 / odds, NaN)
  c(lapply(rates, function(rate) bound(rate[[1]], rate[[2]])), list(
    net_benefit = both("tp", "fp", 1, -odds),
    net_benefit_over_treat_all = over_all,
    regret = both("fp", "fn", t, 1 - t),
    interventions_avoided = lapply(over_all, function(number) per_hundred * number)
  ))
}

# A rate with limits: Wilson's for independent cases, else on log-odds from its error over draws.
bound_rate <- function(units, p, t, sums, top, rest, level) {
  happened <- Reduce(`+`, sums[top])
  counted <- happened + Reduce(`+`, sums[rest])
  rate <- happened / counted
  if (units$kind == "rows") {
    return(c(list(value = rate), wilson(rate, counted, level)))
  }
  limits <- wilson(rate, effective_draws(units) * counted / units$total, level)
  error <- vapply(seq_along(t), function(k) {
    part <- parts_of(units, p, t[k])
    moved <- (1 - rate[k]) * (part %in% top) - rate[k] * (part %in% rest)
    sqrt(product_over_draws(units, moved, moved)) / counted[k]
  }, numeric(1))
  robust <- on_log_odds(rate, error, quantile_of(level, freedom_of_clusters(units)))
  if (number_of_draws(units) <= 1) error <- Inf # and the quantile is not defined
  seen <- !is.na(error) & error > 1e-13 & rate > 0 & rate < 1
  list(
    value = rate, lower = ifelse(seen, robust$lower, limits$lower),
    upper = ifelse(seen, robust$upper, limits$upper)
  )
}

correlation_of_shares <- function(units, p, t, sums, one, two) {
  shares <- lapply(sums[c(one, two)], function(sum) list(value = sum / units$total))
  if (units$kind == "rows") {
    return(correlate_shares(shares[[1]], shares[[2]]))
  }
  vapply(seq_along(t), function(k) {
    part <- parts_of(units, p, t[k])
    first <- (part == one) - shares[[1]]$value[k]
    second <- (part == two) - shares[[2]]$value[k]
    spread <- product_over_draws(units, first, first) * product_over_draws(units, second, second)
    found <- product_over_draws(units, first, second) / sqrt(spread)
    max(-1, min(1, found))
  }, numeric(1))
}

# Which of the four counts each row belongs to.
parts_of <- function(units, p, t) {
  ifelse(p >= t, ifelse(units$y == 1, "tp", "fp"), ifelse(units$y == 1, "fn", "tn"))
}

# The sum over draws of products of two weighted sums, with the factor n / (n - 1).
product_over_draws <- function(units, one, two) {
  draws <- number_of_draws(units)
  terms <- units$weight * cbind(one, two)
  sums <- terms
  if (units$kind == "clusters") {
    sums <- rowsum(terms, units$cluster)
    sums[abs(sums) <= 1e-13 * rowsum(abs(terms), units$cluster)] <- 0 # a rounding error
  }
  sum(sums[, 1] * sums[, 2]) * draws / (draws - 1)
}

effective_draws <- function(units) {
  weight <- if (units$kind == "clusters") sum_by(units$weight, units$cluster) else units$weight
  sum(weight)^2 / sum(weight^2)
}

# Limits of a sum of two shares of all cases times factors: distances to the limits of each share, added in
# squares with the correlation that two shares of the same cases have.
combine <- function(one, two, first, second, correlation = correlate_shares(one, two)) {
  first <- rep_len(first, length(one$value))
  second <- rep_len(second, length(one$value))
  correlation <- ifelse(is.finite(correlation), correlation, 0) * sign(first) * sign(second)
  value <- first * one$value + second * two$value
  reach <- function(outwards) {
    away <- function(share, factor) {
      abs(factor) * ifelse(outwards * factor > 0, share$upper - share$value, share$value - share$lower)
    }
    a <- away(one, first)
    b <- away(two, second)
    sqrt(pmax(a^2 + b^2 + 2 * correlation * a * b, 0))
  }
  list(value = value, lower = value - reach(-1), upper = value + reach(1))
}

# That of two of several exclusive shares of independent cases.
correlate_shares <- function(one, two) {
  -sqrt(one$value * two$value / ((1 - one$value) * (1 - two$value)))
}

# The decision curve and the regret curve at thresholds and just beyond each; with limits of net benefit.
curve_entries <- function(units, p, t, level, infers) {
  at <- tally(units, p, t)
  beyond <- tally(units, p, t, beyond = TRUE)
  found <- list(
    prevalence = weighted_mean(units$y, units), net_benefit = net_benefit(at, t), net_benefit_beyond = net_benefit(beyond, t),
    treat_all = net_benefit_of_all(at, t), regret = regret(at, t), regret_beyond = regret(beyond, t),
    murphy = 2 * regret(at, t), murphy_beyond = 2 * regret(beyond, t)
  )
  if (!infers || units$kind != "rows") {
    return(found)
  }
  limits <- function(sums, name) {
    share <- function(part) c(list(value = sums[[part]] / sums$total), wilson(sums[[part]] / sums$total, sums$total, level))
    bounds <- combine(share("tp"), share("fp"), 1, -odds_of(t))
    stats::setNames(bounds[c("lower", "upper")], paste0(c("lower", "upper"), name))
  }
  c(found, limits(at, ""), limits(beyond, "_beyond"))
}
