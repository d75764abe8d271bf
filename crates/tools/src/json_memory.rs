//! Estimates how much memory parsed JSON takes, which may be many times the size of its text.

use serde::de::IgnoredAny;

/// The maximum memory for the values of one text of another server, in bytes.
const MAX_MEMORY: usize = 64 << 20;
/// The approximate size of a list or an object with few entries, in bytes.
const CONTAINER: usize = 600;
/// The approximate size of any other value, in bytes.
const SCALAR: usize = 80;

/// Returns whether the values of a JSON text would take too much memory. Invalid JSON never does,
/// because parsing it ends early.
pub fn is_too_large(text: &[u8]) -> bool {
    estimate(text) > MAX_MEMORY && serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

/// Returns the approximate memory for the values of a JSON text, in bytes, without the contents of
/// their strings.
fn estimate(text: &[u8]) -> usize {
    let (mut memory, mut is_text, mut is_escaped) = (SCALAR, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => memory += CONTAINER,
            b',' if !is_text => memory += SCALAR,
            _ => {}
        }
    }
    memory
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        let check = |text: &str, containers: usize, others: usize| {
            assert_eq!(estimate(text.as_bytes()), containers * CONTAINER + (others + 1) * SCALAR, "{text}");
        };
        check("1", 0, 0);
        check("[]", 1, 0);
        check(r#"{"a":1,"b":[2,3]}"#, 2, 2);
        check(r#"",[{\",[{""#, 0, 0);
        check(r#"["\\",1]"#, 1, 1);
    }

    #[test]
    fn json_with_too_many_values_is_too_large() {
        let check = |text: &str, expected: bool| assert_eq!(is_too_large(text.as_bytes()), expected, "{text:.20}");
        let list = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
        check(&list("{}", 60_000), false);
        check(&list("{}", 120_000), true);
        check(&list("1", 700_000), false);
        check(&list("1", 1_000_000), true);
        check(&list("\",{[\\\"\"", 700_000), false);
        // Parsing ends where the nesting is too deep.
        check(&"[".repeat(1_000_000), false);
    }
}
