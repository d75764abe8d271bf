//! Triggers that were paused because their runs have failed, for what tells the authors of their workflows.

use crate::active::TriggerKey;
use crate::store::{self, StateRow};
use ::store::StoreError;
use capability::{Context, FindWaiting, WaitingItem, WaitingKind};
use chat::Caller;
use config::Config;
use futures::future::BoxFuture;
use workflow_definition::{Workflow, Workflows};
use workflows::author;

/// Finds the triggers of stored definitions that were paused after failures.
pub(crate) struct PausedTriggers;

/// Returns the id of a trigger among all. The ids of workflows and triggers contain no `/`.
pub(crate) fn waiting_id(key: &TriggerKey) -> String {
    format!("{}/{}", key.workflow_id, key.trigger_id)
}

impl FindWaiting for PausedTriggers {
    fn find<'a>(
        &'a self,
        context: &'a Context,
        kind: WaitingKind,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<WaitingItem>, StoreError>> {
        Box::pin(async move {
            let (WaitingKind::PausedTrigger, Some((workflow_id, trigger_id))) = (kind, id.split_once('/')) else {
                return Ok(None);
            };
            let key = TriggerKey { workflow_id: workflow_id.to_owned(), trigger_id: trigger_id.to_owned() };
            match store::find(&context.store, &key).await? {
                Some(state) => item(context, &state).await,
                None => Ok(None),
            }
        })
    }

    fn for_user<'a>(
        &'a self,
        context: &'a Context,
        caller: &'a Caller,
        since: i64,
        most: u32,
    ) -> BoxFuture<'a, Result<Vec<WaitingItem>, StoreError>> {
        Box::pin(async move {
            let mut found = Vec::new();
            for state in store::states(&context.store).await? {
                if found.len() >= most as usize {
                    break;
                }
                if state.paused_at.is_some_and(|at| at > since) {
                    found.extend(item(context, &state).await?.filter(|item| item.is_for(caller)));
                }
            }
            Ok(found)
        })
    }
}

/// Returns a trigger that was paused after failures, if its workflow is a stored definition.
async fn item(context: &Context, state: &StateRow) -> Result<Option<WaitingItem>, StoreError> {
    let (Some(since), None) = (state.paused_at, &state.paused_by) else { return Ok(None) };
    let TriggerKey { workflow_id, trigger_id } = &state.key;
    let config = context.current.config();
    let Some(author) = author(&context.store, &config, workflow_id).await? else { return Ok(None) };
    Ok(Some(WaitingItem {
        kind: WaitingKind::PausedTrigger,
        subject: title(&config, workflow_id).to_owned(),
        title: trigger_id.clone(),
        since,
        console_path: format!("/admin/triggers/{workflow_id}/{trigger_id}"),
        users: vec![author],
        roles: Vec::new(),
    }))
}

fn title<'c>(config: &'c Config, workflow_id: &'c str) -> &'c str {
    let workflow = config.section::<Workflows>().and_then(|all| all.get(workflow_id));
    workflow.map_or(workflow_id, Workflow::title)
}
