//! Datasets and their cases.

use super::{Service, valid_name};
use crate::keep::{new_dataset, refusal};
use crate::run::read_scorers;
use crate::store::{self, CaseRow, Dataset, NewCase, Put};
use ::store::{StoreError, append_audit};
use evaluation::Case;
use serde_json::{Value, json};
use std::collections::HashMap;
use web::admin::{Admin, from_store_error};
use web::times::now_millis;
use wire::UserError;

/// The longest text of scorers, in bytes.
const MAX_SCORERS: usize = 64 * 1024;
/// The largest case, in bytes of JSON.
const MAX_CASE: usize = 256 * 1024;
/// The causes of a write that stores nothing.
const FULL: &str = "the dataset is full";
const GONE: &str = "there is no such dataset or case";

impl Service {
    /// Returns a dataset.
    pub(crate) async fn dataset(&self, id: &str) -> Result<Dataset, UserError> {
        let found = store::dataset(&self.context.store, id).await.map_err(from_store_error)?;
        found.ok_or_else(UserError::not_found)
    }

    /// Makes a dataset for an agent of the config. Returns its id.
    pub(crate) async fn add_dataset(&self, admin: &Admin, name: &str, agent_id: &str) -> Result<String, UserError> {
        let name = valid_name(name)?;
        self.check_agent(admin, agent_id)?;
        let dataset = new_dataset(name, agent_id.to_owned(), admin.caller.user_id.clone());
        let about = json!({ "datasetId": dataset.id, "name": dataset.name, "agentId": agent_id });
        let (id, audit) = (dataset.id.clone(), admin.audit_entry("add_dataset", "", about));
        let stored =
            self.write(audit, move |db| Box::pin(async move { store::insert_dataset(db, &dataset).await })).await?;
        if stored { Ok(id) } else { Err(refusal(Put::Full)) }
    }

    /// Changes the name and the scorers of a dataset.
    pub(crate) async fn change_dataset(
        &self,
        admin: &Admin,
        id: &str,
        (name, scorers): (&str, String),
    ) -> Result<(), UserError> {
        let name = valid_name(name)?;
        if scorers.len() > MAX_SCORERS {
            return Err(UserError::invalid("/scorers", "The scorers are longer than 64 KB."));
        }
        read_scorers(&name, "agent", &scorers).map_err(|problems| UserError::invalid("/scorers", problems))?;
        let audit = admin.audit_entry("change_dataset", "", json!({ "datasetId": id }));
        let id = id.to_owned();
        let changed = self
            .write(audit, move |db| {
                Box::pin(async move { store::set_scorers(db, &id, (name, scorers), now_millis()).await })
            })
            .await?;
        changed.then_some(()).ok_or_else(UserError::not_found)
    }

    /// Deletes a dataset with its cases and experiments.
    pub(crate) async fn delete_dataset(&self, admin: &Admin, id: &str) -> Result<(), UserError> {
        let audit = admin.audit_entry("delete_dataset", "", json!({ "datasetId": id }));
        let id = id.to_owned();
        let deleted =
            self.write(audit, move |db| Box::pin(async move { store::delete_dataset(db, &id).await })).await?;
        deleted.then_some(()).ok_or_else(UserError::not_found)
    }

    /// Adds cases to a dataset, or replaces those with the same ids. Returns the ids of their rows.
    pub(crate) async fn put_cases(
        &self,
        admin: &Admin,
        id: &str,
        contents: Vec<Value>,
    ) -> Result<Vec<String>, UserError> {
        let known: HashMap<_, _> = {
            let cases = store::current_cases(&self.context.store, id).await.map_err(from_store_error)?;
            cases.into_iter().map(|case| (case.case_id.clone(), case)).collect()
        };
        let mut new = Vec::<NewCase>::new();
        for (index, content) in contents.into_iter().enumerate() {
            let case_id = valid_case(&content)
                .map_err(|(path, message)| UserError::invalid(format!("/{index}{path}"), message))?;
            new.push(new_case(admin, known.get(&case_id), (case_id, content)));
        }
        let (dataset_id, ids) = (id.to_owned(), new.iter().map(|case| case.id.clone()).collect::<Vec<_>>());
        let audit = admin.audit_entry("put_cases", "", json!({ "datasetId": id, "cases": ids.len() }));
        self.context
            .store
            .write(move |db| {
                Box::pin(async move {
                    append_audit(&mut *db, vec![audit]).await?;
                    match store::put_cases(db, &dataset_id, new).await? {
                        Put::Stored => Ok(ids),
                        // The error rolls back the cases that fit.
                        Put::Full => Err(StoreError::Invalid(FULL)),
                        Put::Gone | Put::Known(_) => Err(StoreError::Invalid(GONE)),
                    }
                })
            })
            .await
            .map_err(|error| match error {
                StoreError::Invalid(FULL) => refusal(Put::Full),
                StoreError::Invalid(GONE) => UserError::not_found(),
                error => from_store_error(error),
            })
    }

    /// Removes a case from the newest version of a dataset.
    pub(crate) async fn remove_case(&self, admin: &Admin, id: &str, case_id: &str) -> Result<(), UserError> {
        let audit = admin.audit_entry("remove_case", "", json!({ "datasetId": id, "case": case_id }));
        let (dataset, case) = (id.to_owned(), case_id.to_owned());
        let removed = self
            .write(audit, move |db| {
                Box::pin(async move { store::remove_case(db, &dataset, &case, now_millis()).await })
            })
            .await?;
        removed.then_some(()).ok_or_else(UserError::not_found)
    }
}

fn new_case(admin: &Admin, known: Option<&CaseRow>, (case_id, content): (String, Value)) -> NewCase {
    let source = known.and_then(|known| known.conversation_id.clone().zip(known.message_id.clone()));
    NewCase {
        id: super::new_id(),
        case_id,
        owner: known.map(|known| known.owner.clone()).unwrap_or_default(),
        source,
        is_masked: known.is_some_and(|known| known.is_masked),
        created_by: admin.caller.user_id.clone(),
        created_at: now_millis(),
        content,
    }
}

/// Checks a case. Returns its id.
fn valid_case(content: &Value) -> Result<String, (String, String)> {
    if content.to_string().len() > MAX_CASE {
        return Err((String::new(), "The case is larger than 256 KB.".to_owned()));
    }
    Case::from_value(content.clone()).map(|case| case.id)
}
