//! Hashes of cases and scorers: whether a later run asks and scores the same as the baseline.

use crate::case::Case;
use crate::scorer::Scorer;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The length of a hash in hexadecimal digits: enough to notice a change.
const DIGITS: usize = 16;

/// The hashes of cases and scorers, by which a comparison notices that they were changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Hashes {
    /// By the id of the case: the hash of its messages, its expected values, and its scorers.
    cases: BTreeMap<String, String>,
    /// The scorers of the evaluation, by their ids.
    scorers: BTreeMap<String, String>,
}

impl Hashes {
    /// Hashes scorers of an evaluation, and cases.
    pub(crate) fn new<'c>(scorers: &[Scorer], cases: impl Iterator<Item = &'c Case>) -> Self {
        Self {
            cases: cases.map(|case| (case.id.clone(), hash(case_value(case)))).collect(),
            scorers: scorers.iter().map(|scorer| (scorer.id.clone(), hash(scorer_value(scorer)))).collect(),
        }
    }

    /// Returns whether nothing was hashed.
    pub(crate) fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Returns the cases and scorers that are in both with different hashes, as texts for people.
    pub(crate) fn changed(&self, now: &Self) -> Vec<String> {
        let changed = |before: &BTreeMap<String, String>, now: &BTreeMap<String, String>, what: &str| {
            let is_changed = |(id, hash): &(&String, &String)| now.get(*id).is_some_and(|now| now != *hash);
            before.iter().filter(is_changed).map(|(id, _)| format!("the {what} `{id}`")).collect::<Vec<_>>()
        };
        let mut all = changed(&self.scorers, &now.scorers, "scorer");
        all.extend(changed(&self.cases, &now.cases, "case"));
        all
    }
}

/// Returns what scorers see of a case, without what only selects it, and its own scorers.
fn case_value(case: &Case) -> Value {
    let scorers: Vec<_> = case.scorers.iter().map(scorer_value).collect();
    json!({ "input": case.input, "expected": case.expected, "metadata": case.metadata, "scorers": scorers })
}

/// Returns the settings of a scorer. Those that are not set are left out, so that a new version of the program with more
/// settings does not change the hash. A JSON Schema has no settings of ours: `const: null` is a part of it.
fn scorer_value(scorer: &Scorer) -> Value {
    let mut value = serde_json::to_value(scorer).unwrap_or_default();
    if let Value::Object(keys) = &mut value {
        keys.retain(|_, value| !value.is_null());
        let kinds = keys.iter_mut().filter(|(name, _)| *name != "schema");
        for kind in kinds.filter_map(|(_, kind)| kind.as_object_mut()) {
            kind.retain(|_, value| !value.is_null());
        }
    }
    value
}

/// Hashes a value. The order of keys does not count.
fn hash(mut value: Value) -> String {
    value.sort_all_objects();
    let digest = format!("{:x}", Sha256::digest(value.to_string()));
    digest[..DIGITS].to_owned()
}
