# Every task of this repository. `make` alone lists them; CI runs `make test` and nothing else.
#
# A machine needs Python 3.11+ and make: the first task makes .venv and installs the rest into it. All paths are
# relative, so that a clone in a folder with a space in its name works too.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
TESTED := .venv/tested
EXTRAS := tokens,zstd,rich,mcp,langchain,openai-agents,pydantic-ai,dev

.DEFAULT_GOAL := help
.PHONY: help demo test lint format docs bench clean

help: ## list these tasks
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' Makefile | expand -t 16

demo: $(READY) ## run a noisy command through `spill run`, then find and read what was hidden
	@$(BIN)/python examples/demo.py

test: lint ## lint, types and every test
	$(BIN)/python -m pytest -n auto

lint: $(TESTED) ## lint, format and strict types; changes nothing
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check
	$(BIN)/python -m mypy

format: $(TESTED) ## mend what lint can mend by itself
	$(BIN)/python -m ruff check --fix
	$(BIN)/python -m ruff format

docs: $(TESTED) ## write help, signatures and outputs into README.md and docs/ anew
	$(BIN)/python scripts/docs.py

bench: $(TESTED) ## every bench: each prints a table
	@set -e; for bench in bench/*.py; do echo "== $$bench"; $(BIN)/python "$$bench"; done

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
$(TESTED): $(READY) scripts/mcp_servers.py
	@echo "Installing what the tests need (once; a minute or two)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(EXTRAS)]"
	@$(BIN)/python scripts/mcp_servers.py
	@touch $(TESTED)
