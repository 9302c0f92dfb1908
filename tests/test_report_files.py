"""Files for other tools: the workbook, the model card and the ML-BOM, read back by their own libraries."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from math import inf, isinf, isnan
from uuid import UUID

import numpy as np
import openpyxl
import pandas as pd
import pytest
import yaml
from artefact_tools import make_once, shared_folder
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from huggingface_hub import ModelCard
from huggingface_hub.repocard_data import model_index_to_eval_results
from markdown_it import MarkdownIt

import scorereport as sr
from scorereport.errors import UsageError
from scorereport.report.markdown_text import escape, escape_paragraphs, render_table, render_yaml
from scorereport.report.output_formats import OUTPUT_FORMATS, describe_formats, find_format
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report
from scorereport.report.report_tables import NumberTable, list_number_tables
from scorereport.report.workbook import _name_sheets, render_workbook

DATE = "2026-11-15"
ODD = [
    "=1+1",
    "a|b *c* <script>alert(1)</script>",
    "+cmd",
    "@SUM(A1)",
    "#N/A",
    "-1",
    "[x](y) `z`",
    "ends\nhere",
]
CONFIG = {
    "report": {"title": "Validation | of *models*"},
    "model": {
        "name": "Retail <b>default</b>",
        "version": "4.2",
        "developer": "Credit Modelling",
        "intended_use": "Price of a loan.\n\n# Not a heading\n\n- not a list\n\n1. not numbered",
        "out_of_scope": "Loans to companies.",
    },
    "data": {"outcome": "90 days past due"},
    "people": {"author": "Ana Lima"},
    "limits": {"brier": {"warn": 0.2, "fail": 0.3}, "groups": True},
    "text": {"limitations": "Few rows."},
}


def make_frame(models, rows=120):
    random = np.random.default_rng(8)
    p = random.uniform(0.02, 0.98, rows)
    frame = pd.DataFrame({name: np.clip(p + 0.01 * place, 0, 1) for place, name in enumerate(models)})
    return frame.assign(y=(random.uniform(size=rows) < p).astype(int), region=np.where(p < 0.5, "=A1", "b|c"))


def make_class_evaluation():
    random = np.random.default_rng(9)
    p = random.dirichlet((1, 1, 1), 150)
    labels = np.array(["low", "mid", "high"])
    frame = pd.DataFrame(p, columns=[f"m_{label}" for label in labels])
    frame["y"] = labels[(p.cumsum(axis=1) < random.uniform(size=(150, 1))).sum(axis=1)]
    return sr.evaluate(
        frame, outcome="y", forecasts=["m"], classes=list(labels), ordered=True, resamples=40, normalize=True
    )


def make_evaluations():
    frame = make_frame(ODD)
    frame[ODD[0]] = np.where(frame["y"] == 1, 0.0, frame[ODD[0]])  # certain and wrong: an infinite log score
    columns = {"outcome": "y", "groups": ["region"]}
    many = [f"model_{place}" for place in range(60)]
    plain = make_frame(["logit", "boost"])
    return {
        "odd": sr.evaluate(frame, forecasts=ODD, resamples=40, **columns),
        "classes": make_class_evaluation(),
        "engine": sr.evaluate(plain, forecasts=["logit"], engine="duckdb", outcome="y"),
        "many": sr.evaluate(make_frame(many), forecasts=many, resamples=0, outcome="y"),
        "plain": sr.evaluate(plain, forecasts=["logit", "boost"], resamples=40, **columns),
        "one class": sr.evaluate(np.zeros(5), {"m": np.full(5, 0.1)}, resamples=0),
    }


@pytest.fixture(scope="module")
def evaluations(tmp_path_factory):
    return make_once(shared_folder(tmp_path_factory, "files"), make_evaluations)


KINDS = ("one class", "engine", "classes", "plain", "odd", "many")


@pytest.fixture(params=[*KINDS[:-1], pytest.param(KINDS[-1], marks=pytest.mark.sweep)])
def evaluation(request, evaluations):
    return evaluations[request.param]


def write(evaluation, path, **keywords):
    return sr.write_report(evaluation, path, date=DATE, **keywords)


# ---- Formats ----


def test_formats_are_found_by_the_longest_ending():
    assert find_format("a/Model.CDX.JSON").ending == ".cdx.json"
    assert find_format("cdx.json").ending == ".json"
    for form in OUTPUT_FORMATS:
        assert find_format(f"x{form.ending}") is form
        assert form.ending in sr.write_report.__doc__
    with pytest.raises(UsageError, match=r"must end in \.pdf, .* or \.json; got '\.pdf'"):
        find_format(".pdf")


def test_help_lists_the_formats():
    command = [sys.executable, "-m", "scorereport", "report", "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, env=None).stdout
    plain = re.sub(r"[\s│]+", "", shown)
    assert re.sub(r"\s+", "", describe_formats()) in plain


def test_a_missing_package_is_reported_before_the_evaluation(tmp_path, monkeypatch, evaluations):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(
        UsageError, match=r'^t\.xlsx needs the package openpyxl: pip install "scorereport\[excel\]"'
    ):
        write(evaluations["plain"], tmp_path / "t.xlsx")


@pytest.mark.sweep(after=2)
@pytest.mark.parametrize("name", ["card.md", "model.cdx.json", "t.xlsx"])
def test_the_same_evaluation_gives_the_same_bytes(tmp_path, evaluations, name, monkeypatch):
    first = write(evaluations["plain"], tmp_path / name, config=CONFIG).read_bytes()
    monkeypatch.setattr("time.localtime", lambda *_: (2001, 2, 3, 4, 5, 6, 7, 8, 0))
    copy = sr.Evaluation.from_json(write_document(evaluations["plain"], tmp_path))
    assert write(copy, tmp_path / name, config=CONFIG).read_bytes() == first
    assert write(copy, tmp_path / name, config=CONFIG).stat().st_size == len(first)


def write_document(evaluation, folder):
    path = folder / "evaluation.json"
    evaluation.to_json(path)
    return path


# ---- Workbook ----


def read_sheet(path, name):
    return pd.read_excel(path, sheet_name=name, header=1, keep_default_na=False, na_values=[""])


def as_shown(value):
    """What a cell holds for a value of a table."""
    if isinstance(value, float) and isinf(value):
        return "∞" if value > 0 else "−∞"
    if value is None or value == "" or (isinstance(value, float) and isnan(value)):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(str(as_shown(one)) for one in value) or None
    return value.replace("\n", "\\n") if isinstance(value, str) and value.startswith("ends") else value


@pytest.mark.sweep(after=3)
def test_every_table_is_a_sheet_with_the_same_numbers(tmp_path, evaluation):
    path = write(evaluation, tmp_path / "tables.xlsx")
    workbook = openpyxl.load_workbook(path)
    names = [
        name
        for name, member in vars(sr.Evaluation).items()
        if isinstance(member, property) and len(value := getattr(evaluation, name)) and hasattr(value, "iloc")
    ]
    assert set(names) < set(workbook.sheetnames)
    assert "scores" in names
    for name in names:
        frame = getattr(evaluation, name)
        frame = frame.reset_index() if frame.index.name else frame
        sheet = workbook[name]
        assert [cell.value for cell in sheet[2]] == list(map(as_shown, map(str, frame.columns)))
        for place in range(frame.shape[1]):
            (read,) = sheet.iter_cols(place + 1, place + 1, min_row=3, values_only=True)
            for got, value in zip(read, frame.iloc[:, place].tolist(), strict=True):
                wanted = as_shown(value)
                if isinstance(wanted, str):
                    assert isinstance(got, str)
                    assert got.replace("\n", "\\n") == wanted.replace("\n", "\\n")
                else:
                    assert (got, type(got) is str) == (wanted, False)  # to the last bit


def test_pandas_reads_the_numbers_of_a_sheet(tmp_path, evaluations):
    evaluation = evaluations["plain"]
    path = write(evaluation, tmp_path / "tables.xlsx")
    read = pd.read_excel(path, sheet_name="scores", header=1, index_col=0)
    pd.testing.assert_frame_equal(read, evaluation.scores, check_exact=True)
    intervals = pd.read_excel(path, sheet_name="intervals", header=1)
    assert intervals["lower"].tolist() == evaluation.intervals["lower"].tolist()


@pytest.mark.sweep
def test_names_from_data_are_never_formulas_or_errors(tmp_path, evaluations):
    path = write(evaluations["odd"], tmp_path / "tables.xlsx", config=CONFIG)
    workbook = openpyxl.load_workbook(path)
    cells = [
        cell for sheet in workbook for row in sheet.iter_rows() for cell in row if cell.value is not None
    ]
    assert {cell.data_type for cell in cells} == {"s", "n"}
    texts = {cell.value for cell in cells if cell.data_type == "s"}
    assert {*ODD[:-1], "=A1"} <= texts
    assert all(cell.quotePrefix for cell in cells if str(cell.value)[:1] == "=")
    assert "∞" in texts


def test_sheets_are_easy_to_use(tmp_path, evaluations):
    path = write(evaluations["plain"], tmp_path / "tables.xlsx", config=CONFIG)
    workbook = openpyxl.load_workbook(path)
    contents, *sheets = workbook.worksheets
    links = {cell.value: cell.hyperlink.location for cell in contents["A"] if cell.hyperlink}
    assert links == {sheet.title: f"'{sheet.title}'!A1" for sheet in sheets}
    facts = {row[0]: row[1] for row in contents.iter_rows(values_only=True) if row[0]}
    assert facts["SHA-256 of the columns used"] == evaluations["plain"].data.sha256
    assert facts["Version"].startswith("scorereport ")
    assert facts["Verdict"].endswith("limits are met") or "limits" in facts["Verdict"]
    assert facts["Time"] == "2026-11-15 00:00 UTC"
    assert any("∞" in str(row[1]) for row in contents.iter_rows(values_only=True))
    for sheet in sheets:
        assert sheet["A1"].value
        assert sheet.freeze_panes == "B3"
        assert sheet.auto_filter.ref.startswith("A2:")
        assert all(8 <= dimension.width <= 100 for dimension in sheet.column_dimensions.values())
        assert sheet.page_setup.orientation == "landscape"
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert sheet.print_title_rows == "$1:$2"
        assert {cell.font.name for row in sheet.iter_rows() for cell in row} == {"Calibri"}
    longest = max(workbook["findings"]["A"][2:], key=lambda cell: len(cell.value))
    assert workbook["findings"].row_dimensions[longest.row].height >= 30
    assert [cell.alignment.horizontal for cell in workbook["scores"][2][:2]] == [None, "right"]
    brier = workbook["scores"]["B3"]
    assert (brier.data_type, brier.number_format) == ("n", "0.0000")
    assert workbook["verdicts"].max_row > 3
    assert workbook.properties.created == workbook.properties.modified == pd.Timestamp(DATE)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a" * 40, "A" * 40], ["a" * 31, "A" * 29 + "-2"]),
        (["A" * 40, "a" * 40], ["A" * 31, "a" * 29 + "-2"]),
        (["[x]:*?/\\", "contents", "History", "'"], ["-x------", "contents-2", "History-2", "table"]),
    ],
)
def test_names_of_sheets_are_legal_and_unique(names, expected):
    tables = [NumberTable(name=name, caption="", frame=pd.DataFrame()) for name in names]
    assert list(_name_sheets(tables).values()) == expected


def test_texts_that_a_cell_cannot_hold_are_changed(evaluations, monkeypatch):
    report = build_report(evaluations["one class"], Provenance(time="2026-11-15T00:00:00+00:00"))
    long = NumberTable(
        name="t",
        caption="c",
        frame=pd.DataFrame({"text": ["x" * 40_000, "a\x00b\ud800\uffff"], "n": [1, inf]}, dtype=object),
    )
    monkeypatch.setattr("scorereport.report.workbook.list_number_tables", lambda _: (long,))
    monkeypatch.setattr("scorereport.report.workbook._MOST_ROWS", 4)
    import io

    sheet = openpyxl.load_workbook(io.BytesIO(render_workbook(report)))["t"]
    assert len(sheet["A3"].value) == 32_767
    assert sheet["A3"].value.endswith("x…")
    assert sheet["A4"].value == "a\\x00b\\ud800\ufffd"
    monkeypatch.setattr("scorereport.report.workbook._MOST_ROWS", 3)
    cut = openpyxl.load_workbook(io.BytesIO(render_workbook(report)))["t"]
    assert (cut.max_row, cut["A1"].value) == (
        3,
        "c A sheet holds no more rows; 1 more row is in the results document.",
    )


def test_tables_of_a_report_have_rows_and_captions(evaluation):
    report = build_report(evaluation, Provenance(time="2026-11-15T00:00:00+00:00"))
    tables = list_number_tables(report)
    assert len({table.name for table in tables}) == len(tables)
    assert all(table.caption.endswith(".") and len(table.frame) for table in tables)


# ---- Model card ----


def test_the_hub_reads_the_metrics_of_a_card(tmp_path, evaluation):
    path = write(evaluation, tmp_path / "card.md")
    results = ModelCard.load(path).data.eval_results  # of all models together
    for model in evaluation.results:
        own = [result for result in results if result.dataset_config == " ".join(model.model.split())]
        values = {result.metric_type: result.metric_value for result in own}
        finite = {s.name: s.value for s in model.scores.scores if abs(s.value) < inf}
        assert values.items() >= finite.items()
        assert not any(result.verified for result in own)
        assert {result.dataset_revision for result in own} == {
            evaluation.data.file_sha256 or evaluation.data.sha256
        }
    index = yaml.safe_load(path.read_text().split("\n---\n")[0].removeprefix("---"))["model-index"]
    assert [model_index_to_eval_results([entry])[0] for entry in index] == [
        " ".join(model.model.split()) for model in evaluation.results
    ]


def test_a_card_has_the_headings_that_readers_expect(tmp_path, evaluations):
    text = write(evaluations["plain"], tmp_path / "card.md").read_text()
    headings = re.findall(r"^## (.*)$", text, flags=re.M)
    assert headings == [
        *("Model Details", "Intended Use", "Factors", "Metrics", "Evaluation Data", "Training Data"),
        *("Quantitative Analyses", "Ethical Considerations", "Caveats and Recommendations"),
    ]
    assert text.count("Not stated.") > 15
    assert "- **region:** &#61;A1, b\\|c" in text
    stated = write(evaluations["plain"], tmp_path / "card.md", config=CONFIG).read_text()
    for part in ("Credit Modelling", "Loans to companies.", "90 days past due", "Ana Lima", "Few rows."):
        assert part in stated
    assert re.search(r"\| logit \| Brier score \| 0\.\d{4} \| \\\[0\.\d{4}, 0\.\d{4}\\\] \|", stated)


def test_names_and_texts_are_not_markup_in_a_card(tmp_path, evaluations):
    text = write(evaluations["odd"], tmp_path / "card.md", config=CONFIG).read_text()
    body = text.partition("\n---\n")[2]
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(body)
    assert not re.search(r"<(script|b|em|a|img|code|hr)\b", html)
    assert html.count("<h1>") == 1
    assert "<h1>Model card: Retail &lt;b&gt;default&lt;/b&gt;</h1>" in html
    assert "<p># Not a heading</p>\n<p>- not a list</p>\n<p>1. not numbered</p>" in html
    for row in re.findall(r"<tr>(.*?)</tr>", html, flags=re.S):
        assert row.count("<td") in (0, 2, 4, 5)
    assert "a|b *c* &lt;script&gt;" in html


@pytest.mark.parametrize(
    "text",
    ["", "a", "- a", "1. a", "12) a", "+", "===", "--- x", "> a", "&amp;", "\\", "[a]: b", "a\r\n# b", "***"],
)
def test_an_escaped_text_is_shown_as_it_is(text):
    shown = MarkdownIt("commonmark", {"html": True}).enable("table").render(f"{escape(text)}\n")
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert shown == (f"<p>{plain}</p>\n" if text else "")


def test_paragraphs_stay_paragraphs():
    assert escape_paragraphs("a\nb\n\n\n*c*\n\n") == "a b\n\n\\*c\\*"


def test_a_table_has_as_many_cells_as_heads():
    html = MarkdownIt().enable("table").render(render_table(["a", "b|c"], [["x|y", "z\n|"]]))
    assert html.count("<th") - html.count("<thead") == 2
    assert html.count("<td") == 2


@pytest.mark.parametrize(
    "value",
    [
        {
            "a": "yes",
            "on": "null",
            "b c": ["1", "2e5", "~", "- x", "a: b # c", '"quoted"', "tab\tbed", "😀 é"],
        },
        {"x": [{"y": [1, 2.5, -1e-05, 1e22, True], "z": {"w": 0.1}}, {"y": []}]},
    ],
)
def test_yaml_is_read_back(value):
    read = yaml.safe_load(render_yaml(value))
    assert json.dumps(read).replace("\\t", " ") == json.dumps(value).replace("[]", '"[]"').replace("\\t", " ")


# ---- ML-BOM ----


def find_errors(text):
    return JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)


@pytest.mark.parametrize("config", [None, CONFIG])
def test_a_bill_of_materials_is_valid(tmp_path, evaluation, config):
    config = config and (CONFIG if evaluation.groups else CONFIG | {"limits": {}})
    text = write(evaluation, tmp_path / "model.cdx.json", config=config).read_text()
    assert find_errors(text) is None
    document = json.loads(text)
    models = [c for c in document["components"] if c["type"] == "machine-learning-model"]
    assert [model["name"] for model in models] == [result.model for result in evaluation.results]
    assert re.fullmatch("urn:uuid:.{36}", document["serialNumber"])
    assert UUID(document["serialNumber"]).version == 5
    references = re.findall(r'"bom-ref": "(.*?)"', text)
    assert len(references) == len(set(references))
    for model, result in zip(models, evaluation.results, strict=True):
        metrics = model["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
        whole = {m["type"]: m.get("value") for m in metrics if "slice" not in m}
        assert {s.name: s.value for s in result.scores.scores if not isnan(s.value)}.items() <= {
            name: float(value) for name, value in whole.items() if value is not None
        }.items()


def test_a_bill_of_materials_states_data_tools_and_intervals(tmp_path, evaluations):
    evaluation = evaluations["plain"]
    document = json.loads(write(evaluation, tmp_path / "m.cdx.json", config=CONFIG).read_text())
    *models, data = document["components"]
    assert data["hashes"] == [{"alg": "SHA-256", "content": evaluation.data.sha256}]
    tools = document["metadata"]["tools"]["components"]
    assert tools[0]["name"] == "scorereport"
    assert f"pkg:pypi/numpy@{np.__version__}" in {tool["purl"] for tool in tools}
    assert document["metadata"]["timestamp"] == "2026-11-15T00:00:00+00:00"
    assert {"name": "scorereport:model-version", "value": "4.2"} in document["metadata"]["properties"]
    card = models[0]["modelCard"]
    first, by_group, *_ = card["quantitativeAnalysis"]["performanceMetrics"]
    interval = evaluation.models[0].scores.score("brier").interval
    assert first["confidenceInterval"] == {
        "lowerBound": repr(interval.lower),
        "upperBound": repr(interval.upper),
    }
    assert by_group["slice"] == "region = =A1"
    assert card["considerations"] == {
        "useCases": [CONFIG["model"]["intended_use"]],
        "technicalLimitations": ["Few rows.", "Not to be used for: Loans to companies."],
    }
    assert "version" not in models[0]  # of which of the two models it is, is not known


def test_one_model_has_the_facts_of_the_configuration(tmp_path, evaluations):
    evaluation = evaluations["engine"]
    config = CONFIG | {"limits": {}}
    document = json.loads(write(evaluation, tmp_path / "m.cdx.json", config=config).read_text())
    model = document["components"][0]
    assert (model["version"], model["manufacturer"]) == ("4.2", {"name": "Credit Modelling"})


@pytest.mark.parametrize("key", ["bomFormatt", "components"])
def test_the_validator_refuses_a_wrong_document(tmp_path, evaluations, key):
    document = json.loads(write(evaluations["plain"], tmp_path / "m.cdx.json").read_text())
    document[key] = [{"type": "model", "name": "x"}]
    assert find_errors(json.dumps(document)) is not None


# ---- The command ----


def run(*arguments, folder):
    return subprocess.run(
        [sys.executable, "-m", "scorereport", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.sweep
def test_files_are_the_same_with_and_without_the_data(tmp_path):
    make_frame(["logit"]).to_csv(tmp_path / "p.csv", index=False)
    names = ("results.json", "card.md", "tables.xlsx", "model.cdx.json")
    options = [part for name in names for part in ("-o", name)]
    made = run(
        *("report", "p.csv", "--outcome", "y", "--forecast", "logit", "--resamples", "20", "--date", DATE),
        *options,
        folder=tmp_path,
    )
    assert (made.returncode, made.stderr.count("written.")) == (0, 4), made.stderr
    first = {name: (tmp_path / name).read_bytes() for name in names}
    (tmp_path / "p.csv").unlink()
    again = run("report", "--from", "results.json", *options[2:], folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert {name: (tmp_path / name).read_bytes() for name in names} == first
