"""Scores as scorers of scikit-learn: higher is better, so losses are negated.

scikit-learn is needed to make a scorer, not to list their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, Self

from scorereport.errors import UsageError
from scorereport.estimators.score_function import OF_EVENTS, ScoreFunction
from scorereport.scores import REGISTRY, Direction, Kind
from scorereport.scores.registry import suggest_score

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import ArrayLike

    from scorereport.scores.registry import Score

_SKILL = "_skill"
#: Names of skills in other software.
_OTHER_SKILLS = {
    **dict.fromkeys(("gini", "gini_coefficient", "accuracy_ratio", "somers_d"), "roc_auc_skill"),
    **dict.fromkeys(("bss", "brier_skill_score", "d2_brier_score"), "brier_skill"),
    **dict.fromkeys(("d2_log_loss_score", "mcfadden", "mcfadden_r2"), "log_loss_skill"),
}
_BINARY = (*OF_EVENTS, Kind.PROBABILITY_SCALE)
_MULTICLASS = (Kind.MULTICLASS, Kind.ORDINAL, Kind.PROBABILITY_SCALE)
_ALL = (*OF_EVENTS, *_MULTICLASS)


class Scorer(Protocol):
    """A scorer of scikit-learn."""

    def __call__(
        self,
        estimator: object,
        X: object,  # noqa: N803
        y_true: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the score of a fitted estimator on data; higher is better."""

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Request weights by the metadata routing of scikit-learn."""


class UnknownScorerError(UsageError, KeyError):
    """A name that is not in `sr.scorers`."""

    def __str__(self) -> str:
        return str(self.args[0])


class Scorers(Mapping[str, Scorer]):
    """Scorers of scikit-learn by the name of the score, or of the score and "_skill".

    Each has the sign that scikit-learn expects: higher is better. A scorer calls `predict_proba`, finds the
    observed classes by `estimator.classes_`, and accepts `sample_weight`. The last of two classes is the
    event; `make` takes another one, the order of classes, and the options of a score.

    >>> import scorereport as sr
    >>> sr.scorers["brier"]
    make_scorer(brier, greater_is_better=False, response_method='predict_proba')
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scoring = {name: sr.scorers[name] for name in ("brier", "brier_skill", "roc_auc")}
    >>> found = cross_validate(GaussianNB(), X, y, scoring=scoring)
    >>> {name: round(float(found[f"test_{name}"].mean()), 2) for name in scoring}
    {'brier': -0.06, 'brier_skill': 0.76, 'roc_auc': 0.99}
    """

    def __getitem__(self, name: str) -> Scorer:
        entry, _ = _find_score(name)
        if _needs_options(entry):
            needed = ", ".join(f"{option}=..." for option in entry.options)
            raise UnknownScorerError(f'`{name}` needs options. To fix: sr.scorers.make("{name}", {needed}).')
        return self.make(name)

    def __contains__(self, name: object) -> bool:
        return name in _list_names(_ALL)

    def __iter__(self) -> Iterator[str]:
        return iter(_list_names(_ALL))

    def __len__(self) -> int:
        return len(_list_names(_ALL))

    def __repr__(self) -> str:
        return f"<{len(self)} scorers for scikit-learn: {', '.join(list(self)[:3])}, ...>"

    @property
    def binary(self) -> dict[str, Scorer]:
        """The scorers for classifiers of two classes, such as `brier`, by name."""
        return {name: self.make(name) for name in _list_names(_BINARY)}

    @property
    def multiclass(self) -> dict[str, Scorer]:
        """The scorers for classifiers of two or more classes, such as `multiclass_brier`, by name.

        `rps` and `sa_rps` are of ordered classes, and take them in the order of `estimator.classes_`, which
        scikit-learn sorts; `make` takes another order.
        """
        return {name: self.make(name) for name in _list_names(_MULTICLASS)}

    def make(
        self,
        name: str,
        *,
        pos_label: object = None,
        classes: Sequence[object] | None = None,
        **options: float | str,
    ) -> Scorer:
        """Make a scorer with options.

        Parameters
        ----------
        name : the name of a score of probabilities, or of the score and "_skill"
        pos_label : the class that is the event, for scores of two classes; by default the last
        classes : all classes in their order, for scores of several classes; by default sorted
        options : those of the score, such as `threshold=` of "net_benefit"

        >>> Scorers().make("net_benefit", threshold=0.2)
        make_scorer(net_benefit, response_method='predict_proba', threshold=0.2)
        """
        entry, is_skill = _find_score(name)
        entry.check_options(options)
        labels = _choose_labels(entry, pos_label=pos_label, classes=classes)
        scorer: Scorer = _import_maker()(
            ScoreFunction(entry.name, is_skill),
            greater_is_better=is_skill or entry.direction is Direction.HIGHER,
            **labels,
            **options,
        )
        return scorer


#: All scorers by name.
scorers = Scorers()


def _list_names(kinds: Collection[Kind]) -> list[str]:
    """Scores of these kinds that need no options, then their skills."""
    found = [entry for entry in REGISTRY.values() if entry.kind in kinds and not _needs_options(entry)]
    return [entry.name for entry in found] + [entry.name + _SKILL for entry in found if _has_skill(entry)]


def _needs_options(entry: Score) -> bool:
    try:
        entry.check_options({})
    except UsageError:
        return True
    return False


def _has_skill(entry: Score) -> bool:
    return entry.has_skill and entry.kind is not Kind.PROBABILITY_SCALE


def _find_score(name: str) -> tuple[Score, bool]:
    """The score of a scorer, and whether the scorer is of its skill."""
    plain = str(name).removesuffix(_SKILL)
    suffix = _SKILL if plain != name else ""
    entry = REGISTRY.get(plain)
    if entry is not None and entry.kind in _ALL and (not suffix or _has_skill(entry)):
        return entry, bool(suffix)
    if entry is not None and entry.kind not in _ALL:
        raise UnknownScorerError(f"`{name}` scores {entry.kind}; scorers are of probabilities.")
    if str(name).lower() in _OTHER_SKILLS:
        meant = _OTHER_SKILLS[name.lower()]
        raise UnknownScorerError(f"The scorer {name!r} is not known; did you mean `{meant}`?")
    known = [one.name for one in REGISTRY.values() if one.kind in _ALL and (not suffix or _has_skill(one))]
    raise UnknownScorerError(f"The scorer {name!r} is not known; {suggest_score(plain, known, suffix)}")


def _choose_labels(entry: Score, **given: object) -> dict[str, object]:
    """The one of `pos_label` and `classes` that was given, if the score takes it."""
    name, other, needed = (
        ("classes", "pos_label", "several") if entry.kind in OF_EVENTS else ("pos_label", "classes", "two")
    )
    if given[name] is not None:
        raise UsageError(f"`{name}` is for scores of {needed} classes; `{entry.name}` takes `{other}`.")
    return {key: value for key, value in given.items() if value is not None}


def _import_maker() -> Any:
    try:
        from scorereport.estimators.probability_scorer import make_probability_scorer
    except ModuleNotFoundError as error:
        raise UsageError('Scorers need scikit-learn: pip install "scorereport[sklearn]".') from error
    return make_probability_scorer
