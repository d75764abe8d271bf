//! Standing approvals: an approval that also covers further calls. They belong to the user, who can
//! list and revoke them.

use crate::errors::Result;
use crate::{Caller, Chat, Inner};
use agent::{Decision, Grant, GrantLookup, GrantQuery, PendingCall, waiting_nested_calls};
use futures::FutureExt;
use futures::future::BoxFuture;
use store::{GrantRow, NewGrant, Store};
use transcript::pending_calls;
use wire::api::{Answer, ApprovalScope, StandingApproval, StandingApprovals};
use wire::{Approval, ToolPart, ToolState, UiMessage, UiPart, UserError};

/// The standing approvals of a user that apply in a conversation.
pub(crate) struct StoredGrants {
    pub(crate) store: Store,
    pub(crate) owner: String,
    pub(crate) conversation_id: String,
}

impl GrantLookup for StoredGrants {
    fn find<'a>(&'a self, wanted: GrantQuery<'a>) -> BoxFuture<'a, Option<Grant>> {
        let GrantQuery { agent_id, tool, fingerprint } = wanted;
        async move {
            let found = self.store.find_grant(&self.owner, agent_id, tool, fingerprint, &self.conversation_id).await;
            let found = found
                .inspect_err(|error| tracing::warn!(%error, "standing approvals cannot be read; the user is asked"));
            found.ok().flatten().map(|row| Grant { id: row.id, is_for_conversation: row.conversation.is_some() })
        }
        .boxed()
    }
}

/// Returns the standing approvals that these answers create. The approval requests must still be
/// open in the message. `agent_id` is the agent that made the message's own calls.
pub(crate) fn created_grants(
    message: &UiMessage,
    answers: &[Answer],
    agent_id: &str,
    conversation_id: &str,
) -> Result<Vec<NewGrant>, UserError> {
    let mut grants = Vec::new();
    for (at, answer) in answers.iter().enumerate() {
        let Answer::Approval { tool_call_id, approved: true, remember: Some(remember), .. } = answer else { continue };
        let tool = message.tools().rfind(|tool| tool.tool_call_id == *tool_call_id);
        let covered = tool.and_then(|tool| grant_scope(message, tool, agent_id)).ok_or_else(|| {
            UserError::invalid(
                format!("/answers/{at}/remember"),
                "An approval of this call cannot cover further calls.",
            )
        })?;
        let (agent_id, tool, fingerprint) = covered;
        let conversation_id = (*remember == ApprovalScope::Conversation).then(|| conversation_id.to_owned());
        let id = uuid::Uuid::now_v7().simple().to_string();
        grants.push(NewGrant { id, agent_id, tool, fingerprint, conversation_id, now: crate::now() });
    }
    Ok(grants)
}

/// Returns what a standing approval of this call would cover (agent, tool, fingerprint), if one is
/// allowed.
fn grant_scope(message: &UiMessage, tool: &ToolPart, agent_id: &str) -> Option<(String, String, String)> {
    let terms = tool.approval.as_ref()?.terms.as_ref().filter(|terms| terms.may_remember == Some(true))?;
    match pending_calls::suspended_state(message, &tool.tool_call_id) {
        Some(state) => {
            let within = waiting_nested_calls(&tool.tool_call_id, &state).into_iter().next()?;
            Some((within.agent_id, within.call.name, within.tool_fingerprint?))
        }
        None => Some((agent_id.to_owned(), tool.tool_name.clone(), terms.tool.clone()?)),
    }
}

/// Approves the other open requests of the message that the new standing approvals cover.
pub(crate) fn approve_covered(message: &mut UiMessage, given: &[NewGrant], agent_id: &str) {
    let covers = |tool: &ToolPart, message: &UiMessage| {
        let covered = grant_scope(message, tool, agent_id);
        covered.is_some_and(|(agent, name, fingerprint)| {
            given.iter().any(|new| new.agent_id == agent && new.tool == name && new.fingerprint == fingerprint)
        })
    };
    let open = message.tools().filter(|tool| tool.state == ToolState::ApprovalRequested);
    let ids: Vec<_> = open.filter(|tool| covers(tool, message)).map(|tool| tool.tool_call_id.clone()).collect();
    for part in &mut message.parts {
        let UiPart::Tool(tool) = part else { continue };
        if ids.contains(&tool.tool_call_id)
            && let Some(approval) = tool.approval.take()
        {
            tool.state = ToolState::ApprovalResponded;
            tool.approval = Some(Approval { approved: Some(true), ..approval });
        }
    }
}

impl Chat {
    /// Returns the caller's standing approvals, newest first.
    ///
    /// # Errors
    /// 503 if the store fails.
    pub async fn standing_approvals(&self, caller: &Caller) -> Result<StandingApprovals, UserError> {
        Ok(self.inner.standing_approvals(caller).await?)
    }

    /// Revokes a standing approval: from the next call on, the user is asked again.
    ///
    /// # Errors
    /// 404 for one that the caller does not own.
    pub async fn revoke(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        Ok(self.inner.revoke(caller, id).await?)
    }
}

impl Inner {
    /// Returns the standing approvals that apply in a conversation.
    pub(crate) fn grants(&self, caller: &Caller, conversation_id: &str) -> StoredGrants {
        let (owner, conversation_id) = (caller.user_id.clone(), conversation_id.to_owned());
        StoredGrants { store: self.store.clone(), owner, conversation_id }
    }

    /// Adds to decided calls the standing approvals that cover them by now, for the audit log.
    pub(crate) async fn with_grants(
        &self,
        message: &UiMessage,
        pending: Vec<PendingCall>,
        agent_id: &str,
        grants: &StoredGrants,
    ) -> Vec<PendingCall> {
        let mut calls = Vec::new();
        for call in pending {
            let tool = message.tools().rfind(|tool| tool.tool_call_id == call.call.id);
            let covered = tool.filter(|_| call.decision == Decision::Approved).and_then(|tool| match &call.state {
                Some(state) => {
                    let within = waiting_nested_calls(&call.call.id, state).into_iter().next()?;
                    Some((within.agent_id, within.call.name, within.tool_fingerprint?))
                }
                None => grant_scope(message, tool, agent_id),
            });
            let grant = match &covered {
                Some((agent_id, tool, fingerprint)) => grants.find(GrantQuery { agent_id, tool, fingerprint }).await,
                None => None,
            };
            calls.push(PendingCall { grant, ..call });
        }
        calls
    }

    /// See [`Chat::standing_approvals`].
    pub(crate) async fn standing_approvals(&self, caller: &Caller) -> Result<StandingApprovals> {
        let rows = self.store.grants(&caller.user_id).await?;
        Ok(StandingApprovals { items: rows.into_iter().map(to_standing_approval).collect() })
    }

    /// See [`Chat::revoke`].
    pub(crate) async fn revoke(&self, caller: &Caller, id: &str) -> Result<()> {
        if self.store.revoke_grant(&caller.user_id, id).await? { Ok(()) } else { Err(UserError::not_found().into()) }
    }
}

fn to_standing_approval(row: GrantRow) -> StandingApproval {
    let (conversation_id, conversation_title) = row.conversation.unzip();
    StandingApproval {
        id: row.id,
        agent_id: row.agent_id,
        tool_name: row.tool,
        conversation_id,
        conversation_title,
        created_at: row.created_at,
    }
}
