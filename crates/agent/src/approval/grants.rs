//! Standing approvals: approvals that the user gave for further calls of a tool, too.

use crate::approval::exposure;
use crate::calls::execution::CallScope;
use crate::{Ruling, WaitingCall};
use contract::{ApprovalTerms, Exposure, ToolSpec};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// A call that needs the user's approval.
#[derive(Clone, Copy, Debug)]
pub struct GrantQuery<'a> {
    /// The agent that makes the call.
    pub agent_id: &'a str,
    /// The tool's name.
    pub tool: &'a str,
    /// The current [fingerprint](contract::ToolSpec::fingerprint) of the tool, with a suffix if the
    /// request shows what the agent has read.
    pub fingerprint: &'a str,
}

/// A standing approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The id by which its user finds and revokes it.
    pub id: String,
    /// Whether it is limited to this conversation.
    pub is_for_conversation: bool,
}

/// The standing approvals that apply in a turn: those of its user, in its conversation.
pub trait GrantLookup: Send + Sync + 'static {
    /// Finds the standing approval that currently covers a call. An implementation that fails
    /// returns `None`, so that the user is asked.
    fn find<'a>(&'a self, wanted: GrantQuery<'a>) -> BoxFuture<'a, Option<Grant>>;

    /// Returns whether a call that no standing approval covers may wait for the user. If not, it is
    /// denied.
    fn can_ask(&self) -> bool {
        true
    }
}

impl GrantQuery<'_> {
    /// Returns whether the approval must have been given with the knowledge that the agent has read
    /// both private data and untrusted text.
    pub fn is_exposed(&self) -> bool {
        exposure::is_exposed(self.fingerprint)
    }
}

impl CallScope {
    /// Finds the standing approval that lets a call of this tool run. It satisfies the approval
    /// that the tool itself requires (`confirm`), and the one for the exposure if the exposure was
    /// shown when it was given. It does not satisfy a policy's `ask`: there the operator wants a
    /// person to look at this very call, often because of its arguments, which a standing approval
    /// does not consider.
    pub(crate) async fn find_grant(
        &self,
        agent_id: &str,
        tool: &ToolSpec,
        ruling: &Ruling,
        exposed: Option<&Exposure>,
    ) -> Option<Grant> {
        if !approval_terms(tool, ruling, None).may_remember {
            return None;
        }
        if exposed.is_none()
            && let Some(grant) = self.find(agent_id, &tool.name, &exposure::fingerprint(tool, false)).await
        {
            return Some(grant);
        }
        // A standing approval that was given with the exposure also covers a call without it.
        self.find(agent_id, &tool.name, &exposure::fingerprint(tool, true)).await
    }

    /// Returns whether a call may wait for the user's decision.
    pub(crate) fn can_ask(&self) -> bool {
        self.grants.as_ref().is_none_or(|grants| grants.can_ask())
    }

    /// Finds the standing approval for a call that waits since an earlier run.
    pub(crate) async fn find_grant_for_waiting(&self, agent_id: &str, waiting: &WaitingCall) -> Option<Grant> {
        let asked = waiting.tool_fingerprint.as_deref().filter(|_| waiting.terms.may_remember)?;
        self.find(agent_id, &waiting.call.name, asked).await
    }

    async fn find(&self, agent_id: &str, tool: &str, fingerprint: &str) -> Option<Grant> {
        self.grants.as_ref()?.find(GrantQuery { agent_id, tool, fingerprint }).await
    }
}

/// Returns the terms of the approval request for a call with this ruling and exposure.
pub(crate) fn approval_terms(tool: &ToolSpec, ruling: &Ruling, exposed: Option<Exposure>) -> ApprovalTerms {
    let may_remember = tool.approval.may_remember && *ruling != Ruling::Ask;
    ApprovalTerms { may_remember, exposed, ..tool.approval.clone() }
}

/// Returns the terms of the request whether to run an interrupted call again: it is about this one
/// call and does not expire.
pub(crate) fn repeat_approval_terms(terms: ApprovalTerms) -> ApprovalTerms {
    ApprovalTerms { may_remember: false, expires_after: None, cut_off: true, ..terms }
}
