//! Requests of OpenAI's API: any body is read or rejected, and an accepted history has a result for each call.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| openai_api::fuzz::read(body));
