//! JSON.

use crate::Arguments;
use crate::meter::{self, MAX_BYTES};
use crate::parameters::Kind::{Any, Map, Text};
use crate::parameters::Parameters::{Named, One};
use crate::parameters::{optional, required};
use crate::registry::Run::Plain;
use crate::registry::{Definition, operator};
use serde::Serialize;
use serde_json::ser::{CompactFormatter, PrettyFormatter, Serializer};
use serde_json::{Map as Fields, Value};
use std::io::{self, Write};

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_json.parse", One(Text), Plain(parse), "The value of a JSON text.",
        [r#""{\"key\": \"Value\", \"list\": [1, 2]}""# => r#"{"key":"Value","list":[1,2]}"#]),
    operator!("_json.stringify", Named(&[required("on", Any), optional("options", Map)]), Plain(stringify),
        "The JSON of a value. `options` has `space` (a number of spaces or a text, default 2) and `stable` (sorts keys).",
        [r#"{"on": {"b": 1, "a": [true]}, "options": {"space": 0}}"# => r#""{\"b\":1,\"a\":[true]}""#,
         r#"[{"b": 1, "a": 2}, {"stable": true}]"# => r#""{\n  \"a\": 2,\n  \"b\": 1\n}""#]),
];

fn parse(mut arguments: Arguments) -> Result<Value, String> {
    let value = serde_json::from_str(&arguments.text(0)).map_err(|error| format!("it is not JSON: {error}"))?;
    meter::charge_value(&value)?;
    Ok(value)
}

fn stringify(mut arguments: Arguments) -> Result<Value, String> {
    let (value, options) = (arguments.value(0), arguments.value(1));
    let value = if options.get("stable") == Some(&Value::Bool(true)) { sorted(value) } else { value };
    let indent = match options.get("space") {
        Some(Value::String(text)) => text.chars().take(10).collect(),
        Some(space) => " ".repeat(space.as_u64().and_then(|space| usize::try_from(space).ok()).unwrap_or(0).min(10)),
        None => "  ".to_owned(),
    };
    let mut text = BoundedWriter(Vec::new());
    let written = if indent.is_empty() {
        value.serialize(&mut Serializer::with_formatter(&mut text, CompactFormatter))
    } else {
        value.serialize(&mut Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(indent.as_bytes())))
    };
    written.map_err(|_| format!("the text is longer than {MAX_BYTES} bytes"))?;
    meter::charge_text(text.0.len())?;
    String::from_utf8(text.0).map(Value::String).map_err(|error| error.to_string())
}

/// Returns a value with the keys of all mappings in order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            fields.sort_by(|(left, _), (right, _)| left.cmp(right));
            Value::Object(fields.into_iter().collect::<Fields<_, _>>())
        }
        other => other,
    }
}

/// A writer with a maximum size.
pub(crate) struct BoundedWriter(pub(crate) Vec<u8>);

impl Write for BoundedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_BYTES {
            return Err(io::Error::other(format!("more than {MAX_BYTES} bytes")));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
