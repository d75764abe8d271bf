//! The inputs of operations, by models and by callers of the API.

use crate::failure::DataError;
use crate::filter::{Filter, check_field};
use crate::read::{Aggregate, Order};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The number of records that a query returns by default, and at most.
const DEFAULT_LIMIT: u32 = 20;
pub(crate) const MAX_LIMIT: u32 = 100;
/// The most records that one call inserts, and that one call updates or deletes.
pub(crate) const MAX_INSERTED: usize = 100;
pub(crate) const MAX_CHANGED: u32 = 500;
/// The furthest record that a query begins with.
pub(crate) const MAX_OFFSET: u32 = 1_000_000;

/// A query of records.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Query {
    /// Conditions that must all hold: `{field, op, value}`, `{any: […]}`, `{all: […]}` or `{not: …}`.
    #[serde(default, rename = "where")]
    pub(crate) conditions: Vec<Value>,
    /// The fields that are returned. Default: all.
    #[serde(default)]
    pub(crate) select: Vec<String>,
    /// The fields by which records are sorted, at most 10.
    #[serde(default)]
    pub(crate) order_by: Vec<Order>,
    /// The most records, at most 100. Default: 20.
    pub(crate) limit: Option<u32>,
    /// The number of records to skip.
    #[serde(default)]
    pub(crate) offset: u32,
    /// Whether the documents are returned that values are from. Default: `false`.
    #[serde(default)]
    pub(crate) sources: bool,
}

impl Query {
    /// Returns the most records, and how many are left out.
    ///
    /// # Errors
    /// A number is out of bounds.
    pub(crate) fn page(&self) -> Result<(u32, u32), DataError> {
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT);
        match ((1..=MAX_LIMIT).contains(&limit), self.offset <= MAX_OFFSET) {
            (false, _) => Err(DataError::Invalid(format!("`limit` is 1 to {MAX_LIMIT}."))),
            (_, false) => Err(DataError::Invalid(format!("`offset` is at most {MAX_OFFSET}."))),
            _ => Ok((limit, self.offset)),
        }
    }
}

/// An aggregation of records.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Computation {
    /// Conditions that must all hold.
    #[serde(default, rename = "where")]
    pub(crate) conditions: Vec<Value>,
    /// The fields whose values make the groups, at most 10.
    #[serde(default)]
    pub(crate) group_by: Vec<String>,
    /// The aggregates of each group, at most 10.
    pub(crate) aggregate: Vec<Aggregate>,
}

/// Of which fields the values are counted.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FacetQuery {
    /// Conditions that must all hold.
    #[serde(default, rename = "where")]
    pub(crate) conditions: Vec<Value>,
    /// The fields, at most 10.
    pub(crate) fields: Vec<String>,
}

/// New records.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Insertion {
    /// The records, at most 100. All are added, or none.
    pub(crate) records: Vec<Map<String, Value>>,
}

/// An update of records.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Update {
    /// Conditions that must all hold.
    #[serde(default, rename = "where")]
    pub(crate) conditions: Vec<Value>,
    /// Only the records with these ids, at most 500.
    pub(crate) ids: Option<Vec<String>>,
    /// The fields with their new values; `null` removes a field.
    pub(crate) set: Map<String, Value>,
}

/// A deletion of records.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Deletion {
    /// Conditions that must all hold.
    #[serde(default, rename = "where")]
    pub(crate) conditions: Vec<Value>,
    /// Only the records with these ids, at most 500.
    pub(crate) ids: Option<Vec<String>>,
}

/// Reads conditions.
pub(crate) fn filter(conditions: &[Value]) -> Result<Filter, DataError> {
    Filter::read(conditions).map_err(DataError::Invalid)
}

/// Returns the filter for a change, which must not mean all records by mistake.
pub(crate) fn filter_for_change(conditions: &[Value], ids: Option<Vec<String>>) -> Result<Filter, DataError> {
    let filter = filter(conditions)?;
    match ids {
        Some(ids) if ids.len() > MAX_CHANGED as usize => {
            Err(DataError::Invalid(format!("`ids` has at most {MAX_CHANGED} ids.")))
        }
        Some(ids) => Ok(Filter::All(vec![filter, Filter::Ids(ids)])),
        None if conditions.is_empty() => {
            Err(DataError::Invalid("Name the records: `ids`, or conditions in `where`.".to_owned()))
        }
        None => Ok(filter),
    }
}

/// Checks fields that are not part of a filter.
pub(crate) fn check_fields<'f>(fields: impl ExactSizeIterator<Item = &'f String>) -> Result<(), DataError> {
    if fields.len() > crate::read::MAX_JOINED {
        return Err(DataError::Invalid(format!("There can be {} fields.", crate::read::MAX_JOINED)));
    }
    fields.into_iter().try_for_each(|field| check_field(field)).map_err(DataError::Invalid)
}
