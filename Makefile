# Every target sets up what it needs first; nothing has to be installed but Python 3.11 or later and make.
PYTHON ?= python3
BIN := .venv/bin
# Two processes; one that has nothing left to do takes over what the other has not begun.
TESTS := pytest -n 2 --dist worksteal
SETUP := .venv/.set-up

.PHONY: run check test lint types fast pytest format soak bench reports clean
.NOTPARALLEL:

run: $(SETUP)     ## every row of one lifecycle against the embedded reference
	$(BIN)/conformance run thread-job --against reference

check: lint types fast     ## a look while you work: all but the thorough tests and what they reach

test: lint types pytest    ## all that has to hold before a commit

lint: $(SETUP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(SETUP)
	$(BIN)/mypy

fast: $(SETUP)    ## the fast tests
	$(BIN)/$(TESTS) -m 'not thorough and not soak'

pytest: $(SETUP)  ## the fast tests, the branches that they reach, and the thorough tests
	$(BIN)/coverage erase
	$(BIN)/coverage run -m $(TESTS) -m 'not thorough and not soak'
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	$(BIN)/$(TESTS) -m 'thorough and not soak'

format: $(SETUP)
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

soak: $(SETUP)    ## many seeds and all cases, where `make test` takes one seed and a choice
	$(BIN)/$(TESTS) -m soak
	$(BIN)/python -m tests.soak

reports: $(SETUP) ## the reports of the references and of the examples in other languages, as whole runs
	$(BIN)/python -m reports.make

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
