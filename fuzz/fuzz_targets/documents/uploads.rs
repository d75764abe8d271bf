//! Uploaded files: any file name is sanitized, and types that browsers display inline cannot run
//! scripts.
#![no_main]
#![allow(dead_code, reason = "only the parsers in the files below are used")]

// Included by path, since their crate would add two databases to the build.
#[path = "../../../crates/chat/src/files/file_name.rs"]
mod file_name;
#[path = "../../../crates/chat/src/files/sniff.rs"]
mod sniff;

use libfuzzer_sys::fuzz_target;
use wire::file::is_shown_inline;

fuzz_target!(|given: (&str, &[u8])| {
    let (called, head) = given;
    let name = file_name::sanitize(called);
    assert!(!name.is_empty() && name.chars().count() <= file_name::MAX_NAME, "{name:?}");
    assert!(!name.contains(['/', '\\']) && !name.starts_with('.') && !name.chars().any(char::is_control), "{name:?}");
    assert_eq!(file_name::sanitize(&name), name, "sanitizing is not idempotent");
    let kind = sniff::media_type(head, &name);
    let is_token = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-".contains(&byte))
    };
    let parts: Vec<_> = kind.split('/').collect();
    assert!(parts.len() == 2 && parts.iter().all(|part| is_token(part)), "{kind}");
    if is_shown_inline(&kind) {
        assert!(kind.starts_with("image/") && !kind.contains("svg"), "{kind}");
        // The type depends on the content and not on the name.
        assert_eq!(sniff::media_type(head, "x.html"), kind);
    }
    let _ = sniff::is_text(&kind, &name);
});
