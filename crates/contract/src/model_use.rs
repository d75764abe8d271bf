//! Metering of the requests to models that a tool or a routine makes itself.

use crate::{FinishReason, ModelId, Usage};
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The usage of one completed request to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplyUsage {
    /// The number of the step, from 1.
    pub step: u32,
    /// The model that answered.
    pub model: ModelId,
    /// Why the reply ended.
    pub finish_reason: FinishReason,
    /// The tokens of the request.
    pub usage: Usage,
    /// The cost in US dollars, if the model's price is known.
    pub cost_usd: Option<f64>,
    /// The part of the cost that the provider's cache has saved, in US dollars, if the model's price is known.
    pub saved_usd: Option<f64>,
    /// The time from the request to the first part of the reply, including earlier attempts.
    pub first_part: Duration,
    /// The time from the request to the end of the reply.
    pub whole: Duration,
}

impl ReplyUsage {
    /// Returns the usage of a request that is no step of a run and whose reply is not streamed, such as one for
    /// embeddings. `whole` is the time that it took.
    pub fn of_request(model: ModelId, usage: Usage, cost_usd: Option<f64>, whole: Duration) -> Self {
        Self {
            step: 1,
            model,
            finish_reason: FinishReason::Stop,
            usage,
            cost_usd,
            saved_usd: None,
            first_part: whole,
            whole,
        }
    }
}

/// Counts requests to models against limits and quotas, and records their usage.
pub trait ModelMeter: Send + Sync + 'static {
    /// Reserves one request to this model. `is_priced` says whether the model's price is known.
    ///
    /// # Errors
    /// A limit or a quota is used up, or cannot be enforced. The message is one line for the
    /// caller.
    fn admit<'a>(&'a self, model: &'a ModelId, is_priced: bool) -> BoxFuture<'a, Result<(), String>>;

    /// Records the usage of a completed request.
    fn record_reply(&self, replied: ReplyUsage) -> BoxFuture<'_, ()>;
}

/// The meter that counts requests on behalf of the caller of a tool or routine. Without a meter
/// nothing is counted.
#[derive(Clone, Default)]
pub struct ModelUse(Option<Arc<dyn ModelMeter>>);

impl ModelUse {
    /// Creates a handle that counts with this meter.
    pub fn new(meter: Arc<dyn ModelMeter>) -> Self {
        Self(Some(meter))
    }

    /// Calls [`ModelMeter::admit`].
    ///
    /// # Errors
    /// The errors of [`ModelMeter::admit`].
    pub async fn admit(&self, model: &ModelId, is_priced: bool) -> Result<(), String> {
        match &self.0 {
            Some(meter) => meter.admit(model, is_priced).await,
            None => Ok(()),
        }
    }

    /// Calls [`ModelMeter::record_reply`].
    pub async fn record_reply(&self, replied: ReplyUsage) {
        if let Some(meter) = &self.0 {
            meter.record_reply(replied).await;
        }
    }
}

impl fmt::Debug for ModelUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "ModelUse(..)" } else { "ModelUse(none)" })
    }
}
