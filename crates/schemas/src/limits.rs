//! Size limits of a schema document, checked before any further processing.

use crate::pattern;
use serde_json::Value;

/// The maximum number of bytes of all strings in a schema.
pub(crate) const MAX_BYTES: usize = 256 << 10;
/// The maximum number of values in a schema.
pub(crate) const MAX_VALUES: usize = 20_000;
/// The maximum nesting depth of a schema.
pub(crate) const MAX_DEPTH: usize = 64;

/// The maximum number of bytes of the paths to all values of a rewritten schema.
const MAX_PATHS: usize = 16 << 20;

/// The size of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SchemaSize {
    pub(crate) bytes: usize,
    pub(crate) values: usize,
    pub(crate) depth: usize,
    /// The number of patterns.
    pub(crate) patterns: usize,
    /// The number of patterns that may take long to compile.
    pub(crate) costly_patterns: usize,
}

impl SchemaSize {
    /// Measures a schema, or returns why it is too large. It stops at the limits.
    pub(crate) fn measure(schema: &Value) -> Result<Self, String> {
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
                    match (key.as_str(), value) {
                        ("pattern", Value::String(pattern)) => self.add_pattern(pattern),
                        ("patternProperties", Value::Object(map)) => map.keys().for_each(|key| self.add_pattern(key)),
                        _ => {}
                    }
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

    /// Counts a pattern; a property of such a name is counted as one, too.
    fn add_pattern(&mut self, pattern: &str) {
        self.patterns += 1;
        self.costly_patterns += usize::from(!pattern::is_cheap(pattern));
    }
}

/// Checks the length of the paths to all values. The compiled schema stores the path of each
/// keyword, so a long name above many values would multiply.
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
