//! `POST /api/channels/{channel}/feishu`: events that Feishu encrypts and signs.

use super::Receiver;
use super::events::{EventResponse, read_body};
use crate::feishu::{Delivered, open, read_event};
use crate::messenger::Settings;
use crate::section::find;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use std::sync::Arc;
use web::HttpError;
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// `POST /api/channels/{channel}/feishu`
pub(super) async fn receive(
    State(receiver): State<Arc<Receiver>>,
    Path(channel_id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<EventResponse>, HttpError> {
    let config = receiver.context.current.config();
    let settings = match find(&config, &channel_id) {
        Some((_, Settings::Feishu(settings))) if settings.encrypt_key.is_some() => settings,
        _ => return Err(UserError::not_found().into()),
    };
    let body = read_body(body).await?;
    match open(&headers, &body, settings, now_millis() / 1_000) {
        None => {
            let message = "The encryption or the signature of this event is missing or not valid. Check `encryptKey` and \
                           `verificationToken`.";
            Err(UserError::new(ErrorCode::Unauthenticated, message).into())
        }
        Some(Delivered::Challenge(challenge)) => Ok(Json(EventResponse { challenge: Some(challenge) })),
        Some(Delivered::Event(event)) => {
            let read = |account: &_| read_event(&event, account, &settings.app_id);
            receiver.answer(&config, &channel_id, read).await
        }
    }
}
