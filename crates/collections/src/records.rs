//! The operations on the records of a collection, in our database or in a table of a connection.

use crate::access::RecordAccess;
use crate::failure::DataError;
use crate::fields;
use crate::filter::Filter;
use crate::input::{
    Computation, Deletion, FacetQuery, Insertion, MAX_CHANGED, MAX_INSERTED, Query, Update, check_fields, filter,
    filter_for_change,
};
use crate::read::{self, Facet, Order};
use crate::section::{Collection, Sharing};
use crate::sources::{self, FieldSource};
use crate::store::{self, PreparedRecord, Record, RecordSet};
use crate::table::Table;
use ::store::Store;
use capability::Quotes;
use chat::Viewer;
use endpoints::OpenDatabases;
use schemars::JsonSchema;
use schemas::{CheckError, Schema};
use serde::Serialize;
use serde_json::{Map, Value};

/// The most groups, and the most values of a field.
const MAX_GROUPS: u32 = 100;
const MAX_FACETS: u32 = 20;

/// The databases that have records; cheap to clone.
#[derive(Clone)]
pub(crate) struct Data {
    pub(crate) store: Store,
    pub(crate) databases: OpenDatabases,
    /// Finds quotes in documents.
    pub(crate) quotes: Quotes,
}

/// The records of a collection that a user may access.
pub(crate) struct Records<'c> {
    collection: &'c Collection,
    access: RecordAccess,
    backend: Backend,
}

/// The storage of the records: the server's database, or a table of a connection.
enum Backend {
    Own(Store, RecordSet),
    Table(Table),
}

/// A record with its id.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RecordItem {
    /// The id.
    pub(crate) id: String,
    /// The record.
    pub(crate) data: Map<String, Value>,
    /// The documents that its values are from, with the words that say them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sources: Vec<FieldSource>,
}

/// The records that a query found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Found {
    records: Vec<RecordItem>,
    /// How many records pass the filter.
    total: i64,
    /// Where the next page begins; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<i64>,
}

/// Groups with the values that were computed for them, the largest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Groups {
    groups: Vec<Value>,
}

/// The most frequent values of fields.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Facets {
    #[schemars(with = "std::collections::BTreeMap<String, Vec<Facet>>")]
    facets: Map<String, Value>,
}

/// The ids of new records.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Inserted {
    pub(crate) ids: Vec<String>,
}

/// The number of updated records.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Updated {
    updated: u64,
}

/// The number of deleted records.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Deleted {
    pub(crate) deleted: u64,
    /// The number of records that still pass the filter.
    left: i64,
}

impl Data {
    /// Returns the records of a collection as the viewer sees them.
    ///
    /// # Errors
    /// They may not read the collection.
    pub(crate) fn records<'c>(&self, collection: &'c Collection, viewer: &Viewer) -> Result<Records<'c>, DataError> {
        let access = collection.access(viewer).ok_or(DataError::NotFound)?;
        let backend = match &collection.source {
            Some(source) => Backend::Table(Table::new(collection, source, &viewer.user_id, &self.databases)?),
            None => {
                let owner = match collection.records {
                    Sharing::Shared => String::new(),
                    Sharing::Own => viewer.user_id.clone(),
                };
                Backend::Own(self.store.clone(), RecordSet { collection: collection.id.0.clone(), owner })
            }
        };
        Ok(Records { collection, access, backend })
    }
}

impl Records<'_> {
    /// Returns records.
    pub(crate) async fn query(&self, query: Query) -> Result<Found, DataError> {
        self.check_fields(query.order_by.iter().map(|order| &order.field))?;
        query.select.iter().try_for_each(|field| self.check_known(field))?;
        let (filter, (limit, offset)) = (self.filter(&query.conditions)?, query.page()?);
        let records = self.list(&filter, &query.order_by, (limit, offset)).await?;
        let total = self.count(&filter).await?;
        let end = i64::from(offset) + records.len() as i64;
        let mut records = if query.sources { self.with_sources(records).await? } else { without_sources(records) };
        if !query.select.is_empty() {
            for record in &mut records {
                record.data.retain(|field, _| query.select.contains(field));
            }
        }
        Ok(Found { records, total, next_offset: (end < total).then_some(end) })
    }

    /// Adds to records the documents that their values are from.
    async fn with_sources(&self, records: Vec<Record>) -> Result<Vec<RecordItem>, DataError> {
        let Backend::Own(store, _) = &self.backend else { return Ok(without_sources(records)) };
        let ids = records.iter().map(|record| record.id.clone()).collect();
        let mut sources = sources::for_records(store, ids).await?;
        let item = |Record { id, data, .. }| RecordItem { sources: sources.remove(&id).unwrap_or_default(), id, data };
        Ok(records.into_iter().map(item).collect())
    }

    /// Returns the record with this id.
    pub(crate) async fn record(&self, id: String) -> Result<RecordItem, DataError> {
        let found = self.list(&Filter::Ids(vec![id]), &[], (1, 0)).await?;
        self.with_sources(found).await?.into_iter().next().ok_or(DataError::NotFound)
    }

    /// Computes sums and others.
    pub(crate) async fn aggregate(&self, computation: &Computation) -> Result<Groups, DataError> {
        let Computation { conditions, group_by, aggregate } = computation;
        self.check_fields(group_by.iter())?;
        let fields: Vec<_> = aggregate.iter().filter_map(|aggregate| aggregate.field.as_ref()).collect();
        self.check_fields(fields.into_iter())?;
        if aggregate.len() > read::MAX_JOINED {
            return Err(DataError::Invalid(format!("`aggregate` has at most {} entries.", read::MAX_JOINED)));
        }
        let (filter, what) = (self.filter(conditions)?, (aggregate.as_slice(), MAX_GROUPS));
        let groups = match &self.backend {
            Backend::Own(store, set) => read::aggregate(store, set, &filter, group_by, what).await?,
            Backend::Table(table) => table.aggregate(&filter, group_by, what).await?,
        };
        Ok(Groups { groups })
    }

    /// Counts the values of fields.
    pub(crate) async fn facets(&self, query: &FacetQuery) -> Result<Facets, DataError> {
        self.check_fields(query.fields.iter())?;
        let filter = self.filter(&query.conditions)?;
        let mut facets = Map::new();
        for field in &query.fields {
            let values = match &self.backend {
                Backend::Own(store, set) => read::facets(store, set, &filter, field, MAX_FACETS).await?,
                Backend::Table(table) => table.facets(&filter, field, MAX_FACETS).await?,
            };
            facets.insert(field.clone(), serde_json::to_value(values).unwrap_or_default());
        }
        Ok(Facets { facets })
    }

    /// Adds records: all of them, or none.
    pub(crate) async fn insert(&self, Insertion { records }: Insertion) -> Result<Inserted, DataError> {
        self.check_insertable(records.len())?;
        let mut prepared = Vec::new();
        for (index, record) in records.iter().enumerate() {
            let invalid = |error| DataError::Invalid(format!("Record {index}: {error}"));
            self.check(record).await.map_err(invalid)?;
            prepared.push(PreparedRecord::new(record, None).map_err(DataError::Invalid)?);
        }
        match &self.backend {
            Backend::Table(table) => Ok(Inserted { ids: table.insert(&records).await? }),
            Backend::Own(..) => Ok(Inserted { ids: self.store_own(prepared).await? }),
        }
    }

    /// Checks that this number of records may be added at once.
    pub(crate) fn check_insertable(&self, count: usize) -> Result<(), DataError> {
        self.check_writable()?;
        if (1..=MAX_INSERTED).contains(&count) {
            Ok(())
        } else {
            Err(DataError::Invalid(format!("`records` has 1 to {MAX_INSERTED} records.")))
        }
    }

    /// Stores records in our database: all of them, or none. Returns their ids.
    pub(crate) async fn store_own(&self, prepared: Vec<PreparedRecord>) -> Result<Vec<String>, DataError> {
        let Backend::Own(store, set) = &self.backend else { return Err(DataError::ReadOnly) };
        let ids = prepared.iter().map(|record| record.id().to_owned()).collect();
        let most = self.collection.max_records();
        if store::insert(store, set.clone(), prepared, most).await? {
            Ok(ids)
        } else {
            Err(DataError::Invalid(format!("A collection has at most {most} records, so none was added.")))
        }
    }

    /// Sets fields of records. If a record does not fit the schema afterwards, no record is changed.
    pub(crate) async fn update(&self, Update { conditions, ids, set: changes }: Update) -> Result<Updated, DataError> {
        self.check_writable()?;
        if changes.is_empty() {
            return Err(DataError::Invalid("`set` has no field.".to_owned()));
        }
        changes.keys().try_for_each(|field| self.check_known(field))?;
        let filter = self.filter_for_change(&conditions, ids)?;
        let found = self.list(&filter, &[], (MAX_CHANGED + 1, 0)).await?;
        if found.len() > MAX_CHANGED as usize {
            let message = format!("More than {MAX_CHANGED} records pass the filter. Update fewer at a time.");
            return Err(DataError::Invalid(message));
        }
        let mut prepared = Vec::new();
        for mut record in found {
            for (field, value) in &changes {
                match value {
                    Value::Null => drop(record.data.shift_remove(field)),
                    value => drop(record.data.insert(field.clone(), value.clone())),
                }
            }
            let invalid = |error| DataError::Invalid(format!("Record {}: {error}", record.id));
            self.check(&record.data).await.map_err(invalid)?;
            let replaces = Some((record.id.as_str(), record.version));
            prepared.push(PreparedRecord::new(&record.data, replaces).map_err(DataError::Invalid)?);
        }
        let updated = match &self.backend {
            Backend::Table(table) => {
                let ids = prepared.iter().map(|record| record.id().to_owned()).collect();
                table.update(ids, &filter, &changes).await?
            }
            Backend::Own(store, set) => {
                let updated = prepared.len() as u64;
                if store::replace(store, set.clone(), prepared, changes.keys().cloned().collect()).await? {
                    updated
                } else {
                    return Err(DataError::Conflict);
                }
            }
        };
        Ok(Updated { updated })
    }

    /// Deletes records.
    pub(crate) async fn delete(&self, Deletion { conditions, ids }: Deletion) -> Result<Deleted, DataError> {
        self.check_writable()?;
        let filter = self.filter_for_change(&conditions, ids)?;
        let deleted = match &self.backend {
            Backend::Own(store, set) => store::delete(store, set, &filter, MAX_CHANGED).await?,
            Backend::Table(table) => table.delete(&filter, MAX_CHANGED).await?,
        };
        Ok(Deleted { deleted, left: self.count(&filter).await? })
    }

    /// Reads conditions over fields that records can have.
    fn filter(&self, conditions: &[Value]) -> Result<Filter, DataError> {
        let filter = filter(conditions)?;
        fields::check_filter(&self.collection.schema, &filter)?;
        Ok(filter)
    }

    /// Like [`Records::filter`], for a change.
    fn filter_for_change(&self, conditions: &[Value], ids: Option<Vec<String>>) -> Result<Filter, DataError> {
        let filter = filter_for_change(conditions, ids)?;
        fields::check_filter(&self.collection.schema, &filter)?;
        Ok(filter)
    }

    /// Checks fields that are not part of a filter.
    fn check_fields<'f>(&self, fields: impl ExactSizeIterator<Item = &'f String>) -> Result<(), DataError> {
        let fields: Vec<_> = fields.collect();
        check_fields(fields.iter().copied())?;
        fields.into_iter().try_for_each(|field| self.check_known(field))
    }

    fn check_known(&self, field: &str) -> Result<(), DataError> {
        fields::check_known(&self.collection.schema, field)
    }

    fn check_writable(&self) -> Result<(), DataError> {
        if self.access < RecordAccess::Write { Err(DataError::ReadOnly) } else { Ok(()) }
    }

    async fn list(&self, filter: &Filter, orders: &[Order], page: (u32, u32)) -> Result<Vec<Record>, DataError> {
        match &self.backend {
            Backend::Own(store, set) => Ok(read::list(store, set, filter, orders, page).await?),
            Backend::Table(table) => table.list(filter, orders, page).await,
        }
    }

    async fn count(&self, filter: &Filter) -> Result<i64, DataError> {
        match &self.backend {
            Backend::Own(store, set) => Ok(read::count(store, set, filter).await?),
            Backend::Table(table) => table.count(filter).await,
        }
    }

    /// Checks a record against the schema of the collection.
    pub(crate) async fn check(&self, record: &Map<String, Value>) -> Result<(), String> {
        let schema = Value::Object(self.collection.schema.clone());
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
}

fn without_sources(records: Vec<Record>) -> Vec<RecordItem> {
    let item = |Record { id, data, .. }| RecordItem { id, data, sources: Vec::new() };
    records.into_iter().map(item).collect()
}
