//! A parser for incomplete JSON that is still arriving. It closes strings, objects and arrays where
//! the text ends, drops a key without a value, keeps the digits of a number so far, and completes a
//! literal.

use serde_json::{Map, Number, Value};

/// The state of a parsed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseState {
    /// The text is complete JSON.
    Whole,
    /// The text is the beginning of JSON.
    Partial,
    /// The text is not JSON, or has no value yet.
    Failed,
}

/// The maximum nesting depth, to protect the stack; the same limit as in `serde_json`.
const MAX_DEPTH: usize = 127;

/// Parses a JSON text or the beginning of one, in linear time.
pub fn parse(text: &str) -> (Option<Value>, ParseState) {
    if let Ok(value) = serde_json::from_str(text) {
        return (Some(value), ParseState::Whole);
    }
    let mut reader = PartialJsonReader { text, at: 0 };
    match reader.value(0) {
        // `serde_json` rejects a complete value only if text follows it, so only a cut value
        // counts.
        Parsed::Incomplete(Some(value)) => (Some(value), ParseState::Partial),
        _ => (None, ParseState::Failed),
    }
}

/// A parsed value.
enum Parsed {
    /// The value ended before the text did.
    Whole(Value),
    /// The text ended within the value; `None` if there is no value yet.
    Incomplete(Option<Value>),
    /// The text is not JSON.
    Invalid,
}

struct PartialJsonReader<'a> {
    text: &'a str,
    at: usize,
}

impl PartialJsonReader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Parsed {
        self.skip_space();
        match self.peek() {
            None => Parsed::Incomplete(None),
            Some(_) if depth > MAX_DEPTH => Parsed::Invalid,
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => match self.string() {
                Ok((text, true)) => Parsed::Whole(Value::String(text)),
                Ok((text, false)) => Parsed::Incomplete(Some(Value::String(text))),
                Err(()) => Parsed::Invalid,
            },
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => self.literal(),
        }
    }

    fn object(&mut self, depth: usize) -> Parsed {
        self.at += 1;
        let mut map = Map::new();
        loop {
            self.skip_space();
            match self.peek() {
                None => return Parsed::Incomplete(Some(Value::Object(map))),
                Some(b'}') if map.is_empty() => return self.end(Value::Object(map)),
                Some(b'"') => {}
                Some(_) => return Parsed::Invalid,
            }
            let key = match self.string() {
                Ok((key, true)) => key,
                Ok((_, false)) => return Parsed::Incomplete(Some(Value::Object(map))),
                Err(()) => return Parsed::Invalid,
            };
            self.skip_space();
            match self.peek() {
                None => return Parsed::Incomplete(Some(Value::Object(map))),
                Some(b':') => self.at += 1,
                Some(_) => return Parsed::Invalid,
            }
            match self.value(depth + 1) {
                Parsed::Whole(value) => map.insert(key, value),
                Parsed::Incomplete(value) => {
                    map.extend(value.map(|value| (key, value)));
                    return Parsed::Incomplete(Some(Value::Object(map)));
                }
                Parsed::Invalid => return Parsed::Invalid,
            };
            self.skip_space();
            match self.peek() {
                None => return Parsed::Incomplete(Some(Value::Object(map))),
                Some(b',') => self.at += 1,
                Some(b'}') => return self.end(Value::Object(map)),
                Some(_) => return Parsed::Invalid,
            }
        }
    }

    fn array(&mut self, depth: usize) -> Parsed {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            return self.end(Value::Array(items));
        }
        loop {
            match self.value(depth + 1) {
                Parsed::Whole(value) => items.push(value),
                Parsed::Incomplete(value) => {
                    items.extend(value);
                    return Parsed::Incomplete(Some(Value::Array(items)));
                }
                Parsed::Invalid => return Parsed::Invalid,
            }
            self.skip_space();
            match self.peek() {
                None => return Parsed::Incomplete(Some(Value::Array(items))),
                Some(b',') => self.at += 1,
                Some(b']') => return self.end(Value::Array(items)),
                Some(_) => return Parsed::Invalid,
            }
        }
    }

    fn end(&mut self, value: Value) -> Parsed {
        self.at += 1;
        Parsed::Whole(value)
    }

    /// Returns a string and whether it was closed; an incomplete escape is dropped.
    fn string(&mut self) -> Result<(String, bool), ()> {
        let start = self.at;
        self.at += 1;
        let mut kept = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return unescape(&self.text[start..self.at]).map(|text| (text, true));
                }
                b'\\' => {
                    let length = if self.text.as_bytes().get(self.at + 1) == Some(&b'u') { 6 } else { 2 };
                    if self.at + length > self.text.len() {
                        self.at = self.text.len();
                        break;
                    }
                    self.at += length;
                }
                _ => self.at += 1,
            }
            kept = self.at;
        }
        let mut closed = self.text.get(start..kept).ok_or(())?.to_owned();
        closed.push('"');
        unescape(&closed).or_else(|()| unescape(&without_half_pair(&closed))).map(|text| (text, false))
    }

    fn number(&mut self) -> Parsed {
        let start = self.at;
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        if self.at < self.text.len() {
            return number(text).map_or(Parsed::Invalid, |number| Parsed::Whole(Value::Number(number)));
        }
        let digits = text.trim_end_matches(|last: char| !last.is_ascii_digit());
        match number(digits) {
            Some(number) => Parsed::Incomplete(Some(Value::Number(number))),
            None if digits.is_empty() => Parsed::Incomplete(None),
            None => Parsed::Invalid,
        }
    }

    fn literal(&mut self) -> Parsed {
        let rest = &self.text[self.at..];
        for (name, value) in [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)] {
            if rest.starts_with(name) {
                self.at += name.len();
                return Parsed::Whole(value);
            }
            if name.starts_with(rest) {
                self.at = self.text.len();
                return Parsed::Incomplete(Some(value));
            }
        }
        Parsed::Invalid
    }
}

/// Parses a number on its own. It goes through `Value` like everything else here: another target
/// type would add a deserializer of its own, with code that formats fractions in error messages, to
/// the browser's download (some kilobytes).
pub(crate) fn number(text: &str) -> Option<Number> {
    match serde_json::from_str(text) {
        Ok(Value::Number(number)) => Some(number),
        _ => None,
    }
}

fn unescape(literal: &str) -> Result<String, ()> {
    match serde_json::from_str(literal) {
        Ok(Value::String(text)) => Ok(text),
        _ => Err(()),
    }
}

/// Drops a surrogate whose other half has not arrived.
fn without_half_pair(closed: &str) -> String {
    match closed.rfind("\\u") {
        Some(at) => format!("{}\"", &closed[..at]),
        None => closed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn incomplete_json_is_parsed() {
        let check = |text: &str, expected: &str| {
            let (value, state) = parse(text);
            let seen = format!("{:?} {}", state, value.map_or_else(|| "-".to_owned(), |value| value.to_string()));
            assert_eq!(seen, expected, "{text}");
        };
        check(r#"{"a":1}"#, r#"Whole {"a":1}"#);
        check("", "Failed -");
        check("{", "Partial {}");
        check(r#"{"a"#, "Partial {}");
        check(r#"{"a":"#, "Partial {}");
        check(r#"{"a":"x"#, r#"Partial {"a":"x"}"#);
        check(r#"{"a":"x\"#, r#"Partial {"a":"x"}"#);
        check(r#"{"a":"x\u00e"#, r#"Partial {"a":"x"}"#);
        check(r#"{"a":"\ud83e"#, r#"Partial {"a":""}"#);
        check(r#"{"a":tr"#, r#"Partial {"a":true}"#);
        check(r#"{"a":-"#, "Partial {}");
        check(r#"{"a":1.5e"#, r#"Partial {"a":1.5}"#);
        check(r#"[1,[2,"#, "Partial [1,[2]]");
        check(r#"{"a":1}}"#, "Failed -");
        check("{a", "Failed -");
        check(&"[".repeat(100_000), "Failed -");
    }

    proptest! {
        #[test]
        fn no_prefix_of_a_text_panics(text in "[{\\[]{1}[\"a-zé{}\\[\\],:0-9.\\\\u -]{0,40}", cut in any::<prop::sample::Index>()) {
            let ends: Vec<_> = text.char_indices().map(|(at, _)| at).collect();
            parse(&text[..ends[cut.index(ends.len())]]);
        }
    }
}
