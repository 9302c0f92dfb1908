"""What the study finds of Nelson (2017), and that it would notice a broken engine."""

from __future__ import annotations

from collections import Counter

import pytest

from scorereport import scores
from scorereport.comparison import Verdict
from scorereport.study.papers.nelson import reproduce_nelson
from scorereport.study.papers.nelson_errata import errata_nelson
from scorereport.study.papers.nelson_figures import FIRST, SECOND, average_model, compare_figure_7

KEYS = ["E1", "E2", "E3", "E4", "E4", "E5", "E6", "E6", "E7", "E8", "E8", "E9", "E9", "E10"]


def found(lines, *verdicts):
    return [line for line in lines if line.verdict in verdicts]


def place_of(line):
    return line.subject.partition(", ")[2]


def test_numbers_of_the_paper():
    lines = list(reproduce_nelson())
    assert Counter(line.verdict for line in lines) == {
        Verdict.REPRODUCED: 34,
        Verdict.NOT_REPRODUCIBLE: 8,
    }
    open_places = Counter(place_of(line) for line in found(lines, Verdict.NOT_REPRODUCIBLE))
    assert open_places == {"Fig. 1a": 2, "Fig. 1b": 3, "Fig. 7": 3}
    (compact,) = (line for line in lines if place_of(line) == "Fig. 1c")
    assert compact.engine == "0 (all 4 readings)"
    assert all(bool(line.reason) == (line.verdict != Verdict.REPRODUCED) for line in lines)


def test_errata_are_confirmed():
    lines = list(errata_nelson())
    assert [line.quantity.partition(":")[0] for line in lines] == KEYS
    assert not found(lines, Verdict.REFUTED)
    values = {line.quantity.partition(":")[0]: (line.reference, line.engine) for line in lines}
    assert values["E1"] == (1.7982, 1.0)
    assert values["E2"] == (0.327, 1.2582)
    assert values["E3"] == ("7/200", "9/20")
    assert values["E5"] == (2.8284, 0.5)


@pytest.mark.parametrize(
    ("window", "printed"),
    [
        (None, (0.547, 0.614, 0.890)),
        ((-10.0, 10.0), (0.554, 0.616, 0.900)),
        ((-7.5, 9.5), (0.556, 0.616, 0.903)),
    ],
)
def test_figure_7_by_the_range_of_x(window, printed):
    gaussian = (FIRST._replace(coupling=0.0), SECOND._replace(coupling=0.0))
    accuracy = average_model(gaussian, window).accuracy
    assert (accuracy.model, accuracy.source, accuracy.divergence) == pytest.approx(printed, abs=5e-4)


def test_a_wrong_mean_is_noticed(monkeypatch):
    mean = scores.generalized_mean
    monkeypatch.setattr(scores, "generalized_mean", lambda p, m: mean(p, m + 1))
    differing = [line.quantity for line in found(compare_figure_7(), Verdict.DIFFERS)]
    assert differing == ["Model probability", "Source probability", "Divergence probability"]
    refuted = {line.quantity.partition(":")[0] for line in found(errata_nelson(), Verdict.REFUTED)}
    assert refuted == {"E2", "E3", "E4", "E9"}


def test_a_wrong_density_is_noticed(monkeypatch):
    logpdf = scores.coupled_gaussian_logpdf
    monkeypatch.setattr(scores, "coupled_gaussian_logpdf", lambda x, **options: 1.001 * logpdf(x, **options))
    differing = Counter(place_of(line) for line in found(reproduce_nelson(), Verdict.DIFFERS))
    assert differing == {"sect. 3": 1, "eq. 14": 12}
    assert "E4" in {line.quantity[:2] for line in found(errata_nelson(), Verdict.REFUTED)}


def test_a_wrong_coupling_is_noticed(monkeypatch):
    monkeypatch.setattr(scores, "coupling_exponent", lambda kappa, **_: -2 * kappa / (1 + kappa))
    lines = (line for line in reproduce_nelson() if place_of(line) == "eq. 11")
    assert [line.verdict for line in lines] == [Verdict.DIFFERS]
    refuted = [line.quantity.partition(":")[0] for line in found(errata_nelson(), Verdict.REFUTED)]
    assert refuted == ["E10"]
