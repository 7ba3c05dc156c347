# Every target sets up what it needs first; nothing has to be installed but Python 3.11 or later and make.
PYTHON ?= python3
BIN := .venv/bin
SETUP := .venv/.set-up

.PHONY: run test lint types pytest format soak bench clean
.NOTPARALLEL:

run: $(SETUP)     ## every row of one lifecycle against the embedded reference
	$(BIN)/conformance run thread-job --against reference

test: lint types pytest    ## all that has to hold before a commit

lint: $(SETUP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(SETUP)
	$(BIN)/mypy

pytest: $(SETUP)  ## the tests on two processes, and the branches that they reach
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 2 -m 'not thorough and not soak'
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	$(BIN)/pytest -n 2 -m 'thorough and not soak'

format: $(SETUP)
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

soak: $(SETUP)    ## many seeds and all cases, where `make test` takes one seed and a choice
	$(BIN)/pytest -n 2 -m soak
	$(BIN)/python -m tests.soak

bench: $(SETUP)
	$(BIN)/python -m benchmarks

# The stamp is newer than pyproject.toml when the environment holds what pyproject.toml asks for.
$(SETUP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed; name one: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv dist .hypothesis .mypy_cache .ruff_cache .pytest_cache .coverage .coverage.*
