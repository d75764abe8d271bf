//! A question to the user, as a request in the stream of a call's response.

use super::Asker;
use super::follow::{Followed, OpenForm};
use crate::store::{self, NewQuestion, QuestionState};
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use web::times::now_millis;

/// The time between two looks whether a question is still open, at first and after a while. Its answer may reach another
/// server. A server that shuts down waits longer than this for its connections.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
const MAX_LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// How long an answer may take from the moment in which it is seen until its run begins. The server that took it may have died
/// in between; then the decision is open again in the conversation.
const MAX_RECORDING: Duration = Duration::from_secs(30);

/// Returns the newest run of the conversation; `None` if it is not known.
pub(super) async fn last_run(followed: &Followed<'_>) -> Option<String> {
    let Followed { context, client, link, .. } = followed;
    let found = context.store.last_run(&client.caller.user_id, &link.conversation_id).await;
    found.inspect_err(|error| tracing::warn!(%error, "the newest run could not be read")).ok().flatten()
}

/// Sends a question to the client, and waits until it is answered, a later run than `known_run` has begun in the conversation, or
/// the time is over.
pub(super) async fn ask(
    followed: &Followed<'_>,
    asker: &Asker,
    open: OpenForm,
    known_run: Option<&str>,
    deadline: Instant,
    cancel: &CancellationToken,
) {
    let Followed { context, client, link, .. } = followed;
    let Some(key) = client.call.clone() else { return };
    let (database, owner) = (&context.store, &client.caller.user_id);
    let OpenForm { call, form, expires_at } = open;
    // Random, so that only the client that has got it can answer.
    let id = uuid::Uuid::new_v4().simple().to_string();
    let new = NewQuestion { key, id: id.clone(), conversation_id: link.conversation_id.clone(), call };
    match store::ask(database, new, now_millis()).await {
        Ok(true) => {}
        // The user has too many open ones, and answers this one in the conversation; or another server has cancelled the call.
        Ok(false) => return,
        Err(error) => {
            tracing::warn!(%error, "a question could not be stored");
            return;
        }
    }
    let params = json!({ "message": form.message, "requestedSchema": form.schema });
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params });
    // A client that does not read must not keep a cancelled call.
    let is_sent = tokio::select! {
        is_sent = asker.send(&message) => is_sent,
        () = cancel.cancelled() => false,
    };
    if is_sent && !is_answered(followed, &id, known_run, earlier(deadline, expires_at), cancel).await {
        let params = json!({ "requestId": id, "reason": "This is not asked any more." });
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        tokio::select! {
            _ = asker.send(&message) => {}
            () = cancel.cancelled() => {}
        }
    }
    if let Err(error) = store::end_question(database, owner, &id).await {
        tracing::warn!(%error, "a question that has ended could not be forgotten");
    }
}

/// Returns the earlier one of two times.
fn earlier(deadline: Instant, expires_at: Option<i64>) -> Instant {
    let left = expires_at.map(|at| Duration::from_millis(u64::try_from(at - now_millis()).unwrap_or_default()));
    left.and_then(|left| Instant::now().checked_add(left)).map_or(deadline, |expiry| expiry.min(deadline))
}

/// Returns the time since the first call with this variable.
fn time_since(first: &mut Option<Instant>) -> Duration {
    first.get_or_insert_with(Instant::now).elapsed()
}

/// Waits for the answer to a question. Returns false if the question ends without one, which the client must be told. An answer that
/// another server has taken and not recorded in time counts as one, because the client has no open question then either.
async fn is_answered(
    followed: &Followed<'_>,
    id: &str,
    known_run: Option<&str>,
    until: Instant,
    cancel: &CancellationToken,
) -> bool {
    let Followed { context, client, .. } = followed;
    let asked_at = Instant::now();
    let mut answered_at = None;
    loop {
        let interval = (LOOK_INTERVAL + asked_at.elapsed() / 60).min(MAX_LOOK_INTERVAL);
        tokio::select! {
            () = tokio::time::sleep(interval) => {}
            () = cancel.cancelled() => return false,
        }
        // The database is closed soon.
        if context.chat.is_draining() {
            return false;
        }
        // Read before the state of the question: an answer is claimed before its run begins, so a run without a claimed answer is
        // that of a decision in the conversation.
        let has_gone_on = last_run(followed).await.is_some_and(|run| Some(run.as_str()) != known_run);
        match store::question_state(&context.store, &client.caller.user_id, id).await {
            Ok(QuestionState::Ended) => return true,
            Ok(state) if has_gone_on => return state == QuestionState::Answered,
            Ok(QuestionState::Answered) if time_since(&mut answered_at) >= MAX_RECORDING => return true,
            Ok(QuestionState::Open | QuestionState::Answered) => {}
            // The next look may succeed.
            Err(error) => tracing::warn!(%error, "an open question could not be read"),
        }
        if Instant::now() >= until {
            return false;
        }
    }
}
