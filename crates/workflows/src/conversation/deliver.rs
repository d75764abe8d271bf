//! Gives a conversation the result of a run that was started in it. The end of the run enqueues the job
//! in its own transaction, so the result arrives from any server, also if one is killed in between. It
//! arrives once: the message's id names the run and its end.

use crate::service::Runs;
use crate::store::{self, ConversationLink, RunRow, RunState};
use ::store::sql::Db;
use ::store::{AlsoWrite, StoreError};
use capability::Context;
use chat::{Delivery, DeliveryOutcome};
use jobs::{Backoff, Due, Handler, JobContext, JobError, Jobs, Kind, Lane, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use web::times::now_millis;
use wire::WORKFLOW_RESULT;
use wire::message::DataPart;
use wire::workflow::{self, RunResult};
use workflow_definition::{Workflow, Workflows};

/// The longest output in a message, as JSON in bytes: the model reads it in each later turn.
const MAX_OUTPUT: usize = 32 * 1024;
/// The pauses before the result is offered again to a conversation that is busy.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The job that gives a conversation the result. Its key is the run's id.
const DELIVER: Kind<Deliver> = Kind::new("workflows.deliver")
    .lane(Lane::Interactive)
    .concurrency(8)
    .attempts(1_000)
    .backoff(Backoff { base: Duration::from_millis(500), cap: Duration::from_secs(60) })
    .timeout(Duration::from_secs(120));

/// The payload.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Deliver {
    run_id: String,
}

/// Enqueues the job in the transaction that ends a run, if the run belongs to a conversation.
pub(crate) async fn deliver_soon(jobs: &Jobs, db: &mut Db, run_id: &str, owner: &str) -> Result<(), StoreError> {
    if store::is_to_deliver(db, run_id).await? {
        let job = DELIVER.job(&Deliver { run_id: run_id.to_owned() }).key(run_id).owner(owner);
        jobs.enqueue_in(db, job).await?;
    }
    Ok(())
}

/// Returns the handler of the job.
pub(crate) fn handler(context: &Context) -> Handler {
    let context = context.clone();
    Handler::new(DELIVER, move |_: JobContext, Deliver { run_id }| {
        let context = context.clone();
        async move { deliver(&context, &run_id).await }
    })
}

async fn deliver(context: &Context, run_id: &str) -> Result<Outcome, JobError> {
    let runs = Runs::from(context);
    // Gone with the conversation, the run or the user.
    let Some(link) = store::link(&runs.store, run_id).await? else { return Ok(Outcome::DONE) };
    let Some(run) = store::run(&runs.store, run_id).await? else { return Ok(Outcome::DONE) };
    let end = run.ended_at.zip(result_id(&run));
    let (Some(conversation_id), Some((ended_at, message_id)), false) =
        (link.conversation_id.clone(), end, link.is_delivered)
    else {
        return Ok(Outcome::DONE);
    };
    let caller = link.caller.caller(&link.owner);
    let delivery = delivery(context, &run, &link, conversation_id, message_id);
    match context.chat.deliver(&caller, delivery, mark_delivered(run.id)).await {
        Ok(DeliveryOutcome::Delivered) => Ok(Outcome::DONE),
        // A deleted conversation can be restored for a while; then the link is gone.
        Ok(DeliveryOutcome::Busy | DeliveryOutcome::Gone) => Ok(Outcome::again(Due::After(pause(ended_at)))),
        Err(error) => Err(JobError::retry(error.message)),
    }
}

/// Writes that the conversation has the result, with the message.
fn mark_delivered(run_id: String) -> AlsoWrite {
    Box::new(move |db| Box::pin(async move { store::set_delivered(db, &run_id).await }))
}

/// Returns the id of the message with the result of a run that has ended. A run that is retried has several
/// ends.
pub(crate) fn result_id(run: &RunRow) -> Option<String> {
    run.ended_at.map(|ended_at| format!("run-{}-{ended_at}", run.id))
}

/// A pause that grows with the time since the end of the run.
fn pause(ended_at: i64) -> Duration {
    let since = Duration::from_millis(u64::try_from(now_millis() - ended_at).unwrap_or_default());
    (since / 4).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
}

fn delivery(
    context: &Context,
    run: &RunRow,
    link: &ConversationLink,
    conversation_id: String,
    message_id: String,
) -> Delivery {
    let config = context.current.config();
    let workflow = config.section::<Workflows>().and_then(|all| all.get(&run.workflow_id));
    let (output, is_cut) = bounded(&run.output);
    let result = RunResult {
        run_id: run.id.clone(),
        workflow: workflow.map_or(run.workflow_id.as_str(), Workflow::title).to_owned(),
        state: match run.state {
            RunState::Done => workflow::RunState::Done,
            RunState::Stopped => workflow::RunState::Stopped,
            // A run that has ended is in no other state.
            RunState::Failed | RunState::Running | RunState::Waiting => workflow::RunState::Failed,
        },
        output,
        is_cut,
        cause: run.error.as_ref().map(|error| error.message.clone()),
    };
    let data = serde_json::to_value(result).unwrap_or_default();
    Delivery {
        conversation_id,
        message_id,
        parts: vec![DataPart { kind: WORKFLOW_RESULT.to_owned(), id: Some(run.id.clone()), data }],
        exposure: link.exposure.clone(),
        goes_on: link.goes_on,
    }
}

/// Returns an output, or the beginning of its text if it is too long.
fn bounded(output: &Value) -> (Value, bool) {
    let text = match output {
        Value::String(text) => text.clone(),
        output => output.to_string(),
    };
    if text.len() <= MAX_OUTPUT {
        return (output.clone(), false);
    }
    let end = text.floor_char_boundary(MAX_OUTPUT);
    (Value::String(text[..end].to_owned()), true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_outputs_are_cut_at_a_character() {
        let check = |output: Value, expected: (Value, bool)| assert_eq!(bounded(&output), expected);
        check(json!({ "total": 5 }), (json!({ "total": 5 }), false));
        check(json!("x".repeat(MAX_OUTPUT)), (json!("x".repeat(MAX_OUTPUT)), false));
        check(json!("ä".repeat(MAX_OUTPUT)), (json!("ä".repeat(MAX_OUTPUT / 2)), true));
        let list = json!(vec![1; MAX_OUTPUT]);
        check(list.clone(), (json!(list.to_string()[..MAX_OUTPUT]), true));
    }
}
