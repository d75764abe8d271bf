//! The tool `document_search`.

use super::{ANNOTATIONS, SEARCH, database, numbers, result, told};
use crate::section::KnowledgeOptions;
use crate::service::{Filter, Knowledge, SearchMode, SearchRequest};
use chat::Viewer;
use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The number of results by default.
const DEFAULT_LIMIT: u32 = 5;
/// The most text of all results in bytes, so that they do not fill the model's context.
const MAX_TEXT: usize = 48 * 1024;

/// Searches the libraries of an agent.
pub(super) struct SearchTool {
    spec: ToolSpec,
    knowledge: Knowledge,
    options: Arc<KnowledgeOptions>,
}

/// The arguments.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    query: String,
    #[serde(default)]
    limit: Option<u32>,
    #[serde(default)]
    mode: SearchMode,
    #[serde(default)]
    file_name: Option<String>,
    #[serde(default)]
    metadata: Map<String, Value>,
}

impl SearchTool {
    pub(super) fn new(knowledge: Knowledge, options: Arc<KnowledgeOptions>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "minLength": 1, "maxLength": 2_000, "description": "The question, or words that the documents use. Any of them counts." },
                "limit": { "type": "integer", "minimum": 1, "maximum": 50, "description": "The maximum number of results. Default: 5." },
                "mode": { "type": "string", "enum": ["hybrid", "keyword", "semantic"], "description": "By words and meaning (default), by words, or by meaning." },
                "fileName": { "type": "string", "maxLength": 200, "description": "Only files with this name; * stands for any characters." },
                "metadata": { "type": "object", "description": "Only documents whose metadata has these values." },
            },
            "required": ["query"],
            "additionalProperties": false,
        });
        let description =
            "Searches the documents and returns the passages that fit a question best, each with the id to cite.";
        let spec = ToolSpec { annotations: ANNOTATIONS, ..ToolSpec::new(SEARCH, description, schema) };
        Self { spec, knowledge, options }
    }

    async fn search(&self, input: Value, context: &ToolContext) -> Result<Value, ToolError> {
        let arguments: Arguments = serde_json::from_value(input).map_err(|error| ToolError::new(error.to_string()))?;
        let viewer = Viewer::from(&*context.scope);
        let unread = if self.options.attachments {
            self.knowledge.unread_attachments(&context.scope).await.map_err(told)?
        } else {
            Vec::new()
        };
        // Rights are checked before the ranking: only libraries that the user may read are searched.
        let searched = self.knowledge.searched(&context.scope, &self.options).await.map_err(told)?;
        let libraries: Vec<_> = searched.into_iter().map(|library| library.id).collect();
        if libraries.is_empty() {
            return Err(ToolError::new("There are no documents that the user may read."));
        }
        let filter = Filter { file_name: arguments.file_name, metadata: arguments.metadata };
        let limit = arguments.limit.unwrap_or(DEFAULT_LIMIT);
        let request = SearchRequest { libraries, query: arguments.query, limit, mode: arguments.mode, filter };
        let outcome = self.knowledge.ask(&viewer, Some(&*context.scope), request, &context.models).await;
        let mut found = outcome.map_err(told)?.found;
        let mut room = MAX_TEXT;
        found.retain(|one| {
            let fits = one.chunk.text.len() <= room;
            room = room.saturating_sub(one.chunk.text.len());
            fits
        });
        let chunks: Vec<_> = found.iter().map(|one| one.chunk.clone()).collect();
        let numbers = numbers(&self.knowledge, &context.scope, &chunks).await.map_err(database)?;
        let results = found.iter().zip(numbers).map(|(one, number)| result(number, &one.chunk, Some(one.score)));
        let results: Vec<_> = results.collect();
        let mut answer = json!({ "results": results });
        if found.is_empty() {
            answer["note"] =
                "No passage fits. Say that the documents do not say it, or search with other words.".into();
        }
        if !unread.is_empty() {
            let unread = unread.into_iter().map(|(file, reason)| json!({ "file": file, "reason": reason }));
            answer["notSearched"] = unread.collect();
        }
        Ok(answer)
    }
}

impl Tool for SearchTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move { self.search(input, &context).await })
    }
}
