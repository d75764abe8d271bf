//! Messages of MCP servers: whatever is made fit for reading is JSON where it was before, answers the request if it is an error, and
//! has grown by little.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const ASKED: i64 = 7;

fuzz_target!(|text: &str| {
    let fitted = tools::mcp::fit(text, ASKED);
    // Numbers may become longer.
    assert!(fitted.len() <= 8 * text.len() + 4096, "{} of {}", fitted.len(), text.len());
    // A second time there is nothing to do.
    assert_eq!(tools::mcp::fit(&fitted, ASKED), fitted);
    if serde_json::from_str::<Value>(text).is_err() {
        return;
    }
    let fitted: Value = serde_json::from_str(&fitted).expect("JSON stays JSON");
    let parts = fitted.pointer("/result/content").and_then(Value::as_array).map_or(0, Vec::len);
    assert!(parts <= 256 || text.len() <= 16 << 10, "{parts} parts");
});
