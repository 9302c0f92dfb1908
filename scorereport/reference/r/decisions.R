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

# Limits for independent cases: Wilson's for rates, and those of two shares of all cases combined (Zou, Donner).
threshold_limits <- function(sums, t, level) {
  of <- function(top, counted) {
    rate <- top / counted
    c(list(value = rate), wilson(rate, counted, level))
  }
  share <- function(name) of(sums[[name]], sums$total)
  odds <- odds_of(t)
  over_all <- combine(share("tn"), share("fn"), odds, -1)
  per_hundred <- ifelse(t > 0 & t < 1, 100 / odds, NaN)
  list(
    flagged = of(sums$tp + sums$fp, rep(sums$total, length(t))),
    sensitivity = of(sums$tp, sums$tp + sums$fn),
    specificity = of(sums$tn, sums$tn + sums$fp),
    positive_predictive_value = of(sums$tp, sums$tp + sums$fp),
    negative_predictive_value = of(sums$tn, sums$tn + sums$fn),
    net_benefit = combine(share("tp"), share("fp"), 1, -odds),
    net_benefit_over_treat_all = over_all,
    regret = combine(share("fp"), share("fn"), t, 1 - t),
    interventions_avoided = lapply(over_all, function(number) per_hundred * number)
  )
}

# Limits of a sum of two shares of all cases times factors: distances to the limits of each share, added in
# squares with the correlation that two shares of the same cases have.
combine <- function(one, two, first, second) {
  correlation <- -sqrt(one$value * two$value / ((1 - one$value) * (1 - two$value)))
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

# The decision curve and the regret curve at thresholds and just beyond each; with limits of net benefit.
curve_entries <- function(units, p, t, level, infers) {
  at <- tally(units, p, t)
  beyond <- tally(units, p, t, beyond = TRUE)
  found <- list(
    net_benefit = net_benefit(at, t), net_benefit_beyond = net_benefit(beyond, t),
    treat_all = net_benefit_of_all(at, t), regret = regret(at, t), regret_beyond = regret(beyond, t)
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
