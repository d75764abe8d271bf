//! Records the decisions of policies, and the standing approvals that are found.

use super::Session;
use crate::format::Entry;
use agent::{Grant, GrantLookup, GrantQuery, Policy, PolicyQuery, Ruling};
use futures::future::BoxFuture;
use std::sync::Arc;

/// Records the decisions of a policy.
pub(super) struct RecordingPolicy {
    pub(super) session: Arc<Session>,
    pub(super) agent: String,
    pub(super) inner: Arc<dyn Policy>,
}

impl Policy for RecordingPolicy {
    fn decide<'a>(&'a self, asked: PolicyQuery<'a>) -> BoxFuture<'a, Ruling> {
        Box::pin(async move {
            let call_id = asked.call.id.clone();
            let decided = self.inner.decide(asked).await;
            let (ruling, reason) = match &decided {
                Ruling::Allow => ("allow", None),
                Ruling::Ask => ("ask", None),
                Ruling::Deny(reason) => ("deny", Some(reason.clone())),
            };
            let (agent, ruling) = (self.agent.clone(), ruling.to_owned());
            self.session.push(Entry::Ruling { agent, call_id, ruling, reason });
            decided
        })
    }
}

/// Records the standing approvals that are looked up.
pub(super) struct RecordingGrants {
    pub(super) session: Arc<Session>,
    pub(super) inner: Arc<dyn GrantLookup>,
}

impl GrantLookup for RecordingGrants {
    fn find<'a>(&'a self, wanted: GrantQuery<'a>) -> BoxFuture<'a, Option<Grant>> {
        Box::pin(async move {
            let (agent, tool) = (wanted.agent_id.to_owned(), wanted.tool.to_owned());
            let fingerprint = wanted.fingerprint.to_owned();
            let grant = self.inner.find(wanted).await;
            self.session.push(Entry::Grant { agent, tool, fingerprint, grant: grant.clone() });
            grant
        })
    }

    fn can_ask(&self) -> bool {
        self.inner.can_ask()
    }
}
