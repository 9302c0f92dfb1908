"""Scorers of scikit-learn that give the score function the classes of the estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.metrics import make_scorer

if TYPE_CHECKING:
    from scorereport.estimators.score_function import ScoreFunction

#: What `make_scorer` makes; scikit-learn has no public name for it.
_Scorer: Any = type(make_scorer(max))


class ProbabilityScorer(_Scorer):  # type: ignore[misc]
    """A scorer that knows the classes of the estimator, also those that no case of a fold has."""

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **named: Any) -> float:  # noqa: N803
        return super()._score(method_caller, estimator, X, y_true, labels=estimator.classes_, **named)


def make_probability_scorer(
    function: ScoreFunction, *, greater_is_better: bool, **options: Any
) -> ProbabilityScorer:
    """Make a scorer of probabilities, as `sklearn.metrics.make_scorer` does."""
    return ProbabilityScorer(function, 1 if greater_is_better else -1, options, "predict_proba")
