//! Requests of A2A: any body is read or rejected.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| a2a::fuzz::read(body));
