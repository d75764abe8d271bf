//! Runs of agents without a conversation whose calls wait for decisions.

use crate::deliver::agent_title;
use ::store::{AgentRunPhase, StoreError, UndecidedRunRow, agent_run};
use capability::{Context, FindWaiting, WaitingItem, WaitingKind};
use chat::Caller;
use std::pin::Pin;
use wire::invoke::RunQuestion;

/// The list of such runs in the console.
const CONSOLE_PATH: &str = "/admin/agent-runs";
/// The most runs of a user that are looked at, oldest first.
const MAX_LOOKED_AT: u32 = 300;

/// The result of a function of [`FindWaiting`].
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
            let runs = context.store.undecided_runs(&caller.user_id, caller.roles(), begin, MAX_LOOKED_AT).await?;
            let items = changed_after(runs, since, most).map(|run| {
                let questions = serde_json::from_value(run.questions).unwrap_or_default();
                item(context, &run.agent_id, questions, run.changed_at, (vec![caller.user_id.clone()], Vec::new()))
            });
            Ok(items.collect())
        })
    }
}

/// Returns the runs that have begun to wait after a time, at most `most`. Runs that wait for long do not count: nobody may
/// ever decide on them.
fn changed_after(runs: Vec<UndecidedRunRow>, since: i64, most: u32) -> impl Iterator<Item = UndecidedRunRow> {
    runs.into_iter().filter(move |run| run.changed_at > since).take(most as usize)
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn runs_that_wait_for_long_do_not_hide_new_ones() {
        let run = |(id, changed_at): (&str, i64)| UndecidedRunRow {
            id: id.to_owned(),
            owner: "ada".to_owned(),
            agent_id: "clerk".to_owned(),
            caller: "{}".to_owned(),
            questions: json!([]),
            created_at: 1,
            changed_at,
        };
        let runs: Vec<_> = [("a", 1), ("b", 2), ("c", 9), ("d", 8), ("e", 7)].map(run).into();
        let found: Vec<_> = changed_after(runs, 2, 2).map(|run| run.id).collect();
        assert_eq!(found, ["c", "d"]);
    }
}
