//! Evaluations: datasets, evaluation files and the files of other tools are read or refused, whatever they
//! contain.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    evaluation::fuzz_dataset(text);
});
