"""Comparisons with scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport import curves, scores
from scorereport.reliability.fit import corp
from scorereport.scores.skills import skill
from scorereport.study.defect_demonstrations import Demonstration
from scorereport.study.peers import peer_samples as rules
from scorereport.study.peers.peer_checks import Check, Deviation
from scorereport.study.peers.peer_samples import CLIP, FEWER_CASES, GRADES, merge_like_scikit_learn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.reliability.fit import Corp
    from scorereport.study.peers.peer_checks import PeerComputation
    from scorereport.study.peers.peer_samples import CaseRule, PeerSample

_CLIPS = "It clips forecasts at 2.2e-16, so that an infinite score becomes a number (scikit-learn #20354)."
_MERGES = "It treats forecasts less than 1e-15 apart as equal; we never merge."
MERGES_SINGLE = (
    "In single precision it treats forecasts less than 1e-6 apart as equal, and if the highest is among "
    "them, its result for that one is NaN; we never merge."
)
#: Sums and logarithms of float32 numbers have seven digits.
SINGLE_TOLERANCE = 1e-5
SINGLE_NOTE = "Tolerance 1e-05: it computes in single precision."


def scikit_learn_checks() -> tuple[Check, ...]:
    """Checks of all numbers that scikit-learn defines as we do."""
    return (*_score_checks(), *_skill_checks(), *_ranking_checks(), *_isotonic_checks(), *_label_checks())


def scikit_learn_demonstrations() -> tuple[Demonstration, ...]:
    """Demonstrations of scikit-learn with an infinite score, and with almost equal forecasts."""
    from sklearn import metrics
    from sklearn.isotonic import IsotonicRegression

    y, p = np.array([1.0, 0.0]), np.array([0.0, 0.5])
    close = np.array([0.5 + 4e-16, 0.5])
    return (
        Demonstration(
            quantity="mean log score of an event forecast 0",
            ours=lambda: scores.log_loss(y, p).mean(),
            theirs=lambda: metrics.log_loss(y, p),
            right=np.inf,
            wrong=-float(np.log(CLIP) + np.log(0.5)) / 2,
            reason=_CLIPS,
        ),
        Demonstration(
            quantity="recalibrated probability 4e-16 below another forecast",
            ours=lambda: corp(y, close).cep[1],
            theirs=lambda: IsotonicRegression().fit(close, y).predict(close)[1],
            right=0.0,
            wrong=0.5,
            reason=_MERGES,
        ),
    )


def _score_checks() -> tuple[Check, ...]:
    from sklearn import metrics

    def log_loss(sample: PeerSample, weight: FloatArray | None = None) -> Any:
        return metrics.log_loss(sample.y, _both(sample), sample_weight=weight, labels=[0, 1])

    return (
        Check(
            "mean Brier score",
            lambda s: scores.brier(s.y, s.p).mean(),
            lambda s: metrics.brier_score_loss(s.y, s.p),
        ),
        Check(
            "mean Brier score, single precision",
            lambda s: scores.brier(s.y, s.case.y_prob).mean(),
            lambda s: metrics.brier_score_loss(s.y, s.case.y_prob),
            unless=(rules.DOUBLE,),
            tolerance=SINGLE_TOLERANCE,
            note=SINGLE_NOTE,
        ),
        Check(
            "weighted mean Brier score",
            lambda s: s.weighted_fit.decompose("brier").score,
            lambda s: metrics.brier_score_loss(s.y, s.p, sample_weight=s.weight),
            most_cases=FEWER_CASES,
        ),
        Check(
            "mean log score",
            lambda s: scores.log_loss(s.y, s.p).mean(),
            log_loss,
            deviation=_clipped(lambda s: scores.log_loss(s.y, s.p, limit=CLIP).mean()),
        ),
        Check(
            "weighted mean log score",
            lambda s: s.weighted_fit.decompose("log").score,
            lambda s: log_loss(s, s.weight),
            most_cases=FEWER_CASES,
            deviation=_clipped(lambda s: s.weighted_fit.decompose("log", limit=CLIP).score),
        ),
        Check(
            "misclassification",
            lambda s: scores.misclassification(s.y, s.p).mean(),
            lambda s: metrics.zero_one_loss(s.y, s.p > 0.5) / 2 + metrics.zero_one_loss(s.y, s.p >= 0.5) / 2,
            note="Mean of both decisions at p = 1/2, which is our convention for ties.",
        ),
    )


def _skill_checks() -> tuple[Check, ...]:
    from sklearn import metrics

    return (
        Check(
            "Brier skill",
            lambda s: skill(s.y, s.p, "brier"),
            lambda s: metrics.d2_brier_score(s.y, s.p),
            unless=(rules.ONE_CLASS,),
        ),
        Check(
            "weighted Brier skill",
            lambda s: skill(s.y, s.p, "brier", sample_weight=s.weight),
            lambda s: metrics.d2_brier_score(s.y, s.p, sample_weight=s.weight),
            most_cases=FEWER_CASES,
            unless=(rules.ONE_CLASS,),
        ),
        Check(
            "log skill",
            lambda s: skill(s.y, s.p, "log_loss"),
            lambda s: metrics.d2_log_loss_score(s.y, _both(s), labels=[0, 1]),
            unless=(rules.ONE_CLASS,),
            deviation=_clipped(lambda s: skill(s.y, s.p, "log_loss", limit=CLIP)),
        ),
    )


def _ranking_checks() -> tuple[Check, ...]:
    from sklearn import metrics

    def roc(sample: PeerSample, weight: FloatArray | None = None) -> Any:
        points = metrics.roc_curve(sample.y, sample.p, sample_weight=weight, drop_intermediate=False)
        return np.concatenate(points)

    return (
        Check(
            "AUC",
            lambda s: scores.roc_auc(s.y, s.p),
            lambda s: metrics.roc_auc_score(s.y, s.p),
            unless=(rules.ONE_CLASS,),
        ),
        Check(
            "weighted AUC",
            lambda s: scores.roc_auc(s.y, s.p, sample_weight=s.weight),
            lambda s: metrics.roc_auc_score(s.y, s.p, sample_weight=s.weight),
            most_cases=FEWER_CASES,
            unless=(rules.ONE_CLASS,),
        ),
        Check("ROC curve", lambda s: _roc_points(s.fit), roc, unless=(rules.ONE_CLASS,)),
        Check(
            "weighted ROC curve",
            lambda s: _roc_points(s.weighted_fit),
            lambda s: roc(s, s.weight),
            most_cases=FEWER_CASES,
            unless=(rules.ONE_CLASS,),
        ),
    )


def _isotonic_checks() -> tuple[Check, ...]:
    from sklearn.isotonic import IsotonicRegression

    def recalibrated(sample: PeerSample, weight: FloatArray | None = None) -> Any:
        return IsotonicRegression().fit(sample.p, sample.y, sample_weight=weight).predict(sample.p)

    def in_single_precision(sample: PeerSample) -> Any:
        return IsotonicRegression().fit(sample.case.y_prob, sample.y).predict(sample.case.y_prob)

    return (
        Check(
            "recalibrated probabilities",
            lambda s: s.fit.cep,
            recalibrated,
            deviation=merged(lambda s: recalibrate_merged(s, s.p)),
        ),
        Check(
            "weighted recalibrated probabilities",
            lambda s: s.weighted_fit.cep,
            lambda s: recalibrated(s, s.weight),
            unless=(rules.CLOSE,),
        ),
        Check(
            "recalibrated probabilities",
            lambda s: s.fit.cep,
            in_single_precision,
            unless=(rules.DOUBLE,),
            tolerance=SINGLE_TOLERANCE,
            deviation=Deviation(
                only=rules.SINGLE,
                imitate=lambda s: recalibrate_merged(s, s.case.y_prob),
                reason=f"{MERGES_SINGLE} {SINGLE_NOTE}",
            ),
        ),
    )


def _label_checks() -> tuple[Check, ...]:
    from sklearn import metrics

    return (
        Check(
            "accuracy of labels",
            lambda s: scores.accuracy(*s.grades, n_classes=GRADES),
            lambda s: metrics.accuracy_score(*s.grades),
        ),
        Check(
            "macro F1",
            lambda s: scores.macro_f1(*s.grades, n_classes=GRADES),
            lambda s: metrics.f1_score(*s.grades, average="macro", zero_division=0.0),
            note="Both average over the labels that are observed or predicted.",
        ),
        Check(
            "quadratic weighted kappa",
            lambda s: scores.quadratic_weighted_kappa(*s.grades, n_classes=GRADES),
            lambda s: metrics.cohen_kappa_score(*s.grades, weights="quadratic", labels=range(GRADES)),
            unless=(rules.SAME_LABELS,),
            most_cases=FEWER_CASES,
        ),
        Check(
            "mean Brier score of three classes",
            lambda s: scores.multiclass_brier(*s.three_classes).mean(),
            lambda s: metrics.brier_score_loss(*s.three_classes, labels=[0, 1, 2], scale_by_half=False),
            most_cases=FEWER_CASES,
        ),
        Check(
            "mean log score of three classes",
            lambda s: scores.multiclass_log_loss(*s.three_classes).mean(),
            lambda s: metrics.log_loss(*s.three_classes, labels=[0, 1, 2]),
            most_cases=FEWER_CASES,
            deviation=_clipped(
                lambda s: scores.multiclass_log_loss(*s.three_classes, limit=CLIP).mean(),
                rules.CLIPPED_CLASSES,
            ),
        ),
    )


def _clipped(imitate: PeerComputation, only: CaseRule = rules.CLIPPED) -> Deviation:
    return Deviation(only=only, imitate=imitate, reason=_CLIPS)


def merged(imitate: PeerComputation) -> Deviation:
    """The deviation that forecasts less than 1e-15 apart are treated as equal."""
    return Deviation(only=rules.CLOSE, imitate=imitate, reason=_MERGES)


def _both(sample: PeerSample) -> FloatArray:
    """Probabilities of both outcomes."""
    return np.column_stack([1 - sample.p, sample.p])


def _roc_points(fit: Corp) -> FloatArray:
    curve = curves.roc_curve(fit)
    return np.concatenate([curve.fpr, curve.tpr, curve.threshold])


def recalibrate_merged(sample: PeerSample, forecasts: NDArray[Any]) -> FloatArray:
    """Our fit to the forecasts that scikit-learn distinguishes; NaN above the highest of them."""
    merged = merge_like_scikit_learn(forecasts)
    recalibrated = corp(sample.y, merged).recalibrate(sample.p)
    return np.where(sample.p > merged.max(), np.nan, recalibrated)
