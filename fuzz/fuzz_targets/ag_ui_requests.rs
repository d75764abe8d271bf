//! Requests of AG-UI: whatever a body says, it is read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| ag_ui::fuzz::read(body));
