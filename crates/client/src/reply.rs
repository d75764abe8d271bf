//! The stream of an answer.

use crate::{Chat, Error};
use reqwest::Response;
use sse::{SseDecoder, SseLimits};
use std::collections::VecDeque;
use std::time::Duration;
use wire::chunk::DONE;
use wire::{Chunk, Reducer, Role, UiMessage};

/// The size limits of lines and events; the server's own limits are lower.
const LIMITS: SseLimits = SseLimits { line: 8 * 1024 * 1024, event: 8 * 1024 * 1024 };
/// The waits before the reconnection attempts, in milliseconds.
const BACKOFF: [u64; 5] = [250, 500, 1_000, 2_000, 4_000];
const GAP: &str = "data-gap";

/// The stream of an answer. Dropping it only stops reading; to stop the run, use [`Chat::stop`].
#[derive(Debug)]
pub struct Reply {
    chat: Chat,
    conversation_id: String,
    response: Option<Response>,
    decoder: SseDecoder,
    reducer: Reducer,
    cursor: Option<String>,
    ready: VecDeque<Chunk>,
    is_over: bool,
}

impl Reply {
    pub(crate) fn new(chat: Chat, conversation_id: &str, response: Response, cursor: Option<&str>) -> Self {
        Self {
            chat,
            conversation_id: conversation_id.to_owned(),
            response: Some(response),
            decoder: SseDecoder::new(LIMITS),
            reducer: Reducer::new(UiMessage::new("", Role::Assistant)),
            cursor: cursor.map(str::to_owned),
            ready: VecDeque::new(),
            is_over: false,
        }
    }

    /// Returns the id of the conversation.
    pub fn conversation_id(&self) -> &str {
        &self.conversation_id
    }

    /// Returns the cursor after the newest chunk, from which [`Chat::watch`] continues.
    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// Returns the message so far. If the stream started at a cursor, it contains only what
    /// followed.
    pub fn message(&self) -> &UiMessage {
        self.reducer.message()
    }

    /// Returns the next chunk; `None` at the end. It reconnects if the connection breaks.
    ///
    /// # Errors
    /// See [`Error`]. The run may still be in progress: use [`Chat::watch`] to find out.
    pub async fn next(&mut self) -> Result<Option<Chunk>, Error> {
        let mut attempt = 0;
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Ok(Some(chunk));
            }
            if self.is_over {
                return Ok(None);
            }
            let read = match &mut self.response {
                Some(response) => response.chunk().await.map_err(Error::Connection),
                None => Ok(None),
            };
            match read {
                Ok(Some(bytes)) => self.process_bytes(&bytes)?,
                // A stream that ends without `[DONE]` was cut off.
                Ok(None) => self.reconnect(&mut attempt, None).await?,
                Err(error) => self.reconnect(&mut attempt, Some(error)).await?,
            }
        }
    }

    /// Reads to the end and returns the whole message.
    ///
    /// # Errors
    /// The same as [`Reply::next`].
    pub async fn finish(mut self) -> Result<UiMessage, Error> {
        while self.next().await?.is_some() {}
        Ok(self.reducer.into_message())
    }

    fn process_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let unreadable = |error: &dyn std::fmt::Display| Error::Unreadable(error.to_string());
        self.decoder.push(bytes).map_err(|error| unreadable(&error))?;
        while let Some(event) = self.decoder.next() {
            if event.data == DONE {
                self.is_over = true;
                break;
            }
            let chunk: Chunk = serde_json::from_str(&event.data).map_err(|error| unreadable(&error))?;
            if matches!(&chunk, Chunk::Data(data) if data.kind == GAP) {
                self.is_over = true;
                return Err(Error::Gap);
            }
            // A chunk that does not fit is skipped, as in the browser.
            let _ = self.reducer.apply(&chunk);
            self.cursor = event.id.or_else(|| self.cursor.take());
            self.ready.push_back(chunk);
        }
        Ok(())
    }

    /// Reconnects after the newest event.
    async fn reconnect(&mut self, attempt: &mut usize, broken: Option<Error>) -> Result<(), Error> {
        let Some(wait) = BACKOFF.get(*attempt) else { return Err(broken.unwrap_or(Error::Gap)) };
        *attempt += 1;
        self.response = None;
        tokio::time::sleep(Duration::from_millis(*wait)).await;
        // Without a cursor no event was received, so the stream starts from the beginning.
        match self.chat.watch(&self.conversation_id, self.cursor.as_deref()).await {
            Ok(Some(again)) => {
                self.response = again.response;
                self.decoder = SseDecoder::new(LIMITS);
                Ok(())
            }
            // The run has ended meanwhile.
            Ok(None) => Err(Error::Gap),
            Err(Error::Connection(_)) => Ok(()),
            Err(Error::Refused(error)) if error.code.status() >= 500 => Ok(()),
            Err(error) => Err(error),
        }
    }
}
