//! Items of stored responses to which a request refers by their ids.

use crate::error::ApiError;
use crate::request::history::unknown_item;
use crate::request::responses::stored_entry;
use crate::request::{Entry, EntryKind, check_size};
use crate::store;
use capability::Context;
use chat::Caller;
use serde_json::Value;
use std::collections::HashMap;

/// From how many responses a request may take items.
const MAX_RESPONSES: usize = 100;

/// Replaces references by what the items say.
///
/// # Errors
/// 404 for an item that the caller does not have.
pub(super) async fn resolve(context: &Context, caller: &Caller, entries: Vec<Entry>) -> Result<Vec<Entry>, ApiError> {
    if !entries.iter().any(|entry| matches!(entry.kind, EntryKind::Reference(_))) {
        return Ok(entries);
    }
    let (mut known, mut resolved) = (HashMap::new(), Vec::new());
    for entry in entries {
        let EntryKind::Reference(id) = &entry.kind else {
            resolved.push(entry);
            continue;
        };
        let response = response_of(id).ok_or_else(|| unknown_item(id, &entry.param))?;
        if !known.contains_key(&response) {
            if known.len() == MAX_RESPONSES {
                let message = format!("A request takes items from at most {MAX_RESPONSES} responses.");
                return Err(ApiError::invalid(entry.param, message));
            }
            let items = items(context, caller, &response).await?;
            known.insert(response.clone(), items);
        }
        let item = known.get(&response).into_iter().flatten().find(|item| item["id"] == id.as_str());
        let item = item.ok_or_else(|| unknown_item(id, &entry.param))?;
        let kind = stored_entry(item, &entry.param)?;
        resolved.extend(kind.map(|kind| Entry { param: entry.param, kind }));
    }
    check_size(&resolved, "input")?;
    Ok(resolved)
}

/// Returns the id of the response that has an item: `msg_RUN_0` is of `resp_RUN`.
fn response_of(item: &str) -> Option<String> {
    let (_, rest) = item.split_once('_')?;
    let (run, _) = rest.rsplit_once('_')?;
    Some(format!("resp_{run}"))
}

/// Returns the items of a response, none if the caller does not have it.
async fn items(context: &Context, caller: &Caller, id: &str) -> Result<Vec<Value>, ApiError> {
    let found = store::one(&context.store, &caller.user_id, id).await;
    let found = found.map_err(|error| ApiError::from(web::HttpError::from(error).0))?;
    let output = |body: &Value| body["output"].as_array().cloned().unwrap_or_default();
    Ok(found.map(|found| [output(&found.body), found.input].concat()).unwrap_or_default())
}
