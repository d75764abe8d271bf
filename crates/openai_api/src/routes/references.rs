//! Items of stored responses to which a request refers by their ids.

use crate::error::ApiError;
use crate::request::history::unknown_item;
use crate::request::responses::stored_entry;
use crate::request::{Entry, check_length};
use crate::store;
use capability::Context;
use chat::Caller;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// From how many responses a request may take items.
const MAX_RESPONSES: usize = 100;

/// Replaces references by what the items say.
///
/// # Errors
/// 404 for an item that the caller does not have.
pub(super) async fn resolve(context: &Context, caller: &Caller, entries: Vec<Entry>) -> Result<Vec<Entry>, ApiError> {
    if entries.iter().all(|entry| entry.kind.reference().is_none()) {
        return Ok(entries);
    }
    let wanted: HashSet<_> = entries.iter().filter_map(|entry| entry.kind.reference()).map(str::to_owned).collect();
    let (mut known, mut resolved, mut length) = (HashMap::new(), Vec::new(), 0);
    for entry in entries {
        let entry = match entry.kind.reference() {
            None => Some(entry),
            Some(id) => {
                let response = response_of(id).ok_or_else(|| unknown_item(id, &entry.param))?;
                if !known.contains_key(&response) {
                    if known.len() == MAX_RESPONSES {
                        let message = format!("A request takes items from at most {MAX_RESPONSES} responses.");
                        return Err(ApiError::invalid(entry.param, message));
                    }
                    let mut items = items(context, caller, &response).await?;
                    items.retain(|item| item["id"].as_str().is_some_and(|id| wanted.contains(id)));
                    known.insert(response.clone(), items);
                }
                let item = known.get(&response).into_iter().flatten().find(|item| item["id"] == id);
                let item = item.ok_or_else(|| unknown_item(id, &entry.param))?;
                stored_entry(item, &entry.param)?.map(|kind| Entry { param: entry.param, kind })
            }
        };
        // Each time, because many references may name one long item.
        length += entry.as_ref().map_or(0, Entry::length);
        check_length(length, "input")?;
        resolved.extend(entry);
    }
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
    let found = store::one(&context.store, &caller.user_id, id).await?;
    let output = |body: &Value| body["output"].as_array().cloned().unwrap_or_default();
    Ok(found.map(|found| [output(&found.body), found.input].concat()).unwrap_or_default())
}
