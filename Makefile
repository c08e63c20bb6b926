# The doors of the project. Each target sets up what it needs: Python >= 3.10, a Rust
# toolchain and make are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := target/peers
PEERS_NEXT := target/peers-next
SITE := target/site-venv
LIBRARIES := tomli numpy pyarrow datasets tokenizers transformers tiktoken rustbpe bpeasy gigatoken sentencepiece fastokens splintr-rs bpe-continue bpe-tokenizer-editor toktier
PYTHON_SOURCES := python tests benchmarks docs/website docs/examples docs/pictures tools playground crates/bytepair-python
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name 'Cargo.toml' -o -name '*.txt') Cargo.toml Cargo.lock

.PHONY: demo test test-all check stubs pictures findings format bench bench-train bench-encode bench-corpus parity fuzz sanitize processors emulators wasm playground playground-check audit chromium wheel site clean help

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

demo: $(VENV)/built ## Build, then train, save, load, encode and decode on text that comes with Python
	$(BIN)/bytepair demo
	@echo
	@echo "The command is $(BIN)/bytepair. Try: $(BIN)/bytepair --help"
	@echo "To type bytepair alone: source $(BIN)/activate"

# The same random cases each time, so that tests which passed pass again. Rust tests share the profile and the target folder
# of the extension, so dependencies compile once.
CRATES := -p bytepair -p bytepair-formats -p bytepair-split -p bytepair-wasm -p bytepair-python
PYTEST := $(BIN)/python -m pytest -q -rfEs -n auto --dist worksteal --durations 30 --durations-min 0.5
test test-all: export PROPTEST_RNG_SEED = 20

test: export PROPTEST_CASES ?= 32
test: $(VENV)/built $(VENV)/for-tests ## Run the fast tests, Rust and Python
	cargo test $(CRATES) --profile quick
	$(PYTEST) -m "not slow" --hypothesis-profile quick

test-all: $(VENV)/built $(VENV)/for-all-tests ## Run the slow tests, which `make test` leaves out, and name those that are skipped
	$(MAKE) $(PAGE) || echo "skipped the playground: it cannot be built here"
	cargo test $(CRATES) --profile quick --lib --tests -- --ignored
	BYTEPAIR_THRESHOLDS=production cargo test -p bytepair-split -p bytepair --profile quick --lib
	$(PYTEST) -m slow

check: $(VENV)/built $(VENV)/for-checks ## Check formatting, lints and types
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff format --check $(PYTHON_SOURCES)
	$(BIN)/ruff check $(PYTHON_SOURCES)
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest bytepair._core
	$(BIN)/python crates/bytepair-python/stubs.py --check

stubs: $(VENV)/built ## Write the docstrings of the compiled core into its stub for editors
	$(BIN)/python crates/bytepair-python/stubs.py

pictures: $(VENV)/built ## Draw the pictures of the README and the home page, and the chart from measured numbers
	$(BIN)/python docs/pictures/make.py
	$(BIN)/python docs/pictures/chart.py

findings: ## Copy the pages about findings, which the package carries, to the documentation
	cp python/bytepair/analyze/doctor/pages/*.md docs/findings/

format: $(VENV)/for-checks ## Format the sources
	cargo fmt --all
	$(BIN)/ruff format $(PYTHON_SOURCES)
	$(BIN)/ruff check --fix $(PYTHON_SOURCES)

bench: $(VENV)/optimised $(PEERS)/installed $(PEERS_NEXT)/installed ## Compare speed with other libraries; BENCHMARKS="encode linear" selects
	PYTHONPATH=python $(PEERS)/bin/python -m benchmarks $(BENCHMARKS)

bench-train: BENCHMARKS ?= train train-mixed train-piece train-counts train-methods
bench-train: bench ## Compare training with other trainers; BENCHMARKS="train --file my.txt" or "train-mixed --large" selects

bench-encode: BENCHMARKS ?= encode encode-latency encode-document encode-worst encode-file
bench-encode: bench ## Compare encoding with other encoders; BENCHMARKS="encode --only gpt2 --rounds 3" selects

bench-corpus: BENCHMARKS ?= corpus
bench-corpus: bench ## Compare tokenizing a corpus into token files with `datasets.map`; BENCHMARKS="corpus --rounds 1" selects

parity: $(VENV)/built $(VENV)/pip ## Compare ids, offsets and text with the publishers' libraries; PARITY="gpt2 --strings 1000" selects
	$(BIN)/python -m pip install --quiet --group parity
	$(BIN)/python -m tests.parity $(PARITY)

FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= $(basename $(notdir $(wildcard tests/fuzz/fuzz_targets/*.rs)))

# Fuzzing needs flags of nightly Rust, which the stable toolchain takes if told to.
FUZZ_CARGO = $(if $(shell cargo +nightly --version 2>/dev/null),cargo +nightly,RUSTC_BOOTSTRAP=1 cargo)

fuzz: $(VENV)/built $(VENV)/for-tests ## Feed damaged files and patterns to the core, FUZZ_SECONDS each
	cargo fuzz --version >/dev/null 2>&1 || cargo install --locked cargo-fuzz
	$(BIN)/python -m tests.fuzz.make_seeds
	set -e; for target in $(FUZZ_TARGETS); do \
	  mkdir -p tests/fuzz/corpus/$$target tests/fuzz/seeds/$$target; \
	  $(FUZZ_CARGO) fuzz run --fuzz-dir tests/fuzz $$target tests/fuzz/corpus/$$target tests/fuzz/seeds/$$target -- \
	    -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=60; \
	done

HOST := $(shell rustc -vV | sed -n 's/^host: //p')

# A target is named so that the flags are for the core alone, not for programs that build it.
sanitize: export PROPTEST_CASES = 16
sanitize: export ASAN_OPTIONS = detect_leaks=0:allocator_may_return_null=1
sanitize: ## Run the core's tests under AddressSanitizer
	RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address \
	  cargo test -p bytepair -p bytepair-formats -p bytepair-split --lib --tests --target $(HOST) --target-dir target/sanitize

# Processors of other kinds, emulated: 64-bit Arm, 32 bits, big-endian; x86-64 without AVX, and with AVX2
# but no AVX-512.
PROCESSORS ?= aarch64 i686 s390x Nehalem Haswell

processors: export PROPTEST_CASES = 16
processors: export PROPTEST_RNG_SEED = 20
processors: ## Run the core's tests on emulated processors; PROCESSORS="aarch64 s390x" selects
	set -e; for processor in $(PROCESSORS); do \
	  case $$processor in aarch64|i686|s390x) target=$$processor-unknown-linux-gnu;; *) target=x86_64-unknown-linux-gnu;; esac; \
	  echo "$$processor"; rustup --quiet target add $$target; \
	  PROCESSOR=$$processor cargo --config processors.toml test --no-fail-fast --profile processors \
	    -p bytepair-split -p bytepair -p bytepair-formats --lib --tests --target $$target --target-dir target/processors; \
	done

# Whoever is root already may have no sudo.
SUDO := $(shell which sudo 2>/dev/null)

emulators: ## Install the compilers and emulators for `make processors` on Debian and Ubuntu
	$(SUDO) apt-get install --yes --no-install-recommends qemu-user \
	  gcc-aarch64-linux-gnu gcc-i686-linux-gnu gcc-s390x-linux-gnu \
	  libc6-dev-arm64-cross libc6-dev-i386-cross libc6-dev-s390x-cross

wasm: ## Run the golden vectors in WebAssembly, with node
	rustup --quiet target add wasm32-unknown-unknown
	cargo build --profile processors --config processors.toml -p bytepair --example wasm \
	  --target wasm32-unknown-unknown --target-dir target/processors
	node crates/bytepair/examples/wasm/check.mjs target/processors/wasm32-unknown-unknown/processors/examples/wasm.wasm

# Browsers have had vectors of 16 bytes since 2023.
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS := -C target-feature=+simd128

PAGE := python/bytepair/playground/index.html
PLAYGROUND_SOURCES := $(wildcard playground/*.js playground/*.css playground/*.html playground/build.py)

playground: $(PAGE) ## Build the playground: the core in WebAssembly, in one HTML file

$(PAGE): $(RUST_SOURCES) $(PLAYGROUND_SOURCES)
	rustup --quiet target add wasm32-unknown-unknown
	cargo build --profile wasm -p bytepair-wasm --target wasm32-unknown-unknown --target-dir target/playground
	$(PYTHON) playground/build.py target/playground/wasm32-unknown-unknown/wasm/bytepair_wasm.wasm -o $@

playground-check: $(VENV)/built $(VENV)/for-all-tests $(PAGE) ## Test the playground in Chromium: every view, and the ids of all vectors
	$(BIN)/python -m pytest -q tests/test_playground.py

audit: ## Check licences, sources and known vulnerabilities of all dependencies
	cargo deny --version >/dev/null 2>&1 || cargo install --locked cargo-deny
	cargo deny check licenses bans sources
	cargo deny check advisories
	test -x target/audit/bin/pip-audit || \
	{ $(PYTHON) -m venv target/audit && target/audit/bin/python -m pip install --quiet --group audit; }
	target/audit/bin/pip-audit --strict .

chromium: ## Install Chromium on Debian and Ubuntu, for the tests that open the report in a browser
	$(SUDO) apt-get install --yes --no-install-recommends chromium

# What is released, for this machine: a wheel for all Pythons by the stable ABI, linked by zig against an old glibc, and the
# sources. A free-threaded Python, which lacks that ABI, gets a wheel of its own: WHEEL_FOR="-i python3.14t".
DIST := target/wheels
WHEEL_FOR ?= --features abi3

wheel: $(VENV)/release python/bytepair/THIRD-PARTY-LICENSES.txt $(PAGE) ## Build a wheel for this machine, with the playground and the licences of linked libraries
	VIRTUAL_ENV=$(abspath $(VENV)) PATH="$(abspath $(BIN)):$$PATH" $(BIN)/maturin build --release --locked $(WHEEL_FOR) \
	  $(if $(findstring linux,$(HOST)),--zig --compatibility manylinux2014) --out $(DIST)

sdist: $(VENV)/release $(PAGE) ## Build the source distribution
	$(BIN)/maturin sdist --out $(DIST)

release-check: ## Build the release files, check them, install them in clean environments, write checksums; PYTHONS="python3.12" selects
	rm -rf $(DIST)
	$(MAKE) wheel sdist
	$(BIN)/python -m tools.release contents $(DIST)
	$(BIN)/python -m tools.release try $(DIST) $(addprefix --python ,$(PYTHONS))
	$(BIN)/python -m tools.release build $(DIST)
	$(BIN)/python -m tools.release sums $(DIST)

python/bytepair/THIRD-PARTY-LICENSES.txt: about.hbs about.toml Cargo.lock
	cargo about --version >/dev/null 2>&1 || cargo install --locked cargo-about --features cli
	cargo about generate --locked --fail -m crates/bytepair-python/Cargo.toml about.hbs -o $@

.PHONY: licenses sdist release-check crates-check

licenses: python/bytepair/THIRD-PARTY-LICENSES.txt ## Collect the licences of the crates that are linked

# The oldest versions that the crates say they take are chosen in a copy, and checked there. The core is compiled for versions
# of Python that need not be installed, since what it reads of a text differs.
OLDEST := target/oldest
PYTHONS_OF_CORE := 3.10 3.11 3.12 3.13 3.14 3.14t

crates-check: ## Package the crates as for publishing, build their documentation, compile them with the oldest dependencies and for every Python
	cargo publish --workspace --dry-run --locked --allow-dirty
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
	rm -rf $(OLDEST) && mkdir -p $(OLDEST) && cp -R Cargo.toml crates $(OLDEST)
	cd $(OLDEST) && RUSTC_BOOTSTRAP=1 cargo update --quiet -Z direct-minimal-versions && \
	  cargo check --workspace --target-dir ../oldest-built
	set -e; for version in $(PYTHONS_OF_CORE); do \
	  PYO3_CROSS=1 PYO3_NO_PYTHON=1 PYO3_CROSS_PYTHON_VERSION=$$version cargo check --quiet -p bytepair-python --target $(HOST) --locked; \
	done

# The package is imported from the sources, with the extension that was built for the same Python.
site: export NO_MKDOCS_2_WARNING = 1
site: $(VENV)/built $(SITE)/installed $(PAGE) ## Build the site, with the playground, and check its links; SITE_URL is its address
	PYTHONPATH=$(abspath python) $(SITE)/bin/python -m mkdocs build --strict --quiet
	$(SITE)/bin/python -m docs.website.check_links target/site $(SITE_URL)

$(SITE)/installed: pyproject.toml
	test -x $(SITE)/bin/python || $(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(SITE)/bin/python -m pip install --quiet --group site
	touch $@

# Other libraries, in an environment of their own: they bring many more.
$(PEERS)/installed: pyproject.toml
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(PEERS)/bin/python -m pip install --quiet --group bench || \
	for library in $(LIBRARIES); do \
	  $(PEERS)/bin/python -m pip install --quiet $$library || echo "skipped $$library: it cannot be installed here"; \
	done
	touch $@

# A pre-release with the name of a stable library, alone.
$(PEERS_NEXT)/installed: pyproject.toml
	test -x $(PEERS_NEXT)/bin/python || $(PYTHON) -m venv $(PEERS_NEXT)
	$(PEERS_NEXT)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(PEERS_NEXT)/bin/python -m pip install --quiet --upgrade --group bench-next || \
	echo "skipped tokenizers' pre-release: it cannot be installed here"
	touch $@

clean: ## Remove all build output
	rm -rf target $(VENV)

# What each job needs and no more: a new clone waits only for what it asked for.
$(VENV)/maturin: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet 'maturin==1.16.0'
	touch $@

# Dependency groups need a newer pip than most Pythons bring.
$(VENV)/pip: $(VENV)/maturin
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	touch $@

$(VENV)/for-tests: $(VENV)/pip
	$(BIN)/python -m pip install --quiet --group test
	touch $@

$(VENV)/for-checks: $(VENV)/pip
	$(BIN)/python -m pip install --quiet --group check
	touch $@

$(VENV)/for-all-tests: $(VENV)/for-tests
	$(BIN)/python -m pip install --quiet --group test-all
	$(BIN)/python -m pip install --quiet --group cluster || \
	echo "skipped Spark and Ray: they cannot be installed here, and their tests are skipped"
	touch $@

$(VENV)/release: $(VENV)/pip
	$(BIN)/python -m pip install --quiet --group release
	touch $@

# The extension of development is linked in seconds; the one of benchmarks is optimised as a wheel is. Either replaces the other.
EXTENSION = VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --quiet --extras cli

$(VENV)/built: $(VENV)/maturin $(RUST_SOURCES)
	rm -f python/bytepair/_core.*.so $(VENV)/optimised # perhaps of another version of Python
	$(EXTENSION) --profile quick
	touch $@

$(VENV)/optimised: $(VENV)/maturin $(RUST_SOURCES)
	rm -f python/bytepair/_core.*.so
	$(EXTENSION) --release
	touch $@ $(VENV)/built
