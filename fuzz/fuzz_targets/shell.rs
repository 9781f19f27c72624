//! Any command line: it has an answer in time, and a line before it adds its own effect and removes none.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolcarry::dedupe::shell::has_side_effects;

fuzz_target!(|data: &[u8]| {
    let line = String::from_utf8_lossy(data);
    let writes = has_side_effects(&line);
    assert!(has_side_effects(&format!("rm x\n{line}")), "{line:?}");
    assert!(!writes || has_side_effects(&format!("true\n{line}")), "{line:?}");
});
