//! What a directory sends over SCIM: whatever a filter, a path or an operation says, it is read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|body: &[u8]| {
    if let Ok(text) = std::str::from_utf8(body) {
        scim::fuzz::read_filter(text);
    }
    if let Ok(Value::Object(body)) = serde_json::from_slice(body) {
        scim::fuzz::change(&body);
    }
});
