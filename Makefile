# Every target works from a fresh clone: .ci/setup makes the environment first and, once it is
# there, only checks it.

VENV ?= .venv
export VENV
BIN := $(VENV)/bin
# Tests start many processes: without compiled files each of them would compile the package again.
export PYTHONDONTWRITEBYTECODE =

# The environment with the oldest versions, and what is tested in it: scores, evaluations, reports as HTML and
# PDF, signatures, configurations, audits, histories, PostgreSQL, DuckDB, Spark, R, the server, the commands.
LOWEST := build/lowest
SMOKE := $(addprefix tests/,test_setup.py test_golden.py test_evaluation.py test_render.py \
  test_report_command.py test_signatures.py test_configuration.py test_audit_run.py test_history.py \
  test_record_keys.py test_seals.py test_anchors.py \
  test_source_files.py test_source_databases.py test_duck_digests.py test_duck_survey.py test_duck_workspace.py test_live_r.py \
  test_server.py test_permissions.py test_read_only_sources.py test_content_security.py test_unforeseen_errors.py test_cli.py \
  test_scorers.py test_isotonic_calibrator.py test_displays.py test_excel_files.py \
  test_mlflow_runs.py test_report_files.py test_junit_files.py test_gates.py test_init.py test_terminal.py)
SMOKE_OF_SPARK := tests/test_spark_engine.py::test_blocks_are_those_of_memory_to_the_last_bit

# The newest that works with the R 4.2 of Debian 12: later ones need R >= 4.5.
RPY2 := rpy2==3.6.5 rpy2-rinterface==3.6.5 rpy2-robjects==3.6.5

.DEFAULT_GOAL := help
.PHONY: help demo test test-rest test-all test-lowest bench coverage validate record lint format docs docs-site wheel schema lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

demo: ## run the demonstrations and write demo-report and demo-ordinal as .pdf, .html and .json
	@.ci/setup demo
	@$(BIN)/scorereport demo -o .
	@$(BIN)/scorereport demo --ordinal -o .

test: lint ## run lint, types and the quick tests of every kind, in minutes
	$(BIN)/python -m pytest -n auto --dist worksteal -q

test-rest: lint ## run what test-all adds: sweeps, and properties with more examples
	$(BIN)/python -m pytest -n auto --dist worksteal -q --tier=rest --durations=25

test-all: lint ## run all tests, and list the 25 slowest
	$(BIN)/python -m pytest -n auto --dist worksteal -q --tier=all --durations=25

# Old versions together with the newest of what they ask for give warnings that nobody can act upon.
test-lowest: ## run a part of the tests with the oldest versions that pyproject.toml allows
	@VENV=$(LOWEST) .ci/setup lowest
	$(LOWEST)/bin/python -m pytest -n auto --dist worksteal -q -W default $(SMOKE)
	$(LOWEST)/bin/python -m pytest -q --tier=rest -W default $(SMOKE_OF_SPARK)

bench: ## run the benchmarks
	@.ci/setup test
	$(BIN)/python -m validation.benchmarks

coverage: ## run the coverage study, in minutes, and write docs/coverage.md
	@.ci/setup test
	$(BIN)/python -m validation.coverage

validate: ## run the validation study against R, peers and papers, into build/
	@.ci/setup test
	$(BIN)/scorereport validate -o build

record: ## record answers of the R package anew
	@.ci/setup test
	$(BIN)/python -m validation.record

lint: ## check style and types
	@.ci/setup test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers auto

format: ## sort the imports and format the code
	@.ci/setup test
	$(BIN)/ruff check --select I --fix .
	$(BIN)/ruff format .

docs: ## write docs/scores.md, limits.md, methods.md, checklists.md, guide/r-packages.md and postgresql-history.sql, and the generated tables of configuration.md and audits.md
	@.ci/setup test
	$(BIN)/python -m validation.score_page > build/scores.md
	mv build/scores.md docs/scores.md
	$(BIN)/python -m validation.configuration_page
	$(BIN)/python -m validation.section_table
	$(BIN)/python -m validation.methods_page
	$(BIN)/python -m validation.limit_page > build/limits.md
	mv build/limits.md docs/limits.md
	$(BIN)/python -m validation.checklist_page > build/checklists.md
	mv build/checklists.md docs/checklists.md
	$(BIN)/python -m validation.r_agreement.agreement_page > build/r-packages.md
	mv build/r-packages.md docs/guide/r-packages.md
	$(BIN)/python -m validation.role_script > build/postgresql-history.sql
	mv build/postgresql-history.sql docs/postgresql-history.sql

docs-site: ## build the documentation site into build/site; code of its pages runs, and a warning is an error
	@.ci/setup test
	$(BIN)/python -m validation.documentation.site_build

wheel: docs-site ## build the wheel into dist/, with the documentation site in it
	$(BIN)/python -m pip wheel -q --disable-pip-version-check --no-deps -w dist .

schema: ## write the JSON Schemas of all documents
	@.ci/setup test
	$(BIN)/python -m validation.schemas

# To be run with the oldest Python supported: what it resolves to installs on the later ones too.
lock: ## renew requirements.lock with the newest versions
	@.ci/setup test
	grep '^#' requirements.lock > build/requirements.lock
	$(BIN)/python -m pip install -q --dry-run --ignore-installed --report - $(RPY2) \
	    '.[r,sign,spark,serve,postgres,excel,mlflow,sklearn,dev]' hatchling editables setuptools wheel \
	  | $(BIN)/python -c 'import json, sys; \
	    print(*sorted("{name}=={version}".format(**i["metadata"]).lower().replace("_", "-") \
	    for i in json.load(sys.stdin)["install"] if not i["is_direct"]), sep="\n")' >> build/requirements.lock
	mv build/requirements.lock requirements.lock

clean: ## remove the environment, builds and caches
	rm -rf .venv build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find scorereport tests validation -name __pycache__ -prune -exec rm -rf {} +
