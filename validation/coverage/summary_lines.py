"""Lines of the summary of the study: for each method of reports, the cells that measure it."""

from __future__ import annotations

from scorereport.report.methods.measured_coverage import BINARY, CLASSES, DRIFT, TIMES
from validation.coverage.audit_streams import ALARM, EVER
from validation.coverage.design_lines import (
    BCA,
    CALIBRATION_TESTS,
    DISTANCES,
    LINE_TESTS,
    LINES_OF_CLUSTERS,
    LINES_OF_WEIGHTS,
    SPLIT,
    TESTS,
    SummaryLine,
)

_BOTH = (BINARY, CLASSES)
_RATES = "sensitivity*; specificity*; *_predictive_value*"
_INDEPENDENT_AUDITS = "calibrated*; tolerance*; 10 values*; audits of*; 1 % events"
_INDEPENDENT_SCORES = "Brier score*; prevalence*; *distinct forecasts; audits of unequal sizes"
_PREVALENCES = "prevalence 0.5; prevalence 0.1; prevalence 0.02"

#: Samples of independent rows, in the order of the methods section.
_OF_ROWS = (
    *(
        SummaryLine(
            f"Pointwise consistency band ({how})",
            (f"consistency pointwise {how}",),
            (f"pointwise bands | * | {how}",),
            kinds=_BOTH,
        )
        for how in ("resampling", "discrete", "continuous")
    ),
    SummaryLine(
        "Simultaneous consistency band (split resampling)",
        (SPLIT,),
        (
            "simultaneous bands | * | split resampling",
            "drawn in cells | calibrated; rare, cal. | split resampling, in cells",
        ),
        kinds=_BOTH,
    ),
    SummaryLine(
        "Simultaneous confidence band (honest)",
        ("confidence simultaneous honest",),
        ("simultaneous bands | * | honest",),
        kinds=_BOTH,
    ),
    SummaryLine(
        "Pointwise confidence band (resampling)",
        ("confidence pointwise resampling",),
        (
            "simultaneous bands | * | pointwise confidence, share",
            "drawn in cells | calibrated; slope .8; rare, cal. | pointwise confidence, in cells",
        ),
        kinds=_BOTH,
    ),
    SummaryLine("Interval of MCB, overfit-corrected", ("overfit",), ("component intervals | * | MCB*",)),
    SummaryLine("Interval of DSC, overfit-corrected", ("overfit",), ("component intervals | * | DSC*",)),
    SummaryLine(
        "Intervals of MCB and DSC of few distinct forecasts",
        ("few values",),
        ("few distinct forecasts | * | *",),
    ),
    SummaryLine(
        "Intervals of ICI, E50, E90, Emax and ECE",
        ("distance interval",),
        (f"distances | calibrated; slope .8; sqrt; rare, cal.; 10 values, .8 | {DISTANCES}",),
    ),
    SummaryLine(
        "Flexible calibration curve, pointwise band",
        ("flexible",),
        ("flexible curves | calibrated; slope .8; sqrt | *",),
    ),
    SummaryLine(
        "BCa intervals of scores and skills, bootstrap",
        ("BCa bootstrap",),
        ("scores without resamples | calibrated; overconfident; rare events | *bootstrap",),
    ),
    SummaryLine(
        "BCa intervals of scores and skills, without resamples",
        ("BCa from the influence",),
        ("scores without resamples | calibrated; overconfident; rare events | *reported",),
    ),
    SummaryLine(
        "Intervals of scores and skills, rare events",
        ("rare cases",),
        ("few events | * | Brier; Brier skill; log; log skill",),
    ),
    SummaryLine("Interval of the AUC", ("DeLong",), ("AUC intervals | * | score",), kinds=_BOTH),
    SummaryLine(
        "Wilson intervals of rates",
        ("Wilson", "decision intervals"),
        (f"decisions | {_PREVALENCES} | {_RATES}",),
        kinds=_BOTH,
    ),
    SummaryLine(
        "Interval of net benefit",
        ("decision intervals",),
        (f"decisions | {_PREVALENCES} | net_benefit*",),
    ),
    SummaryLine(
        "Interval of interventions avoided",
        ("decision intervals",),
        (f"decisions | {_PREVALENCES} | interventions_avoided*",),
    ),
    SummaryLine(
        "Net benefit, simultaneous band",
        ("decision differences",),
        (f"decision bands | {_PREVALENCES} | *",),
    ),
    SummaryLine(
        "Better model shown at any threshold, of equal ones",
        ("decision differences",),
        ("decision differences | * | *",),
    ),
    SummaryLine("Difference of MCB, interval", ("bracket",), ("difference intervals | * | MCB*",)),
    SummaryLine("Difference of DSC, interval", ("bracket",), ("difference intervals | * | DSC*",)),
    SummaryLine(
        "Difference of Murphy curves, simultaneous band",
        ("murphy difference",),
        (
            "simultaneous bands | * | Murphy difference, sup-t",
            "Murphy bands without resamples | * | sup-t, reported",
        ),
    ),
    SummaryLine("Gain by recalibration, interval", ("recalibration",), ("recalibration gains | * | *",)),
    SummaryLine("Parts of MCB, interval", ("miscalibration parts",), ("miscalibration parts | * | *",)),
    SummaryLine("Interval of the Kolmogorov-Smirnov statistic", ("ks",), ("separation | * events | *",)),
    SummaryLine("Interval of the population stability index", ("psi",), ("stability | * | *",)),
    SummaryLine("Change of a score since a reference, interval", ("change",), ("score changes | * | *",)),
    SummaryLine(
        "Parts of the change of the event rate, intervals", ("rate change",), ("event rate parts | * | *",)
    ),
    SummaryLine("Tests of shifted forecasts", ("shift tests",), ("shift tests | * | *",)),
    SummaryLine(
        "Bounds over missing outcomes",
        ("missing outcomes",),
        ("missing outcomes | *missing; *random; *often | bounds*",),
    ),
    SummaryLine(
        "Test that MCB is 0",
        ("miscalibration test",),
        (
            "test sizes | * | MCB Brier; MCB log",
            "drawn in cells | calibrated; rare, cal. | miscalibration*, in cells",
        ),
    ),
    SummaryLine("Test that local MCB is 0", ("miscalibration parts",), ("local test sizes | * | *",)),
    SummaryLine(
        CALIBRATION_TESTS,
        ("Spiegelhalter's z", "Calibration in the large", *LINE_TESTS, "Unreliability"),
        (f"test sizes | * | {TESTS}",),
    ),
    SummaryLine("Hosmer-Lemeshow test", ("Hosmer-Lemeshow",), ("test sizes | * | Hosmer-Lemeshow",)),
    SummaryLine("Jeffreys and binomial tests of grades", ("grades",), ("test sizes | rating grades | *",)),
    SummaryLine(
        "Difference of scores, test",
        ("Diebold-Mariano",),
        ("test sizes | equal pair | Diebold-Mariano, iid; Diebold-Mariano, iid, log",),
    ),
    SummaryLine(
        "Difference of AUCs, test",
        ("DeLong difference",),
        ("test sizes | equal pair | DeLong", "paired AUCs | * | DeLong"),
    ),
    SummaryLine(
        "Cochran’s Q of groups",
        ("Cochran's Q",),
        ("few in groups | *events each | Cochran*",),
        kinds=_BOTH,
    ),
    SummaryLine(
        "Tests of calibration by group",
        ("Calibration by group",),
        ("test sizes | * | groups: intercept*",),
    ),
    SummaryLine(
        "Breached limit passed, few events",
        ("limits",),
        ("limits with few events | * | verdict",),
        kinds=_BOTH,
    ),
    SummaryLine("Limit on MCB passed by a model exactly at it", ("limits",), ("equivalence | * | *",)),
)

#: Rows in time, models of classes, the probability scale, and audits.
_OTHERS = (
    SummaryLine(
        CALIBRATION_TESTS,
        (
            "Spiegelhalter's z in time",
            "Calibration in the large in time",
            *LINE_TESTS,
            "Unreliability in time",
        ),
        ("calibration in time | * | *, in time",),
        TIMES,
    ),
    SummaryLine(
        "Test of dependence in time",
        ("Autocorrelation in time",),
        ("calibration in time | calibrated, autocorrelation 0 | dependence in time shown",),
        TIMES,
    ),
    SummaryLine(
        "Difference of scores, test",
        ("Diebold-Mariano",),
        ("comparisons in time | * | Diebold-Mariano; Diebold-Mariano, cosines",),
        TIMES,
    ),
    SummaryLine(
        "BCa intervals of scores, accuracy, macro F1 and kappa",
        BCA,
        ("class intervals | * | rps; multiclass_brier; accuracy; macro_f1; quadratic_weighted_kappa",),
        kinds=(CLASSES,),
    ),
    SummaryLine(
        "Interval of MCB of the RPS", ("class overfit",), ("class intervals | * | MCB RPS",), kinds=(CLASSES,)
    ),
    SummaryLine(
        "Interval of DSC of the RPS", ("class overfit",), ("class intervals | * | DSC RPS",), kinds=(CLASSES,)
    ),
    SummaryLine(
        "Retention curve, pointwise band",
        ("retention interval",),
        ("classes in cells | calibrated | retention, *, in groups",),
        kinds=(CLASSES,),
    ),
    SummaryLine(
        "Difference of the RPS, interval",
        ("Diebold-Mariano",),
        ("class differences | * | rps",),
        kinds=(CLASSES,),
    ),
    SummaryLine(
        "Differences of macro F1 and kappa, intervals",
        ("delta method",),
        ("class differences | * | macro_f1; quadratic_weighted_kappa",),
        kinds=(CLASSES,),
    ),
    SummaryLine(
        "Difference of MCB of the RPS, interval",
        ("bracket",),
        ("class differences | * | rps miscalibration",),
        kinds=(CLASSES,),
    ),
    SummaryLine(
        "Test that MCB of the RPS is 0",
        ("class miscalibration test",),
        (
            "class tests | calibrated | *",
            "classes in cells | calibrated | miscalibration (rps), in cells",
        ),
        kinds=(CLASSES,),
    ),
    SummaryLine(
        "Probability scale: model", ("scale interval",), ("scale intervals | * | model, *",), kinds=_BOTH
    ),
    SummaryLine(
        "Probability scale: source and divergence",
        ("source interval",),
        ("scale intervals | * | source, *; divergence, *",),
        kinds=_BOTH,
    ),
    SummaryLine(
        "Verdict of the angle on a calibrated model",
        ("angle",),
        ("scale verdicts | calibrated | *",),
        kinds=_BOTH,
    ),
    SummaryLine(
        "Any alarm of drift in a year of audits",
        (DRIFT,),
        ("drift | * | any alarm in a year*",),
        kinds=_BOTH,
        unit="rows for each audit",
    ),
    *(
        SummaryLine(
            f"{what} against calibration in 24 audits",
            (DRIFT,),
            (f"evidence against calibration | {_INDEPENDENT_AUDITS} | {method}",),
            kinds=_BOTH,
            unit="rows for each audit",
        )
        for what, method in (("Evidence of 20 to 1", EVER), ("Alarm of the evidence", ALARM))
    ),
    SummaryLine(
        "Evidence of 40 to 1 against an unchanged baseline in 24 audits",
        (DRIFT,),
        ("evidence against a baseline | calibrated*; slope* | evidence of 40 to 1*",),
        kinds=_BOTH,
        unit="rows for each audit",
    ),
    SummaryLine(
        "Evidence against a limit that the model meets",
        (DRIFT,),
        (f"limits over time | {_INDEPENDENT_SCORES} | *ever*",),
        kinds=_BOTH,
        unit="rows for each audit",
    ),
    SummaryLine(
        "Any alarm of population shift in a year of audits",
        (DRIFT,),
        ("population shift | * | any alarm in a year",),
        kinds=_BOTH,
        unit="rows for each audit",
    ),
    SummaryLine(
        "Any of equally good models left the set",
        (DRIFT,),
        ("models in the running | 3 equal models | any model left",),
        kinds=_BOTH,
        unit="rows for each audit",
    ),
    SummaryLine(
        "Confidence sequence of a mean score, 24 audits together",
        (DRIFT,),
        (f"confidence sequences | {_INDEPENDENT_SCORES} | all intervals",),
        kinds=_BOTH,
        unit="rows for each audit",
    ),
)
LINES = (*_OF_ROWS, *LINES_OF_CLUSTERS, *LINES_OF_WEIGHTS, *_OTHERS)
