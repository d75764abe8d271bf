//! Asks the user through the client, for the approvals and the questions that an agent's answer waits for.
//!
//! Until the version 2025-11-25, a question is a request in the stream of the call's response, and its answer comes with an HTTP request of
//! its own, which any server may get. From the version 2026-07-28 on, it is a result of the call, and the client calls again with the answer.
//! Either way the answer is a submission to the conversation, as one from the web page, so the same checks and records hold.

mod follow;
pub(crate) mod form;
mod question;
pub(crate) mod receive;
pub(crate) mod rounds;
pub(crate) mod session;

pub(crate) use follow::Followed;

use auth::audit_row;
use bytes::Bytes;
use capability::Context;
use chat::{Caller, SendResponse};
use rmcp::model::InputResponses;
use serde_json::{Map, Value, json};
use store::AuditEntry;
use tokio::sync::mpsc;
use wire::UserError;
use wire::api::{Answer, ConversationView, RunOptions, SendRequest, Submission};

/// How a call asks the user.
pub(crate) enum Asking {
    /// Not at all: the client shows no forms.
    No,
    /// With requests in the stream of the response.
    Stream(Asker),
    /// With a result, after which the client calls again.
    Rounds,
}

/// The answers with which a client calls again.
pub(crate) struct Retry {
    /// The state, as the client got it.
    pub(crate) state: String,
    /// The results of the requests, by their keys.
    pub(crate) responses: InputResponses,
}

/// Sends events to a client, in the stream of the response to its call.
#[derive(Clone)]
pub(crate) struct Asker(mpsc::Sender<Bytes>);

impl Asker {
    /// Creates an asker, and the events that it sends.
    pub(crate) fn channel() -> (Self, mpsc::Receiver<Bytes>) {
        let (sender, receiver) = mpsc::channel(1);
        (Self(sender), receiver)
    }

    /// Sends a message of JSON-RPC. Returns false if the client has gone.
    async fn send(&self, message: &Value) -> bool {
        self.0.send(format!("data: {message}\n\n").into()).await.is_ok()
    }
}

/// Submits answers to the newest message of a conversation. The audit log gets a row for each of them together with the decision, so
/// there is none for an answer that is refused or lost.
///
/// # Errors
/// Those of [`chat::Chat::send`].
async fn submit(
    context: &Context,
    caller: &Caller,
    view: &ConversationView,
    answers: Vec<Answer>,
) -> Result<SendResponse, UserError> {
    let audit = answers.iter().map(|answer| audit_entry(caller, &view.summary.id, answer)).collect();
    let request = SendRequest {
        page_id: view.summary.page_id.clone(),
        block_id: None,
        agent_id: view.summary.agent_id.clone(),
        conversation_id: view.summary.id.clone(),
        submission: Submission::Answers { answers },
        shared_state: Map::new(),
        url_query: Map::new(),
        switches: Map::new(),
        options: RunOptions::default(),
    };
    context.chat.send_audited(caller, request, audit).await
}

/// Returns the audit row of an answer that came over MCP.
fn audit_entry(caller: &Caller, conversation_id: &str, answer: &Answer) -> AuditEntry {
    let about = match answer {
        Answer::Approval { tool_call_id, approval_id, approved, .. } => {
            json!({ "callId": tool_call_id, "approvalId": approval_id, "approved": approved })
        }
        Answer::Started { tool_call_id, .. }
        | Answer::Output { tool_call_id, .. }
        | Answer::Error { tool_call_id, .. } => {
            json!({ "callId": tool_call_id })
        }
    };
    audit_row(&caller.user_id, "mcp:answer", conversation_id, about)
}
