"""The fits of all forecasts of a panel; of many rows one is made after the other, and none is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from scorereport._utils.memory import release_memory
from scorereport.inference.large_panels import MANY_ROWS
from scorereport.reliability.fit import Corp, corp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.inference.panel import ForecastPanel


class PanelFits(Mapping[str, Corp]):
    """A CORP fit for each forecast, made when it is asked for and kept if rows are not many."""

    def __init__(self, panel: ForecastPanel) -> None:
        self._panel = panel
        self._kept: dict[str, Corp] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._panel.forecasts)

    def __len__(self) -> int:
        return len(self._panel.forecasts)

    def __getitem__(self, name: str) -> Corp:
        if name in self._kept:
            return self._kept[name]
        panel = self._panel
        fit = corp(
            panel.outcome,
            panel.forecasts[name],
            panel.weight,
            weight_kind=panel.weight_kind,
            cluster=panel.cluster,
        )
        if len(panel.outcome) <= MANY_ROWS:
            self._kept[name] = fit
        else:
            release_memory()
        return fit
