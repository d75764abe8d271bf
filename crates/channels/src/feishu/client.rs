//! A client of Feishu's API: the few methods that are used, over `egress`.

use super::card::{card, whispered_card};
use super::failure::{failure, is_gone, is_of_card};
use super::types::{ApiStatus, BotInfo, Endpoint, SentMessage, TenantToken, Uploaded, UserInfo, WithData};
use crate::markdown::Rendered;
use crate::messenger::{
    ApiError, BotAccount, Button, ChatPlace, OutgoingFile, Pace, Refusal, Site, authorization, get_file, multipart,
    person_name, size_limit,
};
use crate::section::Feishu;
use egress::EgressResponse;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(15);
/// The timeout of a request with a file.
const FILE_TIMEOUT: Duration = Duration::from_secs(120);
/// The pause between two messages in a chat. Feishu allows five a second, in groups to all bots together.
const INTERVAL: Duration = Duration::from_millis(400);
/// The pause after a change of a message. Feishu allows five a second of a message, and fifty a second of an app.
const EDIT_INTERVAL: Duration = Duration::from_secs(1);
/// The longest key by which Feishu knows that a message is sent again, in characters.
const MAX_UUID: usize = 50;
/// The largest image in bytes. A larger one is sent as a file.
const MAX_IMAGE: usize = 10 << 20;
/// The types of images that Feishu shows.
const IMAGES: [&str; 5] = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/bmp"];

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
const MESSAGES: &str = "open-apis/im/v1/messages";

/// A bot.
#[derive(Clone)]
pub(crate) struct FeishuBot {
    pub(super) site: Site,
    app_id: String,
    app_secret: String,
    /// A hash of the credentials with which the access token is requested.
    token_key: String,
    has_long_connection: bool,
    pace: Pace,
}

/// A request.
#[derive(Clone)]
struct ApiRequest {
    method: Method,
    path: String,
    query: Option<&'static str>,
    content_type: HeaderValue,
    body: Vec<u8>,
    timeout: Duration,
}

impl ApiRequest {
    fn new(method: Method, path: impl Into<String>, body: &Value) -> Self {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        Self { method, path: path.into(), query: None, content_type: JSON, body, timeout: TIMEOUT }
    }
}

impl FeishuBot {
    /// Returns the bot of a connection. Its messages are sent at this pace.
    pub(crate) fn new(settings: &Feishu, pace: Pace) -> Result<Self, ApiError> {
        let site = Site::new(&settings.base_url, settings.allow_private)?;
        let (app_id, app_secret) = (settings.app_id.clone(), settings.app_secret.expose().to_owned());
        let token_key = crate::ids::hash_code(&format!("{} {app_id} {app_secret}", settings.base_url));
        let has_long_connection = settings.long_connection;
        Ok(Self { site, app_id, app_secret, token_key, has_long_connection, pace })
    }

    pub(crate) fn pace(&self) -> &Pace {
        &self.pace
    }

    pub(crate) fn app_id(&self) -> &str {
        &self.app_id
    }

    /// Returns whether messages come over a long connection.
    pub(crate) fn has_long_connection(&self) -> bool {
        self.has_long_connection
    }

    /// Returns the address of a long connection, which works once.
    pub(super) async fn endpoint(&self) -> Result<Endpoint, ApiError> {
        let url = self.site.url("callback/ws/endpoint")?;
        let body = json!({ "AppID": self.app_id, "AppSecret": self.app_secret }).to_string().into_bytes();
        // The SDKs always send this language; nothing says how a request without one is treated.
        let locale = (HeaderName::from_static("locale"), HeaderValue::from_static("zh"));
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, JSON), locale]);
        let WithData { data } = read(&self.site.send((Method::POST, url), headers, body, TIMEOUT).await?)?;
        Ok(data)
    }

    /// Returns the bot's own account.
    pub(crate) async fn account(&self) -> Result<BotAccount, ApiError> {
        let request = ApiRequest::new(Method::GET, "open-apis/bot/v3/info", &Value::Null);
        let BotInfo { bot } = self.call(request).await?;
        Ok(BotAccount { id: bot.open_id, name: bot.app_name })
    }

    /// Returns the name of a person, if the app may read it.
    pub(crate) async fn person_name(&self, open_id: &str) -> Result<String, ApiError> {
        let path = format!("open-apis/contact/v3/users/{open_id}");
        let request =
            ApiRequest { query: Some("user_id_type=open_id"), ..ApiRequest::new(Method::GET, path, &Value::Null) };
        let WithData { data: UserInfo { user } } = self.call(request).await?;
        Ok(person_name(&user.name))
    }

    /// Sends a message as a card, and returns its id. One that is sent again within an hour, with the same key, is sent once.
    pub(crate) async fn send(
        &self,
        place: &ChatPlace,
        message: &Rendered,
        buttons: &[Vec<Button>],
        key: &str,
    ) -> Result<String, ApiError> {
        let sent = self.send_content(place, "interactive", &card(place, message, buttons), key).await;
        match without_styles_if_refused(message, &sent) {
            Some(plain) => self.send_content(place, "interactive", &card(place, &plain, buttons), key).await,
            None => sent,
        }
    }

    /// Sends a message that only this person sees. In a chat with them, and in a group that has no such messages, it is
    /// an ordinary one.
    pub(crate) async fn whisper(&self, place: &ChatPlace, open_id: &str, message: &Rendered) -> Result<(), ApiError> {
        let in_group = !is_person(place) && place.thread.is_none();
        if in_group {
            let body = json!({
                "chat_id": place.chat, "open_id": open_id, "msg_type": "interactive", "card": whispered_card(message),
            });
            let request = ApiRequest::new(Method::POST, "open-apis/ephemeral/v1/send", &body);
            match self.pace.keep(place, INTERVAL, self.call::<Value>(request)).await {
                Err(ApiError::Refused { refusal: Refusal::Other, .. }) => {}
                sent => return sent.map(drop),
            }
        }
        self.send(place, message, &[], &crate::ids::new_id()).await.map(drop)
    }

    /// Replaces a message. One that was deleted stays deleted.
    pub(crate) async fn edit(
        &self,
        place: &ChatPlace,
        message_id: &str,
        message: &Rendered,
        buttons: &[Vec<Button>],
    ) -> Result<(), ApiError> {
        let mut edited = self.edit_card(place, message_id, &card(place, message, buttons)).await;
        if let Some(plain) = without_styles_if_refused(message, &edited) {
            edited = self.edit_card(place, message_id, &card(place, &plain, buttons)).await;
        }
        match edited {
            Err(error) if is_gone(&error) => Ok(()),
            edited => edited,
        }
    }

    async fn edit_card(&self, place: &ChatPlace, message_id: &str, card: &Value) -> Result<(), ApiError> {
        let body = json!({ "content": card.to_string() });
        let request = ApiRequest::new(Method::PATCH, format!("{MESSAGES}/{message_id}"), &body);
        self.pace.keep(place, EDIT_INTERVAL, self.call::<Value>(request)).await.map(drop)
    }

    /// Deletes a message of the bot.
    pub(crate) async fn delete(&self, _place: &ChatPlace, message_id: &str) -> Result<(), ApiError> {
        let request = ApiRequest::new(Method::DELETE, format!("{MESSAGES}/{message_id}"), &Value::Null);
        match self.call::<Value>(request).await {
            Err(error) if is_gone(&error) => Ok(()),
            deleted => deleted.map(drop),
        }
    }

    /// Sends a file, and returns the id of its message. It is uploaded first; the message that is sent again within an hour,
    /// with the same key, is sent once.
    pub(crate) async fn send_file(
        &self,
        place: &ChatPlace,
        file: &OutgoingFile,
        key: &str,
    ) -> Result<String, ApiError> {
        let is_image = IMAGES.contains(&file.media_type.as_str()) && file.content.len() <= MAX_IMAGE;
        let (path, fields, field, kind) = if is_image {
            ("open-apis/im/v1/images", vec![("image_type", "message".to_owned())], "image", "image")
        } else {
            let fields = vec![("file_type", file_type(&file.name).to_owned()), ("file_name", file.name.clone())];
            ("open-apis/im/v1/files", fields, "file", "file")
        };
        let (content_type, body) = multipart(&fields, field, file);
        let (method, path) = (Method::POST, path.to_owned());
        let request = ApiRequest { method, path, query: None, content_type, body, timeout: FILE_TIMEOUT };
        let WithData { data: Uploaded { file_key } } = self.upload(request).await?;
        self.send_content(place, kind, &json!({ format!("{kind}_key"): file_key }), key).await
    }

    /// Downloads a file that a person has sent; `file_id` is its message, its kind and its key. `max` is the
    /// largest size in bytes.
    pub(crate) async fn download(&self, file_id: &str, max: u64) -> Result<Vec<u8>, ApiError> {
        let mut parts = file_id.splitn(3, '/');
        let (Some(message_id), Some(kind), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(ApiError::refused("the file has no address"));
        };
        let mut url = self.site.url(&format!("{MESSAGES}/{message_id}/resources/{key}"))?;
        url.set_query(Some(&format!("type={kind}")));
        let token = authorization("Bearer", &self.token().await?)?;
        let headers = HeaderMap::from_iter([(header::AUTHORIZATION, token)]);
        let response = get_file(&self.site.egress, url, headers, size_limit(max, None)?).await?;
        if response.status == 200 { Ok(response.body) } else { Err(failure(&response)) }
    }

    /// Sends a content of a type to a chat, or to a thread of one.
    async fn send_content(
        &self,
        place: &ChatPlace,
        kind: &str,
        content: &Value,
        key: &str,
    ) -> Result<String, ApiError> {
        let uuid: String = key.chars().take(MAX_UUID).collect();
        let mut body = json!({ "msg_type": kind, "content": content.to_string(), "uuid": uuid });
        let request = match &place.thread {
            Some(root) => {
                body["reply_in_thread"] = true.into();
                ApiRequest::new(Method::POST, format!("{MESSAGES}/{root}/reply"), &body)
            }
            None => {
                body["receive_id"] = place.chat.as_str().into();
                let query = if is_person(place) { "receive_id_type=open_id" } else { "receive_id_type=chat_id" };
                ApiRequest { query: Some(query), ..ApiRequest::new(Method::POST, MESSAGES, &body) }
            }
        };
        let WithData { data: SentMessage { message_id } } = self.pace.keep(place, INTERVAL, self.call(request)).await?;
        Ok(message_id)
    }

    /// Makes a request; once more with another access token, if the one that is kept is not valid any more.
    async fn call<T: DeserializeOwned>(&self, request: ApiRequest) -> Result<T, ApiError> {
        let token = self.token().await?;
        match self.call_with(&token, request.clone()).await {
            Err(ApiError::Refused { refusal: Refusal::Token, .. }) => {
                self.pace.tokens().forget(&self.token_key, &token);
                self.call_with(&self.token().await?, request).await
            }
            called => called,
        }
    }

    /// Makes a request with a file, which is in memory once. If the access token is not valid any more, the job tries again.
    async fn upload<T: DeserializeOwned>(&self, request: ApiRequest) -> Result<T, ApiError> {
        let token = self.token().await?;
        match self.call_with(&token, request).await {
            Err(ApiError::Refused { refusal: Refusal::Token, description }) => {
                self.pace.tokens().forget(&self.token_key, &token);
                Err(ApiError::Unavailable(description))
            }
            called => called,
        }
    }

    async fn call_with<T: DeserializeOwned>(&self, token: &str, request: ApiRequest) -> Result<T, ApiError> {
        let ApiRequest { method, path, query, content_type, body, timeout } = request;
        let mut url = self.site.url(&path)?;
        url.set_query(query);
        let headers = HeaderMap::from_iter([
            (header::AUTHORIZATION, authorization("Bearer", token)?),
            (header::CONTENT_TYPE, content_type),
        ]);
        read(&self.site.send((method, url), headers, body, timeout).await?)
    }

    /// Returns an access token: the one that is kept, or a new one.
    async fn token(&self) -> Result<String, ApiError> {
        if let Some(token) = self.pace.tokens().get(&self.token_key, Instant::now()) {
            return Ok(token);
        }
        let url = self.site.url("open-apis/auth/v3/tenant_access_token/internal")?;
        let body = json!({ "app_id": self.app_id, "app_secret": self.app_secret }).to_string().into_bytes();
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, JSON)]);
        let response = self.site.send((Method::POST, url), headers, body, TIMEOUT).await?;
        let TenantToken { tenant_access_token, expire } = read(&response).map_err(as_wrong_secret)?;
        let lifetime = Duration::from_secs(expire);
        self.pace.tokens().set(&self.token_key, tenant_access_token.clone(), lifetime, Instant::now());
        Ok(tenant_access_token)
    }
}

/// Returns a message without its styles, if Feishu has refused the card that it became with them.
fn without_styles_if_refused<T>(message: &Rendered, sent: &Result<T, ApiError>) -> Option<Rendered> {
    let error = sent.as_ref().err().filter(|error| is_of_card(error) && !message.entities.is_empty())?;
    tracing::warn!(%error, "a text is sent without its formatting");
    Some(Rendered::plain(message.text.as_str()))
}

/// Reads a response; one whose code is not 0 is an error.
fn read<T: DeserializeOwned>(response: &EgressResponse) -> Result<T, ApiError> {
    let is_success = serde_json::from_slice::<ApiStatus>(&response.body).is_ok_and(|status| status.code == 0);
    if !is_success {
        return Err(failure(response));
    }
    let unreadable = |_| ApiError::Unavailable(format!("a response with status {} cannot be read", response.status));
    serde_json::from_slice(&response.body).map_err(unreadable)
}

/// Returns the error for a missing access token: the app or its secret is not known.
fn as_wrong_secret(error: ApiError) -> ApiError {
    match error {
        ApiError::Refused { description, .. } => ApiError::Refused { refusal: Refusal::Token, description },
        error => error,
    }
}

/// Returns whether a place is the chat with a person, and not a group.
fn is_person(place: &ChatPlace) -> bool {
    place.chat.starts_with("ou_")
}

/// Returns the type of a file by its name, as far as Feishu has one. It shows a preview of these.
fn file_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "pdf" => "pdf",
        "doc" | "docx" => "doc",
        "xls" | "xlsx" => "xls",
        "ppt" | "pptx" => "ppt",
        "mp4" => "mp4",
        "opus" => "opus",
        _ => "stream",
    }
}
