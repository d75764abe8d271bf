//! Masks personal data in texts of users who have not agreed that they are kept as they are.
//!
//! Only values with a recognizable form are masked: addresses, numbers, keys, and the name of the user. Names of other
//! people and personal facts in prose are not recognized, so administrators read a case before they use it.

use serde_json::Value;

/// The fewest digits of a number that identifies something, such as a telephone number or an order.
const MIN_DIGITS: usize = 5;
/// The shortest word of letters and digits that counts as a key.
const MIN_KEY: usize = 20;
/// The shortest part of a user's name that is masked.
const MIN_NAME: usize = 3;

/// Masks what identifies a user.
pub(crate) struct Masker {
    /// The parts of the user's name, in lower case.
    names: Vec<String>,
}

impl Masker {
    /// Creates a masker for a user with this name.
    pub(crate) fn new(name: Option<&str>) -> Self {
        let parts = name.unwrap_or_default().split(|c: char| !c.is_alphanumeric());
        let names = parts.filter(|part| part.chars().count() >= MIN_NAME).map(str::to_lowercase).collect();
        Self { names }
    }

    /// Masks a text.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_space = first.is_whitespace();
            let end = rest.find(|c: char| c.is_whitespace() != is_space).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            if is_space {
                out.push_str(word)
            } else {
                self.word(word, &mut out)
            }
            rest = after;
        }
        numbers(&out)
    }

    /// Masks all texts of a value; keys stay.
    pub(crate) fn value(&self, value: &Value) -> Value {
        self.texts(contract::mask_secrets(value))
    }

    /// Masks all texts of a value whose secrets are masked.
    fn texts(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::from(self.text(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.texts(item)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(key, value)| (key, self.texts(value))).collect())
            }
            other => other,
        }
    }

    /// Masks a word, with the punctuation around it as it is.
    fn word(&self, word: &str, out: &mut String) {
        let is_edge = |c: char| !c.is_alphanumeric();
        let core = word.trim_matches(is_edge);
        if core.is_empty() {
            out.push_str(word);
            return;
        }
        let begin = word.find(core).unwrap_or_default();
        let (before, after) = (&word[..begin], &word[begin + core.len()..]);
        out.push_str(before);
        match mask_of(core) {
            Some(mask) => out.push_str(&mask),
            None => self.name_parts(core, out),
        }
        out.push_str(after);
    }

    /// Masks the user's name in a word, such as `Ada's`.
    fn name_parts(&self, core: &str, out: &mut String) {
        let is_name = |part: &str| self.names.contains(&part.to_lowercase());
        for part in core.split_inclusive(|c: char| !c.is_alphanumeric()) {
            let letters = part.trim_end_matches(|c: char| !c.is_alphanumeric());
            if is_name(letters) {
                out.push_str("[name]");
                out.push_str(&part[letters.len()..]);
            } else {
                out.push_str(part)
            }
        }
    }
}

/// Returns what stands for a word that has the form of an address or a key.
fn mask_of(word: &str) -> Option<String> {
    if let Some((_, rest)) = word.split_once("://") {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        return (host.len() < rest.len()).then(|| format!("https://{host}/[path]"));
    }
    if let Some((user, host)) = word.split_once('@') {
        return (!user.is_empty() && host.contains('.')).then(|| "[e-mail]".to_owned());
    }
    let is_key = word.len() >= MIN_KEY
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+/=".contains(&byte));
    is_key.then(|| "[key]".to_owned())
}

/// Masks groups of digits, also those that spaces and other signs of telephone numbers separate.
fn numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(|c: char| c.is_ascii_digit()) {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '-' | '.' | '/' | '(' | ')');
        let run = rest[begin..].find(|c: char| !is_part(c)).unwrap_or(rest.len() - begin);
        let number = rest[begin..begin + run].trim_end_matches(|c: char| !c.is_ascii_digit());
        let end = begin + number.len();
        out.push_str(&rest[..begin]);
        if number.bytes().filter(u8::is_ascii_digit).count() >= MIN_DIGITS {
            out.push_str("[number]")
        } else {
            out.push_str(number)
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn personal_data_is_masked() {
        let masker = Masker::new(Some("Ada Lovelace"));
        let check = |text: &str, expected: &str| assert_eq!(masker.text(text), expected);
        check("My order 1234 is late.", "My order 1234 is late.");
        check("Order no. 4711-0815, please!", "Order no. [number], please!");
        check("Call +49 (170) 123 45 67.", "Call +[number].");
        check("Write to <ada@example.com>, or to Ada's boss.", "Write to <[e-mail]>, or to [name]'s boss.");
        check("See https://a.test/orders/9?key=1.", "See https://a.test/[path].");
        check("See https://a.test now", "See https://a.test now");
        check("My key is sk-abc123def456ghi789jkl.", "My key is [key].");
        check("  two\n lines\t", "  two\n lines\t");
        check("", "");
        check("Größe 3 × 4, 2026", "Größe 3 × 4, 2026");
        assert_eq!(
            masker.value(&json!({ "name": "Ada", "list": ["a@b.test", 7], "password": "x" })),
            json!({ "name": "[name]", "list": ["[e-mail]", 7], "password": "[masked]" })
        );
    }
}
