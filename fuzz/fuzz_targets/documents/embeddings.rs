//! Answers of services that compute vectors and order passages: any accepted answer refers to the texts of the request.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| knowledge::fuzz_answer(body));
