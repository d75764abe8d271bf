//! Requests of A2A: whatever a body says, it is read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| a2a::fuzz::read(body));
