//! Schemas that are compiled again and again: those of the same tools, for every run.

use crate::Schema;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Schemas that are kept.
const MAX_KEPT: usize = 512;
/// Bytes of a schema that is kept; the compiled one takes some times as much.
pub(crate) const MAX_BYTES: usize = 16 << 10;

static KEPT: LazyLock<Mutex<HashMap<Value, Schema>>> = LazyLock::new(Mutex::default);

/// The compiled schema, if it was kept.
pub(crate) fn get(schema: &Value) -> Option<Schema> {
    KEPT.lock().get(schema).cloned()
}

/// Keeps a compiled schema. When there are too many, all are forgotten, and those in use come back with the next runs.
pub(crate) fn put(schema: &Value, compiled: &Schema) {
    let mut kept = KEPT.lock();
    if kept.len() >= MAX_KEPT {
        kept.clear();
    }
    kept.insert(schema.clone(), compiled.clone());
}
