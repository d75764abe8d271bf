//! Answers of models that extract entities: of any answer, only entities in the passage are kept, within the bounds.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|answer: &[u8]| knowledge::fuzz_extraction(answer));
