//! Makes ended runs continue.

use super::{Runs, Viewer, check_cost_limit, failed, may_start, overtaken, run};
use crate::engine::wake;
use crate::repeat::{Repetition, repeated_steps};
use crate::store::{self, RunCaller, RunRow};
use ::store::sql::Db;
use ::store::{AuditEntry, StoreError, append_audit};
use jobs::Due;
use operators::Operators;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use web::times::now_millis;
use wire::{ErrorCode, UserError};
use workflow_definition::{RunLimits, Workflow};

/// The place of the error about steps that would have their effect once more.
pub(crate) const REPEATED_EFFECTS: &str = "/repeatEffects";
/// The most paths that a message names.
const MAX_NAMED: usize = 20;

/// The body that makes an ended run continue.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub(crate) struct RetryRequest {
    /// The path of the step from which the run continues: this step and all that started later run again. That of
    /// an `if`, `switch`, `parallel` or `loop` is its first step that has run. Default: the steps whose errors
    /// ended the run, and those that its end has cut off. Steps whose errors were handled do not run again.
    pub(crate) path: Option<String>,
    /// Whether the run continues with the definition that the config has now, with its `limits` and `runAs`,
    /// instead of the one with which it was started, and so do the runs of its children that have failed. The
    /// records of their steps are kept by their paths.
    pub(crate) use_current_definition: bool,
    /// Whether steps run again that have had their effect: calls that are done and not `idempotent`. For
    /// administrators. Without it, such a retry is refused.
    pub(crate) repeat_effects: bool,
    /// Limits beside those of the run; the stricter ones apply. Those of an administrator replace the run's. They
    /// count from now on, as if nothing had been used before.
    pub(crate) limits: RunLimits,
}

/// The facts about the config in use that a run needs when it continues.
pub(crate) struct CurrentConfig<W> {
    /// Returns a workflow.
    pub(crate) workflow: W,
    /// The operators of the program.
    pub(crate) operators: Arc<Operators>,
}

/// Makes an ended run continue. Its limits, also that of time, count from now, and its steps have the rights that
/// its owner has now.
///
/// # Errors
/// 404 for a run of another user, 403 for an owner who may not start the workflow any more and for one who repeats
/// effects without being an administrator, 409 for a run that has not ended, 422 for an unknown step, for limits that
/// cannot be kept, and for steps that would have their effect once more.
pub(crate) async fn retry(
    runs: &Runs,
    viewer: Viewer<'_>,
    id: &str,
    request: RetryRequest,
    current: CurrentConfig<impl Fn(&str) -> Option<Workflow> + Send + 'static>,
    audit: Option<AuditEntry>,
) -> Result<(), UserError> {
    let RetryRequest { path, use_current_definition, repeat_effects, limits } = request;
    let run = run(runs, viewer, id).await?;
    if run.ended_at.is_none() {
        return Err(overtaken("The run has not ended."));
    }
    if run.parent_id.is_some() {
        return Err(UserError::invalid("/", "This run is a step of another one. Retry that one."));
    }
    let CurrentConfig { workflow: current, operators } = current;
    let in_use = current(&run.workflow_id);
    check_owner(viewer, in_use.as_ref())?;
    let pinned = store::definition(&runs.store, &run.workflow_id, &run.version).await.map_err(failed)?;
    let (definition, known) = match (use_current_definition, in_use, pinned) {
        (true, Some(workflow), _) => {
            let limits = workflow.limits;
            (Some(workflow), limits)
        }
        (true, None, _) => {
            return Err(UserError::invalid("/useCurrentDefinition", "The config has no such workflow."));
        }
        (false, _, pinned) => (pinned, run.limits),
    };
    let definition = definition.ok_or_else(UserError::not_found)?;
    check_cost_limit(&limits, &known)?;
    let limits = if viewer.is_admin() { limits.or(&known) } else { known.stricter(&limits) };
    if repeat_effects && !viewer.is_admin() {
        let message = "Only administrators let steps have their effect once more. Start a new run instead.";
        return Err(UserError {
            path: Some(REPEATED_EFFECTS.to_owned()),
            ..UserError::new(ErrorCode::Forbidden, message)
        });
    }
    let from = (path.as_deref(), repeat_effects);
    let found = repeated_steps(&runs.store, &run, operators, from).await.map_err(failed)?;
    let Repetition { steps: again, effects } =
        found.map_err(|known| unknown_path(path.as_deref().unwrap_or_default(), &known))?;
    if !effects.is_empty() && !repeat_effects {
        return Err(effects_error(&effects, viewer));
    }
    let caller = caller_now(runs, viewer, &run, &definition).await?;
    let mut audit = viewer.audit(audit, "workflow:retry", || json!({ "runId": run.id, "path": path }));
    audit.arguments["useCurrentDefinition"] = use_current_definition.into();
    audit.arguments["repeatedEffects"] = json!(effects);
    let (id, owner, jobs, now) = (run.id, run.owner, runs.jobs.clone(), now_millis());
    let write = runs.store.write(move |db| {
        Box::pin(async move {
            if !store::reopen(db, &id, &limits, now).await? {
                return Err(StoreError::Fenced);
            }
            store::reopen_link(db, &id).await?;
            if use_current_definition {
                store::use_definition(db, &id, &definition, now).await?;
            }
            let current = move |id: &str| use_current_definition.then(|| current(id)).flatten();
            set_rights(db, &id, caller, current, now).await?;
            store::put_back(db, &id, &again, now).await?;
            wake(&jobs, db, &id, &owner, Due::Now).await?;
            append_audit(db, vec![audit]).await
        })
    });
    match write.await {
        Err(StoreError::Fenced) => Err(overtaken("The run has not ended.")),
        done => done.map_err(failed),
    }
}

/// Checks that an owner may still start the workflow: otherwise their runs would keep rights that were taken from them.
fn check_owner(viewer: Viewer<'_>, workflow: Option<&Workflow>) -> Result<(), UserError> {
    match viewer {
        Viewer::Owner(caller) if !workflow.is_some_and(|workflow| may_start(workflow, caller)) => {
            let message = "The workflow of this run does not exist any more, or you may not start it any more.";
            Err(UserError::new(ErrorCode::Forbidden, message))
        }
        _ => Ok(()),
    }
}

/// Returns as whom the steps act when the run continues: with the rights of the definition, or else with those that
/// its owner has now. Of an owner without an account on this server, an administrator knows only those of the run.
async fn caller_now(
    runs: &Runs,
    viewer: Viewer<'_>,
    run: &RunRow,
    definition: &Workflow,
) -> Result<RunCaller, UserError> {
    let mut now = match viewer {
        Viewer::Owner(caller) => RunCaller::from(caller),
        Viewer::Admin => match runs.store.user_by_id(&run.owner).await.map_err(failed)? {
            Some((user, _)) => RunCaller { roles: user.roles, ..run.caller.clone() },
            None => run.caller.clone(),
        },
    };
    if let Some(roles) = definition.own_roles() {
        now.roles = roles;
    }
    Ok(now)
}

/// Gives the run and the runs below it that may continue their rights and, if there are, their current definitions.
async fn set_rights(
    db: &mut Db,
    id: &str,
    caller: RunCaller,
    current: impl Fn(&str) -> Option<Workflow> + Send,
    now: i64,
) -> Result<(), StoreError> {
    store::set_caller(db, id, &caller).await?;
    let mut callers = HashMap::from([(id.to_owned(), caller)]);
    for below in store::failed_below(db, id).await? {
        // A run continues only if its parent does.
        let Some(parent) = callers.get(&below.parent_id) else { continue };
        let found = current(&below.workflow_id);
        let definition = match found {
            Some(definition) => {
                store::use_definition(db, &below.id, &definition, now).await?;
                Some(definition)
            }
            None => store::definition_in(db, &below.workflow_id, &below.version).await?,
        };
        let own = definition.as_ref().and_then(Workflow::own_roles);
        let caller = RunCaller { roles: own.unwrap_or_else(|| parent.roles.clone()), ..parent.clone() };
        store::set_caller(db, &below.id, &caller).await?;
        callers.insert(below.id, caller);
    }
    Ok(())
}

fn unknown_path(path: &str, known: &[String]) -> UserError {
    let named = named(known);
    let message = if known.is_empty() {
        "No step of this run has started.".to_owned()
    } else {
        format!("No step `{path}` has run. The steps of this run are: {named}.")
    };
    UserError::invalid("/path", message)
}

fn effects_error(effects: &[String], viewer: Viewer<'_>) -> UserError {
    let named = named(effects);
    let help = match viewer {
        // The page of the console asks.
        Viewer::Admin => "",
        Viewer::Owner(_) if viewer.is_admin() => " Send `repeatEffects: true` to let them run again.",
        Viewer::Owner(_) => " Start a new run, which asks for all approvals again, or retry without a path.",
    };
    let message = format!("These steps are done, and would have their effect once more: {named}.{help}");
    UserError::invalid(REPEATED_EFFECTS, message)
}

fn named(paths: &[String]) -> String {
    let mut named: Vec<_> = paths.iter().take(MAX_NAMED).map(|path| format!("`{path}`")).collect();
    if paths.len() > MAX_NAMED {
        named.push(format!("{} more", paths.len() - MAX_NAMED));
    }
    named.join(", ")
}
