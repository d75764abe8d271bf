//! A cache of compiled schemas, since the schemas of the same tools are needed for every run.

use crate::Schema;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The maximum number of cached schemas.
const MAX_CACHED: usize = 512;
/// The maximum size of a cached schema in bytes; the compiled one is several times as large.
pub(crate) const MAX_BYTES: usize = 16 << 10;

static CACHE: LazyLock<Mutex<HashMap<Value, Schema>>> = LazyLock::new(Mutex::default);

/// Returns the cached compiled schema, if any.
pub(crate) fn get(schema: &Value) -> Option<Schema> {
    CACHE.lock().get(schema).cloned()
}

/// Caches a compiled schema. A full cache is emptied; schemas in use are cached again by the next
/// runs.
pub(crate) fn put(schema: &Value, compiled: &Schema) {
    let mut kept = CACHE.lock();
    if kept.len() >= MAX_CACHED {
        kept.clear();
    }
    kept.insert(schema.clone(), compiled.clone());
}
