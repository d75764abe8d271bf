//! Records whose values are from documents: each value stands in a quote, which the server looks up in
//! its document before the record is stored.

mod add;
mod check;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use check::{MAX_QUOTE, MIN_QUOTE, QuoteContext};
pub(crate) use store::{delete_changed, for_records, insert};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The most documents of a record.
pub(crate) const MAX_DOCUMENTS: usize = 10;

/// New records with their sources.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourcedInsertion {
    pub(crate) records: Vec<SourcedRecord>,
}

/// A new record with its sources.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourcedRecord {
    pub(crate) data: Map<String, Value>,
    pub(crate) sources: Vec<QuotedSource>,
}

/// A document with the words that say the values of fields.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct QuotedSource {
    pub(crate) document_id: String,
    pub(crate) quotes: BTreeMap<String, String>,
}

/// The source of the value of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FieldSource {
    /// The path of the value; that of an object stands for all values in it.
    pub(crate) field: String,
    /// The document, which may have been deleted.
    pub(crate) document_id: String,
    /// The name of its file.
    pub(crate) file_name: String,
    /// The location in the document, such as `page 3`.
    pub(crate) place: String,
    /// The words of the document that say the value.
    pub(crate) quote: String,
}

/// The outcome of adding records with sources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct SourcedOutcome {
    /// The ids of the records that were stored, in their order.
    pub(crate) ids: Vec<String>,
    /// The rejected records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rejected: Vec<RejectedRecord>,
}

/// A record that was not stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RejectedRecord {
    /// Its position among those of the call, from 0.
    pub(crate) record: usize,
    /// The problems of the record.
    pub(crate) problems: Vec<String>,
}
