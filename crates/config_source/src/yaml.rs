//! Writes YAML for people: block style, plain texts where possible.

use crate::scalar::is_plain_text;
use serde_json::{Number, Value};

/// The most characters of a list or an operator that is written in one line.
const FLOW_WIDTH: usize = 80;

/// A value that can be written as YAML.
pub trait YamlTree: Sized {
    /// Returns the value.
    fn value(&self) -> YamlValue<'_, Self>;

    /// Returns the lines that are written above it as comments, if it is an item of a list.
    fn comment(&self) -> &[String] {
        &[]
    }

    /// Whether it came from a file of its own.
    fn is_file(&self) -> bool {
        false
    }
}

/// A value that is written.
#[derive(Debug)]
pub enum YamlValue<'t, T> {
    /// No value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(&'t Number),
    /// A text.
    Text(&'t str),
    /// A list.
    List(&'t [T]),
    /// A mapping, in the order in which it is written.
    Map(Vec<(&'t str, &'t T)>),
}

impl YamlTree for Value {
    fn value(&self) -> YamlValue<'_, Self> {
        match self {
            Self::Null => YamlValue::Null,
            Self::Bool(value) => YamlValue::Bool(*value),
            Self::Number(number) => YamlValue::Number(number),
            Self::String(text) => YamlValue::Text(text),
            Self::Array(items) => YamlValue::List(items),
            Self::Object(entries) => YamlValue::Map(entries.iter().map(|(key, value)| (key.as_str(), value)).collect()),
        }
    }
}

/// Returns the name of the file that a value is written to, if it has one of its own.
pub type FileOf<'f, T> = dyn FnMut(&T) -> Option<String> + 'f;

/// Writes a JSON value as YAML.
pub fn to_yaml(value: &Value) -> String {
    write_yaml(value, false, &mut |_| None)
}

/// Writes a document. With `spaced`, there are empty lines between its sections and their entries.
pub fn write_yaml<T: YamlTree>(tree: &T, spaced: bool, file_of: &mut FileOf<'_, T>) -> String {
    let mut writer = Writer { out: String::new(), spaced, file_of };
    match tree.value() {
        YamlValue::Map(entries) if !entries.is_empty() => writer.map(&entries, 0, false),
        YamlValue::List(items) if !items.is_empty() => writer.list(items, 0),
        _ => {
            writer.scalar(tree, 0);
            writer.out.push('\n');
        }
    }
    writer.out
}

struct Writer<'w, 'f, T> {
    out: String,
    spaced: bool,
    file_of: &'w mut FileOf<'f, T>,
}

impl<T: YamlTree> Writer<'_, '_, T> {
    fn indent(&mut self, width: usize) {
        self.out.extend(std::iter::repeat_n(' ', width));
    }

    /// Writes the entries of a mapping. The first one continues the line if `is_item`.
    fn map(&mut self, entries: &[(&str, &T)], width: usize, is_item: bool) {
        for (index, (key, value)) in entries.iter().enumerate() {
            if index > 0 || !is_item {
                if self.spaced && width == 0 && index > 0 {
                    self.out.push('\n');
                }
                self.indent(width);
            }
            let key = if is_plain_key(key) { (*key).to_owned() } else { quoted(key) };
            self.out.push_str(&key);
            self.out.push(':');
            self.value(value, width);
        }
    }

    /// Writes a value after its key.
    fn value(&mut self, tree: &T, width: usize) {
        if self.short(tree, false) {
            return;
        }
        self.nested(tree, width + 2, false);
    }

    /// Writes a value behind a key or the dash of an item. The first entry of a mapping stands in the
    /// same line behind a dash.
    fn nested(&mut self, tree: &T, width: usize, is_item: bool) {
        match tree.value() {
            YamlValue::Map(entries) if !entries.is_empty() => {
                self.out.push(if is_item { ' ' } else { '\n' });
                self.map(&entries, width, is_item);
            }
            YamlValue::List(items) if !items.is_empty() => {
                self.out.push('\n');
                self.list(items, width);
            }
            _ => {
                self.out.push(' ');
                self.scalar(tree, width);
                self.out.push('\n');
            }
        }
    }

    fn list(&mut self, items: &[T], width: usize) {
        for (index, item) in items.iter().enumerate() {
            if self.spaced && width == 2 && index > 0 && is_map(item) && !item.is_file() {
                self.out.push('\n');
            }
            let before = self.out.len();
            for line in item.comment() {
                self.indent(width);
                let line: String = line.chars().map(|c| if is_printable(c) { c } else { ' ' }).collect();
                self.out.push_str(&format!("# {line}\n"));
            }
            let start = self.out.len();
            self.indent(width);
            self.out.push('-');
            if self.short(item, true) {
                // The name of the file says where it came from.
                if item.is_file() {
                    self.out.replace_range(before..start, "");
                }
                continue;
            }
            self.nested(item, width + 2, true);
        }
    }

    /// Writes a reference to a file, a short list, operator or item in one line.
    fn short(&mut self, tree: &T, is_item: bool) -> bool {
        if let Some(name) = (self.file_of)(tree) {
            self.out.push_str(&format!(" {{ _ref: {} }}\n", in_flow(&name)));
            return true;
        }
        let is_short = match tree.value() {
            YamlValue::List(items) => items.iter().all(|item| !is_map(item) || is_operator(item)),
            _ => is_operator(tree),
        };
        match (is_short || is_item && is_small(tree))
            .then(|| flow(tree))
            .flatten()
            .filter(|line| line.chars().count() <= FLOW_WIDTH)
        {
            Some(line) => {
                self.out.push_str(&format!(" {line}\n"));
                true
            }
            None => false,
        }
    }

    /// Writes a scalar or an empty collection. Further lines are indented by `width`.
    fn scalar(&mut self, tree: &T, width: usize) {
        let text = match tree.value() {
            YamlValue::Null => "null".to_owned(),
            YamlValue::Bool(value) => value.to_string(),
            YamlValue::Number(number) => number.to_string(),
            YamlValue::List(_) => "[]".to_owned(),
            YamlValue::Map(_) => "{}".to_owned(),
            YamlValue::Text(text) if is_plain(text) => text.to_owned(),
            YamlValue::Text(text) if is_literal(text) => return self.literal(text, width),
            YamlValue::Text(text) => quoted(text),
        };
        self.out.push_str(&text);
    }

    /// Writes a text of several lines.
    fn literal(&mut self, text: &str, width: usize) {
        let (lines, sign) = text.strip_suffix('\n').map_or((text, "|-"), |lines| (lines, "|"));
        self.out.push_str(sign);
        for line in lines.split('\n') {
            self.out.push('\n');
            if !line.is_empty() {
                self.indent(width.max(2));
                self.out.push_str(line);
            }
        }
    }
}

fn is_word(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(is_inner)
}

fn is_plain_key(key: &str) -> bool {
    is_word(key.strip_prefix(':').unwrap_or(key))
}

/// Whether an item of a list is a mapping of few keys that is neither an entry nor a step.
fn is_small<T: YamlTree>(tree: &T) -> bool {
    let YamlValue::Map(entries) = tree.value() else { return false };
    (1..=3).contains(&entries.len()) && entries.iter().all(|(key, _)| *key != "id" && !key.starts_with(':'))
}

fn is_map<T: YamlTree>(tree: &T) -> bool {
    matches!(tree.value(), YamlValue::Map(_))
}

/// Whether a value is an operator.
fn is_operator<T: YamlTree>(tree: &T) -> bool {
    matches!(tree.value(), YamlValue::Map(entries) if matches!(&*entries, [(key, _)] if key.starts_with('_')))
}

/// Returns a value in one line, if it holds only scalars, lists and operators and none of it is a
/// file of its own. It is cut off early if it gets long.
fn flow<T: YamlTree>(tree: &T) -> Option<String> {
    if tree.is_file() || !tree.comment().is_empty() {
        return None;
    }
    let joined = |parts: &mut dyn Iterator<Item = Option<String>>| {
        let mut line = String::new();
        for part in parts {
            let part = part?;
            line.push_str(if line.is_empty() { "" } else { ", " });
            line.push_str(&part);
            if line.len() > 4 * FLOW_WIDTH {
                return None;
            }
        }
        Some(line)
    };
    Some(match tree.value() {
        YamlValue::Text(text) if text.contains('\n') || text.len() > 4 * FLOW_WIDTH => return None,
        YamlValue::Text(text) => in_flow(text),
        YamlValue::Bool(value) => value.to_string(),
        YamlValue::Number(number) => number.to_string(),
        YamlValue::Null => "null".to_owned(),
        YamlValue::List(items) => format!("[{}]", joined(&mut items.iter().map(flow))?),
        YamlValue::Map(entries) if entries.is_empty() => "{}".to_owned(),
        YamlValue::Map(entries) => {
            let entry = |(key, value): &(&str, &T)| {
                is_plain_key(key).then(|| flow(*value)).flatten().map(|value| format!("{key}: {value}"))
            };
            format!("{{ {} }}", joined(&mut entries.iter().map(entry))?)
        }
    })
}

fn in_flow(text: &str) -> String {
    if is_word(text) && is_plain_text(text) { text.to_owned() } else { quoted(text) }
}

/// Whether a text needs no quotes in a block.
fn is_plain(text: &str) -> bool {
    let starts =
        text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '$' | '(')) || text.starts_with("./");
    starts
        && is_plain_text(text)
        && text.chars().all(is_printable)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with([':', ' '])
}

/// Whether a text can be written as a block of lines.
fn is_literal(text: &str) -> bool {
    let first = text.split('\n').next().unwrap_or_default();
    text.contains('\n')
        && !first.is_empty()
        && !text.ends_with("\n\n")
        && text.split('\n').all(|line| !line.starts_with([' ', '\t']) || line.chars().any(|c| !matches!(c, ' ' | '\t')))
        && !first.starts_with([' ', '\t'])
        && text.chars().all(|c| c == '\n' || is_printable(c))
}

/// Whether YAML shows a character as it is.
fn is_printable(c: char) -> bool {
    let is_hidden = c.is_control() || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    c == ' ' || !(is_hidden || c.is_whitespace())
}

/// Writes a text in double quotes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if is_printable(c) => out.push(c),
            c if u32::from(c) <= 0xffff => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceReader;
    use serde_json::json;

    #[test]
    fn values_are_written_for_people_and_read_back() {
        let check = |value: Value, expected: &str| {
            let written = to_yaml(&value);
            assert_eq!(written, expected);
            let read = SourceReader::embedded(&[("a.yaml", &written)]).read("a.yaml", None).unwrap();
            assert_eq!(read.to_value(), value, "{written}");
        };
        check(
            json!({ "id": "greet", "steps": [{ "id": "ask", "prompt": { "_input": "text" }, "tools": ["a", "b"] }], "output": "$.ask" }),
            "id: greet\nsteps:\n  - id: ask\n    prompt: { _input: text }\n    tools: [a, b]\noutput: $.ask\n",
        );
        check(
            json!({ "title": "Is it: so?", "text": "one\ntwo\n", "none": null, "n": 1.5, "empty": {}, "yes": "true" }),
            "title: \"Is it: so?\"\ntext: |\n  one\n  two\nnone: null\nn: 1.5\nempty: {}\nyes: \"true\"\n",
        );
        check(json!([]), "[]\n");
    }
}
