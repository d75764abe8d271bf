//! The names of cases on the pages of an experiment: the beginning of the user's text, since most ids mean nothing to a
//! reader.

use super::dataset_page::shortened;
use crate::store::{self, CaseRow, Experiment};
use ::store::{Store, StoreError};
use serde_json::Value;
use std::collections::HashMap;

/// The most cases of a page that have names; the others have their ids.
const MAX_NAMES: usize = 100;

/// The names of cases by their ids.
pub(super) struct CaseNames(HashMap<String, String>);

impl CaseNames {
    /// Reads the names of cases in the version of the dataset that the experiment has.
    ///
    /// # Errors
    /// The database is not available.
    pub(super) async fn load<'a>(
        store: &Store,
        experiment: &Experiment,
        cases: impl Iterator<Item = &'a str>,
    ) -> Result<Self, StoreError> {
        let mut names = HashMap::new();
        for case in cases {
            if names.len() >= MAX_NAMES {
                break;
            }
            if names.contains_key(case) {
                continue;
            }
            let Some(row) = case_of(store, experiment, case).await? else { continue };
            names.insert(case.to_owned(), shortened(&input_text(&row.content)));
        }
        Ok(Self(names))
    }

    /// Returns the name of a case; its id if it has none.
    pub(super) fn get(&self, case: &str) -> String {
        self.0.get(case).filter(|name| !name.trim().is_empty()).map_or(case, String::as_str).to_owned()
    }
}

/// Returns a case in the version of the dataset that the experiment has; `None` if it is no longer there.
pub(super) async fn case_of(store: &Store, experiment: &Experiment, case: &str) -> Result<Option<CaseRow>, StoreError> {
    let (Some(dataset), Some(version)) = (&experiment.dataset_id, experiment.dataset_version) else { return Ok(None) };
    store::case_of_version(store, dataset, version, case).await
}

/// Returns the text of the user in a case.
pub(super) fn input_text(content: &Value) -> String {
    match &content["input"] {
        Value::Array(messages) => {
            messages.iter().filter_map(|message| message.as_str()).collect::<Vec<_>>().join("\n\n")
        }
        input => input.as_str().unwrap_or_default().to_owned(),
    }
}
