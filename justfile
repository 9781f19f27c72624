# `just check` is what CI runs. The steps live in .ci/check, so that nothing here is needed to run them.

_list:
    @just --list

# Run the whole gate in a clean environment, as CI does (15 minutes)
check:
    .ci/run

# Check the Python code with ruff, its formatting too
lint:
    .ci/check lint

# Check the types with mypy, strictly
types:
    .ci/check types

# Build the site of the documentation into site/, strictly
docs:
    SITE=site .ci/check docs

# Check where dependencies come from, and their licences (minutes, where cargo-deny is not installed)
licences:
    .ci/check licences

# Look up known vulnerabilities of dependencies; needs the hosts of their databases, and pip-audit
audit:
    .ci/check audit

# Show the lines that the tests run, of Rust and of Python (minutes)
coverage:
    .ci/check coverage

# Check that imports go down
layers:
    .ci/check layers

# Run the core suite (2 minutes)
test:
    .ci/check core_tests

# Run every Python test: the core suite, services, SDKs, slow ones, and the fallback without the extension
test-all:
    .ci/check core_tests other_tests pure

# Write every golden file and the public API again, after an intended change; read the difference before you commit it
goldens:
    TOOLCARRY_WRITE_GOLDEN=1 python -m pytest -q --timeout=0 tests/golden tests/context/test_golden.py tests/text_history/test_golden.py tests/package/test_public_api.py

# Show what changed for a generated request against OTHER: a checkout with a built extension, or an environment's Python
golden-diff number other:
    PYTHONPATH=tests:${PYTHONPATH:-} python -m support.goldens diff {{number}} --other {{other}}

# List the generated requests of which an output differs from the golden files
golden-changes:
    PYTHONPATH=tests:${PYTHONPATH:-} python -m support.goldens changes

# Check and test the Rust code: rustfmt, clippy, the tests of the core crate
rust:
    .ci/check rust

# Build the wheel into dist/
build:
    .ci/check build

# Build the wheel of a release into dist/, optimised by a recorded run; needs rustup's component llvm-tools
wheel-pgo:
    .ci/check wheel_pgo

# Measure the tables of benches/README.md
bench:
    .ci/check bench

# Run every benchmark once, on the smallest workload
bench-smoke:
    .ci/check bench_smoke

# Make the picture of a report for the README again; needs Chromium and the extras cli and report
report-image:
    PYTHONPATH=tests python -m support.report_image docs/images/report.png

# Test our handler in LiteLLM's own proxy, in a separate environment
litellm:
    .ci/check litellm

# Run the recipes of docs/how-to/read-many-sessions.md on Daft, Ray, Polars, DuckDB and Spark, in a separate environment
tables:
    .ci/check tables

# Count what the frameworks' own packages write, and let them check repaired histories, in separate environments
frameworks:
    .ci/check frameworks

# Run what takes hours: tests with many examples, linear time, LiteLLM, engines, frameworks, 20,000 requests within a bound on memory, fuzzing
long:
    .ci/check long

# Run every fuzz target for a few seconds, with the same inputs each time
fuzz-smoke:
    .ci/check fuzz_smoke

# Fuzz a target for SECONDS: scan_serde, inputs, readers, project, truncate, render, shell, or backends.py (fuzz/README.md)
fuzz target seconds:
    .ci/check fuzz {{target}} {{seconds}}
