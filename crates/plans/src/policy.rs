//! Lets no tool with an effect run before the user has approved a plan.

use crate::section::PlanMode;
use crate::store;
use crate::tool::{WRITE_TODOS, conversation};
use ::store::Store;
use agent::{Policy, PolicyQuery, Ruling};
use futures::future::BoxFuture;

const PLAN_FIRST: &str = "the user approves a plan before tools that change something run, and there is no approved plan with an open step. \
     Call write_todos with all steps first, and wait for its result.";
const UNREADABLE: &str = "the plan cannot be read right now.";

/// The policy of an agent whose plans are approved. It also applies to its sub-agents.
pub(crate) struct PlanFirst {
    pub(crate) store: Store,
    pub(crate) mode: PlanMode,
}

impl PlanFirst {
    /// Returns whether the call needs no plan: the tool changes nothing, wherever it runs, or the agent does
    /// not plan here. `idempotent` is not enough: the first call of an idempotent deletion changes something.
    /// Tools that ask the user a question are `reads_only`.
    fn is_free(&self, asked: &PolicyQuery<'_>) -> bool {
        let is_off = self.mode == PlanMode::Optional && asked.scope.plan_mode != Some(true);
        is_off
            || asked.scope.conversation_id.is_empty()
            || asked.tool.name == WRITE_TODOS
            || asked.tool.annotations.reads_only
    }
}

impl Policy for PlanFirst {
    fn decide<'a>(&'a self, asked: PolicyQuery<'a>) -> BoxFuture<'a, Ruling> {
        Box::pin(async move {
            if self.is_free(&asked) {
                return Ruling::Allow;
            }
            // A stored plan was approved, or written by the user.
            match store::current(&self.store, conversation(asked.scope)).await {
                Ok(Some(known)) if known.plan.current().is_some() => Ruling::Allow,
                Ok(_) => Ruling::Deny(PLAN_FIRST.to_owned()),
                Err(error) => {
                    tracing::error!(%error, "the plan of a conversation cannot be read");
                    Ruling::Deny(UNREADABLE.to_owned())
                }
            }
        })
    }
}
