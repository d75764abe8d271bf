#![doc = include_str!("../README.md")]

mod check;
mod console;
mod definition;
mod engine;
mod input;
pub mod pages;
mod picture;
mod plan;
mod routes;
mod service;
mod store;
mod triggered;
mod value;

pub use definition::{CronTrigger, EventTrigger, Trigger, TriggerKind, TriggerRights, WebhookSender, WebhookTrigger};
pub use triggered::{
    RunEnd, StartOutcome, TriggeredRun, TriggeredWorkflow, check_input, ends, start_in, triggered_workflows,
};

use capability::{Capability, Context, Definition, Job};
use config::SectionType;
use definition::Workflows;
use jobs::Due;
use service::Runs;
use std::sync::Arc;
use std::time::Duration;
use web::admin::Section;
use web::openapi::ApiRouter;
use web::times::now_millis;

/// How long a run is kept after its end.
const RETENTION: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// How often ended runs are deleted, and runs without a job are found.
const SWEEP_INTERVAL: Duration = Duration::from_secs(5 * 60);
/// Sorts after all ids, which have hexadecimal digits.
const AFTER_ALL: &str = "g";

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<Workflows>()],
    tables: Some(store::TABLES),
    start: Some(|_| Ok(Arc::new(WorkflowRuns))),
    ..Definition::new("workflows")
};

/// The capability of a running server.
struct WorkflowRuns;

impl Capability for WorkflowRuns {
    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(context.clone()))
    }

    fn console(&self, context: &Context) -> Option<Section> {
        Some(console::section(context.clone()))
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let advance = engine::handler(Arc::new(engine::ContextHost(context.clone())));
        let runs = Runs::from(context);
        let sweep = move || sweep(runs.clone());
        vec![Job::handler(advance), Job::recurring("workflows.sweep", SWEEP_INTERVAL, sweep)]
    }
}

/// Deletes old runs, and wakes runs that no job drives, for example because an operator has
/// cancelled it.
async fn sweep(runs: Runs) -> anyhow::Result<()> {
    let now = now_millis();
    while store::delete_ended_before(&runs.store, now - RETENTION.as_millis() as i64).await? {}
    let before = now - SWEEP_INTERVAL.as_millis() as i64;
    for (run_id, owner) in store::open_without(&runs.store, engine::ADVANCE.name(), before).await? {
        tracing::warn!(run = run_id, "a workflow's run had no job");
        let jobs = runs.jobs.clone();
        let write = runs
            .store
            .write(move |db| Box::pin(async move { engine::wake(&jobs, db, &run_id, &owner, Due::Now).await }));
        write.await?;
    }
    Ok(())
}

/// Returns a new id, which begins with the time.
fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
