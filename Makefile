# Everything sets up what it needs in ./.venv; a new machine needs only Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2

.PHONY: demo test lint bench docs docs-version folder wheel clean setup mutants fuzz
setup: $(STAMP)

$(STAMP): pyproject.toml setup.py csrc/kernels.c csrc/anova.c csrc/anova.h csrc/digests.c csrc/vdaf.c experiments/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --editable experiments --group dev
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/python examples/demo.py

# One thread a worker: threads of boosting that wait for each other cost more than they bring. Compiled files are kept,
# whatever the environment says: each of some hundred subprocesses would compile the library again.
test: $(STAMP)
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Each planted privacy fault must be caught by the tests or audits that it names.
mutants: $(STAMP)
	$(BIN)/python -m mutants --jobs $(JOBS) $(FAULTS)

# Property tests with ten times the examples, new ones each time (the suite draws the same ones everywhere).
fuzz: $(STAMP)
	HYPOTHESIS_PROFILE=fuzz OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) -m hypothesis

bench: $(STAMP)
	$(BIN)/python -m benchmarks

docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]" --editable experiments
	rm -rf docs/results
	$(BIN)/hedgerow bench page > /dev/null
	OMP_NUM_THREADS=1 $(BIN)/python docs/_hooks/samples.py --jobs $(JOBS)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir site
	$(BIN)/python docs/_hooks/look.py site

# The site of this version beside those of others: make docs-version FOLDER=../published (a checkout of what is served).
docs-version: folder docs
	HEDGEROW_DOCS_VERSIONS=mike NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir site
	$(BIN)/python docs/_hooks/versions.py site $(FOLDER) $$($(BIN)/python -c \
	  "import hedgerow; print('.'.join(hedgerow.__version__.split('.')[:2]))")

folder:
	@test -n "$(FOLDER)" || { echo "say where versions are kept: make docs-version FOLDER=../published"; exit 2; }

# The sdist and a manylinux wheel in ./dist, each installed in an environment of its own and tried as a stranger would.
wheel: $(STAMP)
	$(BIN)/python packaging/wheel.py dist

clean:
	rm -rf $(VENV) build dist site docs/results src/*.egg-info experiments/src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis demo_output
