# Everything here needs only make and a Python of 3.10 or later; the rest is installed into .venv.
#
#   make measure   set up and run the measurement: plain against compiled, on this machine
#   make test      the tests                  make lint   ruff and mypy
#   make docs      every example in the docs  make bench  the benchmarks (ARGS='--rounds 5')
#   make bench-api   single operations beside jax, torch and mlx
#   make test-oracle   every name beside mlx[cpu], which it installs

# python3, or else another name of a Python that is recent enough; or the one given: PYTHON=...
PYTHON ?= python3
CANDIDATES := $(PYTHON)
ifeq ($(origin PYTHON),file)
CANDIDATES += python3.13 python3.12 python3.11 python3.10
endif
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help measure test test-oracle lint docs bench bench-api setup setup-dev clean

help:
	@sed -n '3,8s/^# *//p' Makefile

measure: $(VENV)/.stamp-run
	@$(BIN)/eutectic measure $(ARGS)

test: $(VENV)/.stamp-dev
	$(BIN)/python -m pytest -n $(WORKERS) --ignore=tests/test_docs.py $(ARGS)

# Excluded from `make test`: it needs mlx, which it installs (the rest of the extra `peers` is large).
test-oracle: $(VENV)/.stamp-oracle
	$(BIN)/python -m pytest -n $(WORKERS) tests/oracle $(ARGS)

lint: $(VENV)/.stamp-dev
	@status=0; $(BIN)/ruff check . || status=1; $(BIN)/mypy || status=1; exit $$status

docs: $(VENV)/.stamp-dev
	$(BIN)/python -m pytest -n $(WORKERS) tests/test_docs.py $(ARGS)

bench: $(VENV)/.stamp-run
	$(BIN)/python benchmarks/run.py $(ARGS)

bench-api: $(VENV)/.stamp-run
	$(BIN)/python benchmarks/run.py --api $(ARGS)

setup: $(VENV)/.stamp-run
setup-dev: $(VENV)/.stamp-dev

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist

$(VENV)/.stamp-run: pyproject.toml $(BIN)/python
	@echo "Installing Eutectic into $(VENV) (once)"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.stamp-dev: pyproject.toml $(BIN)/python
	@echo "Installing Eutectic and its test tools into $(VENV) (once)"
	@$(PIP) --editable '.[dev]'
	@touch $(VENV)/.stamp-run $@

$(VENV)/.stamp-oracle: $(VENV)/.stamp-dev
	@$(PIP) 'mlx[cpu]'
	@touch $@

# The first candidate of Python 3.10 or later.
$(BIN)/python:
	@for python in $(CANDIDATES); do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then \
	    echo "Creating $(VENV) with $$("$$python" --version) ($$python)"; \
	    "$$python" -m venv --clear $(VENV) && exit 0; \
	    rm -rf $(VENV); \
	    echo "$$python cannot create a virtual environment; on Debian and Ubuntu:" \
	         "apt-get install python3-venv" >&2; \
	    exit 1; \
	  fi; \
	done; \
	echo "Eutectic needs Python 3.10 or later, and none was found. Looked for:" >&2; \
	for python in $(CANDIDATES); do \
	  echo "  $$python: $$("$$python" --version 2>/dev/null || echo 'not there')" >&2; \
	done; \
	echo "Name another one with: make PYTHON=/path/to/python3" >&2; \
	exit 1
