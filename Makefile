# Two commands matter: `make run` and `make test`. Both make their own virtual environment in .venv first.
#
# .venv is made once, and filled again only when pyproject.toml or constraints.txt are newer than the stamp of the last
# installation. `run` installs what the program needs, `test` also the tools of the `dev` extra, in the same environment.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?= -n 2
PIP_INSTALL := $(BIN)/python -m pip --disable-pip-version-check install --quiet --quiet --constraint constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test check bench format lock reference clean

help:
	@echo 'make run        a sandbox cluster, the scheduler and a live table; ends with Ctrl-C (ARGS=--once: after the summary)'
	@echo 'make test       everything that proves the project: make check, then pytest'
	@echo 'make check      the static part: ruff, mypy --strict, import-linter'
	@echo 'make bench      the measurements of bench/ (ARGS=... for python -m bench)'
	@echo 'make format     ruff: format the code and apply the safe fixes'
	@echo 'make lock       write constraints.txt anew, with the newest releases that pyproject.toml allows'
	@echo 'make reference  write docs/reference/flags.md anew'
	@echo 'make clean      remove .venv, .run and every cache'

run: $(VENV)/.installed
	@$(BIN)/python -m scheduler demo $(ARGS)

test: check
	$(BIN)/python -m pytest $(PYTEST_ARGS) $(ARGS)

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports

bench: $(VENV)/.installed
	@$(BIN)/python -m bench $(ARGS)

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The names that a fresh environment ends up with, in a file that fits every supported Python and machine.
lock:
	@rm -rf $(VENV)-lock && $(PYTHON) -m venv $(VENV)-lock
	@$(VENV)-lock/bin/python -m pip --disable-pip-version-check install --quiet --quiet --editable '.[dev]'
	@{ sed -n '/^#/p' constraints.txt && $(VENV)-lock/bin/python -m pip freeze --exclude-editable; } > constraints.new
	@mv constraints.new constraints.txt && rm -rf $(VENV)-lock
	@echo 'constraints.txt is new; run make test before committing it'

reference: $(VENV)/.installed
	@{ printf '# Flags\n\nWritten by `make reference` from `wharfinger --help`.\n\n```text\n' && \
	  $(BIN)/python -m scheduler --help && printf '```\n'; } > flags.new && mv flags.new docs/reference/flags.md

clean:
	rm -rf $(VENV) $(VENV)-lock .run build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/pip
	@echo 'installing wharfinger into $(VENV)'
	@$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/pip
	@echo 'installing wharfinger and the tools of its tests into $(VENV)'
	@$(PIP_INSTALL) --editable '.[dev]'
	@touch $@ $(VENV)/.installed

# Debian's python3 comes without ensurepip, which lies in python3-venv: say so instead of showing what venv prints.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'wharfinger needs Python 3.11 or newer as $(PYTHON); another one: make PYTHON=python3.12 ...' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo '$(PYTHON) cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv' >&2; exit 1; }
	@rm -rf $(VENV) && $(PYTHON) -m venv $(VENV)
