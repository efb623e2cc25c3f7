# make demo | test | quick | fuzz | bench | lint | docs: each does its own set-up. Override PYTHON to choose the interpreter.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
JOBS   ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# Many tests start an interpreter of their own. Where Python may keep no bytecode, each compiles our sources anew, for half a second.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test quick fuzz bench lint docs clean

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("dalembert needs Python 3.11 or newer, found " + sys.version.split()[0] + ". Try: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[plots]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	$(BIN)/dalembert demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -rs --no-fold-skipped

quick: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow"

fuzz: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz $(FUZZ)

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.dev
	$(BIN)/python -m pytest -q tests/project

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
