//! Answers of models that extract entities: whatever they have, what is kept stands in the passage and within its
//! bounds.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|answer: &[u8]| knowledge::fuzz_extraction(answer));
