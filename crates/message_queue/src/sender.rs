//! Sends the messages that are due and that no open page has sent.

use crate::message::Choices;
use crate::store::{self, DueMessage};
use ::store::{Store, StoreError};
use auth::password::{AwayRefusal, KeyScope, user_away};
use auth::{LOCAL_OWNER, is_visitor_id};
use capability::{Caller, Context};
use config::{AuthMode, OWNER_ROLES};
use serde_json::Map;
use std::pin::pin;
use std::time::Duration;
use web::times::now_millis;
use wire::api::{SendRequest, Submission};
use wire::{ErrorCode, UserError};

/// The time in which an open page sends the next message itself, in milliseconds.
const GRACE_MS: i64 = 3_000;
/// The time for which a message is reserved while it is being sent, in milliseconds. It ends the reservation of a killed server.
const SENDING_MS: i64 = 60_000;
/// The interval at which the reservation is extended while the message is being sent.
const EXTEND_EVERY: Duration = Duration::from_secs(20);
/// How often the server tries to send a message after temporary failures.
const MAX_ATTEMPTS: i64 = 10;
/// The pause after the first attempt, in milliseconds. Each further one is twice as long.
const FIRST_PAUSE_MS: i64 = 10_000;
/// The longest pause between two attempts, in milliseconds: ten minutes.
const LONGEST_PAUSE_MS: i64 = 10 * 60 * 1_000;
/// The most messages that a server sends in a row.
const MAX_IN_A_ROW: usize = 50;

/// The reasons that users read.
const NEEDS_PAGE: &str = "It is sent when you open this conversation.";
const DISABLED: &str = "Your account is disabled.";
const MUST_CHANGE_PASSWORD: &str =
    "Your password has to be replaced first. It is sent when you sign in and open this conversation.";
const SIGNED_OUT: &str = "You are signed out. It is sent when you sign in and open this conversation.";
const GAVE_UP: &str = "It could not be sent after several attempts. Send it now, change it, or remove it.";
const UNREADABLE: &str = "This message cannot be read. Remove it, and write it again.";

/// Sends what is due. Each message is looked for right before it is sent, because the conversation may have gone on.
///
/// # Errors
/// The database failed.
pub(crate) async fn send_due(context: &Context) -> Result<(), StoreError> {
    for _ in 0..MAX_IN_A_ROW {
        if context.chat.is_draining() {
            return Ok(());
        }
        let now = now_millis();
        let Some(due) = store::next_due(&context.store, now - GRACE_MS, now).await? else { return Ok(()) };
        send(context, due).await?;
    }
    Ok(())
}

/// Sends a message as the owner of its conversation, and deletes its row.
async fn send(context: &Context, mut due: DueMessage) -> Result<(), StoreError> {
    let caller = match caller(context, &due.owner).await? {
        Ok(caller) => caller,
        Err(reason) => return store::refuse(&context.store, due, reason).await,
    };
    let Some(request) = request(&due) else { return store::refuse(&context.store, due, UNREADABLE).await };
    let now = now_millis();
    // Meanwhile the user may have begun to edit it, or another server to send it.
    if !store::claim(&context.store, &mut due, now + SENDING_MS, now).await? {
        return Ok(());
    }
    // Another message may have been sent since this one was found to be due, and its answer may wait for the user.
    let answer_id = due.answer_id.clone();
    let sending = context.chat.send_after(&caller, request, &answer_id);
    match reserved(&context.store, &mut due, sending, EXTEND_EVERY).await {
        // The stream is dropped: the run belongs to the server, and open pages find it.
        Ok(_) => {
            tracing::info!(conversation = due.conversation_id, "a queued message was sent");
            // Its row is gone, unless the message was in the conversation before: then it must not be found again.
            store::forget(&context.store, due).await
        }
        Err(error) if is_temporary(&error) => match pause(due.attempts) {
            Some(pause) => store::postpone(&context.store, due, now_millis() + pause).await,
            None => store::refuse(&context.store, due, GAVE_UP).await,
        },
        Err(error) => store::refuse(&context.store, due, &error.message).await,
    }
}

/// Waits until a message is sent, and extends its reservation for as long as that takes: endpoints that compute the
/// properties of the agent may need more than a minute. Without a reservation, the user could edit the message in the
/// meantime, and the edit would be deleted with the row.
pub(crate) async fn reserved<T>(
    store: &Store,
    due: &mut DueMessage,
    sending: impl Future<Output = T>,
    every: Duration,
) -> T {
    let mut sending = pin!(sending);
    loop {
        if let Ok(sent) = tokio::time::timeout(every, sending.as_mut()).await {
            return sent;
        }
        match store::extend(store, due, now_millis() + SENDING_MS).await {
            Ok(true) => {}
            // The message is in the conversation, or the reservation is lost. A submission cannot be called back, so its
            // outcome is awaited.
            Ok(false) => return sending.await,
            // The submission goes on. The reservation has not ended yet, so the next extension tries it again.
            Err(error) => {
                tracing::warn!(%error, conversation = due.conversation_id, "a reservation could not be extended");
            }
        }
    }
}

/// Returns whether the same message may be accepted in a moment. A quota, which has a reason, takes longer.
fn is_temporary(error: &UserError) -> bool {
    match error.code {
        ErrorCode::Busy | ErrorCode::Unavailable | ErrorCode::Internal => true,
        ErrorCode::RateLimited => error.reason.is_none(),
        _ => false,
    }
}

/// Returns the pause in milliseconds before the next attempt to send a message; `None` after the last attempt. `attempts` is
/// the number of failed attempts before the current one.
pub(crate) fn pause(attempts: i64) -> Option<i64> {
    let doublings = attempts.clamp(0, MAX_ATTEMPTS);
    (attempts + 1 < MAX_ATTEMPTS).then(|| (FIRST_PAUSE_MS << doublings).min(LONGEST_PAUSE_MS))
}

/// Returns the owner of a conversation with the rights that they have now, or why the server cannot act as them.
async fn caller(context: &Context, owner: &str) -> Result<Result<Caller, &'static str>, StoreError> {
    let config = context.current.config();
    Ok(match &config.auth.mode {
        AuthMode::Local if owner == LOCAL_OWNER => {
            Ok(Caller::signed_in(owner).with_roles(OWNER_ROLES.map(str::to_owned).to_vec()))
        }
        AuthMode::Anonymous | AuthMode::Accounts(_) if is_visitor_id(owner) => Ok(Caller::visitor(owner)),
        // Only while they could send the message themselves.
        AuthMode::Accounts(settings) => match user_away(&context.store, settings, owner, KeyScope::Agents).await? {
            Ok(user) => Ok(Caller::signed_in(owner).with_name(Some(user.name)).with_roles(user.roles)),
            Err(AwayRefusal::Disabled) => Err(DISABLED),
            Err(AwayRefusal::MustChangePassword) => Err(MUST_CHANGE_PASSWORD),
            Err(AwayRefusal::SignedOut) => Err(SIGNED_OUT),
            // A user of another auth mode, in which the server ran before.
            Err(AwayRefusal::Unknown) => Err(NEEDS_PAGE),
        },
        AuthMode::Local | AuthMode::Anonymous | AuthMode::Jwt(_) | AuthMode::Proxy(_) => Err(NEEDS_PAGE),
    })
}

/// Returns whether the server can send messages of a caller later: it can act as them, and they have no rights that only
/// their own requests prove.
pub(crate) fn can_send_for(context: &Context, caller: &Caller) -> bool {
    let is_unknown = matches!(context.current.config().auth.mode, AuthMode::Jwt(_) | AuthMode::Proxy(_));
    !is_unknown && caller.bearer.is_none() && caller.site_claims.is_none()
}

/// Returns the submission of a message. It has no state of the page: what was in the form when the message was written may
/// have changed since.
fn request(due: &DueMessage) -> Option<SendRequest> {
    let message = serde_json::from_str(&due.content).ok()?;
    let choices: Choices = serde_json::from_str(&due.choices).ok()?;
    Some(SendRequest {
        page_id: choices.page_id,
        block_id: choices.block_id,
        agent_id: due.agent_id.clone(),
        conversation_id: due.conversation_id.clone(),
        submission: Submission::Message { message, replaces: None, history: Vec::new() },
        shared_state: Map::new(),
        url_query: choices.url_query,
        switches: choices.switches,
        options: choices.options,
    })
}
