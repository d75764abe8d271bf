//! Requests of OpenAI's API: whatever a body says, it is read or refused, and what an agent is asked has a
//! result for each call.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| openai_api::fuzz::read(body));
