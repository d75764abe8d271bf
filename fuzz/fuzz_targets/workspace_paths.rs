//! Paths of workspaces: whatever a model or an upload names, it is in one of the trees or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|written: &str| workspace::fuzz_path(written));
