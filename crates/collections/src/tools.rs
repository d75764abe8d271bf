//! The tools with which agents query and change records.

use crate::access::Viewer;
use crate::failure::DataError;
use crate::filter;
use crate::input::{MAX_CHANGED, MAX_INSERTED, MAX_LIMIT, MAX_OFFSET};
use crate::read::MAX_JOINED;
use crate::records::Data;
use crate::section::{AgentData, Collection, Sharing};
use contract::{Annotations, RunScope, Tool, ToolContext, ToolError, ToolSpec, read_arguments};
use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The longest description of the collections in a tool, in characters.
const MAX_DESCRIPTION: usize = 8_000;

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Query,
    Aggregate,
    Facets,
    Insert,
    Update,
    Delete,
}

const READS: [Operation; 3] = [Operation::Query, Operation::Aggregate, Operation::Facets];
const WRITES: [Operation; 3] = [Operation::Insert, Operation::Update, Operation::Delete];

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Query => "query_data",
            Self::Aggregate => "aggregate_data",
            Self::Facets => "get_facets",
            Self::Insert => "insert_records",
            Self::Update => "update_records",
            Self::Delete => "delete_records",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Query => "Returns the records of a collection that pass a filter.",
            Self::Aggregate => "Counts, adds up and averages the records of a collection, also by groups.",
            Self::Facets => "Returns which values fields have, with how many records have them.",
            Self::Insert => "Adds records to a collection. All are added, or none.",
            Self::Update => "Sets fields of all records that pass a filter; null removes a field.",
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
            Self::Insert => vec!["collection", "records"],
            Self::Update => vec!["collection", "set"],
        }
    }
}

/// Returns the names of the tools.
pub(crate) fn names(write: bool) -> impl Iterator<Item = &'static str> {
    READS.into_iter().chain(WRITES.into_iter().filter(move |_| write)).map(Operation::name)
}

/// Returns the tools of an agent over these collections.
pub(crate) fn tools(data: &Data, collections: &[Collection], section: &AgentData) -> Vec<Arc<dyn Tool>> {
    let all: Arc<[Collection]> = collections.into();
    let about = describe(&all);
    let operations = READS.into_iter().chain(WRITES.into_iter().filter(|_| section.write));
    let tools = operations.map(|operation| {
        let is_read = READS.contains(&operation);
        let usable = all.iter().filter(|collection| is_read || collection.is_writable());
        let ids: Vec<_> = usable.map(|collection| collection.id.0.as_str()).collect();
        let mut properties = operation.properties();
        properties["collection"] = json!({ "enum": ids });
        let schema = json!({ "type": "object", "properties": properties, "required": operation.required(), "additionalProperties": false });
        // Each tool that reads or writes fields names them.
        let description = format!("{}\n\n{about}", operation.description());
        let needs_approval = match operation {
            Operation::Insert | Operation::Update => section.confirm_changes,
            Operation::Delete => section.confirm_deletes,
            _ => false,
        };
        let annotations = Annotations {
            reads_private: is_read,
            // What others have written can be in shared records, and in tables.
            returns_untrusted: is_read && all.iter().any(|all| all.records == Sharing::Shared || all.source.is_some()),
            idempotent: is_read || operation == Operation::Delete,
            ..Annotations::default()
        };
        let spec = ToolSpec { needs_approval, annotations, ..ToolSpec::new(operation.name(), description, schema) };
        Arc::new(DataTool { spec, operation, collections: all.clone(), data: data.clone() }) as Arc<dyn Tool>
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
    match text.char_indices().nth(MAX_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// One of the tools.
struct DataTool {
    spec: ToolSpec,
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
