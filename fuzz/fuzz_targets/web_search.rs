//! Answers of providers of web search: for any answer, the results have a URL and short texts.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| web_research::fuzz_answer(body));
