# `just check` is what CI runs. The steps live in .ci/check, so that nothing here is needed to run them.

_list:
    @just --list

# All of CI, from a clean environment: wheel, README, lint, types, Rust, benchmarks' smoke run, tests
check:
    .ci/run

# ruff, both as linter and as formatter
lint:
    .ci/check lint

# mypy, strict
types:
    .ci/check types

# The Python tests, on the installed package
test:
    .ci/check tests

# rustfmt, clippy, the core crate's tests
rust:
    .ci/check rust

# The wheel, into dist/
build:
    .ci/check build

# The tables of benches/README.md
bench:
    .ci/check bench

# Every benchmark once, on the smallest workload
bench-smoke:
    .ci/check bench_smoke

# LiteLLM's own proxy with our handler, in an environment of its own
litellm:
    .ci/check litellm

# What takes long: linear time at a million characters, the tests with many examples, LiteLLM, 100,000 requests
long:
    .ci/check long

# Every fuzz target for a few seconds, with the same inputs each time
fuzz-smoke:
    .ci/check fuzz_smoke

# Fuzz for so many seconds: scan_serde, doors, readers, project, truncate, render, shell, or doors.py (fuzz/README.md)
fuzz target seconds:
    .ci/check fuzz {{target}} {{seconds}}
