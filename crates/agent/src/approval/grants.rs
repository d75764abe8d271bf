//! Standing approvals: approvals that the user gave for further calls of a tool, too.

use crate::Ruling;
use crate::approval::exposure;
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
