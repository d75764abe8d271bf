//! A hash of a call's arguments. A decision names with it the arguments that the user saw.

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

/// Returns the SHA-256 of arguments in hex. It ignores the order of keys and the last bits of a
/// fraction, which may change when a number is written and read again.
pub fn arguments_hash(arguments: &Value) -> String {
    let mut hash = Sha256::new();
    add(&mut hash, arguments);
    hex::encode(hash.finalize())
}

/// Each value starts with its kind and its length, so that no two values have the same encoding.
fn add(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Null => hash.update(b"n"),
        Value::Bool(true) => hash.update(b"t"),
        Value::Bool(false) => hash.update(b"f"),
        Value::Number(number) => add_number(hash, number),
        Value::String(text) => add_text(hash, text),
        Value::Array(items) => {
            add_length(hash, b"a", items.len());
            items.iter().for_each(|item| add(hash, item));
        }
        Value::Object(entries) => {
            add_length(hash, b"o", entries.len());
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            for (key, value) in entries {
                add_text(hash, key);
                add(hash, value);
            }
        }
    }
}

fn add_length(hash: &mut Sha256, kind: &[u8], length: usize) {
    hash.update(kind);
    hash.update((length as u64).to_le_bytes());
}

fn add_text(hash: &mut Sha256, text: &str) {
    add_length(hash, b"s", text.len());
    hash.update(text);
}

/// Low bits of a fraction that are ignored.
const SPARE_BITS: u32 = 20;
/// Below this, every integer is exact as an `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn add_number(hash: &mut Sha256, number: &Number) {
    let whole = number.as_i64().or_else(|| {
        let number = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < EXACT)?;
        Some(number as i64)
    });
    match (whole, number.as_u64(), number.as_f64()) {
        (Some(whole), ..) => {
            hash.update(b"i");
            hash.update(whole.to_le_bytes());
        }
        (None, Some(large), _) => {
            hash.update(b"u");
            hash.update(large.to_le_bytes());
        }
        (None, None, fraction) => {
            let bits = fraction.unwrap_or_default().to_bits();
            hash.update(b"d");
            hash.update((bits.wrapping_add(1 << (SPARE_BITS - 1)) >> SPARE_BITS).to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn check(one: Value, other: Value, is_equal: bool) {
        assert_eq!(arguments_hash(&one) == arguments_hash(&other), is_equal, "{one} {other}");
    }

    #[test]
    fn equal_arguments_have_equal_hashes() {
        check(json!({ "a": 1, "b": [null, "x"] }), json!({ "b": [null, "x"], "a": 1 }), true);
        check(json!(1.0), json!(1), true);
        check(json!(0.1 + 0.2), json!(0.3), true);
        check(json!(u64::MAX), json!(u64::MAX), true);
        assert_eq!(arguments_hash(&json!({})).len(), 64);
    }

    #[test]
    fn different_arguments_have_different_hashes() {
        check(json!({ "a": 1 }), json!({ "a": 2 }), false);
        check(json!({ "a": "1" }), json!({ "a": 1 }), false);
        check(json!(["ab"]), json!(["a", "b"]), false);
        check(json!([[], []]), json!([[[]]]), false);
        check(json!({ "a": { "b": 1 } }), json!({ "a": {}, "b": 1 }), false);
        check(json!(null), json!(false), false);
        check(json!("a\u{202e}"), json!("a"), false);
        check(json!(19.99), json!(19.98), false);
        check(json!(u64::MAX), json!(u64::MAX - 1), false);
    }

    proptest! {
        #[test]
        fn serialization_does_not_change_the_hash(number: f64, text: String, key: String) {
            let arguments = json!({ key: [number, text] });
            let read: Value = serde_json::from_str(&arguments.to_string()).unwrap();
            prop_assert_eq!(arguments_hash(&read), arguments_hash(&arguments));
        }
    }
}
