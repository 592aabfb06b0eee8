# Two commands for a fresh machine: `make demo` and `make test`. Both make their own virtual environment, as `make docs`
# does for the site.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

# Small models train faster on one thread each than two test processes fighting over two cores.
export OMP_NUM_THREADS ?= 1
# Tests start many processes, and each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test smoke lint types docs clean

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@ $(VENV)/.core

# The package alone: all that searching needs.
$(VENV)/.core: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e .
	touch $@

test: $(VENV)/.installed lint types
	$(BIN)/python -m pytest -n 2 --dist worksteal

# Every reproduction on a little of its data (PARAGLOSS_DATA), checked against the recorded values.
smoke: $(VENV)/.installed
	$(BIN)/python -m papers run --smoke --out .smoke

demo: $(VENV)/.core
	$(BIN)/paragloss demo

# Folders without vague names, long functions or names that are defined twice.
NAMED_FOLDERS := $(addprefix src/paragloss/,adapters analysis cli collection demo encoders evaluation formats gloss index lab languages search server stores translation)

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/check_names.py $(NAMED_FOLDERS)

types: $(VENV)/.installed
	$(BIN)/mypy

# The site: no warning, no dead link. (mkdocs --quiet would hide warnings from --strict.)
docs: $(VENV)/.installed
	$(BIN)/python docs/build_reference.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir .site

clean:
	rm -rf $(VENV) .demo .site .smoke .mypy_cache .ruff_cache .pytest_cache
