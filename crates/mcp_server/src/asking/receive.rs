//! The answers of clients to requests in the stream of a call's response. Any server of the database may get them.

use super::form::{self, OpenCall, Reply};
use super::submit;
use crate::error::Refusal;
use crate::store::{self, AskedQuestion};
use axum::http::StatusCode;
use capability::Context;
use chat::Caller;
use web::times::now_millis;

/// Records the answer of a client to a question, which continues the agent's answer. One that decides nothing only ends the
/// question, and the agent waits as before.
///
/// # Errors
/// 400 if no such question is open in this session; those of a submission.
pub(crate) async fn receive(
    context: &Context,
    caller: &Caller,
    session_id: &str,
    id: &str,
    reply: Reply,
) -> Result<(), Refusal> {
    let owner = &caller.user_id;
    let Some(question) = store::question(&context.store, owner, session_id, id).await? else {
        let message = "No question with this id is open in this session.";
        return Err(Refusal::invalid(StatusCode::BAD_REQUEST, message));
    };
    let decided = decide(context, caller, id, question, &reply).await;
    // The call, which may wait on another server, looks at the conversation when the question has ended. That must not happen
    // while another answer is being recorded.
    match decided {
        Ok(false) => store::end_unanswered(&context.store, owner, id).await?,
        Ok(true) | Err(_) => store::end_question(&context.store, owner, id).await?,
    }
    decided.map(drop)
}

/// Submits the decision of an answer. Returns false if it decides nothing, or another answer came first.
async fn decide(
    context: &Context,
    caller: &Caller,
    id: &str,
    question: AskedQuestion,
    reply: &Reply,
) -> Result<bool, Refusal> {
    let view = context.chat.conversation(caller, &question.conversation_id).await?;
    let waiting = view.messages.last().into_iter().flat_map(|last| last.tools());
    let mut waiting = waiting.filter(|tool| tool.waits_for_user(now_millis()));
    let asked = waiting.find(|tool| OpenCall::of(tool) == question.call);
    let Some(answer) = asked.and_then(|tool| form::answer(tool, reply)) else { return Ok(false) };
    // Of several answers, one counts.
    let is_first = store::claim(&context.store, &caller.user_id, id).await?;
    if is_first {
        submit(context, caller, &view, vec![answer]).await?;
    }
    Ok(is_first)
}
