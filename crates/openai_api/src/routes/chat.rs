//! `POST /v1/chat/completions`

use super::admit::{RequestBody, completion, not_begun};
use super::drive::{Answered, Driven, Writer};
use crate::answer::chat::{ChatCompletionObject, ChatWriter};
use crate::answer::turn::{Ended, Output, Turn};
use crate::error::ApiError;
use crate::request::chat::{ChatCompletion, ChatRequest};
use crate::request::history::{History, new_id};
use axum::extract::State;
use axum::{Extension, Json};
use bytes::Bytes;
use capability::Context;
use chat::Caller;
use tokio_util::sync::CancellationToken;
use web::times::now_millis;

impl Writer for ChatWriter {
    type Object = Json<ChatCompletionObject>;

    fn begin(&mut self) -> Vec<Bytes> {
        Self::begin(self)
    }

    fn write(&mut self, output: Output) -> Vec<Bytes> {
        Self::write(self, output)
    }

    async fn end(self, ended: Ended) -> (Vec<Bytes>, Result<Self::Object, ApiError>) {
        let (last, object) = Self::end(self, ended);
        (last, object.map(Json))
    }
}

/// `POST /v1/chat/completions`
pub(super) async fn create(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    body: RequestBody<ChatRequest>,
) -> Result<Answered<Json<ChatCompletionObject>>, ApiError> {
    let ChatCompletion { parameters, entries, include_usage } = body.read(ChatCompletion::read).await?;
    let history = History::empty().read(entries, &parameters.tools.names(), "messages")?;
    let request = completion(&context, &parameters, Vec::new(), &history).await?;
    drop(history);
    let cancel = CancellationToken::new();
    let begun = context.chat.complete(&caller, request, cancel.clone()).await;
    let run = begun.map_err(|error| not_begun(error, &parameters))?;
    let heartbeat = context.current.config().limits.heartbeat;
    let (holds_text, one_call) = (parameters.schema.is_some(), !parameters.parallel_tool_calls);
    let driven = Driven {
        frames: run.frames,
        turn: Turn::new(new_id(), &parameters.tools.names(), holds_text, one_call),
        writer: ChatWriter::new(&run.run_id, now_millis() / 1_000, parameters.model, include_usage),
        cancel,
    };
    driven.respond(parameters.stream, heartbeat).await
}
