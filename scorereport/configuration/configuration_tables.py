"""The tables of a configuration as frozen records; a text that is not set is empty."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from scorereport.configuration.audit_tables import STRICT, AuditTable
from scorereport.configuration.limits_table import LimitsTable

#: The sections of a report that can be left out, in reading order.
SECTION_NAMES = (
    "summary",
    "model",
    "data",
    "methods",
    "performance",
    "calibration",
    "discrimination",
    "decomposition",
    "decision",
    "retention",
    "scale",
    "comparison",
    "groups",
    "time",
    "trend",
    "recalibration",
    "checkpoints",
    "certificate",
    "limitations",
    "provenance",
    "sign-off",
    "checklist",
)
#: Sections that every report has.
FIXED_SECTIONS = ("cover", "contents")
#: Checklists that are part of the package.
CHECKLISTS = ("model-risk", "tripod-ai", "eu-ai-act")
#: Engines of an evaluation.
ENGINES = ("auto", "memory", "duckdb", "spark")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """`[report]`: the document itself."""

    __pydantic_config__: ClassVar = STRICT

    title: str = ""
    subtitle: str = ""
    number: str = ""
    version: str = ""
    confidentiality: str = ""
    organisation: str = ""
    purpose: str = ""
    templates: str = ""
    omit: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTable:
    """`[model]`: the evaluated model; `descriptions` has a sentence for each column of forecasts."""

    __pydantic_config__: ClassVar = STRICT

    name: str = ""
    version: str = ""
    owner: str = ""
    developer: str = ""
    tier: str = ""
    intended_use: str = ""
    users: str = ""
    out_of_scope: str = ""
    predictions: str = ""
    descriptions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTable:
    """`[data]`: the source of the rows, and the meaning of the outcome."""

    __pydantic_config__: ClassVar = STRICT

    source: str = ""
    period: str = ""
    population: str = ""
    eligibility: str = ""
    outcome: str = ""
    horizon: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person who signs: a name, optionally with role and organisation."""

    __pydantic_config__: ClassVar = STRICT

    name: str
    role: str = ""
    organisation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleTable:
    """`[people]`: the author, reviewer and approver of the report."""

    __pydantic_config__: ClassVar = STRICT

    author: Person | None = None
    reviewer: Person | None = None
    approver: Person | None = None


#: Keys of `[evaluation]` that are arguments of `evaluate` with the same names, and kept in its settings.
_SETTINGS = (
    "cost_interval",
    "thresholds",
    "window",
    "level",
    "band_level",
    "resamples",
    "seed",
    "smallest_group",
    "cost_matrix",
    "retention_fractions",
    "scale_bins",
    "scale_limit",
)
#: Keys of `[evaluation]` that are arguments of `read_predictions` with the same names.
_COLUMNS = (
    "outcome",
    "classes",
    "ordered",
    "normalize",
    "weight",
    "weight_kind",
    "cluster",
    "grade",
    "time",
    "positive",
    "missing",
)
#: Keys of `[evaluation]` on how the computation is done; results do not depend on them.
_WORK = ("engine", "memory_limit", "temporary_folder")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationTable:
    """`[evaluation]`: columns and settings; `evaluate` chooses those that are None or empty.

    `forecasts` has the columns of each model: none if they follow from its name, as for a list of models,
    else one for each class. `engine`, `memory_limit` and `temporary_folder` are about the computation.
    """

    __pydantic_config__: ClassVar = STRICT

    outcome: str | None = None
    forecasts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    classes: tuple[str, ...] | None = None
    ordered: bool | None = None
    normalize: bool | None = None
    groups: tuple[str, ...] = ()
    weight: str | None = None
    weight_kind: str | None = None
    cluster: str | None = None
    grade: str | None = None
    time: str | None = None
    positive: str | None = None
    missing: str | None = None
    cost_interval: tuple[float, float] | None = None
    thresholds: tuple[float, ...] | None = None
    cost_matrix: tuple[tuple[float, ...], ...] | None = None
    retention_fractions: tuple[float, ...] | None = None
    scale_bins: int | None = None
    scale_limit: float | None = None
    window: str | None = None
    level: float | None = None
    band_level: float | None = None
    resamples: int | None = None
    seed: int | None = None
    smallest_group: int | None = None
    engine: str | None = None
    memory_limit: str | None = None
    temporary_folder: str | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that are set, as arguments of `evaluate`."""
        return _drop_none({name: getattr(self, name) for name in _SETTINGS})

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that are set, as arguments of `evaluate`."""
        names_columns = any(self.forecasts.values())
        forecasts = dict(self.forecasts) if names_columns else list(self.forecasts)
        columns = _drop_none({name: getattr(self, name) for name in _COLUMNS})
        return (
            columns
            | ({"forecasts": forecasts} if forecasts else {})
            | ({"group": list(self.groups)} if self.groups else {})
        )

    @property
    def work(self) -> dict[str, Any]:
        """The keys about the computation that are set, as arguments of `evaluate`."""
        return _drop_none({name: getattr(self, name) for name in _WORK})

    @property
    def arguments(self) -> dict[str, Any]:
        """All keys that are set, as arguments of `evaluate`; a folder is as written in the file."""
        return self.columns | self.settings | self.work


def _drop_none(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """`[text]`: free text of one or more paragraphs."""

    __pydantic_config__: ClassVar = STRICT

    limitations: str = ""
    conclusion: str = ""
    changes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointsTable:
    """`[checkpoints]`: the candidates among which the model was chosen, in a file next to the configuration.

    With `outcome` and `forecasts`, the file holds predictions, and `column` names the checkpoint. Without
    them it holds the scores of each checkpoint; `directions` sets which direction is better for scores that
    are not known here.
    """

    __pydantic_config__: ClassVar = STRICT

    file: str = ""
    column: str = "checkpoint"
    outcome: str = ""
    forecasts: tuple[str, ...] = ()
    weight: str = ""
    score: str = "penalized_brier"
    patience: int | None = None
    directions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistTable:
    """`[checklist]`: the lists, their headings, and the items that do not apply, with reasons."""

    __pydantic_config__: ClassVar = STRICT

    lists: tuple[str, ...] = CHECKLISTS
    names: dict[str, str] = field(default_factory=dict)
    not_applicable: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """All tables by their names in the file; a new table of the file is a new field."""

    __pydantic_config__: ClassVar = STRICT

    report: ReportTable = field(default_factory=ReportTable)
    model: ModelTable = field(default_factory=ModelTable)
    data: DataTable = field(default_factory=DataTable)
    people: PeopleTable = field(default_factory=PeopleTable)
    evaluation: EvaluationTable = field(default_factory=EvaluationTable)
    limits: LimitsTable = field(default_factory=LimitsTable)
    text: TextTable = field(default_factory=TextTable)
    checkpoints: CheckpointsTable = field(default_factory=CheckpointsTable)
    checklist: ChecklistTable = field(default_factory=ChecklistTable)
    audit: AuditTable = field(default_factory=AuditTable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The configuration of a report: its tables, and the text and the name of its file.

    The table `[text]` is the attribute `texts`, because `text` is the text of the file. `folder` is that of
    the file; paths of the user's templates and checklists are relative to it.
    """

    report: ReportTable = field(default_factory=ReportTable)
    model: ModelTable = field(default_factory=ModelTable)
    data: DataTable = field(default_factory=DataTable)
    people: PeopleTable = field(default_factory=PeopleTable)
    evaluation: EvaluationTable = field(default_factory=EvaluationTable)
    limits: LimitsTable = field(default_factory=LimitsTable)
    texts: TextTable = field(default_factory=TextTable)
    checkpoints: CheckpointsTable = field(default_factory=CheckpointsTable)
    checklist: ChecklistTable = field(default_factory=ChecklistTable)
    audit: AuditTable = field(default_factory=AuditTable)
    text: str = ""
    name: str = "configuration"
    folder: str = ""

    @property
    def sha256(self) -> str:
        """SHA-256 of the text, the same as that of the file; empty if there is no text."""
        return hashlib.sha256(self.text.encode()).hexdigest() if self.text else ""

    @property
    def work(self) -> dict[str, Any]:
        """The keys about the computation, as arguments of `evaluate`; a folder is relative to the file's."""
        work = self.evaluation.work
        place = work.get("temporary_folder")
        return work if place is None else work | {"temporary_folder": str(Path(self.folder, place))}

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that are set, as arguments of `evaluate`, with the thresholds of limits."""
        settings = self.evaluation.settings
        thresholds = self.limits.add_thresholds(settings.get("thresholds"), settings.get("cost_interval"))
        return settings if thresholds is None else settings | {"thresholds": thresholds}

    @property
    def arguments(self) -> dict[str, Any]:
        """All keys of `[evaluation]` that are set, as arguments of `evaluate`; with thresholds of limits."""
        return self.evaluation.arguments | self.settings | self.work

    def find(self, key: str) -> Any:
        """The value of a key of the file, such as `model.owner`; an unknown key is an error."""
        table, _, name = key.partition(".")
        found = getattr(self, "texts" if table == "text" else table)
        return getattr(found, name) if name else found
