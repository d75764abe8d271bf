//! Policies and standing approvals of a replay.

use super::tape::Tape;
use agent::{Grant, GrantLookup, GrantQuery, Policy, PolicyQuery, Ruling};
use futures::future::BoxFuture;
use std::sync::Arc;

/// Decides as recorded with the recorded config, and asks the policy with another one.
pub(super) struct ReplayPolicy {
    pub(super) tape: Arc<Tape>,
    pub(super) agent: String,
    pub(super) inner: Arc<dyn Policy>,
}

impl Policy for ReplayPolicy {
    fn decide<'a>(&'a self, asked: PolicyQuery<'a>) -> BoxFuture<'a, Ruling> {
        let recorded = self.tape.options.same_config.then(|| self.tape.ruling(&self.agent, &asked.call.id)).flatten();
        match recorded {
            Some(ruling) => Box::pin(std::future::ready(ruling)),
            None => self.inner.decide(asked),
        }
    }
}

/// Finds the standing approvals that the recorded run has found.
pub(super) struct ReplayGrants {
    pub(super) tape: Arc<Tape>,
    pub(super) can_ask: bool,
}

impl GrantLookup for ReplayGrants {
    fn find<'a>(&'a self, wanted: GrantQuery<'a>) -> BoxFuture<'a, Option<Grant>> {
        Box::pin(std::future::ready(self.tape.grant(wanted)))
    }

    fn can_ask(&self) -> bool {
        self.can_ask
    }
}
