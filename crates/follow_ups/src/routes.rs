//! The route with which pages and programs ask for suggestions.

use crate::answer::{FORM, INSTRUCTIONS, schema, usable_questions};
use crate::excerpt::{PromptMessage, SentMessage, from_branch, from_request, prompt};
use crate::section::{FollowUpSettings, FollowUps, MAX_COUNT};
use auth::password::KeyScope;
use auth::rights::{AccessDecision, check_rule};
use axum::extract::{Path, State};
use axum::{Extension, Json};
use capability::{Context, ModelFailure, ModelQuestion};
use chat::Caller;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use web::openapi::{Access, ApiRouter, Tag};
use web::{HttpError, SentJson, valid_json};
use wire::{ErrorCode, UserError};

/// The group in the OpenAPI document.
const SUGGESTIONS: Tag = Tag {
    name: "suggestions",
    description: "Suggestions for the caller's next question in a conversation. Scope `conversations`.",
    access: Access::Users { scope: Some(KeyScope::Conversations) },
};

/// The most requests to models at the same time; more wait.
const MAX_AT_ONCE: usize = 16;
/// The time limit of a request, including the wait.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The longest answer of the model in tokens, for models that reason before it.
const MAX_OUTPUT_TOKENS: u32 = 1_500;
/// The most messages in a request.
const MAX_SENT: usize = 200;

/// The state of the route.
#[derive(Clone)]
struct SuggestionRoute {
    context: Context,
    permits: Arc<Semaphore>,
}

/// Returns the routes.
pub(crate) fn routes(context: Context) -> ApiRouter {
    let state = SuggestionRoute { context, permits: Arc::new(Semaphore::new(MAX_AT_ONCE)) };
    ApiRouter::new(&SUGGESTIONS)
        .post("/api/conversations/{id}/suggestions", suggest, "Suggest follow-up questions in a conversation")
        .map(|router| router.with_state(state))
}

/// The request.
#[derive(Default, Deserialize, JsonSchema)]
struct SuggestBody {
    /// The number of suggestions, from 1 to 5; other numbers count as the nearest of these.
    /// Default: `count` of the agent's `followUps`.
    #[serde(default)]
    n: Option<i64>,
    /// The messages to read instead of those of the conversation, oldest first. The newest ones are
    /// read.
    #[serde(default)]
    messages: Option<Vec<SentMessage>>,
}

/// The suggestions.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct SuggestionList {
    /// The suggestions; none if there is no answer yet, or the model's answer was not usable.
    suggestions: Vec<String>,
}

/// `POST /api/conversations/{id}/suggestions`
async fn suggest(
    State(route): State<SuggestionRoute>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    body: SentJson<SuggestBody>,
) -> Result<Json<SuggestionList>, HttpError> {
    let store = &route.context.store;
    let conversation = store.conversation(&caller.user_id, &id).await?.ok_or_else(UserError::not_found)?;
    let agent_id = conversation.summary.agent_id;
    let SuggestBody { n, messages } = valid_json(body)?;
    let settings = settings(&route.context, &caller, &agent_id)?;
    let messages = match messages {
        Some(messages) if messages.len() > MAX_SENT => {
            return Err(UserError::invalid("/messages", format!("At most {MAX_SENT} messages are read.")).into());
        }
        Some(messages) => from_request(&messages),
        None => {
            let branch = store.branch(&caller.user_id, &id).await?;
            from_branch(branch.iter().map(|stored| &stored.message))
        }
    };
    let count = n.map_or(settings.count, |n| n.clamp(1, MAX_COUNT.into()).try_into().unwrap_or(MAX_COUNT));
    let suggestions = match messages.last() {
        Some(newest) if !newest.is_user => route.ask(&caller, &agent_id, &settings, &messages, count).await?,
        _ => Vec::new(),
    };
    Ok(Json(SuggestionList { suggestions }))
}

/// Returns the settings of an agent that the caller may use.
fn settings(context: &Context, caller: &Caller, agent_id: &str) -> Result<FollowUpSettings, UserError> {
    let config = context.current.config();
    let agent = config.agents.get(agent_id).ok_or_else(UserError::not_found)?;
    caller.check_agent(agent_id)?;
    if check_rule(caller, &agent.auth) != AccessDecision::Allowed {
        return Err(UserError::not_found());
    }
    agent.section().and_then(FollowUps::settings).ok_or_else(|| {
        UserError::new(ErrorCode::Invalid, "This agent suggests no questions: its config has no `followUps`.")
    })
}

impl SuggestionRoute {
    /// Asks the model. An answer that cannot be used is not an error of the caller: there are no
    /// suggestions then.
    async fn ask(
        &self,
        caller: &Caller,
        agent_id: &str,
        settings: &FollowUpSettings,
        messages: &[PromptMessage],
        count: u8,
    ) -> Result<Vec<String>, UserError> {
        // Dropped with the request: when the client disconnects, the answer is not needed any more.
        let cancel = CancellationToken::new();
        let _guard = cancel.clone().drop_guard();
        let question = ModelQuestion {
            caller,
            agent_id,
            model: settings.model.as_ref(),
            instructions: INSTRUCTIONS.to_owned(),
            prompt: prompt(messages, count),
            files: Vec::new(),
            form: (FORM, schema()),
            max_output_tokens: MAX_OUTPUT_TOKENS,
            time: TIMEOUT,
            cancel,
        };
        let answer = async {
            // The semaphore is never closed.
            let _permit = self.permits.acquire().await;
            self.context.current.ask_model(question).await
        };
        match tokio::time::timeout(TIMEOUT, answer).await {
            Ok(Ok(answer)) => {
                let asked: Vec<_> =
                    messages.iter().filter(|message| message.is_user).map(|message| message.text.as_str()).collect();
                Ok(usable_questions(&answer, &asked, count))
            }
            Ok(Err(ModelFailure::Refused(message))) => Err(UserError::new(ErrorCode::RateLimited, message)),
            Ok(Err(ModelFailure::Failed(cause))) => {
                tracing::warn!(agent = agent_id, cause, "no questions were suggested");
                Ok(Vec::new())
            }
            Err(_) => {
                tracing::warn!(agent = agent_id, "no questions were suggested: the model is too slow");
                Ok(Vec::new())
            }
        }
    }
}
