//! A client of Discord's API: the few methods that are used, over `egress`.

use super::failure::{failure, is_gone};
use super::markup::markup;
use super::types::{GatewayInfo, SentMessage, User};
use crate::markdown::Rendered;
use crate::messenger::{
    ApiError, BotAccount, Button, ChatPlace, OutgoingFile, Pace, Site, authorization, get_file, multipart, size_limit,
};
use crate::section::Discord;
use egress::EgressResponse;
use http::{HeaderMap, HeaderValue, Method, header};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;

/// Discord blocks clients that do not name themselves in this form.
const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("DiscordBot (chatwright, ", env!("CARGO_PKG_VERSION"), ")"));
/// The timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(15);
/// The timeout of a request with a file.
const FILE_TIMEOUT: Duration = Duration::from_secs(120);
/// The pause between two messages in a channel, or changes of one. Discord allows about five in five seconds.
const INTERVAL: Duration = Duration::from_millis(1_200);
/// The longest key of a message by which Discord recognizes that it is sent again, in characters.
const MAX_NONCE: usize = 25;
/// The longest label of a button, in characters.
const MAX_LABEL: usize = 80;
/// The most buttons of a row.
const ROW: usize = 5;
/// Shows no previews of links.
pub(super) const SUPPRESS_EMBEDS: u64 = 1 << 2;

/// A bot.
#[derive(Clone)]
pub(crate) struct DiscordBot {
    pub(super) site: Site,
    pub(super) token: String,
    pace: Pace,
}

impl DiscordBot {
    /// Returns the bot of a connection. Its messages are sent at this pace.
    pub(crate) fn new(settings: &Discord, pace: Pace) -> Result<Self, ApiError> {
        let site = Site::new(&settings.base_url, settings.allow_private)?;
        Ok(Self { site, token: settings.token.expose().to_owned(), pace })
    }

    pub(crate) fn pace(&self) -> &Pace {
        &self.pace
    }

    /// Returns the bot's own account.
    pub(crate) async fn account(&self) -> Result<BotAccount, ApiError> {
        let account: User = self.call(Method::GET, "users/@me", None).await?;
        Ok(BotAccount { id: account.id, name: account.username })
    }

    /// Returns the address of the Gateway.
    pub(super) async fn gateway_url(&self) -> Result<String, ApiError> {
        let info: GatewayInfo = self.call(Method::GET, "gateway/bot", None).await?;
        match info.session_start_limit {
            Some(limit) if limit.remaining == 0 => Err(ApiError::Wait(Duration::from_millis(limit.reset_after))),
            _ => Ok(info.url),
        }
    }

    /// Sends a message, and returns its id. One that is sent again within some minutes, with the same key, is sent once.
    pub(crate) async fn send(
        &self,
        place: &ChatPlace,
        message: &Rendered,
        buttons: &[Vec<Button>],
        key: &str,
    ) -> Result<String, ApiError> {
        let mut body = body(message, buttons);
        body["nonce"] = nonce(key).into();
        body["enforce_nonce"] = true.into();
        let path = format!("channels/{}/messages", place.chat);
        let sent: SentMessage = self.call_in_chat(place, Method::POST, &path, body).await?;
        Ok(sent.id)
    }

    /// Replaces a message. One that was deleted stays deleted.
    pub(crate) async fn edit(
        &self,
        place: &ChatPlace,
        message_id: &str,
        message: &Rendered,
        buttons: &[Vec<Button>],
    ) -> Result<(), ApiError> {
        let path = format!("channels/{}/messages/{message_id}", place.chat);
        match self.call_in_chat::<Value>(place, Method::PATCH, &path, body(message, buttons)).await {
            Err(error) if is_gone(&error) => Ok(()),
            edited => edited.map(drop),
        }
    }

    /// Deletes a message of the bot.
    pub(crate) async fn delete(&self, place: &ChatPlace, message_id: &str) -> Result<(), ApiError> {
        let path = format!("channels/{}/messages/{message_id}", place.chat);
        match self.request(Method::DELETE, &path, None).await {
            Err(error) if is_gone(&error) => Ok(()),
            deleted => deleted.map(drop),
        }
    }

    /// Shows for a few seconds that the bot is typing.
    pub(crate) async fn show_typing(&self, place: &ChatPlace) -> Result<(), ApiError> {
        self.request(Method::POST, &format!("channels/{}/typing", place.chat), None).await.map(drop)
    }

    /// Sends a file, and returns the id of its message. One that is sent again, with the same key, is sent once.
    pub(crate) async fn send_file(
        &self,
        place: &ChatPlace,
        file: &OutgoingFile,
        key: &str,
    ) -> Result<String, ApiError> {
        let message = json!({
            "nonce": nonce(key), "enforce_nonce": true, "flags": SUPPRESS_EMBEDS, "allowed_mentions": { "parse": [] },
            "attachments": [{ "id": 0, "filename": file.name }],
        });
        let (content_type, body) = multipart(&[("payload_json", message.to_string())], "files[0]", file);
        let path = format!("channels/{}/messages", place.chat);
        let sent = self.send_body(Method::POST, &path, content_type, body, FILE_TIMEOUT);
        read(&self.pace.keep(place, INTERVAL, sent).await?).map(|sent: SentMessage| sent.id)
    }

    /// Downloads a file that a person has sent; `file_id` is its address. `max` is the largest size in bytes.
    pub(crate) async fn download(&self, file_id: &str, max: u64) -> Result<Vec<u8>, ApiError> {
        let url = Url::parse(file_id).ok().filter(|url| self.has_files(url));
        let url = url.ok_or_else(|| ApiError::refused("the file is not at Discord"))?;
        let response = get_file(&self.site.egress, url, HeaderMap::new(), size_limit(max, None)?).await?;
        if response.status == 200 { Ok(response.body) } else { Err(failure(&response)) }
    }

    /// Returns whether an address is where Discord has files, or that of the stand-in to which the connection leads.
    fn has_files(&self, url: &Url) -> bool {
        let hosts = ["cdn.discordapp.com", "media.discordapp.net"];
        let is_discord = url.scheme() == "https" && url.host_str().is_some_and(|host| hosts.contains(&host));
        is_discord || url.origin() == self.site.base.origin()
    }

    /// Calls a method that counts as a message of a chat. If Discord asks to wait, the chat is paused.
    async fn call_in_chat<T: DeserializeOwned>(
        &self,
        place: &ChatPlace,
        method: Method,
        path: &str,
        body: Value,
    ) -> Result<T, ApiError> {
        self.pace.keep(place, INTERVAL, self.call(method, path, Some(body))).await
    }

    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<T, ApiError> {
        read(&self.request(method, path, body).await?)
    }

    pub(super) async fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<EgressResponse, ApiError> {
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        self.send_body(method, path, HeaderValue::from_static("application/json"), body, TIMEOUT).await
    }

    async fn send_body(
        &self,
        method: Method,
        path: &str,
        content_type: HeaderValue,
        body: Vec<u8>,
        timeout: Duration,
    ) -> Result<EgressResponse, ApiError> {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let mut url = self.site.url(path)?;
        url.set_query(query);
        let headers = HeaderMap::from_iter([
            (header::AUTHORIZATION, authorization("Bot", &self.token)?),
            (header::CONTENT_TYPE, content_type),
            (header::USER_AGENT, AGENT),
        ]);
        let response = self.site.send((method, url), headers, body, timeout).await?;
        if (200..300).contains(&response.status) { Ok(response) } else { Err(failure(&response)) }
    }
}

fn read<T: DeserializeOwned>(response: &EgressResponse) -> Result<T, ApiError> {
    let unreadable = |_| ApiError::Unavailable("a response cannot be read".to_owned());
    serde_json::from_slice(&response.body).map_err(unreadable)
}

fn nonce(key: &str) -> String {
    key.chars().take(MAX_NONCE).collect()
}

/// Returns a message that notifies no user, for any text of a model.
pub(super) fn body(message: &Rendered, buttons: &[Vec<Button>]) -> Value {
    json!({
        "content": markup(message), "components": rows(buttons), "flags": SUPPRESS_EMBEDS,
        "allowed_mentions": { "parse": [] },
    })
}

fn rows(buttons: &[Vec<Button>]) -> Vec<Value> {
    let button = |button: &&Button| {
        let label: String = button.label.chars().take(MAX_LABEL).collect();
        json!({ "type": 2, "style": 2, "label": label, "custom_id": button.data })
    };
    let all: Vec<&Button> = buttons.iter().flatten().collect();
    let row = |row: &[&Button]| json!({ "type": 1, "components": row.iter().map(button).collect::<Vec<_>>() });
    all.chunks(ROW).map(row).collect()
}
