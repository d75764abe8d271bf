//! Runs of agents without a conversation whose calls wait for decisions.

use crate::deliver::agent_title;
use ::store::{AgentRunPhase, StoreError, agent_run};
use capability::{Context, FindWaiting, WaitingItem, WaitingKind};
use chat::Caller;
use std::pin::Pin;
use wire::invoke::RunQuestion;

/// The list of such runs in the console.
const CONSOLE_PATH: &str = "/admin/agent-runs";

/// What a function of [`FindWaiting`] returns.
type Found<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Finds the runs that wait.
pub(crate) struct WaitingRuns;

impl FindWaiting for WaitingRuns {
    fn find<'a>(&'a self, context: &'a Context, kind: WaitingKind, id: &'a str) -> Found<'a, Option<WaitingItem>> {
        Box::pin(async move {
            if kind != WaitingKind::AgentRun {
                return Ok(None);
            }
            let run_id = id.to_owned();
            let run = context.store.read(move |db| Box::pin(async move { agent_run(db, &run_id).await })).await?;
            let Some(run) = run.filter(|run| run.phase == AgentRunPhase::Waiting) else { return Ok(None) };
            let questions = run.questions.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
            // Its owner decides if no roles do.
            let users = if run.approvers.is_empty() { vec![run.owner] } else { Vec::new() };
            Ok(Some(item(context, &run.agent_id, questions, run.created_at, (users, run.approvers))))
        })
    }

    fn for_user<'a>(
        &'a self,
        context: &'a Context,
        caller: &'a Caller,
        since: i64,
        most: u32,
    ) -> Found<'a, Vec<WaitingItem>> {
        Box::pin(async move {
            let begin = (i64::MIN, "");
            let runs = context.store.undecided_runs(&caller.user_id, caller.roles(), begin, most).await?;
            let new = runs.into_iter().filter(|run| run.changed_at > since);
            let items = new.map(|run| {
                let questions = serde_json::from_value(run.questions).unwrap_or_default();
                item(context, &run.agent_id, questions, run.changed_at, (vec![caller.user_id.clone()], Vec::new()))
            });
            Ok(items.collect())
        })
    }
}

fn item(
    context: &Context,
    agent_id: &str,
    questions: Vec<RunQuestion>,
    since: i64,
    (users, roles): (Vec<String>, Vec<String>),
) -> WaitingItem {
    WaitingItem {
        kind: WaitingKind::AgentRun,
        subject: agent_title(&context.current.config(), agent_id).to_owned(),
        title: questions.into_iter().next().map(|question| question.tool_name).unwrap_or_default(),
        since,
        console_path: CONSOLE_PATH.to_owned(),
        users,
        roles,
    }
}
