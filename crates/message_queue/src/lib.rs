#![doc = include_str!("../README.md")]

mod message;
mod routes;
mod sender;
mod store;
#[cfg(test)]
mod tests;

use capability::{Capability, Context, Definition, Job};
use std::sync::Arc;
use std::time::Duration;
use web::openapi::ApiRouter;

/// How often each server looks for messages that are due.
const INTERVAL: Duration = Duration::from_secs(2);

/// The capability.
pub const DEFINITION: Definition = Definition {
    tables: Some(store::TABLES),
    start: Some(|_| Ok(Arc::new(MessageQueues))),
    ..Definition::new("message_queue")
};

/// The capability of a running server.
struct MessageQueues;

impl Capability for MessageQueues {
    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(context.clone()))
    }

    /// Two servers may find the same message at once. Only one of them can reserve it, and the conversation accepts it only once.
    fn jobs(&self, context: &Context) -> Vec<Job> {
        let context = context.clone();
        let send = move || {
            let context = context.clone();
            async move { Ok(sender::send_due(&context).await?) }
        };
        vec![Job::on_each_server("message_queue.send", INTERVAL, send)]
    }
}
