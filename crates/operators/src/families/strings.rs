//! Texts. Positions and lengths are counted in UTF-16 code units, as JavaScript does.

use super::text::{clamp, code_units, from_code_units, joined, position_of, slice_range, text};
use crate::Arguments;
use crate::meter::{self, MAX_BYTES};
use crate::parameters::Kind::{Any, Integer, Text};
use crate::parameters::Parameters::{Named, One, Values};
use crate::parameters::{Parameter, optional, required};
use crate::registry::Run::Plain;
use crate::registry::{Definition, operator};
use serde_json::Value;

const ON: Parameter = required("on", Text);
const SEARCH: Parameter = required("searchString", Text);
const SEARCHED: Parameter = required("searchValue", Text);
const FROM: Parameter = optional("fromIndex", Integer);
const PADDING: &[Parameter] = &[ON, required("targetLength", Integer), optional("padString", Text)];

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_string.charAt", Named(&[ON, required("index", Integer)]), Plain(char_at), "The character at an index.",
        [r#"{"on": "Paris", "index": 1}"# => r#""a""#, r#"["Paris", 9]"# => r#""""#]),
    operator!("_string.concat", Values(Any), Plain(concat), "One text of several values.",
        [r#"["Hello ", "World", 1]"# => r#""Hello World1""#, r#"["a", null, true]"# => r#""atrue""#])
    .keeps_secrets(),
    operator!("_string.endsWith", Named(&[ON, SEARCH, optional("length", Integer)]), Plain(ends_with),
        "Whether the text, or its first `length` characters, ends with `searchString`.",
        [r#"{"on": "report.pdf", "searchString": ".pdf"}"# => "true", r#"["report.pdf", "rep", 3]"# => "true"]),
    operator!("_string.includes", Named(&[ON, SEARCH, optional("position", Integer)]), Plain(includes),
        "Whether the text contains `searchString`, at `position` or later.",
        [r#"{"on": "Hello World", "searchString": "World"}"# => "true", r#"["Hello", "Hell", 1]"# => "false"]),
    operator!("_string.indexOf", Named(&[ON, SEARCHED, FROM]), Plain(index_of),
        "The position of the first occurrence of `searchValue`, at `fromIndex` or later; `-1` if there is none.",
        [r#"{"on": "banana", "searchValue": "an"}"# => "1", r#"["banana", "an", 2]"# => "3", r#"["a", "b"]"# => "-1"]),
    operator!("_string.lastIndexOf", Named(&[ON, SEARCHED, FROM]), Plain(last_index_of),
        "The position of the last occurrence of `searchValue`, at `fromIndex` or earlier; `-1` if there is none.",
        [r#"["banana", "an"]"# => "3", r#"["banana", "an", 2]"# => "1"]),
    operator!("_string.length", One(Text), Plain(length), "The number of characters, as UTF-16 code units.",
        [r#""Hello""# => "5", "null" => "0", r#""😀""# => "2"]),
    operator!("_string.padEnd", Named(PADDING), Plain(pad_end), "The text, filled up to a length with `padString` (default: a space) at its end.",
        [r#"["abc", 6, "12"]"# => r#""abc121""#, r#"["abc", 2]"# => r#""abc""#]),
    operator!("_string.padStart", Named(PADDING), Plain(pad_start), "The text, filled up to a length with `padString` (default: a space) at its start.",
        [r#"{"on": "7", "targetLength": 3, "padString": "0"}"# => r#""007""#]),
    operator!("_string.repeat", Named(&[ON, required("count", Integer)]), Plain(repeat), "The text several times.",
        [r#"["ab", 3]"# => r#""ababab""#, r#"["ab", 0]"# => r#""""#]),
    operator!("_string.slice", Named(&[ON, required("start", Integer), optional("end", Integer)]), Plain(slice),
        "The part from `start` up to, but not including, `end`. Negative positions count from the end.",
        [r#"{"on": "Hello World", "start": 6}"# => r#""World""#, r#"["Hello World", -5, -1]"# => r#""Worl""#]),
    operator!("_string.split", Named(&[ON, optional("separator", Text)]), Plain(split), "The parts between the occurrences of `separator`.",
        [r#"{"on": "a,b,c", "separator": ","}"# => r#"["a","b","c"]"#, r#"["abc", ""]"# => r#"["a","b","c"]"#, r#"["abc"]"# => r#"["abc"]"#]),
    operator!("_string.startsWith", Named(&[ON, SEARCH, optional("position", Integer)]), Plain(starts_with),
        "Whether `searchString` is at the start of the text, or at `position`.",
        [r#"{"on": "https://x", "searchString": "https:"}"# => "true", r#"["abc", "b", 1]"# => "true"]),
    operator!("_string.substring", Named(&[ON, required("start", Integer), optional("end", Integer)]), Plain(substring),
        "The part between two positions, in either order. Negative positions count as 0.",
        [r#"["Mozilla", 1, 3]"# => r#""oz""#, r#"["Mozilla", 3, 1]"# => r#""oz""#, r#"["Mozilla", -3]"# => r#""Mozilla""#]),
    operator!("_string.toLowerCase", One(Text), Plain(lower), "The text in lower case.", [r#""Hello""# => r#""hello""#]),
    operator!("_string.toUpperCase", One(Text), Plain(upper), "The text in upper case.", [r#""Hello""# => r#""HELLO""#]),
    operator!("_string.trim", One(Text), Plain(trim), "The text without white space at both ends.", [r#"" a b ""# => r#""a b""#]),
    operator!("_string.trimEnd", One(Text), Plain(trim_end), "The text without white space at its end.", [r#"" a ""# => r#"" a""#]),
    operator!("_string.trimStart", One(Text), Plain(trim_start), "The text without white space at its start.", [r#"" a ""# => r#""a ""#]),
];

fn char_at(mut arguments: Arguments) -> Result<Value, String> {
    let index = arguments.number(1).unwrap_or_default();
    let units = code_units(&arguments.text(0));
    let start = clamp(index, units.len());
    let end = if index < 0.0 { start } else { (start + 1).min(units.len()) };
    Ok(from_code_units(units.get(start..end).unwrap_or_default()))
}

fn concat(mut arguments: Arguments) -> Result<Value, String> {
    let mut values = Vec::new();
    while arguments.get(values.len()).is_some() {
        values.push(arguments.value(values.len()));
    }
    joined(values.iter().map(text), "")
}

/// Returns the index in bytes for a position in code units.
fn byte_at(text: &str, position: f64) -> usize {
    let position = clamp(position, usize::MAX);
    let mut units = 0;
    for (byte, character) in text.char_indices() {
        if units >= position {
            return byte;
        }
        units += character.len_utf16();
    }
    text.len()
}

fn ends_with(mut arguments: Arguments) -> Result<Value, String> {
    let length = arguments.number(2);
    let (text, searched) = (arguments.text(0), arguments.text(1));
    let end = length.map_or(text.len(), |length| byte_at(&text, length));
    Ok(text.get(..end).is_some_and(|text| text.ends_with(&searched)).into())
}

fn includes(mut arguments: Arguments) -> Result<Value, String> {
    let position = arguments.number(2).unwrap_or_default();
    let (text, searched) = (arguments.text(0), arguments.text(1));
    Ok(text.get(byte_at(&text, position)..).is_some_and(|text| text.contains(&searched)).into())
}

fn index_of(mut arguments: Arguments) -> Result<Value, String> {
    let position = arguments.number(2).unwrap_or_default();
    let (text, searched) = (arguments.text(0), arguments.text(1));
    let start = byte_at(&text, position);
    let found = text.get(start..).and_then(|rest| rest.find(&searched));
    Ok(found.map_or(Value::from(-1), |found| position_of(&text, start + found)))
}

fn last_index_of(mut arguments: Arguments) -> Result<Value, String> {
    let position = arguments.number(2);
    let (text, searched) = (arguments.text(0), arguments.text(1));
    let last = position.map_or(text.len(), |position| byte_at(&text, position));
    // An occurrence that begins there may end after it.
    let end = (last + searched.len()).min(text.len());
    let end = (end..=text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
    let found = text.get(..end).and_then(|text| text.rfind(&searched));
    Ok(found.map_or(Value::from(-1), |found| position_of(&text, found)))
}

fn length(mut arguments: Arguments) -> Result<Value, String> {
    Ok(arguments.text(0).encode_utf16().count().into())
}

fn pad_end(arguments: Arguments) -> Result<Value, String> {
    let (mut text, padding) = padded(arguments)?;
    text.extend(padding);
    Ok(from_code_units(&text))
}

fn pad_start(arguments: Arguments) -> Result<Value, String> {
    let (text, mut padding) = padded(arguments)?;
    padding.extend(text);
    Ok(from_code_units(&padding))
}

/// Returns a text and what must be added to it.
fn padded(mut arguments: Arguments) -> Result<(Vec<u16>, Vec<u16>), String> {
    let target = arguments.number(1).unwrap_or_default();
    let fill = if arguments.get(2).is_some() { arguments.text(2) } else { " ".to_owned() };
    let (text, fill) = (code_units(&arguments.text(0)), code_units(&fill));
    let missing = clamp(target - text.len() as f64, usize::MAX);
    if fill.is_empty() || missing == 0 {
        return Ok((text, Vec::new()));
    }
    meter::charge_text(missing.saturating_mul(3))?;
    let padding = fill.iter().copied().cycle().take(missing).collect();
    Ok((text, padding))
}

fn repeat(mut arguments: Arguments) -> Result<Value, String> {
    let count = arguments.number(1).unwrap_or_default();
    let text = arguments.text(0);
    if count < 0.0 {
        return Err("`count` is less than 0".to_owned());
    }
    if text.is_empty() {
        return Ok(text.into());
    }
    let count = clamp(count, MAX_BYTES + 1);
    meter::charge_text(text.len().saturating_mul(count))?;
    Ok(text.repeat(count).into())
}

fn slice(mut arguments: Arguments) -> Result<Value, String> {
    let (start, end) = (arguments.number(1), arguments.number(2));
    let units = code_units(&arguments.text(0));
    let (start, end) = slice_range(units.len(), start, end);
    Ok(from_code_units(units.get(start..end).unwrap_or_default()))
}

fn split(mut arguments: Arguments) -> Result<Value, String> {
    let is_separated = arguments.get(1).is_some();
    let (text, separator) = (arguments.text(0), arguments.text(1));
    if !is_separated {
        return Ok(Value::Array(vec![text.into()]));
    }
    let charged = |part: Value| meter::charge(1).map(|()| part);
    let parts: Result<Value, _> = if separator.is_empty() {
        code_units(&text).chunks(1).map(|unit| charged(from_code_units(unit))).collect()
    } else {
        text.split(&separator).map(|part| charged(part.into())).collect()
    };
    Ok(parts?)
}

fn starts_with(mut arguments: Arguments) -> Result<Value, String> {
    let position = arguments.number(2).unwrap_or_default();
    let (text, searched) = (arguments.text(0), arguments.text(1));
    Ok(text.get(byte_at(&text, position)..).is_some_and(|text| text.starts_with(&searched)).into())
}

fn substring(mut arguments: Arguments) -> Result<Value, String> {
    let (start, end) = (arguments.number(1).unwrap_or_default(), arguments.number(2));
    let units = code_units(&arguments.text(0));
    let start = clamp(start, units.len());
    let end = end.map_or(units.len(), |end| clamp(end, units.len()));
    Ok(from_code_units(units.get(start.min(end)..start.max(end)).unwrap_or_default()))
}

fn lower(mut arguments: Arguments) -> Result<Value, String> {
    Ok(arguments.text(0).to_lowercase().into())
}

fn upper(mut arguments: Arguments) -> Result<Value, String> {
    Ok(arguments.text(0).to_uppercase().into())
}

fn trim(mut arguments: Arguments) -> Result<Value, String> {
    Ok(arguments.text(0).trim().into())
}

fn trim_end(mut arguments: Arguments) -> Result<Value, String> {
    Ok(arguments.text(0).trim_end().into())
}

fn trim_start(mut arguments: Arguments) -> Result<Value, String> {
    Ok(arguments.text(0).trim_start().into())
}
