//! A model provider: connections of the type `Echo`, whose models repeat the user's message.

use config::ConnectionProperties;
use contract::{FinishReason, Message, Model, ModelError, ModelId, Part, PartStream, Request, Usage, UserPart};
use futures::future::{BoxFuture, ready};
use futures::{FutureExt, StreamExt, stream};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

/// Models that repeat what the user says. They need no key and no network.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Echo {
    /// How often the message is repeated.
    #[schemars(range(min = 1, max = 10))]
    #[serde(default = "once")]
    times: usize,
}

fn once() -> usize {
    1
}

impl ConnectionProperties for Echo {
    const TYPE: &'static str = "Echo";
    const HAS_MODELS: bool = true;
}

pub(crate) struct EchoModel {
    id: ModelId,
    times: usize,
}

impl EchoModel {
    pub(crate) fn new(model: &str, echo: &Echo) -> Self {
        Self { id: ModelId { provider: "echo".to_owned(), model: model.to_owned() }, times: echo.times }
    }
}

impl Model for EchoModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Request, _: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let delta = format!("{} ", last_text(&request));
        let id = "0".to_owned();
        let texts = vec![Part::TextDelta { id: id.clone(), delta }; self.times];
        let usage = Usage::default();
        let finish = Part::Finish { reason: FinishReason::Stop, raw_reason: None, usage, metadata: None };
        let end = [Part::TextEnd { id: id.clone(), metadata: None, citations: Vec::new() }, finish];
        let parts = [Part::TextStart { id }].into_iter().chain(texts).chain(end);
        ready(Ok(stream::iter(parts.map(Ok)).boxed())).boxed()
    }
}

/// Returns the text of the user's last message.
fn last_text(request: &Request) -> &str {
    let users = request.messages.iter().rev().filter_map(|message| match &**message {
        Message::User(parts) => Some(parts),
        _ => None,
    });
    let texts = users.flatten().filter_map(|part| match part {
        UserPart::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.into_iter().next().unwrap_or_default()
}
