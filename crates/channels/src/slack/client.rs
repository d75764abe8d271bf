//! A client of Slack's Web API: the few methods that are used, over `egress`.

use super::blocks::{blocks, fallback};
use super::types::{ApiStatus, AuthTest, Connection, FileInfo, Posted, Upload, UserInfo};
use crate::markdown::Rendered;
use crate::messenger::{
    ApiError, BotAccount, Button, ChatPlace, OutgoingFile, Pace, Person, Refusal, Site, authorization, get_file,
    person_name, size_limit,
};
use crate::section::Slack;
use http::{HeaderMap, HeaderValue, Method, header};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};
use url::Url;

/// The timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(15);
/// The timeout of a request with a file.
const FILE_TIMEOUT: Duration = Duration::from_secs(120);
/// The pause between two messages in a channel. Slack allows about one a second.
const INTERVAL: Duration = Duration::from_millis(1_200);
/// The pause after an edit. Slack allows about fifty a minute, in all channels of a workspace together.
const EDIT_INTERVAL: Duration = Duration::from_secs(3);
/// The wait if Slack names none.
const DEFAULT_WAIT: Duration = Duration::from_secs(30);
/// The longest time to wait for which Slack is believed.
const MAX_WAIT: Duration = Duration::from_secs(3_600);

const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
const BYTES: HeaderValue = HeaderValue::from_static("application/octet-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");

/// Errors after which the same request may succeed.
const TEMPORARY: [&str; 5] =
    ["internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"];
/// Errors of a chat that is closed to the bot.
const BLOCKED: [&str; 8] = [
    "channel_not_found",
    "not_in_channel",
    "is_archived",
    "user_not_found",
    "cannot_dm_bot",
    "messages_tab_disabled",
    "restricted_action",
    "restricted_action_read_only_channel",
];
/// Errors of tokens that are not valid any more.
const TOKEN: [&str; 5] = ["invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"];

/// A bot.
#[derive(Clone)]
pub(crate) struct SlackBot {
    pub(super) site: Site,
    bot_token: String,
    app_token: Option<String>,
    team_id: Option<String>,
    pace: Pace,
}

impl SlackBot {
    /// Returns the bot of a connection. Its messages are sent at this pace.
    pub(crate) fn new(settings: &Slack, pace: Pace) -> Result<Self, ApiError> {
        let site = Site::new(&settings.base_url, settings.allow_private)?;
        let bot_token = settings.bot_token.expose().to_owned();
        let app_token = settings.app_token.as_ref().map(|token| token.expose().to_owned());
        Ok(Self { site, bot_token, app_token, team_id: settings.team_id.clone(), pace })
    }

    pub(crate) fn pace(&self) -> &Pace {
        &self.pace
    }

    /// Returns the workspace whose members are known by their e-mail addresses.
    pub(crate) fn team_id(&self) -> Option<&str> {
        self.team_id.as_deref()
    }

    /// Returns whether messages come over Socket Mode.
    pub(crate) fn has_socket(&self) -> bool {
        self.app_token.is_some()
    }

    /// Returns the bot's own account. A token of another workspace than the configured one is refused.
    pub(crate) async fn account(&self) -> Result<BotAccount, ApiError> {
        let account: AuthTest = self.call("auth.test", &json!({})).await?;
        if self.team_id.as_ref().is_some_and(|team| *team != account.team_id) {
            let description = format!("the token is of the workspace {}, not of `teamId`", account.team_id);
            return Err(ApiError::refused(description));
        }
        Ok(BotAccount { id: account.user_id, name: account.user })
    }

    /// Returns the address of a connection of Socket Mode, which works once.
    pub(super) async fn open_connection(&self) -> Result<Url, ApiError> {
        let token = self.app_token.as_deref().unwrap_or_default();
        let opened: Connection = self.request("apps.connections.open", token, &JSON, "{}".to_owned()).await?;
        Url::parse(&opened.url).map_err(|_| ApiError::Unavailable("the address of the connection is wrong".to_owned()))
    }

    /// Returns Slack's data on a person; `None` if they are gone, or are a bot.
    pub(crate) async fn person(&self, user_id: &str) -> Result<Option<Person>, ApiError> {
        let UserInfo { user } = self.call_with_form("users.info", &[("user", user_id)]).await?;
        if user.deleted || user.is_bot {
            return Ok(None);
        }
        let name = if user.profile.real_name.is_empty() { &user.name } else { &user.profile.real_name };
        Ok(Some(Person {
            name: person_name(name),
            verified_email: user.profile.email.filter(|_| user.is_email_confirmed),
            team_id: user.team_id,
        }))
    }

    /// Sends a message, and returns its time stamp, which is its id.
    pub(crate) async fn send(
        &self,
        place: &ChatPlace,
        message: &Rendered,
        buttons: &[Vec<Button>],
    ) -> Result<String, ApiError> {
        let parameters = in_place(place);
        let posted: Posted = self.call_with_text(place, "chat.postMessage", parameters, message, buttons).await?;
        Ok(posted.ts)
    }

    /// Sends a message that only this person sees, for a while.
    pub(crate) async fn whisper(&self, place: &ChatPlace, user_id: &str, message: &Rendered) -> Result<(), ApiError> {
        let mut parameters = in_place(place);
        parameters["user"] = user_id.into();
        self.call_with_text::<Value>(place, "chat.postEphemeral", parameters, message, &[]).await.map(drop)
    }

    /// Replaces a message. One that was deleted stays deleted.
    pub(crate) async fn edit(
        &self,
        place: &ChatPlace,
        ts: &str,
        message: &Rendered,
        buttons: &[Vec<Button>],
    ) -> Result<(), ApiError> {
        let parameters = json!({ "channel": place.chat, "ts": ts });
        match self.call_with_text::<Value>(place, "chat.update", parameters, message, buttons).await {
            Err(error) if error.description_contains("message_not_found") => Ok(()),
            edited => edited.map(drop),
        }
    }

    /// Deletes a message of the bot.
    pub(crate) async fn delete(&self, place: &ChatPlace, ts: &str) -> Result<(), ApiError> {
        match self.call::<Value>("chat.delete", &json!({ "channel": place.chat, "ts": ts })).await {
            Err(error) if error.description_contains("message_not_found") => Ok(()),
            deleted => deleted.map(drop),
        }
    }

    /// Sends a file, and returns its id. It is uploaded to an address that Slack gives, and then shown.
    pub(crate) async fn send_file(&self, place: &ChatPlace, file: OutgoingFile) -> Result<String, ApiError> {
        let length = file.content.len().to_string();
        let form = [("filename", file.name.as_str()), ("length", length.as_str())];
        let upload: Upload = self.call_with_form("files.getUploadURLExternal", &form).await?;
        let url = Url::parse(&upload.upload_url).ok().filter(|url| self.is_slack(url));
        let url = url.ok_or_else(|| ApiError::refused("the address for the file is not at Slack"))?;
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, BYTES)]);
        let response = self.site.send((Method::POST, url), headers, file.content, FILE_TIMEOUT).await?;
        if response.status != 200 {
            return Err(file_failure(response.status, &response.headers));
        }
        let mut parameters =
            json!({ "files": [{ "id": upload.file_id, "title": file.name }], "channel_id": place.chat });
        if let Some(thread) = &place.thread {
            parameters["thread_ts"] = thread.as_str().into();
        }
        self.call_in_chat::<Value>(place, "files.completeUploadExternal", &parameters).await?;
        Ok(upload.file_id)
    }

    /// Downloads a file that a person has sent. `max` is the largest size in bytes.
    pub(crate) async fn download(&self, file_id: &str, max: u64) -> Result<Vec<u8>, ApiError> {
        let FileInfo { file } = self.call_with_form("files.info", &[("file", file_id)]).await?;
        let most = size_limit(max, file.size)?;
        let url = file.url_private_download.as_deref().and_then(|url| Url::parse(url).ok());
        // The token goes there.
        let url = url.filter(|url| self.is_slack(url)).ok_or_else(|| ApiError::refused("the file is not at Slack"))?;
        let headers = HeaderMap::from_iter([(header::AUTHORIZATION, authorization("Bearer", &self.bot_token)?)]);
        let response = get_file(&self.site.egress, url, headers, most).await?;
        // Without the right to read files, there is a page for signing in.
        let is_page = response.content_type.as_deref().is_some_and(|kind| kind.starts_with("text/html"));
        match response.status {
            200 if is_page && file.mimetype != "text/html" => Err(ApiError::refused("the bot lacks `files:read`")),
            200 => Ok(response.body),
            status => Err(file_failure(status, &response.headers)),
        }
    }

    /// Returns whether an address is Slack's, or that of the stand-in to which the connection leads.
    fn is_slack(&self, url: &Url) -> bool {
        let is_host = |host: &str| host == "slack.com" || host.ends_with(".slack.com");
        url.origin() == self.site.base.origin() || url.scheme() == "https" && url.host_str().is_some_and(is_host)
    }

    /// Calls a method that sends a text. If Slack refuses it for its formatting, it is sent without.
    async fn call_with_text<T: DeserializeOwned>(
        &self,
        place: &ChatPlace,
        method: &str,
        mut parameters: Value,
        message: &Rendered,
        buttons: &[Vec<Button>],
    ) -> Result<T, ApiError> {
        // Neither names nor links in what a model has written do anything. Edits would be parsed by default.
        parameters["parse"] = "none".into();
        for option in ["link_names", "unfurl_links", "unfurl_media"] {
            parameters[option] = false.into();
        }
        parameters["text"] = fallback(&message.text).into();
        parameters["blocks"] = blocks(message, buttons);
        match self.call_in_chat(place, method, &parameters).await {
            Err(error) if error.description_contains("blocks") && !message.entities.is_empty() => {
                tracing::warn!(%error, "a text is sent without its formatting");
                parameters["blocks"] = blocks(&Rendered::plain(message.text.as_str()), buttons);
                self.call_in_chat(place, method, &parameters).await
            }
            called => called,
        }
    }

    /// Calls a method that counts as a message of a chat. If Slack asks to wait, the chat is paused.
    async fn call_in_chat<T: DeserializeOwned>(
        &self,
        place: &ChatPlace,
        method: &str,
        parameters: &Value,
    ) -> Result<T, ApiError> {
        let interval = if method == "chat.update" { EDIT_INTERVAL } else { INTERVAL };
        self.pace.keep(place, interval, self.call(method, parameters)).await
    }

    async fn call<T: DeserializeOwned>(&self, method: &str, parameters: &Value) -> Result<T, ApiError> {
        self.request(method, &self.bot_token, &JSON, parameters.to_string()).await
    }

    /// Calls a method that does not read JSON.
    async fn call_with_form<T: DeserializeOwned>(&self, method: &str, form: &[(&str, &str)]) -> Result<T, ApiError> {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        self.request(method, &self.bot_token, &FORM, body).await
    }

    async fn request<T: DeserializeOwned>(
        &self,
        method: &str,
        token: &str,
        content_type: &HeaderValue,
        body: String,
    ) -> Result<T, ApiError> {
        let url = self.site.url(method)?;
        let headers = HeaderMap::from_iter([
            (header::AUTHORIZATION, authorization("Bearer", token)?),
            (header::CONTENT_TYPE, content_type.clone()),
        ]);
        let response = self.site.send((Method::POST, url), headers, body.into_bytes(), TIMEOUT).await?;
        if response.status == 429 {
            return Err(ApiError::Wait(wait_time(&response.headers)));
        }
        let unreadable = || ApiError::Unavailable(format!("a response with status {} cannot be read", response.status));
        let status: ApiStatus = serde_json::from_slice(&response.body).map_err(|_| unreadable())?;
        if !status.ok {
            return Err(failure(&status.error, &response.headers));
        }
        serde_json::from_slice(&response.body).map_err(|_| unreadable())
    }
}

/// Returns the parameters of a message in a channel, or in a thread of it.
fn in_place(place: &ChatPlace) -> Value {
    let mut parameters = json!({ "channel": place.chat });
    if let Some(thread) = &place.thread {
        parameters["thread_ts"] = thread.as_str().into();
    }
    parameters
}

/// Returns how long Slack asks to wait.
fn wait_time(headers: &HeaderMap) -> Duration {
    let asked = egress::retry_after(headers, SystemTime::now());
    asked.map_or(DEFAULT_WAIT, |time| time.clamp(Duration::from_secs(1), MAX_WAIT))
}

/// Returns the error of a request for a file whose status is not 200.
fn file_failure(status: u16, headers: &HeaderMap) -> ApiError {
    match status {
        429 => ApiError::Wait(wait_time(headers)),
        400..500 => ApiError::refused(format!("status {status}")),
        _ => ApiError::Unavailable(format!("status {status}")),
    }
}

/// Returns the meaning of an error of the Web API.
fn failure(error: &str, headers: &HeaderMap) -> ApiError {
    let description: String = error.chars().filter(|sign| !sign.is_control()).take(200).collect();
    let refusal = match error {
        "ratelimited" | "rate_limited" => return ApiError::Wait(wait_time(headers)),
        _ if TEMPORARY.contains(&error) => return ApiError::Unavailable(description),
        _ if TOKEN.contains(&error) => Refusal::Token,
        _ if BLOCKED.contains(&error) => Refusal::Blocked,
        _ => Refusal::Other,
    };
    ApiError::Refused { refusal, description }
}
