#![doc = include_str!("../README.md")]

mod awaited;
mod console;
mod conversation;
mod counts;
mod engine;
mod input;
pub mod pages;
mod picture;
mod plan;
mod repeat;
mod routes;
mod service;
mod store;
mod stored;
mod triggered;
mod value;
mod waiting;

pub use awaited::{ReportedEvent, report_event};
pub use conversation::Commands;
pub use counts::{count_failed, count_undecided, workflow_ids};
pub use triggered::{
    RunEnd, StartOutcome, TriggeredRun, TriggeredWorkflow, author, check_input, ends, start_in, trigger_quotas,
    trigger_user_id, triggered_workflows,
};
pub use workflow_definition::{
    CronTrigger, EventTrigger, Trigger, TriggerKind, TriggerQuota, TriggerRights, WebhookSender, WebhookTrigger,
};

use capability::{AgentTools, Capability, ConfigAdditions, Context, Definition, Job, Waiting};
use chat::LifecycleEvent;
use config::{Config, SectionType};

use futures::future::BoxFuture;
use jobs::Due;
use service::Runs;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use stored::WorkflowEditors;
use waiting::WaitingTasks;
use web::admin::{MenuCount, Section};
use web::openapi::ApiRouter;
use web::times::now_millis;
use workflow_definition::{AgentWorkflows, WorkflowBytes, Workflows};

/// The retention time of a run after its end.
const RETENTION: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// The interval at which ended runs are deleted, and runs without a job are found.
const SWEEP_INTERVAL: Duration = Duration::from_secs(5 * 60);
/// The interval of the search for events of the product, while a run waits for one.
const EVENTS_INTERVAL: Duration = Duration::from_secs(2);
/// The interval of the check for due reminders.
const REMIND_INTERVAL: Duration = Duration::from_secs(5);
/// The interval at which the rights of the authors of stored definitions are checked.
const AUTHORS_INTERVAL: Duration = Duration::from_secs(5);
/// The retention time of an event.
const EVENT_RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Sorts after all ids, which have hexadecimal digits.
const AFTER_ALL: &str = "g";

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[
        SectionType::of::<Workflows>(),
        SectionType::of::<WorkflowEditors>(),
        SectionType::of::<WorkflowBytes>(),
        SectionType::of::<AgentWorkflows>(),
    ],
    tables: Some(store::TABLES),
    config_additions: Some(ConfigAdditions {
        version: |store| Box::pin(stored::version(store)),
        add: |store, config| Box::pin(async move { Ok(stored::with_stored(config, &stored::list(store).await?)) }),
    }),
    start: Some(|host| {
        let runs = Runs { store: host.store.clone(), jobs: host.jobs.clone() };
        host.waiting.provide(Arc::new(WaitingTasks));
        Ok(Arc::new(WorkflowRuns { runs, waiting: host.waiting.clone(), context: OnceLock::new() }))
    }),
    ..Definition::new("workflows")
};

/// The capability of a running server.
struct WorkflowRuns {
    runs: Runs,
    /// The notifier of people about questions.
    waiting: Waiting,
    /// Set when the server mounts its routes.
    context: OnceLock<Context>,
}

impl Capability for WorkflowRuns {
    fn agent_tools(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let Some(entries) = agent.section::<AgentWorkflows>() else { return Ok(AgentTools::default()) };
        Ok(AgentTools { sources: vec![conversation::source(config, entries, &self.runs)], ..AgentTools::default() })
    }

    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        let _ = self.context.set(context.clone());
        Some(routes::routes(context.clone()).merge(stored::routes(context.clone())))
    }

    fn console(&self, context: &Context) -> Option<Section> {
        Some(console::section(context.clone(), self.waiting.clone()))
    }

    fn menu_counts(&self, context: &Context) -> BoxFuture<'static, anyhow::Result<Vec<MenuCount>>> {
        let store = context.store.clone();
        Box::pin(async move { Ok(counts::menu_counts(&store).await?) })
    }

    /// The definitions of a deleted user, who was no administrator, are not used any more. If the event is lost,
    /// the job `workflows.authors` finds them.
    fn observe(&self, event: &LifecycleEvent) {
        let (LifecycleEvent::UserDeleted { .. }, Some(context)) = (event, self.context.get().cloned()) else { return };
        tokio::spawn(async move {
            if let Err(error) = stored::disable_unentitled(&context).await {
                tracing::error!(%error, "the workflows of a deleted user could not be disabled");
            }
        });
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let host = Arc::new(engine::ContextHost(context.clone(), self.waiting.clone()));
        let advance = engine::handler(host.clone());
        let runs = Runs::from(context);
        let (for_events, for_reminders) = (context.clone(), runs.clone());
        let events = move || {
            let context = for_events.clone();
            async move { Ok(engine::look_for_events(&Runs::from(&context), &context.current.operators()).await?) }
        };
        let remind = move || {
            let runs = for_reminders.clone();
            async move { Ok(engine::remind(&runs).await?) }
        };
        let for_authors = context.clone();
        let authors = move || {
            let context = for_authors.clone();
            async move { Ok(stored::disable_unentitled(&context).await?) }
        };
        let sweep = move || sweep(runs.clone());
        vec![
            Job::handler(advance),
            Job::handler(engine::match_handler(host)),
            Job::handler(conversation::handler(context)),
            // Mostly they find nothing, and looking costs less than the two writes of a job.
            Job::on_each_server("workflows.events", EVENTS_INTERVAL, events),
            Job::on_each_server("workflows.remind", REMIND_INTERVAL, remind),
            Job::on_each_server("workflows.authors", AUTHORS_INTERVAL, authors),
            Job::recurring("workflows.sweep", SWEEP_INTERVAL, sweep),
        ]
    }
}

/// Deletes old runs, and wakes runs that no job drives, for example
/// because an operator has cancelled the job.
async fn sweep(runs: Runs) -> anyhow::Result<()> {
    let now = now_millis();
    while store::delete_ended_before(&runs.store, now - RETENTION.as_millis() as i64).await? {}
    while runs.store.prune_events(now - EVENT_RETENTION.as_millis() as i64).await? {}
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
