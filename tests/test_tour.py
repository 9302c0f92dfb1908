"""The notebook of the docs: it runs in a real kernel, and each cell shows what it is there for."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

TOUR = Path(__file__).parents[1] / "docs" / "tour.ipynb"


def run(notebook, folder):
    """Run all cells; the first error is raised."""
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    return notebook


def outputs(notebook, beginning):
    """The outputs of the cell whose source begins so, by their kind: texts and pictures."""
    (cell,) = [cell for cell in notebook.cells if cell.source.startswith(beginning)]
    texts = [output.get("text", output.get("data", {}).get("text/plain", "")) for output in cell.outputs]
    pictures = [output for output in cell.outputs if "image/png" in output.get("data", {})]
    return "".join(texts), len(pictures)


def test_the_notebook_has_no_outputs_stored():
    notebook = nbformat.read(TOUR, 4)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.sweep
def test_the_tour_runs_from_beginning_to_end(tmp_path):
    notebook = run(nbformat.read(TOUR, 4), tmp_path)
    assert outputs(notebook, "fit = ")[0].startswith("Corp: isotonic fit of 2,524 rows\n")
    assert "miscalibration=" in outputs(notebook, "fit.decompose")[0]
    assert "Evaluation of 2 binary models" in outputs(notebook, "plan = ")[0]
    assert "has the lowest Brier score" in outputs(notebook, "list(evaluation.findings)")[0]
    assert "fail" in outputs(notebook, "limits = ")[0]
    assert "test_brier" in outputs(notebook, "results = ")[0]
    assert "logisticregression__C" in outputs(notebook, "search = ")[0]
    assert "recalibrated" in outputs(notebook, "inner, ")[0]
    for beginning in (
        "fit.plot",
        "evaluation.plot",
        "figure, axes",
        "with plt",
        "sr.Reliability",
        "import pandas",
    ):
        assert outputs(notebook, beginning)[1] == 1, beginning
    assert not list(tmp_path.iterdir())


@pytest.mark.sweep
def test_a_figure_is_shown_once_in_a_cell(tmp_path):
    sources = [
        "import scorereport as sr",
        "axes = sr.plots.roc([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])",
        "figure = sr.plots.triptych([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])\nfigure",
        "figure",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = run(nbformat.v4.new_notebook(cells=cells), tmp_path)
    shown = [sum("image/png" in output.get("data", {}) for output in cell.outputs) for cell in notebook.cells]
    assert shown == [0, 1, 1, 1, 1]
