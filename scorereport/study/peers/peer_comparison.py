"""Comparison of the engine with other Python packages, wherever they define the same number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

from scorereport._utils.progress import steps
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.study.defect_demonstrations import Demonstration, run_demonstration, suppress_warnings
from scorereport.study.peers.forecast_packages import dcurves_checks, dcurves_demonstrations, scores_checks
from scorereport.study.peers.isotonic_packages import (
    briertools_checks,
    briertools_demonstrations,
    model_diagnostics_checks,
    model_diagnostics_demonstrations,
)
from scorereport.study.peers.peer_checks import Check, run_check
from scorereport.study.peers.peer_samples import PeerSample
from scorereport.study.peers.scikit_learn import scikit_learn_checks, scikit_learn_demonstrations
from scorereport.study.peers.scipy_statsmodels import scipy_checks, statsmodels_checks

if TYPE_CHECKING:
    from scorereport.study.seeded_cases import Case


@dataclass(frozen=True, slots=True)
class _Peer:
    """A package: the names it is installed and imported as, its checks and its demonstrations."""

    package: str
    module: str
    checks: Callable[[], tuple[Check, ...]]
    demonstrations: Callable[[], tuple[Demonstration, ...]] = tuple

    @property
    def subject(self) -> str:
        """Package and version."""
        return f"{self.package} {version(self.package)}"


_PEERS = (
    _Peer("scikit-learn", "sklearn", scikit_learn_checks, scikit_learn_demonstrations),
    _Peer("scipy", "scipy", scipy_checks),
    _Peer("statsmodels", "statsmodels", statsmodels_checks),
    _Peer(
        "model-diagnostics", "model_diagnostics", model_diagnostics_checks, model_diagnostics_demonstrations
    ),
    _Peer("scores", "scores", scores_checks),
    _Peer("dcurves", "dcurves", dcurves_checks, dcurves_demonstrations),
    _Peer("briertools", "briertools", briertools_checks, briertools_demonstrations),
)


def compare_with_peers(cases: Iterable[Case]) -> Iterator[Comparison]:
    """Compare every number of every peer on all cases: one comparison for each, with the worst case.

    Cases in which a peer is known to deviate have a separate comparison. A peer that is not installed,
    or cannot be imported, is reported as absent.
    """
    samples = [PeerSample(case=case, number=number) for number, case in enumerate(cases)]
    for peer in steps(_PEERS, len(_PEERS), "comparing with other packages"):
        yield from _compare_with(peer, samples)


def _compare_with(peer: _Peer, samples: Sequence[PeerSample]) -> Iterator[Comparison]:
    try:
        with suppress_warnings():
            import_module(peer.module)
            checks, demonstrations = peer.checks(), peer.demonstrations()
    except Exception as error:  # also errors of an incompatible installation
        yield _absent(peer, error)
        return
    for check in checks:
        yield from run_check(check, peer.subject, samples)
    for demonstration in demonstrations:
        yield run_demonstration(demonstration, peer.subject)


def _absent(peer: _Peer, error: Exception) -> Comparison:
    return Comparison(
        subject=peer.package,
        quantity="installed",
        verdict=Verdict.ABSENT,
        reason=f"{error}. To fix: pip install {peer.package}",
    )
