//! Standing approvals: a yes that the user gave for further calls of a tool, too.

use crate::tools::Caller;
use crate::{Ruling, WaitingCall, exposure};
use contract::{ApprovalTerms, Exposure, ToolSpec};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// A call that needs the user's yes.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The agent that makes it.
    pub agent_id: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The tool as it is now, by [`contract::ToolSpec::fingerprint`], with a word behind it if the user is told what the agent has read.
    pub fingerprint: &'a str,
}

/// A standing approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// By which its user finds and revokes it.
    pub id: String,
    /// It holds in this conversation alone.
    pub is_for_conversation: bool,
}

/// The standing approvals that hold in a turn: those of its user, in its conversation.
pub trait Grants: Send + Sync + 'static {
    /// The one that covers a call, as it stands at this moment. Whoever cannot tell finds none, so that the user is asked.
    fn find<'a>(&'a self, wanted: Wanted<'a>) -> BoxFuture<'a, Option<Grant>>;
}

impl Caller {
    /// The standing approval that lets a call of this tool run. It takes the place of the question that the tool itself asks
    /// (`confirm`), and of the one about what the agent has read if that was told when it was given. It takes the place of no other one:
    /// where the policy says `ask`, the operator wants a person to look at this very call, often because of its arguments, which a
    /// standing approval knows nothing of.
    pub(crate) async fn grant(
        &self,
        agent_id: &str,
        tool: &ToolSpec,
        ruling: &Ruling,
        exposed: Option<&Exposure>,
    ) -> Option<Grant> {
        if !terms(tool, ruling, None).may_remember {
            return None;
        }
        if exposed.is_none()
            && let Some(grant) = self.find(agent_id, &tool.name, &exposure::fingerprint(tool, false)).await
        {
            return Some(grant);
        }
        // One that covers the greater danger covers the lesser one.
        self.find(agent_id, &tool.name, &exposure::fingerprint(tool, true)).await
    }

    /// The same for a call that waits since an earlier run.
    pub(crate) async fn grant_waiting(&self, agent_id: &str, waiting: &WaitingCall) -> Option<Grant> {
        let asked = waiting.asked.as_deref().filter(|_| waiting.terms.may_remember)?;
        self.find(agent_id, &waiting.call.name, asked).await
    }

    async fn find(&self, agent_id: &str, tool: &str, fingerprint: &str) -> Option<Grant> {
        self.grants.as_ref()?.find(Wanted { agent_id, tool, fingerprint }).await
    }
}

/// How the user is asked about a call of which the policy said this, after the agent has read that.
pub(crate) fn terms(tool: &ToolSpec, ruling: &Ruling, exposed: Option<Exposure>) -> ApprovalTerms {
    let may_remember = tool.approval.may_remember && *ruling != Ruling::Ask;
    ApprovalTerms { may_remember, exposed, ..tool.approval.clone() }
}

/// How the user is asked whether a call that was cut off is made once more: about this one call, for as long as nobody says anything.
pub(crate) fn once_more(terms: ApprovalTerms) -> ApprovalTerms {
    ApprovalTerms { may_remember: false, expires_after: None, cut_off: true, ..terms }
}
