//! The tools with which an agent takes and finds notes.

use crate::store::{self, Note};
use ::store::{Store, StoreError};
use contract::{Annotations, Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;

/// The name of the tool that stores a note.
pub(crate) const ADD: &str = "add-note";
/// The name of the tool that finds notes.
pub(crate) const SEARCH: &str = "search-notes";
/// The most notes that a search returns.
const MAX_FOUND: u32 = 20;
/// The longest note in characters.
pub(crate) const MAX_TEXT: usize = 2_000;

/// Returns the tools of an agent whose users may have `max_notes` notes.
pub(crate) fn tools(store: &Store, max_notes: u32) -> Vec<Arc<dyn Tool>> {
    let text = json!({ "type": "string", "minLength": 1, "maxLength": MAX_TEXT });
    let schema = |name: &str| json!({ "type": "object", "properties": { name: text }, "required": [name], "additionalProperties": false });
    let add = ToolSpec::new(ADD, "Stores a note for the user.", schema("text"));
    let search = ToolSpec {
        annotations: Annotations { reads_private: true, idempotent: true, reads_only: true, ..Annotations::default() },
        ..ToolSpec::new(SEARCH, "Returns the user's notes that contain a text.", schema("query"))
    };
    vec![
        Arc::new(AddNote { spec: add, store: store.clone(), max_notes }),
        Arc::new(SearchNotes { spec: search, store: store.clone() }),
    ]
}

struct AddNote {
    spec: ToolSpec,
    store: Store,
    max_notes: u32,
}

impl Tool for AddNote {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let note = Note::new(context.scope.user_id.clone(), text(&input, "text"));
            if store::insert(&self.store, note, self.max_notes).await.map_err(failed)? {
                Ok("The note is stored.".into())
            } else {
                Err(ToolError::new(format!("The user has {} notes, which is the limit.", self.max_notes)))
            }
        })
    }
}

struct SearchNotes {
    spec: ToolSpec,
    store: Store,
}

impl Tool for SearchNotes {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let query = text(&input, "query");
            let found = store::search(&self.store, &context.scope.user_id, &query, MAX_FOUND).await;
            let notes = found.map_err(failed)?.into_iter().map(|note| Value::from(note.text));
            Ok(notes.collect())
        })
    }
}

/// Returns an argument. The agent loop has checked that it is there.
fn text(input: &Value, name: &str) -> String {
    input[name].as_str().unwrap_or_default().to_owned()
}

/// Returns the message for the model when the database fails. The cause is for the operator.
fn failed(error: StoreError) -> ToolError {
    tracing::error!(%error, "notes could not be read or stored");
    ToolError::new("The notes cannot be reached right now.")
}
