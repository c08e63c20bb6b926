# The doors of the project. Each target sets up what it needs: Python >= 3.10, a Rust
# toolchain and make are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTHON_SOURCES := python tests benchmarks examples
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name 'Cargo.toml' -o -name '*.txt') Cargo.toml Cargo.lock

.PHONY: demo test check format bench clean help

help: ## List the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

demo: $(VENV)/built ## Build, then train, save, load, encode and decode on text that Python carries
	$(BIN)/bytepair demo

test: $(VENV)/built ## Pass all tests
	cargo test -p bytepair --release
	$(BIN)/python -m pytest -q

check: $(VENV)/built ## Format, lint and types
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff format --check $(PYTHON_SOURCES)
	$(BIN)/ruff check $(PYTHON_SOURCES)
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest bytepair._core

format: $(VENV)/tools ## Format the sources
	cargo fmt --all
	$(BIN)/ruff format $(PYTHON_SOURCES)
	$(BIN)/ruff check --fix $(PYTHON_SOURCES)

bench: $(VENV)/built ## Measure beside other libraries; BENCHMARKS="train encode" chooses
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python -m benchmarks $(BENCHMARKS)

clean: ## Remove what was built
	rm -rf target $(VENV)

$(VENV)/tools: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet 'maturin>=1.9,<2' numpy typer rich
	$(BIN)/python -m pip install --quiet --group test --group check
	touch $@

$(VENV)/built: $(VENV)/tools $(RUST_SOURCES)
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --quiet --extras cli
	touch $@
