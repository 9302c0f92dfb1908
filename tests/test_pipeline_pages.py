"""The workflow of the page on pipelines: its commands exist, and it keeps what it writes."""

from __future__ import annotations

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import yaml
from typer.main import get_command

from scorereport.cli.application import app

WORKFLOW = Path(__file__).parents[1] / "docs" / "how-to" / "workflow.yml"


def list_steps():
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    assert workflow["name"]
    assert True in workflow  # YAML 1.1 reads the key `on` as true
    (job,) = workflow["jobs"].values()
    return job["steps"]


def list_run_lines():
    return [line for step in list_steps() for line in step.get("run", "").splitlines()]


def test_actions_are_referenced_by_version():
    actions = [step["uses"] for step in list_steps() if "uses" in step]
    assert len(actions) == 3
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", action) for action in actions)


def test_evidence_is_kept_if_a_gate_is_not_passed():
    *_, tests, upload = list_steps()
    assert "cancelled" in tests["if"]
    assert "cancelled" in upload["if"]


def test_commands_of_the_workflow_exist_with_their_options():
    lines = [line for line in list_run_lines() if line.startswith("scorereport ")]
    assert lines
    for line in lines:
        _, name, *arguments = shlex.split(line)
        command = get_command(app).commands[name]
        command.make_context(name, arguments, resilient_parsing=False)


def test_the_workflow_writes_what_it_keeps():
    text = "\n".join(list_run_lines())
    kept = next(step["with"]["path"] for step in list_steps() if "upload" in step.get("uses", ""))
    for option in ("--junit", "--junitxml", "-o"):
        assert re.search(rf"{option} {kept}\S+", text), option
    assert "mkdir -p results" in text
    assert find_spec("scorereport.pipelines.pytest_plugin")
