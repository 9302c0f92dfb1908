"""Figs. 2 to 7 of Nelson (2017) as our own simulations show them, and the spectrum that the paper defers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.choices import SEED
from scorereport._utils.formatting import format_count
from scorereport.reference.reference_documents import StudyFigure
from scorereport.study.papers.nelson_figures import (
    BINS,
    CASES,
    CLOSER,
    FIRST,
    PERFECT,
    WRONG_MODELS,
    ClassModel,
)
from scorereport.study.papers.nelson_panels import (
    density_panel,
    posterior_panel,
    projection_panel,
    readings_panel,
    roc_panel,
    scale_diagram_panel,
    spectrum_panel,
)
from scorereport.study.papers.printed_numbers import NELSON as PAPER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scorereport.reference.reference_documents import StudyPanel

#: Models whose spectra differ most, by their names.
_SPECTRA = ("Fig. 5a, mean 1 for 2", "Fig. 5b, mean 3 for 2", "Fig. 6c, coupling 0 for .5")


def illustrate_nelson() -> Iterator[StudyFigure]:
    """Each figure with all that is drawn in it, in the order of their numbers."""
    yield _picture_right_model()
    yield _picture_densities_of_right_model()
    yield _picture_densities_of_closer_model()
    yield _picture_wrong_mean()
    yield _picture_wrong_variance()
    yield _picture_wrong_tails()
    yield _picture_divergence_without_tails()
    yield _picture_all_exponents()


def _picture_right_model() -> StudyFigure:
    return _study_figure(
        "nelson-2",
        "Fig. 2: a model that is right",
        f"{format_count(CASES)} simulated cases (seed {SEED}) are sorted by what the model gives to a class"
        f" and cut into {BINS} bins of equal count, for each of both classes. A bubble lies at the share of"
        " cases that truly were of the class (source) and at the geometric mean of what the model gave to it"
        " in these; its area shows how many they are. The three marks are means of the probabilities of the"
        " true class, over the known densities: arithmetic (decisiveness), geometric (accuracy) and with"
        " exponent −2/3 (robustness). Divergence is the accuracy of the model over that of the source. For a"
        " right model all lie on the diagonal, the bubbles but for chance.",
        [scale_diagram_panel("Model against source", PERFECT)],
    )


def _picture_densities_of_right_model() -> StudyFigure:
    return _study_figure(
        "nelson-3",
        "Fig. 3b to d: the same model, by its densities",
        "Two classes at 0 and 2 with heavy tails (coupling κ = 0.5) as they are (the source, broad lines) and"
        " as the model believes (dashed). Far out the probability of a class returns to one half. The ROC"
        " curve shows which share of class 2 is found at which share of false alarms: the actual one, and the"
        " one that the model predicts of itself.",
        _density_panels(PERFECT),
    )


def _picture_densities_of_closer_model() -> StudyFigure:
    return _study_figure(
        "nelson-4",
        "Fig. 4b to d: a model that takes 1 for the mean 2",
        "With class 2 too near to class 1 the model is less sure than it could be, decides at 0.5 instead of"
        " 1, and predicts a ROC curve below the actual one.",
        _density_panels(CLOSER),
    )


def _picture_wrong_mean() -> StudyFigure:
    return _study_figure(
        "nelson-5",
        "Fig. 5: a wrong mean",
        "As Fig. 2 of the paper, with the three means of each class in its colour. Any error costs accuracy,"
        " whose mark lies below the diagonal. The line through the marks is flatter than the diagonal (slope"
        " below 1, less than 45°) for a model that is not sure enough, and steeper for one that is too sure.",
        [
            scale_diagram_panel(": ".join(_name(name)), models, by_class=True)
            for name, models in _wrong_models("Fig. 5")
        ],
    )


def _picture_wrong_variance() -> StudyFigure:
    return _study_figure(
        "nelson-6-variance",
        "Fig. 6a and b: a wrong variance",
        "As Fig. 2 of the paper. The paper's caption calls the model of (b) over-confident; with a slope"
        " below 1 it is under-confident.",
        [
            scale_diagram_panel(": ".join(_name(name)), models)
            for name, models in _wrong_models("Fig. 6a", "Fig. 6b")
        ],
    )


def _picture_wrong_tails() -> StudyFigure:
    return _study_figure(
        "nelson-6-tails",
        "Fig. 6c and d: wrong tails",
        "As Fig. 2 of the paper. Tails that are too short (c) leave the middle right and cost robustness: far"
        " out the model is nearly certain of what is nearly open. Tails that are too long (d) keep it from"
        " being sure, at little cost.",
        [
            scale_diagram_panel(": ".join(_name(name)), models)
            for name, models in _wrong_models("Fig. 6c", "Fig. 6d")
        ],
    )


def _picture_divergence_without_tails() -> StudyFigure:
    return _study_figure(
        "nelson-7",
        "Fig. 7: the divergence probability of a model without heavy tails",
        "Both classes of the model are Gaussian, those of the source have κ = 0.5. The ray through the"
        " accuracy meets a source probability of 1 at the divergence probability, model over source. The"
        " paper does not say over which range of x it averages; on the right, what rounds to the printed"
        " values lies within the frame.",
        [projection_panel(), readings_panel()],
    )


def _picture_all_exponents() -> StudyFigure:
    return _study_figure(
        "nelson-spectrum",
        "sect. 5: all exponents, which the paper leaves for later",
        "The mean with exponent m of the probabilities of the true class, for the model and for the source."
        " It rises with m; the lower m, the more the smallest probabilities weigh. A model that is not sure"
        " enough has a flatter curve than the source, one that is too sure a steeper one.",
        [spectrum_panel(*_name(name), (FIRST, WRONG_MODELS[name][0])) for name in _SPECTRA],
    )


def _study_figure(key: str, title: str, caption: str, panels: Iterable[StudyPanel]) -> StudyFigure:
    return StudyFigure(key=key, subject=PAPER, title=title, caption=caption, panels=tuple(panels))


def _density_panels(models: tuple[ClassModel, ClassModel]) -> list[StudyPanel]:
    return [density_panel(models), posterior_panel(models), roc_panel(models)]


def _wrong_models(*places: str) -> Iterator[tuple[str, tuple[ClassModel, ClassModel]]]:
    for name, (second, _) in WRONG_MODELS.items():
        if name.startswith(places):
            yield name, (FIRST, second)


def _name(name: str) -> tuple[str, str]:
    """The letter of a panel with the error of its model, and what that makes of the model."""
    place, _, error = name.partition(", ")
    word = "over-confident" if WRONG_MODELS[name][1] else "under-confident"
    return f"({place[-1]}) {error.replace(' .', ' 0.').capitalize()}", word
