//! Markers of citations: the same are found however the text arrives, and little of it is held back.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|given: (u8, &str)| {
    let (size, text) = given;
    knowledge::fuzz_markers(text, usize::from(size % 64) + 1);
});
