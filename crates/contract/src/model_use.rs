//! Requests to models that a tool or a routine makes itself, counted for whoever it works for.

use crate::{FinishReason, ModelId, Usage};
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What a request to a model took.
#[derive(Clone, Debug, PartialEq)]
pub struct Replied {
    /// The step; counts from 1.
    pub number: u32,
    /// Which model answered.
    pub model: ModelId,
    /// Why the reply ended.
    pub finish_reason: FinishReason,
    /// Tokens.
    pub usage: Usage,
    /// What it cost in US dollars, if the model's price is known.
    pub cost_usd: Option<f64>,
    /// From the request to the first part of the reply, earlier attempts included.
    pub first_part: Duration,
    /// From the request to the end of the reply.
    pub whole: Duration,
}

/// Counts requests to models against limits and quotas, and records what they took.
pub trait ModelMeter: Send + Sync + 'static {
    /// Reserves one request to this model. `is_priced` says whether its price is known.
    ///
    /// # Errors
    /// A limit or a quota is used up, or cannot be kept; in one line for the caller.
    fn admit<'a>(&'a self, model: &'a ModelId, is_priced: bool) -> BoxFuture<'a, Result<(), String>>;

    /// Records what a request took.
    fn replied(&self, replied: Replied) -> BoxFuture<'_, ()>;
}

/// The meter of whoever a tool or a routine works for. Without one, nothing is counted.
#[derive(Clone, Default)]
pub struct ModelUse(Option<Arc<dyn ModelMeter>>);

impl ModelUse {
    /// Counts with this meter.
    pub fn new(meter: Arc<dyn ModelMeter>) -> Self {
        Self(Some(meter))
    }

    /// See [`ModelMeter::admit`].
    ///
    /// # Errors
    /// As there.
    pub async fn admit(&self, model: &ModelId, is_priced: bool) -> Result<(), String> {
        match &self.0 {
            Some(meter) => meter.admit(model, is_priced).await,
            None => Ok(()),
        }
    }

    /// See [`ModelMeter::replied`].
    pub async fn replied(&self, replied: Replied) {
        if let Some(meter) = &self.0 {
            meter.replied(replied).await;
        }
    }
}

impl fmt::Debug for ModelUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "ModelUse(..)" } else { "ModelUse(none)" })
    }
}
