//! The bounds of a schema as a document, before anything else looks at it.

use serde_json::Value;

/// Bytes of all texts of a schema.
pub(crate) const MAX_BYTES: usize = 256 << 10;
/// Values in a schema.
pub(crate) const MAX_VALUES: usize = 20_000;
/// Levels of a schema.
pub(crate) const MAX_DEPTH: usize = 64;

/// Bytes of the paths to all values of a rewritten schema.
const MAX_PATHS: usize = 16 << 20;

/// How large a document is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) bytes: usize,
    pub(crate) values: usize,
    pub(crate) depth: usize,
}

impl Size {
    /// The size of a schema, or why it is too large. Looks no further than the bounds.
    pub(crate) fn of_schema(schema: &Value) -> Result<Self, String> {
        let mut size = Self::default();
        size.add(schema, 1)?;
        Ok(size)
    }

    fn add(&mut self, value: &Value, depth: usize) -> Result<(), String> {
        self.values += 1;
        self.depth = self.depth.max(depth);
        if self.depth > MAX_DEPTH {
            return Err(format!("it is nested deeper than {MAX_DEPTH} levels"));
        }
        match value {
            Value::String(text) => self.bytes += text.len(),
            Value::Array(values) => values.iter().try_for_each(|value| self.add(value, depth + 1))?,
            Value::Object(map) => {
                for (key, value) in map {
                    self.bytes += key.len();
                    self.add(value, depth + 1)?;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        if self.values > MAX_VALUES {
            return Err(format!("it has more than {MAX_VALUES} values"));
        }
        if self.bytes > MAX_BYTES {
            return Err(format!("it is larger than {} KB", MAX_BYTES >> 10));
        }
        Ok(())
    }
}

/// Whether the paths to all values stay within bounds: the compiled schema holds the path of each of its keywords, so that one long name
/// with many values below it would take their product.
pub(crate) fn check_paths(schema: &Value) -> Result<(), String> {
    fn add(value: &Value, path: usize, total: &mut usize) {
        *total += path;
        if *total > MAX_PATHS {
            return;
        }
        match value {
            Value::Array(values) => values.iter().for_each(|value| add(value, path + 6, total)),
            Value::Object(map) => map.iter().for_each(|(key, value)| add(value, path + key.len() + 1, total)),
            _ => {}
        }
    }
    let mut total = 0;
    add(schema, 0, &mut total);
    if total > MAX_PATHS { Err("its names are too long".to_owned()) } else { Ok(()) }
}
