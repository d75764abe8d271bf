//! The answers that cases were made of, for programs that look at how they came about.

use crate::store;
use ::store::{Store, StoreError};

/// A case of a dataset with the answer that it was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCaseAnswer {
    /// The id of the case.
    pub case: String,
    /// The conversation and the answer; `None` if the case was not made of an answer.
    pub answer: Option<(String, String)>,
}

/// Returns the cases of the newest version of a dataset, which is named by its id, or by its name if no other dataset has
/// it. `None` if there is no such dataset.
///
/// # Errors
/// The database failed.
pub async fn answers_of_dataset(store: &Store, name: &str) -> Result<Option<Vec<KeptCaseAnswer>>, StoreError> {
    let datasets = store::datasets(store).await?;
    let mut named = datasets.iter().filter(|dataset| dataset.name == name);
    let only = named.next().filter(|_| named.next().is_none());
    let Some(dataset) = datasets.iter().find(|dataset| dataset.id == name).or(only) else { return Ok(None) };
    let cases = store::current_cases(store, &dataset.id).await?;
    let case =
        |case: store::CaseRow| KeptCaseAnswer { case: case.case_id, answer: case.conversation_id.zip(case.message_id) };
    Ok(Some(cases.into_iter().map(case).collect()))
}
