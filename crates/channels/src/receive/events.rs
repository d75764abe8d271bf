//! Events that messengers send over HTTP and sign: `POST /api/channels/{channel}/slack`, and what those of Feishu share
//! with them.

use super::sort::accept;
use super::{MAX_OPEN, Receiver, Session, feishu};
use crate::messenger::{Bot, BotAccount, Pace, ReadUpdate, SendError, Settings};
use crate::section::find;
use crate::slack::{is_signed, read_form, read_payload};
use crate::store;
use ::config::Config;
use axum::Json;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use web::HttpError;
use web::openapi::{Access, ApiRouter, Tag};
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// The largest body in bytes.
const MAX_BODY: usize = 1 << 20;
/// The time limit of answers to strangers. Slack and Feishu wait for three seconds.
const MAX_REPLIES: Duration = Duration::from_secs(2);

/// The group in the OpenAPI document.
const EVENTS: Tag = Tag {
    name: "messenger events",
    description: "Events of messengers, which are authenticated by a signature.",
    access: Access::Senders,
};

/// Returns the routes.
pub(crate) fn routes(receiver: Arc<Receiver>) -> ApiRouter {
    ApiRouter::new(&EVENTS)
        .post("/api/channels/{channel}/slack", receive, "Deliver an event of Slack")
        .post("/api/channels/{channel}/feishu", feishu::receive, "Deliver an event of Feishu")
        .map(|router| router.with_state(receiver))
}

/// The response to a messenger. Its status says that an event was stored.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct EventResponse {
    /// The challenge to return when the address is entered in the messenger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) challenge: Option<String>,
}

/// `POST /api/channels/{channel}/slack`
async fn receive(
    State(receiver): State<Arc<Receiver>>,
    Path(channel_id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<EventResponse>, HttpError> {
    let config = receiver.context.current.config();
    let (secret, team_id) = match find(&config, &channel_id) {
        Some((_, Settings::Slack(slack))) => (slack.signing_secret.as_ref(), slack.team_id.as_deref()),
        _ => (None, None),
    };
    let secret = secret.ok_or_else(UserError::not_found)?;
    let body = read_body(body).await?;
    if !is_signed(&headers, &body, secret.expose(), now_millis() / 1_000) {
        let message = "The signature of this event is missing or not valid. Check `signingSecret`.";
        return Err(UserError::new(ErrorCode::Unauthenticated, message).into());
    }
    let is_form = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/x-www-form-urlencoded"));
    let payload: Option<Value> = if is_form { read_form(&body) } else { serde_json::from_slice(&body).ok() };
    let Some(payload) = payload else { return Ok(Json(EventResponse::default())) };
    if payload["type"] == "url_verification" {
        let challenge = payload["challenge"].as_str().map(|text| text.chars().take(1_000).collect());
        return Ok(Json(EventResponse { challenge }));
    }
    receiver.answer(&config, &channel_id, |account| read_payload(&payload, account, team_id)).await
}

/// Reads the body of an event.
pub(super) async fn read_body(body: Body) -> Result<Bytes, HttpError> {
    to_bytes(body, MAX_BODY).await.map_err(|_| {
        let message = format!("An event has at most {MAX_BODY} bytes, and must arrive in time.");
        UserError::new(ErrorCode::TooLarge, message).into()
    })
}

impl Receiver {
    /// Stores an event, and returns the response to the messenger.
    pub(super) async fn answer(
        &self,
        config: &Arc<Config>,
        channel_id: &str,
        read: impl FnOnce(&BotAccount) -> Option<ReadUpdate>,
    ) -> Result<Json<EventResponse>, HttpError> {
        let Err(error) = self.accept_event(config, channel_id, read).await else {
            return Ok(Json(EventResponse::default()));
        };
        if let SendError::Api(error) = &error {
            tracing::warn!(channel = channel_id, %error, "an event cannot be read");
        }
        // The messenger sends it again.
        Err(UserError::new(ErrorCode::Unavailable, "This cannot be stored right now. Send it again later.").into())
    }

    /// Stores an event, and answers people whose events start nothing.
    async fn accept_event(
        &self,
        config: &Arc<Config>,
        channel_id: &str,
        read: impl FnOnce(&BotAccount) -> Option<ReadUpdate>,
    ) -> Result<(), SendError> {
        let Some((channel, settings)) = find(config, channel_id) else { return Ok(()) };
        let store = &self.context.store;
        if store::count_open(store, channel_id).await? >= MAX_OPEN {
            return Err(::store::StoreError::Failed("too many messages wait".to_owned()).into());
        }
        let pace = Pace::new(self.pacer.clone(), channel_id, CancellationToken::new());
        let bot = Bot::new(settings, pace)?;
        let account = self.account(config, channel_id, &bot).await?;
        let Some(read) = read(&account) else { return Ok(()) };
        let session = Session { receiver: self, channel: channel.clone(), bot, account };
        let batch = session.sort(vec![read]).await?;
        let (jobs, accepted) = (self.jobs.clone(), batch.accepted);
        store.write(move |db| Box::pin(accept(db, jobs, accepted))).await?;
        // A reply that cannot be sent in time is dropped.
        let _ = tokio::time::timeout(MAX_REPLIES, session.reply(batch.replies)).await;
        Ok(())
    }

    /// Returns the account of a bot, which is asked once for each config.
    async fn account(&self, config: &Arc<Config>, channel_id: &str, bot: &Bot) -> Result<BotAccount, SendError> {
        let is_current = |known: &std::sync::Weak<Config>| known.as_ptr() == Arc::as_ptr(config);
        let known = self.accounts.lock().get(channel_id).cloned();
        if let Some((_, account)) = known.filter(|(known, _)| is_current(known)) {
            return Ok(account);
        }
        let account = bot.account().await?;
        let mut accounts = self.accounts.lock();
        // As many as the config has channels.
        accounts.retain(|_, (known, _)| is_current(known));
        accounts.insert(channel_id.to_owned(), (Arc::downgrade(config), account.clone()));
        Ok(account)
    }
}
