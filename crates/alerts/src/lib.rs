#![doc = include_str!("../README.md")]

mod console;
mod measure;
mod message;
mod notify;
mod section;
mod service;
mod state;
mod store;
#[cfg(test)]
mod tests;

use capability::{Capability, ChatPosts, Context, Definition, Job};
use config::{ConnectionType, SectionType};
use jobs::Jobs;
use service::AlertService;
use std::sync::Arc;
use std::time::Duration;
use web::admin::Section;
use web::times::now_millis;

/// The interval of the checks.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<section::Alerts>()],
    connections: &[ConnectionType::of::<section::OutgoingWebhook>()],
    tables: Some(store::TABLES),
    start: Some(|host| Ok(Arc::new(AlertCapability { jobs: host.jobs.clone(), chats: host.chat_posts.clone() }))),
    ..Definition::new("alerts")
};

/// The capability of a running server.
struct AlertCapability {
    jobs: Jobs,
    /// Sends messages to chats of messengers.
    chats: ChatPosts,
}

impl AlertCapability {
    fn service(&self, context: &Context) -> AlertService {
        AlertService { context: context.clone(), jobs: self.jobs.clone() }
    }
}

impl Capability for AlertCapability {
    fn console(&self, context: &Context) -> Option<Section> {
        Some(console::section(self.service(context)))
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let service = self.service(context);
        let check = move || {
            let service = service.clone();
            async move { service.check(now_millis()).await }
        };
        vec![
            Job::recurring("alerts.check", CHECK_INTERVAL, check),
            Job::handler(notify::handler(context.clone(), self.chats.clone())),
        ]
    }
}
