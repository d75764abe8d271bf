//! The tools with which agents query and change records.

use crate::filter::{self, Filter, check_field};
use crate::read::{self, Aggregate, MAX_JOINED, Order};
use crate::section::{AgentData, Collection, Sharing};
use crate::store::{self, PreparedRecord, RecordSet};
use ::store::{Store, StoreError};
use contract::{Annotations, RunScope, Tool, ToolContext, ToolError, ToolSpec, read_arguments};
use futures::future::BoxFuture;
use schemas::{CheckError, Schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How many records a query returns if the model does not say it, and at most.
const DEFAULT_LIMIT: u32 = 20;
const MAX_LIMIT: u32 = 100;
/// The most records that one call inserts, and that one call updates or deletes.
const MAX_INSERTED: usize = 100;
const MAX_CHANGED: u32 = 500;
/// The most groups, and the most values of a field.
const MAX_GROUPS: u32 = 100;
const MAX_FACETS: u32 = 20;
/// The furthest record that a query begins with.
const MAX_OFFSET: u32 = 1_000_000;
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
pub(crate) fn tools(store: &Store, collections: &[Collection], section: &AgentData) -> Vec<Arc<dyn Tool>> {
    let all: Arc<[Collection]> = collections.into();
    let about = describe(&all);
    let operations = READS.into_iter().chain(WRITES.into_iter().filter(|_| section.write));
    let tools = operations.map(|operation| {
        let ids: Vec<_> = all.iter().map(|collection| collection.id.0.as_str()).collect();
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
        let is_read = READS.contains(&operation);
        let annotations = Annotations {
            reads_private: is_read,
            // What others have written can be in shared records.
            returns_untrusted: is_read && all.iter().any(|collection| collection.records == Sharing::Shared),
            idempotent: is_read || operation == Operation::Delete,
            ..Annotations::default()
        };
        let spec = ToolSpec { needs_approval, annotations, ..ToolSpec::new(operation.name(), description, schema) };
        Arc::new(DataTool { spec, operation, collections: all.clone(), store: store.clone() }) as Arc<dyn Tool>
    });
    tools.collect()
}

/// Describes the collections for the model.
fn describe(collections: &[Collection]) -> String {
    let mut text = "The collections:".to_owned();
    for collection in collections {
        let about = collection.description.as_deref().unwrap_or_default();
        text.push_str(&format!("\n- `{}`: {about} ", collection.id.0));
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
    store: Store,
}

/// The arguments of all tools.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Input {
    collection: String,
    #[serde(default, rename = "where")]
    conditions: Vec<Value>,
    ids: Option<Vec<String>>,
    #[serde(default)]
    select: Vec<String>,
    #[serde(default)]
    order_by: Vec<Order>,
    limit: Option<u32>,
    #[serde(default)]
    offset: u32,
    #[serde(default)]
    group_by: Vec<String>,
    #[serde(default)]
    aggregate: Vec<Aggregate>,
    #[serde(default)]
    fields: Vec<String>,
    #[serde(default)]
    records: Vec<Map<String, Value>>,
    #[serde(default)]
    set: Map<String, Value>,
}

impl DataTool {
    async fn run(&self, input: Input, scope: &RunScope) -> Result<Value, ToolError> {
        let found = self.collections.iter().find(|collection| collection.id.0 == input.collection);
        let collection = found.ok_or_else(|| ToolError::new("There is no such collection."))?;
        let owner = if collection.records == Sharing::Shared { String::new() } else { scope.user_id.clone() };
        let set = RecordSet { collection: input.collection.clone(), owner };
        let filter = Filter::read(&input.conditions).map_err(ToolError::new)?;
        let sorted = input.order_by.iter().map(|order| &order.field);
        let summed = input.aggregate.iter().filter_map(|aggregate| aggregate.field.as_ref());
        for field in sorted.chain(summed).chain(&input.group_by).chain(&input.fields) {
            check_field(field).map_err(ToolError::new)?;
        }
        match self.operation {
            Operation::Query => self.query(&set, &filter, input).await,
            Operation::Aggregate => {
                let what = (input.aggregate.as_slice(), MAX_GROUPS);
                let groups = read::aggregate(&self.store, &set, &filter, &input.group_by, what).await;
                Ok(json!({ "groups": groups.map_err(failed)? }))
            }
            Operation::Facets => {
                let mut facets = Map::new();
                for field in &input.fields {
                    let values = read::facets(&self.store, &set, &filter, field, MAX_FACETS).await.map_err(failed)?;
                    facets.insert(field.clone(), values.into());
                }
                Ok(json!({ "facets": facets }))
            }
            Operation::Insert => self.insert(collection, set, input.records).await,
            Operation::Update => self.update(collection, set, &with_ids(filter, &input)?, input.set).await,
            Operation::Delete => {
                let filter = with_ids(filter, &input)?;
                let deleted = store::delete(&self.store, &set, &filter, MAX_CHANGED).await.map_err(failed)?;
                let left = read::count(&self.store, &set, &filter).await.map_err(failed)?;
                Ok(json!({ "deleted": deleted, "left": left }))
            }
        }
    }

    async fn query(&self, set: &RecordSet, filter: &Filter, input: Input) -> Result<Value, ToolError> {
        let limit = input.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        let offset = input.offset.min(MAX_OFFSET);
        let records = read::list(&self.store, set, filter, &input.order_by, (limit, offset)).await.map_err(failed)?;
        let total = read::count(&self.store, set, filter).await.map_err(failed)?;
        let end = i64::from(offset) + records.len() as i64;
        let records = records.into_iter().map(|record| {
            let mut data = record.data;
            if !input.select.is_empty() {
                data.retain(|field, _| input.select.contains(field));
            }
            json!({ "id": record.id, "data": data })
        });
        let mut result = json!({ "records": records.collect::<Vec<_>>(), "total": total });
        if end < total {
            result["nextOffset"] = end.into();
        }
        Ok(result)
    }

    async fn insert(
        &self,
        collection: &Collection,
        set: RecordSet,
        records: Vec<Map<String, Value>>,
    ) -> Result<Value, ToolError> {
        let mut prepared = Vec::new();
        for (index, record) in records.iter().enumerate() {
            check(collection, record).await.map_err(|error| ToolError::new(format!("Record {index}: {error}")))?;
            prepared.push(PreparedRecord::new(record, None).map_err(ToolError::new)?);
        }
        let ids: Vec<_> = prepared.iter().map(|record| record.id().to_owned()).collect();
        match store::insert(&self.store, set, prepared, collection.max_records).await.map_err(failed)? {
            true => Ok(json!({ "ids": ids })),
            false => {
                Err(ToolError::new(format!("There can be {} records, so none was added.", collection.max_records)))
            }
        }
    }

    async fn update(
        &self,
        collection: &Collection,
        set: RecordSet,
        filter: &Filter,
        changes: Map<String, Value>,
    ) -> Result<Value, ToolError> {
        let found = read::list(&self.store, &set, filter, &[], (MAX_CHANGED + 1, 0)).await.map_err(failed)?;
        if found.len() > MAX_CHANGED as usize {
            return Err(ToolError::new(format!(
                "More than {MAX_CHANGED} records pass the filter. Update fewer at a time."
            )));
        }
        let mut prepared = Vec::new();
        for mut record in found {
            for (field, value) in &changes {
                match value {
                    Value::Null => drop(record.data.shift_remove(field)),
                    value => drop(record.data.insert(field.clone(), value.clone())),
                }
            }
            check(collection, &record.data)
                .await
                .map_err(|error| ToolError::new(format!("Record {}: {error}", record.id)))?;
            let replaces = Some((record.id.as_str(), record.version));
            prepared.push(PreparedRecord::new(&record.data, replaces).map_err(ToolError::new)?);
        }
        let updated = prepared.len();
        match store::replace(&self.store, set, prepared).await.map_err(failed)? {
            true => Ok(json!({ "updated": updated })),
            false => Err(ToolError::new("A record was changed meanwhile, so none was updated. Try again.")),
        }
    }
}

/// Returns the filter for a change, which must not mean all records by mistake.
fn with_ids(filter: Filter, input: &Input) -> Result<Filter, ToolError> {
    match &input.ids {
        Some(ids) => Ok(Filter::All(vec![filter, Filter::Ids(ids.clone())])),
        None if input.conditions.is_empty() => {
            Err(ToolError::new("Name the records: `ids`, or conditions in `where`."))
        }
        None => Ok(filter),
    }
}

/// Checks a record against the schema of its collection.
async fn check(collection: &Collection, record: &Map<String, Value>) -> Result<(), String> {
    let schema = Value::Object(collection.schema.clone());
    let busy = || "It cannot be checked now. Try again in a moment.".to_owned();
    let schema = Schema::compile_cached(&schema).await.map_err(|_| busy())?;
    match schema.check(&Value::Object(record.clone()), 3).await {
        Ok(()) => Ok(()),
        Err(CheckError::Faults(faults)) => {
            let faults = faults.iter().map(|fault| format!("{} {}", fault.path, fault.message).trim().to_owned());
            Err(faults.collect::<Vec<_>>().join("; "))
        }
        Err(_) => Err(busy()),
    }
}

/// Returns what the model reads when the database fails. The cause is for the operator.
fn failed(error: StoreError) -> ToolError {
    tracing::error!(%error, "records cannot be read or stored");
    ToolError::new("The data cannot be reached right now.")
}

impl Tool for DataTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move { self.run(read_arguments(input)?, &context.scope).await })
    }
}
