//! The tool `document_list`.

use super::{ANNOTATIONS, LIST, database, told};
use crate::section::KnowledgeOptions;
use crate::service::Knowledge;
use crate::store::{self, DocumentRow};
use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The number of documents that a call returns.
const PAGE: usize = 50;

/// Lists the documents that an agent searches, the oldest first.
pub(super) struct ListTool {
    spec: ToolSpec,
    knowledge: Knowledge,
    options: Arc<KnowledgeOptions>,
}

/// The arguments.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    #[serde(default)]
    cursor: String,
}

impl ListTool {
    pub(super) fn new(knowledge: Knowledge, options: Arc<KnowledgeOptions>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "cursor": { "type": "string", "maxLength": 200, "description": "`nextCursor` of the last call." },
            },
            "additionalProperties": false,
        });
        let description = "Lists the documents with the ids to read them, 50 at a time.";
        let spec = ToolSpec { annotations: ANNOTATIONS, ..ToolSpec::new(LIST, description, schema) };
        Self { spec, knowledge, options }
    }

    /// Goes over the libraries in the order of their ids; a cursor has that of the library and of the last
    /// document.
    async fn list(&self, input: Value, context: &ToolContext) -> Result<Value, ToolError> {
        let arguments: Arguments = serde_json::from_value(input).map_err(|error| ToolError::new(error.to_string()))?;
        let (from, after) = arguments.cursor.split_once(' ').unwrap_or_default();
        let mut libraries = self.knowledge.searched(&context.scope, &self.options).await.map_err(told)?;
        libraries.retain(|library| library.id.as_str() >= from);
        libraries.sort_by(|one, other| one.id.cmp(&other.id));
        let mut listed = Vec::new();
        let mut next_cursor = None;
        for library in libraries {
            let after = if library.id == from { after } else { "" };
            // One document more than a page has shows whether there is a next page.
            let most = PAGE + 1 - listed.len();
            let most = u32::try_from(most).unwrap_or(u32::MAX);
            let documents = store::documents(self.knowledge.store(), &library.id, None, after, most).await;
            for document in documents.map_err(database)? {
                if listed.len() == PAGE {
                    return Ok(answer(listed, next_cursor));
                }
                next_cursor = Some(format!("{} {}", document.library_id, document.id));
                listed.push(item(&library.name, &document));
            }
        }
        Ok(answer(listed, None))
    }
}

fn answer(documents: Vec<Value>, next_cursor: Option<String>) -> Value {
    let mut answer = json!({ "documents": documents });
    if let Some(cursor) = next_cursor {
        answer["nextCursor"] = cursor.into();
    }
    answer
}

fn item(library: &str, document: &DocumentRow) -> Value {
    let mut item = json!({
        "documentId": document.id,
        "file": document.file_name,
        "library": library,
        "pages": document.pages,
        "passages": document.chunks,
    });
    if document.version_id.is_none() {
        item["state"] = document.state.name().into();
    }
    item
}

impl Tool for ListTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move { self.list(input, &context).await })
    }
}
