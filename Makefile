# `make` alone says what there is. Everything runs in .venv, which the first target that needs it makes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest --quiet --numprocesses auto

.DEFAULT_GOAL := help
.PHONY: help demo example test test-all check bench fuzz constraints clean
.DELETE_ON_ERROR:

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST) | expand -t 20

$(READY): pyproject.toml constraints.txt scripts/venv.sh
	@echo 'making the environment in $(VENV)'
	@PYTHON='$(PYTHON)' sh scripts/venv.sh $(VENV)
	@touch $@

demo: $(READY) ## the whole story on throw-away repositories: no network, no container engine
	@$(BIN)/regraft demo

example: $(READY) ## real software on a real image, below a folder and in a container (root; Debian or Ubuntu)
	@$(BIN)/python examples/real-image/run.py

test: $(READY) ## the tests, without the slow ones
	$(PYTEST) -m 'not slow and not network'

test-all: $(READY) ## every test that needs no network
	$(PYTEST) -m 'not network'

check: $(READY) ## the bar: format, lint, types, floors, workflows, the docs' examples, every test
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy --no-error-summary
	$(BIN)/lint-imports --no-logo 1>$(VENV)/floors.log || { cat $(VENV)/floors.log; exit 1; }
	$(BIN)/zizmor --offline --quiet .github/workflows action.yml
	$(BIN)/regraft workflow check
	$(PYTEST) -m 'not network'
	@echo 'all of the above passed'

bench: $(READY) ## start-up, plan, apply, patch history and workflows, as ratios that are asserted
	@$(BIN)/python bench/bench.py

fuzz: $(READY) ## 100,000 patches against trees: whether git agrees with every verdict (minutes)
	@$(BIN)/python bench/fuzz.py

constraints: $(READY) ## write the versions now in .venv into constraints.txt
	$(BIN)/python -m pip freeze --exclude-editable --disable-pip-version-check > constraints.txt

clean: ## take away what the targets above made
	rm -rf $(VENV) .cache build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
