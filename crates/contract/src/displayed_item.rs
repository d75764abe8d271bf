//! The part of an item of a provider's reply that users see.

use serde_json::{Map, Value};

/// The maximum number of bytes of a value that is a text; the rest is left out.
const MAX_TEXT: usize = 2_000;
/// The maximum number of bytes of all keys and values together.
const MAX_TOTAL: usize = 16_000;
/// The bytes that a value counts in addition to its text.
const VALUE_COST: usize = 8;
/// The key under which an object says how many of its entries are left out.
const REST: &str = "…";

/// Returns what users see of a provider's item: a copy that is shortened to about 16 KB, without
/// what only the provider can read.
pub fn displayed_item(item: &Value) -> Value {
    shortened(item, &mut { MAX_TOTAL })
}

/// Returns a value without what exceeds the limits. `left` is how many bytes may still be used.
fn shortened(value: &Value, left: &mut usize) -> Value {
    *left = left.saturating_sub(VALUE_COST);
    match value {
        Value::String(text) => {
            let shown = text.floor_char_boundary(MAX_TEXT.min(*left));
            *left -= shown;
            Value::String(if shown == text.len() { text.clone() } else { cut(&text[..shown], text.len()) })
        }
        Value::Array(items) => {
            let mut shown: Vec<_> = items.iter().map_while(|item| (*left > 0).then(|| shortened(item, left))).collect();
            if shown.len() < items.len() {
                shown.push(rest(items.len() - shown.len()));
            }
            shown.into()
        }
        Value::Object(entries) => {
            let entry = |(key, value): (&String, &Value)| {
                *left = left.checked_sub(key.len()).filter(|left| *left > 0)?;
                let shown = if is_opaque(key) { without_text(value) } else { None };
                Some((key.clone(), shown.unwrap_or_else(|| shortened(value, left))))
            };
            let mut shown: Map<_, _> = entries.iter().map_while(entry).collect();
            if shown.len() < entries.len() {
                shown.insert(REST.to_owned(), rest(entries.len() - shown.len()));
            }
            shown.into()
        }
        other => other.clone(),
    }
}

/// Returns whether only the provider can read the value of the key.
fn is_opaque(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.starts_with("encrypted") || key.ends_with("signature")
}

/// Returns how long a text is, instead of the text.
fn without_text(value: &Value) -> Option<Value> {
    value.as_str().map(|text| cut("", text.len()).into())
}

fn cut(shown: &str, length: usize) -> String {
    format!("{shown}… ({length} bytes)")
}

fn rest(count: usize) -> Value {
    format!("… ({count} more)").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn items_are_shortened_for_display() {
        let check = |item: Value, expected: Value| assert_eq!(displayed_item(&item), expected);
        check(
            json!({ "type": "later_kind", "a": [1, null, "é"] }),
            json!({ "type": "later_kind", "a": [1, null, "é"] }),
        );
        check(
            json!({ "encrypted_content": "abc", "thoughtSignature": "ab", "signature": { "a": "b" } }),
            json!({ "encrypted_content": "… (3 bytes)", "thoughtSignature": "… (2 bytes)", "signature": { "a": "b" } }),
        );
        // A character is not cut in two.
        let text = format!("a{}", "é".repeat(1_000));
        check(json!(text), json!(format!("a{}… (2001 bytes)", "é".repeat(999))));
        check(json!(vec![1; 1_999]), json!(vec![1; 1_999]));
        let mut list = vec![json!(1); 1_999];
        list.push(json!("… (3001 more)"));
        check(json!(vec![1; 5_000]), json!(list));
        let texts = |count: usize| -> Value {
            (0..count).map(|at| (format!("{at:02}"), "x".repeat(2_000).into())).collect::<Map<_, _>>().into()
        };
        let mut known = texts(7);
        known["07"] = json!(format!("{}… (2000 bytes)", "x".repeat(1_912)));
        known["…"] = json!("… (2 more)");
        check(texts(10), known);
    }

    /// For any item of a provider, the copy is bounded.
    #[test]
    fn displayed_items_are_bounded() {
        let mut deep = json!(1);
        for _ in 0..100 {
            deep = json!({ "a": deep, "b": [deep_text()] });
        }
        let wide: Map<_, _> = (0..100_000).map(|at| (at.to_string(), json!({}))).collect();
        for item in [deep, wide.into(), json!({ "k".repeat(100_000): 1 }), json!(vec![json!([]); 100_000])] {
            let size = displayed_item(&item).to_string().len();
            assert!(size < 3 * MAX_TOTAL, "{size}");
        }
    }

    fn deep_text() -> String {
        "y".repeat(3_000)
    }
}
