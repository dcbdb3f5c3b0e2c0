# Everything runs inside .venv, which the first target that needs it creates. `make help` lists the targets.
PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
STAMP   := $(VENV)/.installed
PROFILE ?= embedded

# Two computing processes on two cores must not each start a thread pool per core.
export OMP_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: benchmark test ui quick lint format types imports bench pretrain pretrain-heads lock clean help

# The lock serves as constraints: it says which versions, pyproject.toml says which packages.
$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "vitgeom needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'
	@echo "installing into $(VENV) (needs the package index; minutes the first time) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pip install --quiet --constraint requirements.lock --editable '.[dev]'
	touch $@

benchmark: $(STAMP)  ## the whole study of one profile: features, probes, fusion, report (PROFILE=embedded; minutes, then seconds)
	$(BIN)/vitgeom benchmark --profile $(PROFILE)

test: $(STAMP) lint types imports  ## everything that must hold: style, types, import walls, tests, README examples
	$(BIN)/python -m pytest

ui: $(STAMP)  ## open the MLflow pages of this project on 127.0.0.1
	$(BIN)/vitgeom ui

quick: $(STAMP)  ## the tests that start no server
	$(BIN)/python -m pytest -m 'not services'

lint: $(STAMP)  ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP)  ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(STAMP)  ## mypy over the three packages
	$(BIN)/mypy

imports: $(STAMP)  ## the walls: flows -> tasks -> vitgeom, one door per third party
	$(BIN)/lint-imports

bench: $(STAMP)  ## measure against the named peers and write the table into README.md (an hour and more)
	$(BIN)/python -m tests.benchmarks

pretrain: $(STAMP)  ## train the two embedded backbones again from nothing (about 40 minutes)
	$(BIN)/python -m vitgeom.backbones.pretraining all

pretrain-heads: $(STAMP)  ## train the depth, point-map and camera heads on them again (about 12 minutes)
	$(BIN)/python -m vitgeom.decoders.training all

lock:  ## resolve pyproject.toml anew into requirements.lock
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --upgrade pip
	build/lock/bin/python -m pip install --quiet --dry-run --ignore-installed --report build/lock/report.json --editable '.[dev]'
	build/lock/bin/python infra/write_lock.py build/lock/report.json requirements.lock

clean:  ## remove what runs and tools left behind, but neither .venv nor the feature store
	rm -rf build results .pytest_cache .mypy_cache .ruff_cache .import_linter_cache vitgeom.egg-info
	find . -name __pycache__ -not -path './.venv/*' -type d -exec rm -rf {} +

# In the order of this file, which is the order in which a reader needs them.
help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-14s %s\n", $$1, $$2}'
