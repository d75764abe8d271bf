//! Messages of MCP servers: a sanitized message is JSON if it was before, an error has the id of
//! the request, and its size grows only by a bounded amount. Domains that a user interface declares are one source of a
//! policy each.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const REQUEST_ID: i64 = 7;

fuzz_target!(|text: &str| {
    for source in mcp::declared_sources(text) {
        let is_allowed = |sign: char| sign.is_ascii_alphanumeric() || ".-:/*".contains(sign);
        assert!(source.contains("://") && source.chars().all(is_allowed), "{source}");
    }
    let fitted = mcp::fit(text, REQUEST_ID);
    // Numbers may become longer.
    assert!(fitted.len() <= 8 * text.len() + 4096, "{} of {}", fitted.len(), text.len());
    // Sanitizing is idempotent.
    assert_eq!(mcp::fit(&fitted, REQUEST_ID), fitted);
    if serde_json::from_str::<Value>(text).is_err() {
        return;
    }
    let fitted: Value = serde_json::from_str(&fitted).expect("JSON stays JSON");
    let parts = fitted.pointer("/result/content").and_then(Value::as_array).map_or(0, Vec::len);
    assert!(parts <= 256 || text.len() <= 16 << 10, "{parts} parts");
});
