//! Answers of services that compute vectors and order passages: whatever they are, they are about the texts of the
//! request.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| knowledge::fuzz_answer(body));
