//! A cache of compiled schemas, since the schemas of the same tools are needed for every run.

use crate::limits::SchemaSize;
use crate::{Schema, SchemaError};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// The maximum number of cached schemas.
const MAX_CACHED: usize = 512;
/// The maximum size of a cached schema in bytes; the compiled one is several times as large.
const MAX_BYTES: usize = 16 << 10;

/// The maximum number of remembered refusals.
const MAX_REFUSALS: usize = 4096;

static CACHE: LazyLock<Mutex<HashMap<Value, Schema>>> = LazyLock::new(Mutex::default);

/// Returns the cached compiled schema, if any.
pub(crate) fn get(schema: &Value, size: SchemaSize) -> Option<Schema> {
    if size.bytes <= MAX_BYTES { CACHE.lock().get(schema).cloned() } else { None }
}

/// Caches a compiled schema, unless it is too large. A full cache is emptied; schemas in use are cached again by the
/// next runs.
pub(crate) fn put(schema: &Value, size: SchemaSize, compiled: &Schema) {
    if size.bytes > MAX_BYTES {
        return;
    }
    let mut kept = CACHE.lock();
    if kept.len() >= MAX_CACHED {
        kept.clear();
    }
    kept.insert(schema.clone(), compiled.clone());
}

static HASHERS: LazyLock<(RandomState, RandomState)> = LazyLock::new(Default::default);
static REFUSALS: LazyLock<Mutex<HashMap<RefusalKey, SchemaError>>> = LazyLock::new(Mutex::default);

/// Identifies a schema of any size by two hashes with secret keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RefusalKey(u64, u64);

impl RefusalKey {
    /// Computes the key of a schema.
    pub(crate) fn for_schema(schema: &Value) -> Self {
        Self(HASHERS.0.hash_one(schema), HASHERS.1.hash_one(schema))
    }
}

/// Returns why a schema was refused before, if it was.
pub(crate) fn refusal(key: RefusalKey) -> Option<SchemaError> {
    REFUSALS.lock().get(&key).cloned()
}

/// Remembers why a schema is refused. It is a list of its own, so that refused schemas do not take
/// the place of usable ones.
pub(crate) fn put_refusal(key: RefusalKey, error: &SchemaError) {
    let mut kept = REFUSALS.lock();
    if kept.len() >= MAX_REFUSALS {
        kept.clear();
    }
    kept.insert(key, error.clone());
}
