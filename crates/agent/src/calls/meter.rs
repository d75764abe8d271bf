//! Meters the requests to models that a tool makes itself, as part of the run that called it.

use crate::event::EventRecorder;
use crate::limits::UsageMeter;
use crate::{Event, Limit};
use contract::{ModelId, ModelMeter, ReplyUsage};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The meter of one tool call.
pub(crate) struct CallMeter {
    /// The meter of the run.
    pub(crate) meter: Arc<UsageMeter>,
    /// Records the usage of the requests with the run.
    pub(crate) record: EventRecorder,
    pub(crate) call_id: String,
    /// The agent that made the call.
    pub(crate) agent_id: String,
}

/// Returns the error for a model that is not asked because its cost cannot be limited.
pub(crate) fn unknown_price_error(model: &str) -> String {
    format!("the price of the model {model} is not known, so the cost limit cannot be kept")
}

impl ModelMeter for CallMeter {
    fn admit<'a>(&'a self, model: &'a ModelId, is_priced: bool) -> BoxFuture<'a, Result<(), String>> {
        async move {
            if !is_priced && self.meter.limits_cost() {
                return Err(unknown_price_error(&model.model));
            }
            if let Some(limit) = self.meter.reached() {
                return Err(format!("the turn has reached its limit of {}", name(limit)));
            }
            self.meter.count_request();
            Ok(())
        }
        .boxed()
    }

    fn record_reply(&self, replied: ReplyUsage) -> BoxFuture<'_, ()> {
        async move {
            self.meter.count_reply(replied.usage, replied.cost_usd);
            let (call_id, agent_id) = (self.call_id.clone(), self.agent_id.clone());
            let event = Event::Nested { call_id, agent_id, event: Box::new(Event::ReplyComplete(replied)) };
            let (recorded, done) = oneshot::channel();
            // A run that has ended accepts no more records, and reports its end itself.
            if self.record.send((event, recorded)).await.is_ok() {
                let _ = done.await;
            }
        }
        .boxed()
    }
}

fn name(limit: Limit) -> &'static str {
    match limit {
        Limit::Requests => "requests",
        Limit::TotalTokens => "tokens",
        Limit::Cost => "cost",
        _ => "what it may use",
    }
}
