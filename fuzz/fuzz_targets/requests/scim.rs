//! Requests of a directory over SCIM: any filter, path or operation is read or rejected.
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
