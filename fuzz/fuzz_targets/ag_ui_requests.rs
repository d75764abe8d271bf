//! Requests of AG-UI: any body is read or rejected.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| ag_ui::fuzz::read(body));
