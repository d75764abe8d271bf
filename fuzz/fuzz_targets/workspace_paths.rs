//! Paths of workspaces: any path of a model or an upload is in one of the trees or rejected.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|written: &str| workspace::fuzz_path(written));
