# Every task of this repository. `make` alone lists them; CI runs `make test` and nothing else.
#
# A machine needs Python 3.11+ and make: the first task makes .venv and installs the rest into it. All paths are
# relative, so that a clone in a folder with a space in its name works too.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
TESTED := .venv/tested
EXTRAS := tokens,zstd,s3,otel,rich,mcp,ui,langchain,openai-agents,pydantic-ai,fit,dev

.DEFAULT_GOAL := help
.PHONY: help demo test lint format docs picture bench fit soak ceph hosts frameworks test-latest clean
MINUTES ?= 15

help: ## list these tasks
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile | expand -t 16

demo: $(READY) ## a command fails in 8,000 lines: what tail shows, what spill shows, what it cost
	@$(BIN)/python examples/demo.py

# Tests start hundreds of processes and servers; on a machine that stalls, one of them may run into its patience. What failed
# is run once more by itself: what then passes is listed as flaky, to be mended, and what fails again has failed.
test: lint ## lint, types and every test
	@$(BIN)/python -m pytest -n auto || { echo "== Once more, one at a time (what passes now is flaky: mend it):"; \
		$(BIN)/python -m pytest -n 0 --last-failed --last-failed-no-failures none -rA --show-capture=no; }

lint: $(TESTED) ## lint, format and strict types; changes nothing
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check
	$(BIN)/python -m mypy
	$(BIN)/python scripts/house.py

format: $(TESTED) ## fix what lint can fix by itself
	$(BIN)/python -m ruff check --fix
	$(BIN)/python -m ruff format

docs: $(TESTED) ## update help, signatures and outputs in README.md and docs/
	$(BIN)/python scripts/docs.py

picture: $(TESTED) ## draw what `make demo` prints as docs/demo.svg, and take the pictures of `spill ui`
	$(BIN)/python -m scripts.pictures

bench: $(TESTED) ## every bench: each prints a table
	@set -e; for bench in bench/*.py; do echo "== $$bench"; $(BIN)/python "$$bench"; done

fit: $(TESTED) ## fit weights.json again on labelled logs: CORPUS=FOLDER; FLAGS=--folds to measure only
	@test -n "$(CORPUS)" || { echo "Name a folder of labelled logs (scripts/fit/__init__.py says what is in one): make fit CORPUS=FOLDER"; exit 2; }
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m scripts.fit "$(CORPUS)" $(FLAGS)

soak: $(TESTED) ## attack it for 15 minutes and print figures; MINUTES=3 for less
	$(BIN)/python scripts/soak.py --minutes $(MINUTES)

ceph: $(TESTED) ## the store's contract, laws, commands and faults on Ceph's radosgw, which it says how to install
	@$(BIN)/python scripts/s3/ceph.py --check
	TEST_S3=ceph $(BIN)/python -m pytest -n0 tests/store/test_object_store.py tests/cli/test_object_store.py tests/laws/test_laws_in_a_bucket.py tests/soak/test_fleet.py

hosts: $(TESTED) ## real coding agents from npm with a scripted model; some minutes
	$(BIN)/python -m scripts.hosts $(FLAGS)

frameworks: $(READY) ## the five lines for each framework in docs/adapters/frameworks.md, with the real packages
	$(BIN)/python scripts/frameworks.py

test-latest: $(TESTED) ## the newest and the oldest of every framework that there is an adapter for, and what broke
	$(BIN)/python -m scripts.frameworks --latest $(FLAGS)

clean: ## remove what these tasks made, .venv included
	rm -rf .venv .hypothesis .mypy_cache .pytest_cache .ruff_cache bench/out build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Installed again when pyproject.toml changes; `make clean` comes first when the clone was moved or Python changed.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "spillover needs Python 3.11 or newer; name one: make PYTHON=python3.12 test"; exit 1; }
	@echo "Making .venv and installing into it (once; again when pyproject.toml changes)"
	@$(PYTHON) -m venv .venv \
		|| { echo "This Python cannot make a virtual environment; on Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[tokens]"
	@touch $(READY)

# What only the tests need: every framework there is an adapter for, and MCP servers from npm, run by a Node from PyPI.
$(TESTED): $(READY) scripts/install.py
	@echo "Installing what the tests need (once; a minute or two)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(EXTRAS)]"
	@$(BIN)/python scripts/install.py
	@touch $(TESTED)
