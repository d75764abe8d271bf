//! The tools with which agents query and change records.

use crate::failure::DataError;
use crate::filter;
use crate::input::{MAX_CHANGED, MAX_INSERTED, MAX_LIMIT, MAX_OFFSET};
use crate::operation::{Operation, READS, operations};
use crate::read::MAX_JOINED;
use crate::records::Data;
use crate::section::{AgentData, Collection, Sharing};
use crate::sources::{MAX_DOCUMENTS, MAX_QUOTE, MIN_QUOTE, QuoteContext};
use chat::Viewer;
use contract::{Annotations, RunScope, Tool, ToolContext, ToolError, ToolSpec, read_arguments};
use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;
use wire::text::shortened;

/// The longest description of the collections in a tool, in characters.
const MAX_DESCRIPTION: usize = 8_000;

impl Operation {
    fn description(self) -> &'static str {
        match self {
            Self::Query => "Returns the records of a collection that pass a filter.",
            Self::Aggregate => "Counts, adds up and averages the records of a collection, also by groups.",
            Self::Facets => "Returns which values fields have, with how many records have them.",
            Self::Insert => "Adds records to a collection. All are added, or none.",
            Self::Update => "Sets fields of all records that pass a filter; null removes a field.",
            Self::InsertSourced => {
                "Adds records to a collection whose values are from documents. Every value that is not null needs a \
                 quote: the words of a document that say it, exactly as they stand in one passage. A record with a value \
                 that is not quoted, or whose quote the document does not have, is rejected; the others are added."
            }
            Self::Delete => "Deletes all records that pass a filter.",
        }
    }

    fn properties(self) -> Value {
        let ids = json!({ "type": "array", "items": { "type": "string", "maxLength": 64 }, "maxItems": MAX_CHANGED, "description": "Only these records." });
        let fields = json!({ "type": "array", "items": { "type": "string" }, "maxItems": MAX_JOINED });
        let aggregate = json!({
            "type": "object",
            "properties": { "op": { "enum": ["count", "sum", "avg", "min", "max"] }, "field": { "type": "string" } },
            "required": ["op"],
            "additionalProperties": false,
        });
        let order = json!({
            "type": "object",
            "properties": { "field": { "type": "string" }, "descending": { "type": "boolean" } },
            "required": ["field"],
            "additionalProperties": false,
        });
        match self {
            Self::Query => json!({
                "where": filter::schema(),
                "select": fields,
                "orderBy": { "type": "array", "items": order, "maxItems": MAX_JOINED },
                "limit": { "type": "integer", "minimum": 1, "maximum": MAX_LIMIT },
                "offset": { "type": "integer", "minimum": 0, "maximum": MAX_OFFSET },
            }),
            Self::Aggregate => json!({
                "where": filter::schema(),
                "groupBy": fields,
                "aggregate": { "type": "array", "items": aggregate, "minItems": 1, "maxItems": MAX_JOINED },
            }),
            Self::Facets => json!({ "where": filter::schema(), "fields": fields }),
            Self::Insert => json!({
                "records": { "type": "array", "items": { "type": "object" }, "minItems": 1, "maxItems": MAX_INSERTED },
            }),
            Self::InsertSourced => json!({
                "records": { "type": "array", "items": sourced_record(), "minItems": 1, "maxItems": MAX_INSERTED },
            }),
            Self::Update => {
                json!({ "where": filter::schema(), "ids": ids, "set": { "type": "object", "minProperties": 1 } })
            }
            Self::Delete => json!({ "where": filter::schema(), "ids": ids }),
        }
    }

    fn required(self) -> Vec<&'static str> {
        match self {
            Self::Query | Self::Delete => vec!["collection"],
            Self::Aggregate => vec!["collection", "aggregate"],
            Self::Facets => vec!["collection", "fields"],
            Self::Insert | Self::InsertSourced => vec!["collection", "records"],
            Self::Update => vec!["collection", "set"],
        }
    }
}

/// Returns the schema of a record with its sources.
fn sourced_record() -> Value {
    let quote = json!({ "type": "string", "minLength": MIN_QUOTE, "maxLength": MAX_QUOTE });
    let source = json!({
        "type": "object",
        "properties": {
            "documentId": { "type": "string", "maxLength": 64 },
            "quotes": { "type": "object", "additionalProperties": quote, "description": "By the names of fields; `a.b` is the field `b` in the object `a`, and `a` stands for all fields in it." },
        },
        "required": ["documentId", "quotes"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {
            "data": { "type": "object", "description": "The record." },
            "sources": { "type": "array", "items": source, "minItems": 1, "maxItems": MAX_DOCUMENTS },
        },
        "required": ["data", "sources"],
        "additionalProperties": false,
    })
}

/// Returns the tools of an agent over these collections. `from_documents` says whether some agent fills one
/// of them from documents.
pub(crate) fn tools(
    data: &Data,
    agent_id: &str,
    collections: &[Collection],
    section: &AgentData,
    from_documents: bool,
) -> Vec<Arc<dyn Tool>> {
    let all: Arc<[Collection]> = collections.into();
    let about = describe(&all);
    let tools = operations(section).map(|operation| {
        let is_read = READS.contains(&operation);
        let usable = all.iter().filter(|collection| is_read || collection.is_writable());
        let ids: Vec<_> = usable.map(|collection| collection.id.0.as_str()).collect();
        let mut properties = operation.properties();
        properties["collection"] = json!({ "enum": ids });
        if operation == Operation::Query && section.sources {
            properties["sources"] =
                json!({ "type": "boolean", "description": "Whether the documents are returned that values are from." });
        }
        let schema = json!({ "type": "object", "properties": properties, "required": operation.required(), "additionalProperties": false });
        // Each tool that reads or writes fields names them.
        let description = format!("{}\n\n{about}", operation.description());
        let needs_approval = match operation {
            Operation::Insert | Operation::InsertSourced | Operation::Update => section.confirm_changes,
            Operation::Delete => section.confirm_deletes,
            _ => false,
        };
        // Shared records, tables and documents can contain text of other people.
        let is_shared = |all: &Collection| all.records == Sharing::Shared || all.source.is_some();
        let annotations = Annotations {
            // The result of a sourced insertion says what documents have.
            reads_private: is_read || operation == Operation::InsertSourced,
            returns_untrusted: operation == Operation::InsertSourced
                || is_read && (section.sources || from_documents || all.iter().any(is_shared)),
            idempotent: is_read || operation == Operation::Delete,
            reads_only: is_read,
            ..Annotations::default()
        };
        let spec = ToolSpec { needs_approval, annotations, ..ToolSpec::new(operation.name(), description, schema) };
        Arc::new(DataTool { spec, agent_id: agent_id.to_owned(), operation, collections: all.clone(), data: data.clone() }) as Arc<dyn Tool>
    });
    tools.collect()
}

/// Describes the collections for the model.
fn describe(collections: &[Collection]) -> String {
    let mut text = "The collections:".to_owned();
    for collection in collections {
        let about = collection.description.as_deref().unwrap_or_default();
        let read_only = if collection.is_writable() { "" } else { "Read-only. " };
        text.push_str(&format!("\n- `{}`: {about} {read_only}", collection.id.0));
        text.push_str(&Value::Object(collection.schema.clone()).to_string());
    }
    shortened(&text, MAX_DESCRIPTION)
}

/// One of the tools.
struct DataTool {
    spec: ToolSpec,
    agent_id: String,
    operation: Operation,
    collections: Arc<[Collection]>,
    data: Data,
}

impl DataTool {
    async fn run(&self, mut input: Value, scope: &RunScope) -> Result<Value, ToolError> {
        let id = input.as_object_mut().and_then(|input| input.shift_remove("collection"));
        let found = self.collections.iter().find(|collection| id.as_ref().is_some_and(|id| *id == *collection.id.0));
        let collection = found.ok_or(DataError::NotFound)?;
        let records = self.data.records(collection, &Viewer::from(scope))?;
        match self.operation {
            Operation::Query => output(records.query(read_arguments(input)?).await),
            Operation::Aggregate => output(records.aggregate(&read_arguments(input)?).await),
            Operation::Facets => output(records.facets(&read_arguments(input)?).await),
            Operation::Insert => output(records.insert(read_arguments(input)?).await),
            Operation::InsertSourced => {
                let context = QuoteContext { quotes: &self.data.quotes, agent_id: &self.agent_id, scope };
                output(records.insert_sourced(read_arguments(input)?, context).await)
            }
            Operation::Update => output(records.update(read_arguments(input)?).await),
            Operation::Delete => output(records.delete(read_arguments(input)?).await),
        }
    }
}

fn output(result: Result<impl Serialize, DataError>) -> Result<Value, ToolError> {
    serde_json::to_value(result?).map_err(|_| DataError::Unavailable.into())
}

impl Tool for DataTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move { self.run(input, &context.scope).await })
    }
}
