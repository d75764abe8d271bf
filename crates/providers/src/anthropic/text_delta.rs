//! Reads the most frequent event, a text delta, in the exact form in which Anthropic writes it. The general code reads every
//! form, but parses the text of a delta three times.

/// Returns the index of the block and the text; `None` for other events, and for text deltas in another form.
pub(super) fn read(data: &str) -> Option<(u64, String)> {
    let rest = data.strip_prefix(r#"{"type":"content_block_delta","index":"#)?;
    let (index, delta) = rest.split_once(',')?;
    let text = delta.strip_prefix(r#""delta":{"type":"text_delta","text":"#)?;
    // Anthropic pads some events with spaces before the last brace.
    let text = text.strip_suffix('}')?.trim_end().strip_suffix('}')?;
    // This fails if anything follows the text, because then it is not a single string.
    Some((serde_json::from_str(index).ok()?, serde_json::from_str(text).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_usual_form_is_read() {
        let check = |data: &str, expected: Option<(u64, &str)>| {
            assert_eq!(read(data), expected.map(|(index, text)| (index, text.to_owned())), "{data}");
        };
        let delta = |text: &str| {
            format!(r#"{{"type":"content_block_delta","index":2,"delta":{{"type":"text_delta","text":{text}}}}}"#)
        };
        check(&delta(r#""Hello""#), Some((2, "Hello")));
        check(&delta(r#""a \"b\" }} \u00fc""#), Some((2, "a \"b\" }} ü")));
        check(&delta(r#""""#), Some((2, "")));
        let padded = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}   }"#;
        check(padded, Some((0, "a")));
        // The general code handles these.
        check(&delta("null"), None);
        check(&delta(r#"["a"]"#), None);
        check(&delta(r#""a","text":"b""#), None);
        check(&delta(r#""a"},"p":{"q":"b""#), None);
        check(&delta(r#""\ud83d""#), None);
        check(&delta(r#""a""#)[1..], None);
        let check_event = |event: &str| check(event, None);
        check_event(r#"{"type":"content_block_delta","index":"0","delta":{"type":"text_delta","text":"a"}}"#);
        check_event(r#"{"type":"content_block_delta","index":-1,"delta":{"type":"text_delta","text":"a"}}"#);
        check_event(r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a"}}"#);
        check_event(r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}"#);
        check_event(r#"{"type":"content_block_stop","index":0}"#);
        check_event("");
    }
}
