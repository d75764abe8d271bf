//! Meters the model requests that routines make outside of a run: for a button on a page, a hook, a
//! policy, or a call from another platform. They count towards the usage of the user on whose
//! behalf the routine runs.

use crate::record::telemetry::RunFacts;
use crate::record::{steps, telemetry};
use crate::{Caller, Chat, Inner};
use contract::{ModelId, ModelMeter, ModelUse, ReplyUsage};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::{Arc, OnceLock, Weak};
use store::StepRecord;
use wire::UserError;

/// Meters routines. It exists before the chat does; requests before the chat is set are refused.
#[derive(Clone, Default)]
pub struct RoutineMeters(Arc<OnceLock<Weak<Inner>>>);

impl RoutineMeters {
    /// Sets the chat that records usage. Only the first call has an effect.
    pub fn set_chat(&self, chat: &Chat) {
        // A chat that is already set stays.
        let _ = self.0.set(Arc::downgrade(&chat.inner));
    }

    /// Returns the meter of one routine call. `agent_id` is the agent that made the call, or
    /// `endpoint:ID` if none did.
    pub fn meter(&self, caller: &Caller, agent_id: impl Into<String>) -> ModelUse {
        ModelUse::new(Arc::new(RoutineMeter {
            chat: self.clone(),
            caller: caller.clone(),
            agent_id: agent_id.into(),
            run_id: uuid::Uuid::now_v7().simple().to_string(),
        }))
    }
}

struct RoutineMeter {
    chat: RoutineMeters,
    caller: Caller,
    agent_id: String,
    run_id: String,
}

impl RoutineMeter {
    fn chat(&self) -> Option<Arc<Inner>> {
        self.chat.0.get()?.upgrade()
    }
}

impl ModelMeter for RoutineMeter {
    fn admit<'a>(&'a self, model: &'a ModelId, is_priced: bool) -> BoxFuture<'a, Result<(), String>> {
        async move {
            let chat = self.chat().ok_or("the server is not ready")?;
            let unpriced = (!is_priced).then_some(model.model.as_str());
            let checked = chat.check_quotas(&self.caller, false, unpriced).await;
            checked.map(drop).map_err(|error| UserError::from(error).message)
        }
        .boxed()
    }

    fn record_reply(&self, replied: ReplyUsage) -> BoxFuture<'_, ()> {
        async move {
            let Some(chat) = self.chat() else { return };
            let step = steps::outside_conversation(&self.caller.user_id, &self.run_id, &self.agent_id, replied);
            chat.record_outside_usage(step).await;
        }
        .boxed()
    }
}

impl Inner {
    /// Records the usage of a request outside of conversations.
    pub(crate) async fn record_outside_usage(&self, step: StepRecord) {
        if let Some(to) = self.telemetry.get() {
            let (run_id, agent_id) = (step.run_id.clone(), step.agent_id.clone());
            let facts = RunFacts { run_id, conversation_id: None, agent_id, trace: telemetry::current_trace() };
            to.model_replied(&facts, &step);
        }
        if let Err(error) = self.store.append_steps(vec![step]).await {
            tracing::error!(%error, "the usage of a routine's model request could not be stored");
        }
    }
}
