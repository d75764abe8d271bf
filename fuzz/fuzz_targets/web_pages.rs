//! Web pages: a first line with the content type, then the body. Reading ends, and what it returns is
//! bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let content_type = String::from_utf8_lossy(&bytes[..end]);
    web_research::fuzz_page(&content_type, bytes.get(end + 1..).unwrap_or_default());
});
