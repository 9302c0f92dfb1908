"""Files of an evaluation for a run of MLflow: tables, figures, findings, results document and HTML report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.files import write_bytes
from scorereport.errors import UsageError
from scorereport.report.report_output import write_report
from scorereport.report.report_tables import list_result_tables

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from scorereport.configuration import Configuration
    from scorereport.reference.reference_documents import Certificate
    from scorereport.results.evaluation import Evaluation

_DOTS_PER_INCH = 150


def list_tables(evaluation: Evaluation) -> dict[str, pd.DataFrame]:
    """Return the tables of an evaluation that are not empty, by the names of its attributes."""
    return {table.name: table.frame for table in list_result_tables(evaluation) if len(table.frame)}


def draw_figures(evaluation: Evaluation) -> dict[str, bytes]:
    """Draw all public plots that show something of an evaluation, as PNG, by their names."""
    from scorereport import plots

    drawn = {kind: _draw_figure(evaluation, kind) for kind in plots.__all__}
    return {kind: image for kind, image in drawn.items() if image is not None}


def _draw_figure(evaluation: Evaluation, kind: str) -> bytes | None:
    """Draw a plot that no window or notebook shows; None if the evaluation has nothing for it."""
    from io import BytesIO

    import matplotlib.pyplot as plt

    opened, image = set(plt.get_fignums()), BytesIO()
    with plt.ioff():
        try:
            drawn = evaluation.plot(kind)
            figure = drawn.figure if hasattr(drawn, "get_figure") else drawn
            figure.savefig(image, format="png", dpi=_DOTS_PER_INCH, bbox_inches="tight")
        except UsageError:
            return None
        finally:
            for number in set(plt.get_fignums()) - opened:
                plt.close(number)
    return image.getvalue()


def write_files(
    folder: Path,
    evaluation: Evaluation,
    tables: Mapping[str, pd.DataFrame],
    *,
    configuration: Configuration | None,
    certificate: Certificate | None,
    figures: bool,
    report: bool,
) -> None:
    """Write all files into a folder.

    Tables are CSV: MLflow shows it, and its own JSON tables lose infinite numbers. All files are public,
    because the server that shows them often runs as another user.
    """
    contents = {
        "results.json": evaluation.to_json().encode(),
        "findings.txt": "".join(f"{finding}\n" for finding in evaluation.findings).encode(),
        **{f"tables/{name}.csv": table.to_csv(index=False).encode() for name, table in tables.items()},
    }
    if figures:
        contents |= {f"figures/{name}.png": image for name, image in draw_figures(evaluation).items()}
    if report:
        page = write_report(evaluation, folder / "report.html", certificate=certificate, config=configuration)
        contents["report.html"] = page.read_bytes()
        page.unlink()
    for name, content in contents.items():
        (folder / name).parent.mkdir(exist_ok=True)
        write_bytes(folder / name, content, public=True)
