//! A client of Telegram's Bot API: the few methods that are used, over `egress`.

use super::types::{Account, ApiResponse, File, SentMessage};
use crate::markdown::Rendered;
use crate::messenger::{
    ApiError, BotAccount, Button, ChatPlace, OutgoingFile, Pace, Refusal, Site, fields, get_file, multipart, size_limit,
};
use crate::section::Telegram;
use http::{HeaderMap, HeaderValue, Method, header};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::Duration;

/// The timeout of a request that does not wait for messages.
const TIMEOUT: Duration = Duration::from_secs(15);
/// The timeout of a request with a file.
const FILE_TIMEOUT: Duration = Duration::from_secs(120);
/// The time for which a request for messages waits for one.
pub(crate) const POLL_SECONDS: u64 = 25;
/// The most messages of one request.
const BATCH: u32 = 50;

/// A bot.
#[derive(Clone)]
pub(crate) struct TelegramBot {
    site: Site,
    token: String,
    pace: Pace,
}

impl TelegramBot {
    /// Returns the bot of a connection. Its messages are sent at this pace.
    ///
    /// # Errors
    /// The certificates of the system cannot be read, or the URL is not one.
    pub(crate) fn new(settings: &Telegram, pace: Pace) -> Result<Self, ApiError> {
        let site = Site::new(&settings.base_url, settings.allow_private)?;
        Ok(Self { site, token: settings.token.expose().to_owned(), pace })
    }

    /// The number of the bot, which is the public part of its token.
    pub(crate) fn id(&self) -> &str {
        self.token.split(':').next().unwrap_or_default()
    }

    pub(crate) fn pace(&self) -> &Pace {
        &self.pace
    }

    /// Returns the bot's own account.
    pub(crate) async fn account(&self) -> Result<BotAccount, ApiError> {
        let account: Account = self.call("getMe", &json!({}), TIMEOUT).await?;
        Ok(BotAccount { id: account.id.to_string(), name: account.username.unwrap_or(account.first_name) })
    }

    /// Waits for updates from `next` on, each as JSON. Earlier ones are deleted at Telegram.
    pub(crate) async fn updates(&self, next: i64) -> Result<Vec<Value>, ApiError> {
        let parameters = json!({
            "offset": next, "timeout": POLL_SECONDS, "limit": BATCH, "allowed_updates": ["message", "callback_query"],
        });
        self.call("getUpdates", &parameters, Duration::from_secs(POLL_SECONDS) + TIMEOUT).await
    }

    /// Sets the commands that the app offers.
    pub(crate) async fn set_commands(&self, commands: &[(&str, &str)]) -> Result<(), ApiError> {
        let listed =
            commands.iter().map(|(command, description)| json!({ "command": command, "description": description }));
        let parameters = json!({ "commands": listed.collect::<Vec<_>>() });
        self.call::<Value>("setMyCommands", &parameters, TIMEOUT).await.map(drop)
    }

    /// Sends a message, and returns its id. It is the only method that has another effect when it is repeated.
    pub(crate) async fn send(
        &self,
        place: &ChatPlace,
        text: &Rendered,
        buttons: &[Vec<Button>],
    ) -> Result<String, ApiError> {
        let sent: SentMessage = self.call_with_text(place, "sendMessage", in_place(place), text, buttons).await?;
        Ok(sent.message_id.to_string())
    }

    /// Replaces a message. One that its reader has deleted stays deleted.
    pub(crate) async fn edit(
        &self,
        place: &ChatPlace,
        message_id: &str,
        text: &Rendered,
        buttons: &[Vec<Button>],
    ) -> Result<(), ApiError> {
        let id = number(message_id);
        let parameters = json!({ "chat_id": number(&place.chat), "message_id": id });
        match self.call_with_text::<Value>(place, "editMessageText", parameters, text, buttons).await {
            // Repeated, or deleted.
            Err(error)
                if error.description_contains("message is not modified")
                    || error.description_contains("message to edit not found") =>
            {
                Ok(())
            }
            edited => edited.map(drop),
        }
    }

    /// Deletes a message of the bot.
    pub(crate) async fn delete(&self, place: &ChatPlace, message_id: &str) -> Result<(), ApiError> {
        let id = number(message_id);
        let parameters = json!({ "chat_id": number(&place.chat), "message_id": id });
        match self.call::<Value>("deleteMessage", &parameters, TIMEOUT).await {
            Err(error) if error.description_contains("message to delete not found") => Ok(()),
            deleted => deleted.map(drop),
        }
    }

    /// Shows for a few seconds that the bot is typing.
    pub(crate) async fn show_typing(&self, place: &ChatPlace) -> Result<(), ApiError> {
        let mut parameters = in_place(place);
        parameters["action"] = "typing".into();
        self.call::<Value>("sendChatAction", &parameters, TIMEOUT).await.map(drop)
    }

    /// Acknowledges a pressed button, with a short text for the person who has pressed it.
    pub(crate) async fn acknowledge(&self, press_id: &str, text: &str) -> Result<(), ApiError> {
        let text: String = text.chars().take(180).collect();
        self.call::<Value>("answerCallbackQuery", &json!({ "callback_query_id": press_id, "text": text }), TIMEOUT)
            .await
            .map(drop)
    }

    /// Sends a file, and returns the id of its message.
    pub(crate) async fn send_file(&self, place: &ChatPlace, file: &OutgoingFile) -> Result<String, ApiError> {
        let parameters = in_place(place);
        let (content_type, body) = multipart(&fields(&parameters), "document", file);
        let call = self.request::<SentMessage>("sendDocument", content_type, body, FILE_TIMEOUT);
        let sent = self.pace.keep(place, interval(place), call).await?;
        Ok(sent.message_id.to_string())
    }

    /// Downloads a file that a person has sent. `max` is the largest size in bytes.
    pub(crate) async fn download(&self, file_id: &str, max: u64) -> Result<Vec<u8>, ApiError> {
        let file: File = self.call("getFile", &json!({ "file_id": file_id }), TIMEOUT).await?;
        let most = size_limit(max, file.file_size)?;
        let path = file.file_path.ok_or_else(ApiError::too_large)?;
        let url = self.site.url(&format!("file/bot{}/{path}", self.token))?;
        let response = get_file(&self.site.egress, url, HeaderMap::new(), most).await?;
        match response.status {
            200 => Ok(response.body),
            status => Err(ApiError::Unavailable(format!("status {status}"))),
        }
    }

    /// Calls a method that sends a text. If Telegram refuses the text for its formatting, it is sent without.
    async fn call_with_text<T: DeserializeOwned>(
        &self,
        place: &ChatPlace,
        method: &str,
        mut parameters: Value,
        text: &Rendered,
        buttons: &[Vec<Button>],
    ) -> Result<T, ApiError> {
        parameters["text"] = text.text.clone().into();
        parameters["link_preview_options"] = json!({ "is_disabled": true });
        if !buttons.is_empty() {
            parameters["reply_markup"] = keyboard(buttons);
        }
        if text.entities.is_empty() {
            return self.call_in_chat(place, method, &parameters).await;
        }
        parameters["entities"] = json!(text.entities);
        match self.call_in_chat(place, method, &parameters).await {
            Err(error) if error.description_contains("entit") || error.description_contains("ENTIT") => {
                tracing::warn!(%error, "a text is sent without its formatting");
                parameters["entities"] = json!([]);
                self.call_in_chat(place, method, &parameters).await
            }
            called => called,
        }
    }

    /// Calls a method that counts as a message of a chat. If Telegram asks to wait, the chat is paused.
    async fn call_in_chat<T: DeserializeOwned>(
        &self,
        place: &ChatPlace,
        method: &str,
        parameters: &Value,
    ) -> Result<T, ApiError> {
        self.pace.keep(place, interval(place), self.call(method, parameters, TIMEOUT)).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        parameters: &Value,
        timeout: Duration,
    ) -> Result<T, ApiError> {
        let content_type = HeaderValue::from_static("application/json");
        self.request(method, content_type, parameters.to_string().into_bytes(), timeout).await
    }

    async fn request<T: DeserializeOwned>(
        &self,
        method: &str,
        content_type: HeaderValue,
        body: Vec<u8>,
        timeout: Duration,
    ) -> Result<T, ApiError> {
        let url = self.site.url(&format!("bot{}/{method}", self.token))?;
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, content_type)]);
        let response = self.site.send((Method::POST, url), headers, body, timeout).await?;
        let status = response.status;
        let Ok(read) = serde_json::from_slice::<ApiResponse<T>>(&response.body) else {
            return Err(ApiError::Unavailable(format!("a response with status {status} cannot be read")));
        };
        match read {
            // Some servers of the API send no result where Telegram sends `true`.
            ApiResponse { ok: true, result, .. } => result
                .or_else(|| serde_json::from_value(Value::Null).ok())
                .ok_or_else(|| ApiError::Unavailable("a response has no result".to_owned())),
            ApiResponse { parameters: Some(parameters), .. } if parameters.retry_after.is_some() => {
                Err(ApiError::Wait(Duration::from_secs(parameters.retry_after.unwrap_or(1).clamp(1, 3_600))))
            }
            ApiResponse { description, .. } if (400..500).contains(&status) => {
                let refusal = match status {
                    401 | 404 => Refusal::Token,
                    403 => Refusal::Blocked,
                    _ => Refusal::Other,
                };
                let description: String = description.chars().take(200).collect();
                Err(ApiError::Refused { refusal, description: format!("{description} (status {status})") })
            }
            _ => Err(ApiError::Unavailable(format!("status {status}"))),
        }
    }
}

/// Returns the parameters of a message in a chat, or in a topic of it.
fn in_place(place: &ChatPlace) -> Value {
    let mut parameters = json!({ "chat_id": number(&place.chat) });
    if let Some(thread) = &place.thread {
        parameters["message_thread_id"] = number(thread).into();
    }
    parameters
}

/// Returns how long to wait between two messages: groups allow twenty a minute.
fn interval(place: &ChatPlace) -> Duration {
    // The ids of groups are negative.
    if place.chat.starts_with('-') { Duration::from_millis(3_200) } else { Duration::from_millis(1_100) }
}

/// Returns the number of a chat, a topic or a message. They are stored as texts.
fn number(id: &str) -> i64 {
    id.parse().unwrap_or_default()
}

fn keyboard(rows: &[Vec<Button>]) -> Value {
    let button = |button: &Button| json!({ "text": button.label, "callback_data": button.data });
    let rows: Vec<Vec<Value>> = rows.iter().map(|row| row.iter().map(button).collect()).collect();
    json!({ "inline_keyboard": rows })
}
