"""The tables of a configuration as frozen records; a text that is not set is empty."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from scorereport.configuration.audit_tables import STRICT, AuditTable
from scorereport.configuration.checklist_names import list_checklist_names
from scorereport.configuration.documented_keys import Help
from scorereport.configuration.limits_table import LimitsTable
from scorereport.evaluation.arguments import Arguments, columns_in
from scorereport.results.settings import SETTINGS, WORK_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Collection

    from scorereport.data.roles import Columns

#: Parts that every report has, in addition to the sections that `report.sections` declares.
FIXED_SECTIONS = ("cover", "contents")


class Profile(StrEnum):
    """How much a report contains; a longer report contains all sections of a shorter one."""

    SUMMARY = "summary"
    STANDARD = "standard"
    FULL = "full"

    def contains(self, other: Profile) -> bool:
        """Whether a report of this profile has the sections of another profile."""
        profiles = tuple(Profile)
        return profiles.index(other) <= profiles.index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """`[report]`: the document itself."""

    __pydantic_config__: ClassVar = STRICT

    title: Annotated[str, Help("the title, on the cover and in the properties of the PDF")] = ""
    subtitle: Annotated[str, Help("the subtitle")] = ""
    number: Annotated[str, Help("the number of this document in your files, in quotes")] = ""
    version: Annotated[str, Help("the version of this document, in quotes")] = ""
    confidentiality: Annotated[str, Help('a label on every page, such as "Internal"')] = ""
    organisation: Annotated[str, Help("the organisation that issues the report")] = ""
    purpose: Annotated[str, Help("why the report was written")] = ""
    templates: Annotated[str, Help("a folder of your own templates, relative to the configuration")] = ""
    profile: Annotated[
        str,
        Help('how much the report contains, see below: "summary", "standard" (unless given) or "full"'),
    ] = Profile.STANDARD.value
    omit: Annotated[tuple[str, ...], Help("names of sections to leave out, see below")] = ()
    checklists: Annotated[
        tuple[str, ...] | None,
        Help(
            "the [checklists](checklists.md) of the annex: their names, or your own `.toml` files; none "
            "unless given"
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTable:
    """`[model]`: the evaluated model; `descriptions` has a sentence for each column of forecasts."""

    __pydantic_config__: ClassVar = STRICT

    name: Annotated[str, Help("the name of the model, as in your inventory of models")] = ""
    version: Annotated[str, Help("its version, in quotes")] = ""
    owner: Annotated[str, Help("its owner")] = ""
    developer: Annotated[str, Help("its developer")] = ""
    tier: Annotated[str, Help("its tier")] = ""
    intended_use: Annotated[str, Help("what it is for")] = ""
    users: Annotated[str, Help("who uses it")] = ""
    out_of_scope: Annotated[str, Help("what it must not be used for")] = ""
    predictions: Annotated[
        str, Help("how the forecasts were computed: by which system, from which inputs, when")
    ] = ""
    descriptions: Annotated[dict[str, str], Help("a table: a sentence for a column of forecasts")] = field(
        default_factory=dict
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTable:
    """`[data]`: the source of the rows, and the meaning of the outcome."""

    __pydantic_config__: ClassVar = STRICT

    source: Annotated[str, Help("where the rows come from")] = ""
    period: Annotated[str, Help("from when to when they were observed")] = ""
    population: Annotated[str, Help("which population they represent")] = ""
    eligibility: Annotated[str, Help("which cases were included and which were not")] = ""
    outcome: Annotated[str, Help("what counts as the event")] = ""
    horizon: Annotated[str, Help("within which time the event counts")] = ""
    reference: Annotated[
        str,
        Help(
            "binary models: the file of a [reference sample](glossary.md#reference-sample), such as that of "
            "the development, relative to the configuration; with the same columns of forecasts and weights, "
            "and, if it has them, of outcomes, groups and clusters"
        ),
    ] = ""


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

    author: Annotated[
        Person | None, Help("the author: a name, or a table of `name`, `role`, `organisation`")
    ] = None
    reviewer: Annotated[Person | None, Help("the reviewer, likewise")] = None
    approver: Annotated[Person | None, Help("the approver, likewise")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationTable:
    """`[evaluation]`: the arguments of `evaluate` that are set, checked and in their plain form."""

    given: Arguments = field(default_factory=Arguments)

    @property
    def settings(self) -> Arguments:
        """The settings that are set, except those about the computation."""
        return self._select(SETTINGS.keys() - set(WORK_SETTINGS))

    @property
    def columns(self) -> Columns:
        """The columns that are set."""
        return columns_in(self.given)

    @property
    def work(self) -> Arguments:
        """The settings about the computation that are set."""
        return self._select(WORK_SETTINGS)

    def add_reference(self, path: str) -> EvaluationTable:
        """The table with the reference sample that `[data]` names, if it names one."""
        return EvaluationTable(given={**self.given, "reference": path}) if path else self

    def _select(self, names: Collection[str]) -> Arguments:
        return cast("Arguments", {name: value for name, value in self.given.items() if name in names})


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """`[text]`: free text of one or more paragraphs."""

    __pydantic_config__: ClassVar = STRICT

    limitations: Annotated[str, Help("limitations of the data, the model and the evaluation")] = ""
    conclusion: Annotated[
        str, Help("conclusion of the author; the report adds its own verdict on the limits")
    ] = ""
    changes: Annotated[str, Help("changes since the last report")] = ""
    data_quality: Annotated[
        str, Help("how the quality of the data was checked, and what was found; in the section on data")
    ] = ""
    overrides: Annotated[
        str,
        Help(
            "how often and why people overrode forecasts, and how this was evaluated; in the section on the "
            "model"
        ),
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointsTable:
    """`[checkpoints]`: the candidates among which the model was chosen, in a file next to the configuration.

    With `outcome` and `forecasts`, the file holds predictions, and `column` names the checkpoint. Without
    them it holds the scores of each checkpoint; `directions` sets which direction is better for scores that
    are not known here.
    """

    __pydantic_config__: ClassVar = STRICT

    file: Annotated[
        str,
        Help("a file such as .csv, .csv.gz or .parquet beside the configuration (or `--checkpoints FILE`)"),
    ] = ""
    column: Annotated[
        str, Help('the column that names the [checkpoint](glossary.md#checkpoint); "checkpoint" unless given')
    ] = "checkpoint"
    outcome: Annotated[
        str,
        Help(
            "the column of outcomes of predictions; without it the file has one row of scores for each "
            "checkpoint"
        ),
    ] = ""
    forecasts: Annotated[
        tuple[str, ...], Help("the columns of predictions, in the order of `evaluation.classes`")
    ] = ()
    weight: Annotated[str, Help("the column of weights of predictions")] = ""
    score: Annotated[
        str, Help('the score by which the checkpoint is chosen; "penalized_brier" unless given')
    ] = "penalized_brier"
    patience: Annotated[
        int | None,
        Help("the number of checkpoints without improvement after which training would have stopped"),
    ] = None
    directions: Annotated[
        dict[str, str],
        Help('a table: "lower" or "higher" for columns of scores that this package does not define'),
    ] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistTable:
    """`[checklist]`: the lists, their headings, and the items that do not apply, with reasons."""

    __pydantic_config__: ClassVar = STRICT

    lists: Annotated[
        tuple[str, ...] | None,
        Help("the same as `checklists` in `[report]`; without both, the lists that these keys name"),
    ] = None
    names: Annotated[
        dict[str, str], Help("a table: the heading of a list, for example the name of your regulator")
    ] = field(default_factory=dict)
    not_applicable: Annotated[
        dict[str, str], Help('a table: "list:item" and the reason why the item does not apply')
    ] = field(default_factory=dict)

    def choose(self, checklists: tuple[str, ...] | None) -> tuple[str, ...]:
        """Return the lists of a report: those of `[report]`, else those of this table, else those named."""
        given = self.lists if checklists is None else checklists
        if given is not None:
            return tuple(dict.fromkeys(given))
        named = {*self.names, *(item.rpartition(":")[0] for item in self.not_applicable)}
        return tuple(name for name in list_checklist_names() if name in named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """All tables by their names in the file; a new table of the file is a new field.

    `[evaluation]` has its own reader, `evaluation_keys`.
    """

    __pydantic_config__: ClassVar = STRICT

    report: ReportTable = field(default_factory=ReportTable)
    model: ModelTable = field(default_factory=ModelTable)
    data: DataTable = field(default_factory=DataTable)
    people: PeopleTable = field(default_factory=PeopleTable)
    evaluation: dict[str, Any] = field(default_factory=dict)
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
    def work(self) -> Arguments:
        """The settings about the computation; a folder is relative to that of the file."""
        work = self.evaluation.work
        if "temporary_folder" in work:
            work["temporary_folder"] = str(Path(self.folder, work["temporary_folder"] or ""))
        return work

    @property
    def settings(self) -> Arguments:
        """The settings that are set, as arguments of `evaluate`, with those that limits need.

        These are thresholds and, unless `scale` is set, the probability scale. The path of a reference sample
        is relative to that of the file.
        """
        settings = self.evaluation.settings
        thresholds = self.limits.add_thresholds(settings.get("thresholds"), settings.get("cost_interval"))
        if thresholds is not None:
            settings["thresholds"] = thresholds
        if self.limits.need_scale:
            settings.setdefault("scale", True)
        if isinstance(reference := settings.get("reference"), str):
            settings["reference"] = str(Path(self.folder, reference))
        return settings

    @property
    def chosen_checklists(self) -> tuple[str, ...]:
        """The names of the checklists of the report."""
        return self.checklist.choose(self.report.checklists)

    @property
    def arguments(self) -> Arguments:
        """All keys of `[evaluation]` that are set, as arguments of `evaluate`; with what limits need."""
        return {**self.evaluation.given, **self.settings, **self.work}

    def find(self, key: str) -> Any:
        """The value of a key of the file, such as `model.owner`; an unknown key is an error."""
        table, _, name = key.partition(".")
        if table == "evaluation" and name:
            return self.evaluation.given.get(name)
        found = getattr(self, "texts" if table == "text" else table)
        return getattr(found, name) if name else found
