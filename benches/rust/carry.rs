//! Benchmarks of the core crate: `cargo bench -p toolcarry --bench carry`.

use toolcarry::shell::has_side_effects;

fn main() {
    divan::main();
}

/// From a word to a script within a script.
const COMMANDS: [&str; 4] = [
    "ls",
    "git diff HEAD~1 | head -120",
    "cd /home/user/project && CI=1 cargo test --all -- --nocapture 2>&1 | tail -n 50",
    "bash -lc 'for f in src/*.py; do grep -n TODO \"$f\" || true; done'",
];

#[divan::bench(args = COMMANDS)]
fn side_effects(command: &str) -> bool {
    has_side_effects(divan::black_box(command))
}
