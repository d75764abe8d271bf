//! The pages with which administrators look at recorded runs and replay them.

mod pages;

use crate::format::Recording;
use crate::replay::{Options, Replies, ToolMode, replay};
use crate::replays::{NewReplay, keep_replay};
use crate::store::find;
use ::capability::Context;
use agent::Agent;
use chat::{AgentRequest, Caller};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use web::admin::filters::Choice;
use web::admin::{Admin, from_store_error};
use wire::{ErrorCode, UserError};

pub(crate) use pages::section;

/// The most runs that are replayed at the same time from the console.
const MAX_REPLAYS: usize = 2;
/// The time limit of a replay, after which it ends without a result.
const MAX_TIME: Duration = Duration::from_secs(120);

/// The state of the pages.
#[derive(Clone)]
pub(crate) struct Console {
    context: Context,
    permits: Arc<Semaphore>,
}

impl Console {
    pub(crate) fn new(context: Context) -> Self {
        Self { context, permits: Arc::new(Semaphore::new(MAX_REPLAYS)) }
    }

    /// Returns a recording. Access to one of another user is recorded before.
    async fn open(&self, admin: &Admin, run_id: &str, action: &str) -> Result<Recording, UserError> {
        let found = find(&self.context.store, run_id).await.map_err(from_store_error)?;
        let recording = found.into_iter().find(|recording| recording.header.run_id == run_id);
        let recording = recording.ok_or_else(UserError::not_found)?;
        let owner = recording.turn().map(|turn| turn.scope.user_id.clone()).unwrap_or_default();
        if owner != admin.caller.user_id {
            let about = json!({ "runId": run_id, "userId": owner });
            admin.record(&self.context.store, action, &recording.header.conversation_id, about).await?;
        }
        Ok(recording)
    }

    /// Replays a run with an agent of the config in use, and keeps the replay. Returns its id.
    async fn replay(&self, admin: &Admin, run_id: &str, ask: ReplayForm) -> Result<String, UserError> {
        let busy = "Other runs are being replayed. Try again in a moment.";
        let Ok(_permit) = self.permits.try_acquire() else { return Err(UserError::new(ErrorCode::Busy, busy)) };
        let recorded = self.open(admin, run_id, "read_recording").await?;
        let agent_id = ask.agent.filter(|agent| !agent.is_empty());
        let agent_id = agent_id.unwrap_or_else(|| recorded.header.agent_id.clone());
        let agent = self.agent(&recorded, &agent_id).await?;
        let options = Options {
            same_config: false,
            replies: ask.replies.replies(),
            tools: ToolMode::Recorded,
            allow_effects: Vec::new(),
            from_step: 1,
        };
        let replayed = timeout(MAX_TIME, replay(&recorded, &agent, &options, CancellationToken::new())).await;
        let replayed = replayed.map_err(|_| {
            UserError::new(ErrorCode::Unavailable, "The replay took longer than two minutes and was ended.")
        })?;
        let replayed = replayed.map_err(|error| UserError::new(ErrorCode::Malformed, error.to_string()))?;
        let replay = NewReplay {
            label: format!("the agent {agent_id}, replies: {}", ask.replies.name()),
            created_by: admin.caller.user_id.clone(),
            from_step: 1,
            replayed,
        };
        let about = json!({ "runId": run_id, "agentId": agent_id });
        let audit = admin.audit_entry("replay_run", &recorded.header.conversation_id, about);
        let kept = keep_replay(&self.context.store, replay, Some(audit)).await.map_err(from_store_error)?;
        kept.ok_or_else(|| UserError::new(ErrorCode::TooLarge, "The replay is too large to be kept."))
    }

    /// Returns an agent of the config in use as the user of a recorded run gets it, in the place of
    /// the agent that was recorded.
    async fn agent(&self, recorded: &Recording, agent_id: &str) -> Result<Agent, UserError> {
        let input = &recorded.header.input;
        let scope = recorded.turn().map(|turn| turn.scope.clone()).unwrap_or_default();
        let caller = Caller::new(scope.user_id, scope.is_authenticated).with_roles(scope.roles);
        let request = AgentRequest {
            page_id: &input.page_id,
            block_id: input.block_id.as_deref(),
            conversation_id: &recorded.header.conversation_id,
            shared_state: &input.shared_state,
            url_query: &input.url_query,
            switches: &input.switches,
            options: &input.options,
            ..AgentRequest::without_page(&caller, agent_id)
        };
        let agent = self.context.chat.agent(&request).await?;
        Ok(Agent { id: recorded.header.agent_id.clone(), ..(*agent).clone() })
    }
}

/// The fields of the form that starts a replay.
#[derive(serde::Deserialize)]
struct ReplayForm {
    agent: Option<String>,
    #[serde(default)]
    replies: RepliesChoice,
}

/// The source of replies in a replay from the console.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum RepliesChoice {
    #[default]
    Recorded,
    Auto,
    Live,
}

impl RepliesChoice {
    fn replies(self) -> Replies {
        match self {
            Self::Recorded => Replies::Recorded,
            Self::Auto => Replies::Auto,
            Self::Live => Replies::Live,
        }
    }
}

impl Choice for RepliesChoice {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Recorded, "recorded", "The recording (costs nothing)"),
        (Self::Auto, "auto", "The recording, else the model"),
        (Self::Live, "live", "The model"),
    ];
}
