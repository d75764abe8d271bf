//! Asks users what servers want to know: the question is a data part of the message that is being written, and the
//! answer a request. The call waits meanwhile; if its server dies, the question is lost with the call.

mod routes;
mod store;

pub(crate) use routes::routes;
pub(crate) use store::{TABLES, delete_expired};

use crate::asking::{AskUser, QuestionRequest, ServerQuestion, UserAnswer};
use ::store::{Store, StoreError};
use capability::{AskToOpen, PageToOpen};
use contract::{MAX_USER_WAIT, ToolContext};
use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::Duration;
use store::NewQuestion;
use tokio_util::sync::CancellationToken;
use web::times::now_millis;
use wire::question::{QuestionOutcome, ToolQuestion};

/// How often the answer is looked for. It may arrive at any server of the database.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// The decision of the user about a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum AnswerAction {
    /// Sends the values of the form, or agrees to open the page.
    Accept,
    /// Refuses.
    Decline,
    /// Does not decide.
    Cancel,
}

/// The answer to a question of a running tool.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ToolQuestionAnswer")]
pub(crate) struct Answer {
    /// The decision of the user.
    action: AnswerAction,
    /// The values of the form.
    #[serde(default)]
    content: Map<String, Value>,
}

/// Asks users in their conversations.
#[derive(Clone)]
pub(crate) struct ConversationQuestions(pub(crate) Store);

impl AskUser for ConversationQuestions {
    fn ask(&self, question: ServerQuestion, context: ToolContext) -> BoxFuture<'static, UserAnswer> {
        self.ask_until(CancellationToken::new(), question, context)
    }
}

impl ConversationQuestions {
    /// Asks the user. Once `done` is cancelled, the user has done what they were asked for.
    fn ask_until(
        &self,
        done: CancellationToken,
        question: ServerQuestion,
        context: ToolContext,
    ) -> BoxFuture<'static, UserAnswer> {
        let store = self.0.clone();
        async move {
            let scope = &context.scope;
            if !scope.shows_questions || scope.conversation_id.is_empty() {
                return UserAnswer::Cancelled("nobody can be asked here");
            }
            match ask(&store, done, question, &context).await {
                Ok(answer) => answer,
                Err(error) => {
                    tracing::warn!(%error, "a question of an MCP server cannot be stored");
                    UserAnswer::Cancelled("the question could not be asked")
                }
            }
        }
        .boxed()
    }
}

impl AskToOpen for ConversationQuestions {
    fn ask_to_open(&self, page: PageToOpen, context: ToolContext, done: CancellationToken) -> BoxFuture<'static, bool> {
        let PageToOpen { service: server, message, path } = page;
        let question = ServerQuestion { server, message, request: QuestionRequest::OwnPage { path } };
        let asked = self.ask_until(done, question, context);
        async move { matches!(asked.await, UserAnswer::Accepted(_)) }.boxed()
    }
}

async fn ask(
    store: &Store,
    done: CancellationToken,
    question: ServerQuestion,
    context: &ToolContext,
) -> Result<UserAnswer, StoreError> {
    let ServerQuestion { server, message, request } = question;
    let id = uuid::Uuid::now_v7().to_string();
    let expires_at = now_millis() + MAX_USER_WAIT.as_millis() as i64;
    let (form, url, path) = match request {
        QuestionRequest::Form { schema } => (Some(schema), None, None),
        QuestionRequest::Open { url } => (None, Some(url), None),
        QuestionRequest::OwnPage { path } => (None, None, Some(path)),
    };
    let new = NewQuestion {
        id: id.clone(),
        owner: context.scope.user_id.clone(),
        conversation_id: context.scope.conversation_id.clone(),
        form: form.clone(),
        expires_at,
    };
    if !store::insert(store, new).await? {
        return Ok(UserAnswer::Cancelled("the user has too many open questions"));
    }
    // Also if the call is stopped.
    let _open = OpenQuestion { store: store.clone(), id: id.clone() };
    let mut shown = ToolQuestion {
        id: id.clone(),
        server,
        message,
        form: form.unwrap_or_default(),
        host: url.as_ref().and_then(|url| url.host_str()).unwrap_or_default().to_owned(),
        url: url.map(String::from).or(path),
        expires_at,
        outcome: None,
    };
    context.reports.question(&id, to_value(&shown)).await;
    let answer = tokio::select! {
        answer = wait(store, &id, expires_at) => answer?,
        () = done.cancelled() => UserAnswer::Accepted(Map::new()),
    };
    shown.outcome = Some(match &answer {
        UserAnswer::Accepted(_) => QuestionOutcome::Accepted,
        UserAnswer::Declined => QuestionOutcome::Declined,
        UserAnswer::Cancelled(_) => QuestionOutcome::Cancelled,
    });
    // The values are the server's: the conversation does not keep them, nor the form with what it suggests.
    shown.form = Value::Null;
    context.reports.question(&id, to_value(&shown)).await;
    Ok(answer)
}

fn to_value(question: &ToolQuestion) -> Value {
    serde_json::to_value(question).unwrap_or_default()
}

async fn wait(store: &Store, id: &str, expires_at: i64) -> Result<UserAnswer, StoreError> {
    loop {
        tokio::time::sleep(LOOK_INTERVAL).await;
        match store::answered(store, id).await? {
            None => return Ok(UserAnswer::Cancelled("the conversation was deleted")),
            Some(None) if now_millis() > expires_at => return Ok(UserAnswer::Cancelled("there was no answer in time")),
            Some(None) => {}
            Some(Some(Answer { action, content })) => {
                return Ok(match action {
                    AnswerAction::Accept => UserAnswer::Accepted(content),
                    AnswerAction::Decline => UserAnswer::Declined,
                    AnswerAction::Cancel => UserAnswer::Cancelled("the user has not decided"),
                });
            }
        }
    }
}

/// A stored question, which is deleted when this is dropped.
struct OpenQuestion {
    store: Store,
    id: String,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        let (store, id) = (self.store.clone(), std::mem::take(&mut self.id));
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Err(error) = store::delete(&store, id).await {
                // It is deleted when it has expired.
                tracing::warn!(%error, "an answered question of an MCP server cannot be deleted");
            }
        });
    }
}
