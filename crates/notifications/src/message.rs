//! The message of a notification, and the request that sends it to a push service (RFC 8030, RFC
//! 8291).

use crate::section::Notifications;
use crate::server_key::ServerKey;
use crate::store::Subscription;
use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use egress::EgressRequest;
use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;
use std::time::Duration;
use url::Url;
use web_push_native::p256::PublicKey;
use web_push_native::{Auth, encrypt};
use wire::hidden_characters::{TextKind, text_with_code_points};
use wire::text::shortened;

/// The time limit of a push service.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The most bytes of its answer that are read.
const MAX_ANSWER: usize = 16 << 10;
/// The time for which it keeps a message for a browser that is not reachable, in seconds.
const KEEP_SECONDS: u32 = 24 * 60 * 60;
/// The longest title in characters. A push service accepts 4,096 encrypted bytes.
const MAX_TITLE: usize = 120;

/// The longest address of a browser at its push service, in bytes. Those of today have up to 500.
const MAX_ENDPOINT: usize = 2_048;

/// Browsers send Base64 for URLs without padding; some programs add it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The cause of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// An answer is there.
    Answered,
    /// An answer broke off or failed.
    Failed,
    /// A call waits for a decision, or a question for an answer.
    Waiting,
    /// A workflow asks a question that the user may answer.
    Task,
    /// A trigger of a workflow of the user was paused because its runs have failed.
    PausedTrigger,
    /// The user tries whether notifications arrive.
    Test,
}

/// The message that the service worker shows; see `public/assets/notifications-worker.js`.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Message {
    /// The first line.
    pub(crate) title: String,
    /// The second line.
    pub(crate) body: &'static str,
    /// A notification with the same tag is replaced.
    pub(crate) tag: String,
    /// The page that a click opens, on this server.
    pub(crate) url: String,
    /// Whether the user must act.
    #[serde(skip)]
    pub(crate) is_urgent: bool,
}

impl Message {
    /// Creates a message. `sender` is the name of the agent or of the workflow; `title` that of the conversation, of the
    /// question or of the trigger, if it may be shown.
    pub(crate) fn new(cause: Cause, sender: &str, title: Option<&str>, tag: String, url: String) -> Self {
        let body = match cause {
            Cause::Answered => "An answer is there.",
            Cause::Failed => "The answer broke off.",
            Cause::Waiting => "A decision is needed to go on.",
            Cause::Task => "A question waits for your answer.",
            Cause::PausedTrigger => "A trigger was paused: its runs have failed.",
            Cause::Test => "Notifications arrive in this browser.",
        };
        let is_urgent = matches!(cause, Cause::Waiting | Cause::Task);
        Self { title: cut_title(sender, title), body, tag, url, is_urgent }
    }
}

/// Names a conversation by its agent, or what a workflow waits for by the workflow, and, if it may be shown, by its
/// title: at most [`MAX_TITLE`] characters, with hidden characters made visible.
pub(crate) fn cut_title(sender: &str, title: Option<&str>) -> String {
    let name = match title.map(str::trim).filter(|title| !title.is_empty()) {
        Some(title) => format!("{sender}: {title}"),
        None => sender.to_owned(),
    };
    let name = text_with_code_points(&name, TextKind::Prose);
    shortened(&name, MAX_TITLE)
}

/// The address and keys of a browser, as it sends them.
pub(crate) struct Receiver {
    pub(crate) endpoint: Url,
    public_key: PublicKey,
    auth: [u8; 16],
}

impl Receiver {
    /// Reads the subscription of a browser.
    ///
    /// # Errors
    /// The field that cannot be used, and the reason.
    pub(crate) fn read(
        settings: &Notifications,
        endpoint: &str,
        p256dh: &str,
        auth: &str,
    ) -> Result<Self, (&'static str, &'static str)> {
        if endpoint.len() > MAX_ENDPOINT {
            return Err(("endpoint", "the address is longer than 2,048 bytes"));
        }
        let url = Url::parse(endpoint).map_err(|_| ("endpoint", "this is not an address"))?;
        let is_allowed = url.scheme() == "https" || settings.allow_private && url.scheme() == "http";
        if !is_allowed || !url.has_host() || !url.username().is_empty() || url.password().is_some() {
            return Err(("endpoint", "this is not an `https:` address of a push service"));
        }
        let decoded = |text: &str| BASE64.decode(text).ok();
        let public_key = decoded(p256dh).and_then(|bytes| PublicKey::from_sec1_bytes(&bytes).ok());
        let public_key = public_key.ok_or(("keys.p256dh", "this is not a public key on the curve P-256 in Base64"))?;
        let auth = decoded(auth).and_then(|bytes| bytes.try_into().ok());
        let auth = auth.ok_or(("keys.auth", "these are not 16 bytes in Base64"))?;
        Ok(Self { endpoint: url, public_key, auth })
    }

    /// Returns the stored browser as a receiver.
    ///
    /// # Errors
    /// The errors of [`Receiver::read`], for example because the config does not allow its address any more.
    pub(crate) fn stored(
        settings: &Notifications,
        stored: &Subscription,
    ) -> Result<Self, (&'static str, &'static str)> {
        Self::read(settings, &stored.endpoint, &stored.p256dh, &stored.auth)
    }
}

/// Returns the request that sends a message. `now` is in seconds.
///
/// # Errors
/// The reason why it cannot be sent, for operators.
pub(crate) fn request(
    receiver: &Receiver,
    message: &Message,
    key: &ServerKey,
    contact: &str,
    now: i64,
) -> Result<EgressRequest, String> {
    let text = serde_json::to_vec(message).map_err(|error| error.to_string())?;
    let body = encrypt(text, &receiver.public_key, &Auth::from(receiver.auth)).map_err(|error| error.to_string())?;
    let authorization = key.authorization(&receiver.endpoint, contact, now).ok_or("the message was not signed")?;
    let mut authorization = HeaderValue::try_from(authorization).map_err(|error| error.to_string())?;
    authorization.set_sensitive(true);
    let urgency = if message.is_urgent { "high" } else { "normal" };
    let headers = HeaderMap::from_iter([
        (AUTHORIZATION, authorization),
        (CONTENT_ENCODING, HeaderValue::from_static("aes128gcm")),
        (HeaderName::from_static("ttl"), HeaderValue::from(KEEP_SECONDS)),
        (HeaderName::from_static("urgency"), HeaderValue::from_static(urgency)),
    ]);
    let (method, url) = (Method::POST, receiver.endpoint.clone());
    Ok(EgressRequest { method, url, headers, body: Some(body), timeout: TIMEOUT, max_bytes: MAX_ANSWER })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_show_titles_only_where_they_may() {
        let check = |cause, title: Option<&str>, expected: (&str, &str)| {
            let message = Message::new(cause, "Helper", title, "t".to_owned(), "/".to_owned());
            assert_eq!((message.title.as_str(), message.body), expected);
        };
        check(Cause::Answered, None, ("Helper", "An answer is there."));
        check(Cause::Failed, Some("  "), ("Helper", "The answer broke off."));
        check(Cause::Waiting, Some("Refund of 80 €"), ("Helper: Refund of 80 €", "A decision is needed to go on."));
        check(Cause::Task, None, ("Helper", "A question waits for your answer."));
        check(
            Cause::PausedTrigger,
            Some("nightly"),
            ("Helper: nightly", "A trigger was paused: its runs have failed."),
        );
        check(Cause::Failed, Some("pay \u{202e}001"), ("Helper: pay [U+202E]001", "The answer broke off."));
        let long = Message::new(Cause::Answered, "é", Some(&"é".repeat(500)), String::new(), String::new());
        assert_eq!(long.title.chars().count(), MAX_TITLE + 1);
    }
}
