//! Who decides on the calls of a run without a conversation: its owner, or users with roles that the
//! agent's config or the request names.

use super::request;
use crate::errors::Result;
use crate::{Caller, Chat, Inner, now};
use serde_json::json;
use std::collections::BTreeSet;
use store::{AgentRun, AuditEntry, AuditOutcome};
use wire::invoke::{UndecidedRun, UndecidedRunList};
use wire::{ErrorCode, UserError};

/// The most roles of a run.
const MAX_ROLES: usize = 20;
/// The longest name of a role, in characters.
const MAX_NAME: usize = 100;
/// The most runs in a list.
const MAX_LISTED: u32 = 100;

impl Chat {
    /// Returns a page of the runs that wait for a user with a role of the caller, oldest first. `after` is `next` of the
    /// page before.
    ///
    /// # Errors
    /// 422 for a cursor that is none, 503 if the store fails.
    pub async fn undecided_runs(&self, caller: &Caller, after: Option<&str>) -> Result<UndecidedRunList, UserError> {
        Ok(self.inner.undecided_runs(caller, after).await?)
    }
}

impl Inner {
    /// See [`Chat::undecided_runs`].
    async fn undecided_runs(&self, caller: &Caller, after: Option<&str>) -> Result<UndecidedRunList> {
        let after = after.map(cursor).transpose()?.unwrap_or((i64::MIN, ""));
        let mut found = self.store.undecided_runs(&caller.user_id, caller.roles(), after, MAX_LISTED + 1).await?;
        let has_more = found.len() > MAX_LISTED as usize;
        found.truncate(MAX_LISTED as usize);
        let next = found.last().filter(|_| has_more).map(|run| format!("{}_{}", run.created_at, run.id));
        let item = |run: store::UndecidedRunRow| UndecidedRun {
            run_id: run.id,
            agent_name: run.agent_id,
            started_by: run.owner,
            started_by_name: request::caller_name(&run.caller),
            questions: serde_json::from_value(run.questions).unwrap_or_default(),
            created_at: run.created_at,
        };
        Ok(UndecidedRunList { items: found.into_iter().map(item).collect(), next })
    }

    /// Returns the owner of a run on whose calls the caller may decide.
    ///
    /// # Errors
    /// 404 for a run that the caller has nothing to do with, 403 for their own if others decide.
    pub(super) async fn check_approver(&self, caller: &Caller, id: &str) -> Result<String> {
        let run_id = id.to_owned();
        let found = self.store.read(move |db| Box::pin(async move { store::agent_run(db, &run_id).await })).await?;
        match found {
            Some(run) if may_decide(&run, caller) => Ok(run.owner),
            Some(run) if run.owner == caller.user_id => {
                let message = format!("Only users with one of these roles decide: {}.", run.approvers.join(", "));
                Err(UserError::new(ErrorCode::Forbidden, message).into())
            }
            // The run has ended, or the caller has no such run, which is an error.
            _ => {
                self.invocation_of(&caller.user_id, id).await?;
                Ok(caller.user_id.clone())
            }
        }
    }
}

/// Reads the cursor of a list of runs: the time of creation and the id of the last one.
fn cursor(text: &str) -> Result<(i64, &str), UserError> {
    let parts = text.split_once('_').and_then(|(at, id)| Some((at.parse().ok()?, id)));
    parts.ok_or_else(|| UserError::invalid("/after", "This is not `next` of a page of this list."))
}

fn may_decide(run: &AgentRun, caller: &Caller) -> bool {
    if run.approvers.is_empty() {
        run.owner == caller.user_id
    } else {
        run.approvers.iter().any(|role| caller.has_role(role))
    }
}

/// Returns the roles of a run: those of the agent's config, which a request may only narrow, or else
/// those of the request.
///
/// # Errors
/// 422 for a role that the config does not have, and for too many or unusable names.
pub(super) fn roles(configured: &[String], wanted: Vec<String>) -> Result<Vec<String>, UserError> {
    if wanted.len() > MAX_ROLES {
        return Err(UserError::invalid("/approvers", format!("At most {MAX_ROLES} roles can be named.")));
    }
    for (at, role) in wanted.iter().enumerate() {
        let path = format!("/approvers/{at}");
        if role.trim().is_empty() || role.chars().count() > MAX_NAME {
            return Err(UserError::invalid(path, format!("A role has 1 to {MAX_NAME} characters.")));
        }
        if !configured.is_empty() && !configured.contains(role) {
            let message = format!("`{role}` is not among the approvers that the config gives this agent.");
            return Err(UserError::invalid(path, message));
        }
    }
    let chosen = if wanted.is_empty() { configured.to_vec() } else { wanted };
    Ok(chosen.into_iter().collect::<BTreeSet<_>>().into_iter().collect())
}

/// Returns the audit row of a decision on a call of another user's run.
pub(super) fn audit_row(caller: &Caller, run_id: &str, call_id: &str, approved: bool) -> AuditEntry {
    AuditEntry {
        at: now(),
        user_id: caller.user_id.clone(),
        agent_id: String::new(),
        conversation_id: String::new(),
        message_id: String::new(),
        run_id: run_id.to_owned(),
        call_id: uuid::Uuid::now_v7().to_string(),
        tool: "run:answer".to_owned(),
        arguments: json!({ "runId": run_id, "callId": call_id, "approved": approved }),
        gates: Vec::new(),
        outcome: AuditOutcome::Ok,
        duration_ms: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_may_only_narrow_the_roles_of_the_config() {
        let check = |configured: &[&str], wanted: &[&str], expected: Result<&[&str], &str>| {
            let owned = |all: &[&str]| all.iter().map(|role| (*role).to_owned()).collect::<Vec<_>>();
            let found = roles(&owned(configured), owned(wanted)).map_err(|error| error.path.unwrap_or_default());
            assert_eq!(found, expected.map(owned).map_err(str::to_owned));
        };
        check(&[], &[], Ok(&[]));
        check(&[], &["b", "a", "b"], Ok(&["a", "b"]));
        check(&["a", "b"], &[], Ok(&["a", "b"]));
        check(&["a", "b"], &["b"], Ok(&["b"]));
        check(&["a"], &["a", "c"], Err("/approvers/1"));
        check(&[], &[" "], Err("/approvers/0"));
        check(&[], &["x"; MAX_ROLES + 1], Err("/approvers"));
        check(&[], &["x".repeat(MAX_NAME + 1).as_str()], Err("/approvers/0"));
    }
}
