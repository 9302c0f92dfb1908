"""Progress of a whole command: the share of its time that is over, and the time that is left.

The plan states how long each stage is expected to take. The pace of the stages that are done corrects the
later ones, and the parts of the present stage that are done correct this one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp
from time import monotonic
from typing import TYPE_CHECKING

from scorereport._utils.work_plan import Stage, Workload, plan_stages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: The largest share that is shown while work goes on.
_MOST = 0.99
#: How much the plan counts against what is measured: as a share of the whole, and of a stage.
_TRUST_IN_PLAN, _TRUST_IN_STAGE = 0.08, 0.1
#: A part that takes longer than expected is not over: it lasts at least this share of its time so far.
_LEAST_REST = 0.125
#: The time left is known after these seconds, if this share of the work is measured, as long as the present
#: part does not take longer than this multiple of its expected time.
_FIRST_SECONDS, _FIRST_SHARE, _OVERRUN = 3.0, 0.1, 1.0
#: The expected seconds of a stage that no plan names.
_UNPLANNED = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeEstimate:
    """The share of the time of a command that is over, and the seconds left; None if they are not known."""

    share: float
    seconds_left: float | None


@dataclass(frozen=True, slots=True)
class _Part:
    """The present part of a stage: the number of parts before it, the number of all, and when it began."""

    before: int
    total: int
    began: float


class WholeProgress:
    """The stages of a command, with the share of its time that is over and the time left.

    >>> ticks = iter([0.0, 0.0, 4.0, 8.0])
    >>> whole = WholeProgress(clock=lambda: next(ticks))
    >>> whole.plan({Stage.READING: 2.0, Stage.SCORES: 6.0})
    >>> whole.begin(Stage.READING), whole.begin(Stage.SCORES)
    (None, None)
    >>> whole.position, 0.3 < whole.measure().share < 0.6
    ((2, 2), True)
    """

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._began = self._stage_began = clock()
        self._work = Workload()
        self._expected: dict[Stage, float] = {}
        self._measured: dict[Stage, float] = {}
        self._part = _Part(0, 1, self._began)
        self._share = 0.0
        self.stage: Stage | None = None

    def learn(self, facts: Mapping[str, float | Sequence[str]]) -> None:
        """Take facts about the work, the fields of a `Workload`, and plan it anew."""
        self._work = replace(self._work, **facts)  # type: ignore[arg-type]
        self.plan(plan_stages(self._work))

    def plan(self, expected: Mapping[Stage, float]) -> None:
        """Take the expected seconds of the stages."""
        known = dict(expected)
        for stage in (*self._measured, self.stage):
            if stage is not None:
                known.setdefault(stage, _UNPLANNED)
        self._expected = {stage: known[stage] for stage in Stage if stage in known}

    def begin(self, stage: Stage) -> None:
        """Begin a stage, which ends the one before; a stage that is over does not begin again."""
        stages = list(Stage)
        if self.stage is not None and stages.index(stage) <= stages.index(self.stage):
            return
        now = self._clock()
        if self.stage is None:
            self._began = now
        else:
            self._measured = {**self._measured, self.stage: now - self._stage_began}
        self.stage, self._stage_began, self._part = stage, now, _Part(0, 1, now)
        self.plan(self._expected)

    def finish_part(self, done: int, total: int) -> None:
        """Take the number of parts of the present stage that are done."""
        self._part = _Part(done, max(total, 1), self._clock())

    @property
    def position(self) -> tuple[int, int]:
        """The number of the present stage, and of all stages."""
        stages = list(self._expected)
        return (stages.index(self.stage) + 1 if self.stage in stages else 0), len(stages)

    def measure(self, work_left: float | None = None) -> TimeEstimate:
        """Estimate share and time left; the present work alone takes `work_left` more seconds, if known."""
        if self.stage is None:
            return TimeEstimate(share=0.0, seconds_left=None)
        now = self._clock()
        elapsed = now - self._began
        left, is_known, most = self._estimate(self.stage, now, work_left)
        share = elapsed / (elapsed + left) if elapsed > 0 else 0.0
        self._share = max(self._share, min(share, most))
        is_early = elapsed < _FIRST_SECONDS
        return TimeEstimate(share=self._share, seconds_left=left if is_known and not is_early else None)

    def _estimate(self, stage: Stage, now: float, work_left: float | None) -> tuple[float, bool, float]:
        """Return the seconds left, whether they are known well enough to be stated, and the largest share.

        Until enough is measured, the share does not exceed the one that is planned for the present stage.
        """
        expected, part = self._expected, self._part
        present, share = expected[stage], min(part.before / part.total, 1.0)
        spent, done = part.began - self._stage_began, share * present
        pace, is_measured = self._find_pace(spent, done)
        later = sum(list(expected.values())[self.position[0] :])
        each = _TRUST_IN_STAGE * pace * present + spent
        each /= (share + _TRUST_IN_STAGE) * part.total
        so_far = now - part.began
        rest = max(each * exp(-so_far / each), _LEAST_REST * so_far, work_left or 0.0)
        left = rest + max(part.total - part.before - 1, 0) * each + pace * later
        is_known = work_left is not None or (is_measured and so_far <= _OVERRUN * each)
        return left, is_known, _MOST if is_measured else min(1 - later / sum(expected.values()), _MOST)

    def _find_pace(self, spent: float, done: float) -> tuple[float, bool]:
        """Return the measured by the expected seconds of finished work, and whether enough is finished.

        The present stage has taken `spent` seconds for parts that were expected to take `done`.
        """
        total = sum(self._expected.values())
        done += sum(self._expected[stage] for stage in self._measured)
        spent += sum(self._measured.values())
        prior = _TRUST_IN_PLAN * total
        return (spent + prior) / (done + prior), done >= _FIRST_SHARE * total
