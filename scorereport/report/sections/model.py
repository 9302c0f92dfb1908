"""The model: what it is, who answers for it, and what it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.report.section_parts import (
    SectionContent,
    collect_parts,
    label_facts,
    split_paragraphs,
    table_part,
)
from scorereport.report.tables.table import Table

if TYPE_CHECKING:
    from scorereport.configuration import Configuration
    from scorereport.report.report_record import Report


def describe_model_section(report: Report) -> SectionContent | None:
    """What the configuration tells of the model; None if it tells nothing."""
    told = report.configuration.model
    facts = label_facts(
        {
            "Model": told.name,
            "Version": told.version,
            "Owner": told.owner,
            "Developer": told.developer,
            "Validated by": _name_validator(report.configuration),
            "Tier": told.tier,
        }
    )
    texts = {
        "Intended use": told.intended_use,
        "Users": told.users,
        "Not to be used for": told.out_of_scope,
        "How the predictions were made": told.predictions,
    }
    uses = [{"label": label, "paragraphs": split_paragraphs(text)} for label, text in texts.items() if text]
    described = _description_table(report)
    if not (facts or uses or described):
        return None
    return SectionContent(
        name="model",
        title="Model",
        parts=collect_parts(models=table_part(described)),
        content={"facts": facts, "uses": uses},
    )


def _name_validator(configuration: Configuration) -> str:
    author = configuration.people.author
    return "" if author is None else author.name


def _description_table(report: Report) -> Table | None:
    told = report.configuration.model.descriptions
    if not told:
        return None
    return Table(
        caption="Models in this report, by their columns in the data",
        heads=("model", "description"),
        rows=tuple((result.model, told.get(result.model, "")) for result in report.evaluation.results),
        n_labels=2,
    )
