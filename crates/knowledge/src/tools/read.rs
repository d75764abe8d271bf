//! The tool `document_read`.

use super::{ANNOTATIONS, READ, database, numbers, result, told};
use crate::section::KnowledgeOptions;
use crate::service::Knowledge;
use crate::store::{self, ChunkRow};
use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The number of passages that are read by default.
const DEFAULT_COUNT: u32 = 6;

/// Reads a document of the libraries of an agent, passage by passage.
pub(super) struct ReadTool {
    spec: ToolSpec,
    knowledge: Knowledge,
    options: Arc<KnowledgeOptions>,
}

/// The arguments.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    document_id: String,
    #[serde(default)]
    passage: Option<u32>,
    #[serde(default)]
    count: Option<u32>,
}

impl ReadTool {
    pub(super) fn new(knowledge: Knowledge, options: Arc<KnowledgeOptions>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "documentId": { "type": "string", "maxLength": 64, "description": "The `documentId` of a result." },
                "passage": { "type": "integer", "minimum": 1, "maximum": 1_000_000, "description": "The number of the first passage, from 1. That of a result follows the dot in its `chunkId`, plus 1." },
                "count": { "type": "integer", "minimum": 1, "maximum": 20, "description": "How many passages. Default: 6." },
            },
            "required": ["documentId"],
            "additionalProperties": false,
        });
        let description = "Reads passages of a document in their order, each with the id to cite: what stands before or after a result, or the whole document in parts.";
        let spec = ToolSpec { annotations: ANNOTATIONS, ..ToolSpec::new(READ, description, schema) };
        Self { spec, knowledge, options }
    }

    async fn read(&self, input: Value, context: &ToolContext) -> Result<Value, ToolError> {
        let arguments: Arguments = serde_json::from_value(input).map_err(|error| ToolError::new(error.to_string()))?;
        let id = &arguments.document_id;
        let document = self.knowledge.searched_document(&context.scope, &self.options, id).await.map_err(told)?;
        let Some(version) = &document.version_id else {
            return Err(ToolError::new("The document is being read. Try again later."));
        };
        let first = arguments.passage.unwrap_or(1).saturating_sub(1);
        let numbers_of_chunks = (first..first + arguments.count.unwrap_or(DEFAULT_COUNT)).collect();
        let mut chunks: Vec<ChunkRow> =
            store::found_chunks(self.knowledge.store(), version, numbers_of_chunks).await.map_err(database)?;
        chunks.sort_unstable_by_key(|chunk| chunk.no);
        let ids = numbers(&self.knowledge, &context.scope, &chunks).await.map_err(database)?;
        let results: Vec<_> = chunks.iter().zip(ids).map(|(chunk, number)| result(number, chunk, None)).collect();
        let mut read = json!({ "file": document.file_name, "passages": document.chunks, "results": results });
        if !document.warnings.is_empty() {
            // The agent is told which parts could not be read. Otherwise it would conclude that the document does not
            // mention their content.
            let notes: Vec<_> = document.warnings.iter().map(|warning| warning.message.as_str()).collect();
            read["notes"] = json!(notes);
        }
        Ok(read)
    }
}

impl Tool for ReadTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move { self.read(input, &context).await })
    }
}
