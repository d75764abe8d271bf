//! Events that programs report and for which runs wait.

use crate::engine::match_soon;
use crate::store;
use ::store::{ADMIN, EventKind, NewEvent, Store, StoreError, append_event};
use config::Config;
use jobs::Jobs;
use workflow_definition::{StepKind, Workflow, Workflows};

/// An event that a program reports.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportedEvent {
    /// The name.
    pub name: String,
    /// The id that only this event has.
    pub id: String,
    /// The value of `_event`.
    pub event: serde_json::Value,
    /// The roles of the user who reports it.
    pub roles: Vec<String>,
    /// Unix time in milliseconds.
    pub now: i64,
}

/// Stores an event if a workflow may wait for it, by whom it comes. Returns false if none does.
///
/// # Errors
/// The database failed; nothing is stored then.
pub async fn report_event(
    store: &Store,
    jobs: &Jobs,
    config: &Config,
    reported: ReportedEvent,
) -> Result<bool, StoreError> {
    let ReportedEvent { name, id, event, roles, now } = reported;
    if EventKind::from_name(&name).is_some() {
        // This is an event of the product, which programs cannot report.
        return Ok(false);
    }
    let workflows = config.section::<Workflows>().map_or(&[][..], |all| &all.0);
    // A run keeps to its own version of the definition, so the waits that have begun count as well.
    let is_awaited = workflows.iter().any(|workflow| may_await(workflow, &name, &roles))
        || store::is_awaited(store, &name, &roles).await?;
    if !is_awaited {
        return Ok(false);
    }
    let jobs = jobs.clone();
    let write = store.write(move |db| {
        Box::pin(async move {
            let new = NewEvent { name: name.clone(), key: id, at: now, data: event, roles: Some(roles) };
            if append_event(db, new).await? { match_soon(&jobs, db, &name).await } else { Ok(()) }
        })
    });
    write.await?;
    Ok(true)
}

fn may_await(workflow: &Workflow, name: &str, roles: &[String]) -> bool {
    let mut is_awaited = false;
    workflow.for_each_step(&mut |step| {
        let StepKind::Wait(wait) = &step.kind else { return };
        let may_report = |role: &String| match &wait.senders {
            Some(senders) => senders.iter().any(|sender| sender.0 == *role),
            None => role == ADMIN,
        };
        let is_it = wait.event.as_ref().is_some_and(|event| event.0 == name);
        is_awaited |= is_it && roles.iter().any(may_report);
    });
    is_awaited
}
