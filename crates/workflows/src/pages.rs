//! The data and the actions of the blocks `WorkflowTasks` and `WorkflowRuns`. Each function takes the caller,
//! as the routes do.

use crate::conversation::result_id;
pub use crate::conversation::start_in_chat;
use crate::picture::{picture, step_state};
use crate::routes::current;
use crate::service::{
    self, Action, Answer, DecideRequest, RerunRequest, RetryRequest, RunDetail, Runs, StartRequest, Viewer,
};
use crate::store::{self, RunRow, RunState, StepRow, TaskRow};
use capability::Context;
use chat::Caller;
use serde_json::{Map, Value};
use std::sync::Arc;
use web::admin::{UserNames, from_store_error};
use wire::UserError;
use wire::workflow::{
    self, RunAction, RunChange, RunItem, RunList, RunProgress, RunView, StepView, Task, TaskAnswer, TaskKind, TaskList,
    WorkflowItem,
};
use workflow_definition::{Ask, Workflow, Workflows};

/// The most questions of a page of the list.
const TASKS: u32 = 50;
/// The most runs of a page of the list.
const RUNS: u32 = 30;
/// The highest number of waiting questions that is counted.
pub const MAX_COUNT: u32 = 99;

/// Returns a page of the open questions that the caller may answer, oldest first. `after` is `next` of the page before;
/// empty for the first page.
///
/// # Errors
/// The database is not available.
pub async fn tasks(context: &Context, caller: &Caller, after: &str) -> Result<TaskList, UserError> {
    let mut rows = store::tasks_for(&context.store, caller, after, TASKS + 1).await.map_err(from_store_error)?;
    let has_more = rows.len() > TASKS as usize;
    rows.truncate(TASKS as usize);
    let next = rows.last().filter(|_| has_more).map(|row| row.id.clone());
    let names = UserNames::load(&context.store, rows.iter().map(|row| row.owner.as_str())).await?;
    let titles = Titles::new(context);
    let items = rows.into_iter().map(|row| task(row, &names, &titles)).collect();
    Ok(TaskList { items, next })
}

/// Counts the open questions that the caller may answer, up to [`MAX_COUNT`].
///
/// # Errors
/// The database is not available.
pub async fn count_tasks(context: &Context, caller: &Caller) -> Result<u32, UserError> {
    store::count_tasks(&context.store, caller, MAX_COUNT).await.map_err(from_store_error)
}

/// Answers a question.
///
/// # Errors
/// 404 for a question that the caller may not answer, 409 for one that is not open any more, 422
/// for an invalid answer.
pub async fn answer_task(context: &Context, caller: &Caller, id: &str, answer: TaskAnswer) -> Result<(), UserError> {
    let TaskAnswer { approved, choice, values, comment } = answer;
    let answer = Answer { approved, choice, values, comment };
    service::answer(&context.into(), caller, id, answer).await.map(drop)
}

/// Returns a page of the caller's runs, of one workflow or of all, and with the first page the workflows that they may
/// start.
///
/// # Errors
/// The database is not available.
pub async fn runs(
    context: &Context,
    caller: &Caller,
    after: Option<&str>,
    workflow: Option<&str>,
) -> Result<RunList, UserError> {
    let before = after.unwrap_or(crate::AFTER_ALL);
    let rows = store::runs_of(&context.store, &caller.user_id, before, workflow, RUNS + 1).await;
    let mut rows = rows.map_err(from_store_error)?;
    let has_more = rows.len() > RUNS as usize;
    rows.truncate(RUNS as usize);
    let next = rows.last().filter(|_| has_more).map(|run| run.id.clone());
    let workflows = if after.is_none() { startable(context, caller) } else { Vec::new() };
    let titles = Titles::new(context);
    Ok(RunList { items: rows.iter().map(|run| run_item(run, &titles)).collect(), next, workflows })
}

/// Returns a run of the caller with its steps.
///
/// # Errors
/// 404 for a run of another user.
pub async fn run(context: &Context, caller: &Caller, id: &str) -> Result<RunView, UserError> {
    let detail = service::detail(&context.into(), Viewer::Owner(caller), id).await?;
    view(context, caller, &detail).await
}

/// Returns how far a run is that belongs to a conversation of the caller, with the questions that the
/// caller may answer.
///
/// # Errors
/// 404 for a run of another user.
pub async fn progress(context: &Context, caller: &Caller, id: &str) -> Result<RunProgress, UserError> {
    let run = service::run(&context.into(), Viewer::Owner(caller), id).await?;
    let rows = match run.ended_at {
        None => store::tasks_below(&context.store, caller, id, TASKS).await.map_err(from_store_error)?,
        Some(_) => Vec::new(),
    };
    let names = UserNames::load(&context.store, rows.iter().map(|row| row.owner.as_str())).await?;
    let titles = Titles::new(context);
    let link = store::link(&context.store, id).await.map_err(from_store_error)?;
    Ok(RunProgress {
        run: run_item(&run, &titles),
        tasks: rows.into_iter().map(|row| task(row, &names, &titles)).collect(),
        result_id: link.as_ref().filter(|link| link.is_delivered).and_then(|_| result_id(&run)),
        // No conversation gets the result of other runs.
        is_awaited: link.is_some_and(|link| !link.is_delivered && link.conversation_id.is_some()),
    })
}

/// Returns those of the caller's conversations in which a run asks the caller something.
///
/// # Errors
/// The database is not available.
pub async fn waiting_conversations(
    context: &Context,
    caller: &Caller,
    ids: Vec<String>,
) -> Result<Vec<String>, UserError> {
    store::waiting_conversations(&context.store, caller, ids).await.map_err(from_store_error)
}

/// Starts a run.
///
/// # Errors
/// 404 for a workflow that the caller may not start, 422 for an invalid input, 429 for too many
/// runs.
pub async fn start(
    context: &Context,
    caller: &Caller,
    id: &str,
    input: Map<String, Value>,
) -> Result<RunItem, UserError> {
    let workflow = service::workflow(&context.current.config(), caller, id)?;
    let request = StartRequest { input, ..StartRequest::default() };
    let run = service::start(&context.into(), caller, workflow, request).await?;
    Ok(run_item(&run, &Titles::new(context)))
}

/// Starts a new run with the definition of a run of the caller as it is now, and with this input.
///
/// # Errors
/// 404 for a run of another user or a workflow that the caller may not start, 422 for an invalid input, 429 for too
/// many runs.
pub async fn rerun(
    context: &Context,
    caller: &Caller,
    id: &str,
    input: Map<String, Value>,
) -> Result<RunItem, UserError> {
    let (config, who) = (context.current.config(), (Viewer::Owner(caller), caller));
    let request = RerunRequest { input: Some(input), ..RerunRequest::default() };
    let run = service::rerun(&context.into(), who, &config, id, request, None).await?;
    Ok(run_item(&run, &Titles::new(context)))
}

/// Returns a workflow that the caller may start.
///
/// # Errors
/// 404 for one that does not exist or that the caller may not start.
pub fn startable_workflow(context: &Context, caller: &Caller, id: &str) -> Result<WorkflowItem, UserError> {
    Ok(workflow_item(&service::workflow(&context.current.config(), caller, id)?))
}

/// Changes a run of the caller.
///
/// # Errors
/// 404 for a run of another user, 409 for one that is not in the state that the change needs.
pub async fn change_run(context: &Context, caller: &Caller, id: &str, change: RunChange) -> Result<(), UserError> {
    let (runs, viewer): (Runs, _) = (context.into(), Viewer::Owner(caller));
    let decision = match change.action {
        RunAction::Stop => return service::stop(&runs, viewer, id, None).await,
        RunAction::Retry => {
            let request = RetryRequest { path: change.path, ..RetryRequest::default() };
            return service::retry(&runs, viewer, id, request, current(context), None).await;
        }
        RunAction::RunAgain => Action::RunAgain,
        RunAction::Skip => Action::Skip,
        RunAction::Fail => Action::Fail,
    };
    let request = DecideRequest { path: change.path.unwrap_or_default(), action: decision, output: Value::Null };
    service::decide(&runs, viewer, id, request, None).await
}

/// Returns a run as pages show it to a caller.
pub(crate) async fn view(context: &Context, caller: &Caller, detail: &RunDetail) -> Result<RunView, UserError> {
    let RunDetail { run, steps, .. } = detail;
    let definition = store::definition(&context.store, &run.workflow_id, &run.version).await;
    let definition = definition.map_err(from_store_error)?;
    let workflow = || service::workflow(&context.current.config(), caller, &run.workflow_id).ok();
    Ok(RunView {
        run: run_item(run, &Titles::new(context)),
        input: run.input.clone(),
        output: run.output.clone(),
        picture: definition.and_then(|definition| picture(&definition, run, steps)),
        steps: steps.iter().map(step_view).collect(),
        may_retry: run.ended_at.is_some() && run.parent_id.is_none() && run.state != RunState::Done,
        again: run.ended_at.and_then(|_| workflow()).as_ref().map(workflow_item),
        rerun_of: run.rerun_of.clone(),
    })
}

/// The titles of the workflows in the config.
struct Titles(Arc<config::Config>);

impl Titles {
    fn new(context: &Context) -> Self {
        Self(context.current.config())
    }

    fn get(&self, id: &str) -> String {
        let workflow = self.0.section::<Workflows>().and_then(|all| all.get(id));
        workflow.map_or(id, Workflow::title).to_owned()
    }
}

fn startable(context: &Context, caller: &Caller) -> Vec<WorkflowItem> {
    let config = context.current.config();
    let all = config.section::<Workflows>().map_or(&[][..], |all| &all.0);
    all.iter().filter(|workflow| service::may_start(workflow, caller)).map(workflow_item).collect()
}

fn workflow_item(workflow: &Workflow) -> WorkflowItem {
    WorkflowItem {
        id: workflow.id.0.clone(),
        title: workflow.title().to_owned(),
        description: workflow.description.clone(),
        input: workflow.input.clone().map(Value::Object),
    }
}

fn task(row: TaskRow, names: &UserNames, titles: &Titles) -> Task {
    Task {
        workflow: titles.get(&row.workflow_id),
        started_by: names.get(&row.owner).map(str::to_owned),
        id: row.id,
        run_id: row.run_id,
        ask: match row.ask {
            Ask::Approve => TaskKind::Approve,
            Ask::Choose => TaskKind::Choose,
            Ask::Form => TaskKind::Form,
        },
        title: row.title,
        details: row.details,
        choices: row.choices,
        form: row.form.unwrap_or_default(),
        is_cut_off: false,
        created_at: row.created_at,
        due_at: row.due_at,
    }
}

fn run_item(run: &RunRow, titles: &Titles) -> RunItem {
    RunItem {
        id: run.id.clone(),
        workflow: titles.get(&run.workflow_id),
        state: match run.state {
            RunState::Running => workflow::RunState::Running,
            RunState::Waiting => workflow::RunState::Waiting,
            RunState::Done => workflow::RunState::Done,
            RunState::Failed => workflow::RunState::Failed,
            RunState::Stopped => workflow::RunState::Stopped,
        },
        cause: run.error.as_ref().map(|error| error.message.clone()),
        cost: run.used.cost(),
        created_at: run.created_at,
        ended_at: run.ended_at,
    }
}

fn step_view(row: &StepRow) -> StepView {
    StepView {
        path: row.path.clone(),
        kind: row.kind.clone(),
        state: step_state(row.state),
        attempts: row.attempt,
        input: row.input.clone(),
        output: row.output.clone(),
        error: row.error.as_ref().map(|error| error.message.clone()),
        tokens: row.used.total_tokens,
        cost: row.used.cost(),
        started_at: row.started_at,
        ended_at: row.ended_at,
    }
}
