//! Notes the usage of requests to models.

use crate::record::audit::RunContext;
use crate::record::steps;
use crate::run::sink::observer::{EventRows, RunEvent, RunObserver};
use agent::Event;

/// Notes the usage of each complete reply.
pub(super) struct UsageObserver {
    subject: RunContext,
}

impl UsageObserver {
    pub(super) fn new(subject: RunContext) -> Self {
        Self { subject }
    }
}

impl RunObserver for UsageObserver {
    fn observe(&mut self, event: &RunEvent, rows: &mut EventRows) {
        match &event.event {
            Event::StepStart { .. } => rows.stores_usage = true,
            Event::ReplyComplete(reply) | Event::SideReply(reply) => {
                let below = event.sub_agent.as_ref();
                let below = below.map(|sub_agent| (sub_agent.call_id.clone(), sub_agent.agent_id.clone()));
                rows.steps.push(steps::for_run(&self.subject, reply.clone(), below));
            }
            _ => {}
        }
    }
}
