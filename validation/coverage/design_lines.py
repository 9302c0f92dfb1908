"""Lines of the summary of the study for clusters and sampling weights; the record of a line."""

from __future__ import annotations

from dataclasses import dataclass

from scorereport.report.methods.measured_coverage import BINARY, CLUSTERS, ROWS, WEIGHTS


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """A method of reports: its keys in the catalogue of methods, and the cells of the study that measure it.

    `cells` are patterns "study | setting | method", with a semicolon between alternatives. `unit` is what the
    sizes of the study count.
    """

    method: str
    keys: tuple[str, ...]
    cells: tuple[str, ...]
    design: str = ROWS
    kinds: tuple[str, ...] = (BINARY,)
    unit: str = "rows"


#: Keys of methods, and patterns of the study, that several lines have.
LINE_TESTS = ("Calibration slope", "Calibration intercept at slope 1")
TESTS = "Spiegelhalter; mean calibration; calibration slope; calibration intercept; unreliability"
CALIBRATION_TESTS = "Spiegelhalter’s z, calibration in the large, slope, intercept, unreliability"
SPLIT = "consistency simultaneous split resampling"
BCA = ("BCa bootstrap", "BCa from the influence")
DISTANCES = "ici; e50; e90; emax; ece"

#: Samples of clusters.
LINES_OF_CLUSTERS = (
    SummaryLine(
        "Pointwise consistency band",
        ("consistency pointwise resampling",),
        ("clusters | * | pointwise",),
        CLUSTERS,
    ),
    SummaryLine(
        "Simultaneous consistency band",
        (SPLIT,),
        ("clusters | * | simultaneous", "drawn in cells | *, clusters | split resampling, in cells"),
        CLUSTERS,
    ),
    SummaryLine(
        "Pointwise confidence band (resampling)",
        ("confidence pointwise resampling",),
        ("drawn in cells | *, clusters | pointwise confidence, in cells",),
        CLUSTERS,
    ),
    SummaryLine(
        "Interval of MCB, overfit-corrected", ("overfit",), ("clusters | brackets* | MCB*",), CLUSTERS
    ),
    SummaryLine(
        "Interval of DSC, overfit-corrected", ("overfit",), ("clusters | brackets* | DSC*",), CLUSTERS
    ),
    SummaryLine(
        "Intervals of the calibration line",
        ("line",),
        ("few clusters | * | slope; intercept*",),
        CLUSTERS,
        unit="clusters",
    ),
    SummaryLine(
        "Intervals of ICI, E50, E90, Emax and ECE",
        ("distance interval",),
        (f"distances | *, clusters | {DISTANCES}",),
        CLUSTERS,
    ),
    SummaryLine(
        "Flexible calibration curve, pointwise band",
        ("flexible",),
        ("flexible curves | *, clusters | *",),
        CLUSTERS,
    ),
    SummaryLine(
        "BCa intervals of scores and skills",
        BCA,
        ("scores without resamples | clusters of 4 | *reported",),
        CLUSTERS,
    ),
    SummaryLine(
        "BCa interval of the Brier score, few clusters",
        ("BCa bootstrap",),
        ("few clusters | * | Brier score",),
        CLUSTERS,
        unit="clusters",
    ),
    SummaryLine(
        "Interval of the AUC",
        ("DeLong with bias-reduced",),
        ("few clusters | * | AUC",),
        CLUSTERS,
        unit="clusters",
    ),
    SummaryLine(
        "Intervals of rates and of net benefit",
        ("decision intervals", "normal on log-odds"),
        ("decisions | *, clusters | *",),
        CLUSTERS,
    ),
    SummaryLine(
        "Net benefit, simultaneous band",
        ("decision differences",),
        ("decision bands | *, clusters | *",),
        CLUSTERS,
    ),
    SummaryLine(
        "Interval of the Kolmogorov-Smirnov statistic", ("ks",), ("separation | *, clusters | *",), CLUSTERS
    ),
    SummaryLine(
        "Bounds over missing outcomes",
        ("missing outcomes",),
        ("missing outcomes | *, clusters | bounds*",),
        CLUSTERS,
    ),
    SummaryLine(
        "Test that MCB is 0",
        ("miscalibration test",),
        (
            "clusters | tests* | MCB Brier; MCB log",
            "drawn in cells | calibrated, clusters | miscalibration*, in cells",
        ),
        CLUSTERS,
    ),
    SummaryLine(
        CALIBRATION_TESTS,
        (
            "Spiegelhalter's z in clusters",
            "Calibration in the large in clusters",
            *LINE_TESTS,
            "Unreliability by Wald",
        ),
        (f"tests with few clusters | * | {TESTS}",),
        CLUSTERS,
        unit="clusters",
    ),
    SummaryLine(
        "Difference of scores, test",
        ("Diebold-Mariano",),
        ("tests with few clusters | * | paired Brier scores",),
        CLUSTERS,
        unit="clusters",
    ),
    SummaryLine(
        "Difference of AUCs, test",
        ("DeLong difference",),
        ("tests with few clusters | * | paired AUCs",),
        CLUSTERS,
        unit="clusters",
    ),
    SummaryLine(
        "Cochran’s Q of groups", ("Cochran's Q",), ("few in groups | *clusters | Cochran*",), CLUSTERS
    ),
    SummaryLine(
        "Tests of calibration by group",
        ("Calibration by group by Wald",),
        ("few in groups | *clusters | intercept; intercept and slope",),
        CLUSTERS,
    ),
    SummaryLine(
        "Limit on MCB passed by a model exactly at it",
        ("limits",),
        ("equivalence over clusters | * | *",),
        CLUSTERS,
        unit="clusters",
    ),
)

#: Samples with sampling weights.
LINES_OF_WEIGHTS = (
    SummaryLine(
        "Pointwise consistency band",
        ("consistency pointwise resampling",),
        ("weights: bands | * | pointwise", "weights | * | pointwise"),
        WEIGHTS,
    ),
    SummaryLine(
        "Simultaneous consistency band",
        (SPLIT,),
        (
            "weights: bands | * | simultaneous",
            "weights | * | simultaneous",
            "drawn in cells | *, weights | split resampling, in cells",
        ),
        WEIGHTS,
    ),
    SummaryLine(
        "Pointwise confidence band (resampling)",
        ("confidence pointwise resampling",),
        ("drawn in cells | *, weights | pointwise confidence, in cells",),
        WEIGHTS,
    ),
    SummaryLine(
        "Interval of MCB, overfit-corrected", ("overfit",), ("weights: intervals | * | MCB*",), WEIGHTS
    ),
    SummaryLine(
        "Interval of DSC, overfit-corrected", ("overfit",), ("weights: intervals | * | DSC*",), WEIGHTS
    ),
    SummaryLine("Interval of the calibration slope", ("line",), ("weights: intervals | * | slope",), WEIGHTS),
    SummaryLine(
        "Intervals of ICI, E50, E90, Emax and ECE",
        ("distance interval",),
        (f"distances | *, weights | {DISTANCES}",),
        WEIGHTS,
    ),
    SummaryLine(
        "Flexible calibration curve, pointwise band",
        ("flexible",),
        ("flexible curves | *, weights | *",),
        WEIGHTS,
    ),
    SummaryLine(
        "BCa intervals of scores and skills",
        BCA,
        ("scores without resamples | sampling weights | *reported", "weights: intervals | * | Brier"),
        WEIGHTS,
    ),
    SummaryLine("Interval of the AUC", ("DeLong",), ("weights: intervals | * | AUC",), WEIGHTS),
    SummaryLine(
        "Intervals of rates and of net benefit",
        ("decision intervals", "normal on log-odds"),
        ("decisions | *, weights | *",),
        WEIGHTS,
    ),
    SummaryLine(
        "Net benefit, simultaneous band",
        ("decision differences",),
        ("decision bands | *, weights | *",),
        WEIGHTS,
    ),
    SummaryLine(
        "Interval of the Kolmogorov-Smirnov statistic", ("ks",), ("separation | *, weights | *",), WEIGHTS
    ),
    SummaryLine(
        "Bounds over missing outcomes",
        ("missing outcomes",),
        ("missing outcomes | *, weights | bounds*",),
        WEIGHTS,
    ),
    SummaryLine(
        "Test that MCB is 0",
        ("miscalibration test",),
        (
            "weights: tests | * | MCB Brier",
            "weights | tests* | MCB*",
            "drawn in cells | calibrated, weights; rare, cal., weights | miscalibration*, in cells",
        ),
        WEIGHTS,
    ),
    SummaryLine(
        CALIBRATION_TESTS,
        (
            "Spiegelhalter's z",
            "Calibration in the large",
            *LINE_TESTS,
            "Unreliability",
            "Unreliability by Wald",
        ),
        (f"weights: tests | * | {TESTS}",),
        WEIGHTS,
    ),
    SummaryLine(
        "Difference of scores, test",
        ("Diebold-Mariano",),
        ("test sizes | equal pair, weighted | Diebold-Mariano, iid; Diebold-Mariano, iid, log",),
        WEIGHTS,
    ),
    SummaryLine(
        "Difference of AUCs, test",
        ("DeLong difference",),
        ("test sizes | equal pair, weighted | DeLong",),
        WEIGHTS,
    ),
    SummaryLine("Cochran’s Q of groups", ("Cochran's Q",), ("weighted groups | * | Cochran*",), WEIGHTS),
)
