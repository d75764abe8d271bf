//! Finds the standing approvals that apply to the calls of a run.

use super::exposure;
use super::grants::approval_terms;
use crate::calls::execution::CallScope;
use crate::{Grant, GrantQuery, Ruling, WaitingCall};
use contract::{Exposure, ToolSpec};

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
