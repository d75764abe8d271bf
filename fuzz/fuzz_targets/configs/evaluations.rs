//! Evaluations: any dataset, evaluation file or file of another tool is read or rejected.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    evaluation::fuzz_dataset(text);
});
