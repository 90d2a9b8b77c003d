# Two commands do everything on a fresh clone: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: help demo test models lint fix examples soak bench bench-quality bench-rerank clean

help:            ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## */: /'

demo: $(VENV)/.core      ## install into .venv and show the main job
	$(BIN)/reqall demo

test: $(VENV)/.test lint ## all checks: style, types, imports, budgets, tests
	$(BIN)/python -m pytest -q -n 2

models: $(VENV)/.models  ## install PyTorch and transformers (1 GB): the tests that need them run then

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/budgets.py .
	$(BIN)/python scripts/reference.py --check

fix: $(VENV)/.test       ## format, mend what can be mended by itself, write the reference anew
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python scripts/reference.py

examples: $(VENV)/.test  ## install, test and remove what examples/ holds, and a plugin from the template
	$(BIN)/python scripts/examples.py

soak: $(VENV)/.test      ## 50 killed syncs, a minute of three processes on one file, a model-based test
	$(BIN)/python -m tests.soak.crash --kills 50
	$(BIN)/python -m tests.soak.two_processes --seconds 60
	$(BIN)/python -m pytest -q -o timeout=0 tests/soak/model.py

bench: $(VENV)/.test     ## speed as ratios against references in the same run; some minutes
	$(BIN)/python benchmarks/recall.py
	$(BIN)/python benchmarks/jama_walk.py
	$(BIN)/python benchmarks/first_sync.py --quick

bench-quality: $(VENV)/.core ## quality on the judged collections in $$REQALL_BENCH; writes docs/explanation/retrieval.md
	$(BIN)/python benchmarks/quality.py "$(REQALL_BENCH)" $(if $(SETS),--sets $(SETS))

bench-rerank: $(VENV)/.core ## fused order against reranked order on the same collections
	$(BIN)/python benchmarks/reranking.py $(if $(SETS),$(addprefix $(REQALL_BENCH)/,$(SETS)),$(dir $(wildcard $(REQALL_BENCH)/*/qrels.tsv)))

TORCH ?= torch==2.13.0

$(VENV)/.core: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.test: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

# PyTorch by itself first, in one version: a range may bring a build for graphics cards, of several GB.
$(VENV)/.models: $(VENV)/.test
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --editable '.[qwen3]'
	touch $@

clean:           ## remove the environment and caches
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
