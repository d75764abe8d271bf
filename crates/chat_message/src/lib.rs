#![doc = include_str!("../README.md")]

mod events;
mod request;
mod routes;
mod section;

use capability::{Capability, Context, Definition};
use config::SectionType;
use section::ChatMessage;
use std::sync::Arc;
use web::openapi::ApiRouter;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<ChatMessage>()],
    start: Some(|_| Ok(Arc::new(ChatMessages))),
    ..Definition::new("chat_message")
};

/// The capability of a running server.
struct ChatMessages;

impl Capability for ChatMessages {
    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(context.clone()))
    }
}
