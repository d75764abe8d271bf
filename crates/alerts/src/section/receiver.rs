//! The receivers of alerts.

use config::{Config, ConnectionProperties, PathStep, SecretText, SectionProblems};
use mail::{Smtp, is_address};
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;
use webhooks::{Scheme, Verifier};

/// A receiver of messages.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Receiver {
    /// The connection, of the type `Smtp` for an e-mail, `OutgoingWebhook` for a request, or `Telegram`, `Slack`,
    /// `Discord` or `Feishu` for a message in a chat.
    pub(crate) connection_id: String,
    /// The id of the chat that gets the message; `CHAT/THREAD` for a topic or thread of it.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    pub(crate) chat: Option<String>,
    /// The addresses that get the e-mail.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub(crate) to: Vec<String>,
}

/// The types of connections to bots, which another capability brings.
const BOTS: [&str; 4] = ["Telegram", "Slack", "Discord", "Feishu"];

/// An address to which the server sends messages as JSON. Slack, Mattermost, Google Chat and others
/// show `text` of it, Discord shows `content`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutgoingWebhook {
    /// The address, best as `{ _secret: NAME_OF_A_VARIABLE }` if it contains a key.
    pub(crate) url: SecretText,
    /// Signs the requests as Standard Webhooks says: `whsec_` and 24 to 64 bytes in Base64.
    #[serde(default)]
    pub(crate) secret: Option<SecretText>,
    /// Allows an address of this machine or a private network.
    #[serde(default)]
    pub(crate) allow_private: bool,
}

impl OutgoingWebhook {
    /// Returns the address. Unlike a base URL it may have a query: some services put their key
    /// there.
    pub(crate) fn url(&self) -> Option<Url> {
        let url = Url::parse(self.url.expose()).ok()?;
        (matches!(url.scheme(), "http" | "https") && url.has_host() && url.username().is_empty()).then_some(url)
    }
}

impl ConnectionProperties for OutgoingWebhook {
    const TYPE: &'static str = "OutgoingWebhook";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        match self.url() {
            None => {
                let help = "for example https://hooks.example.com/alerts".to_owned();
                problems.error(&[PathStep::Key("url")], "this is not the URL of a webhook", Some(help));
            }
            Some(url) if url.scheme() == "http" && !self.allow_private => {
                let help = "write `https://`, or `allowPrivate: true` for a server of your own network".to_owned();
                problems.error(&[PathStep::Key("url")], "messages would be sent without encryption", Some(help));
            }
            Some(_) => {}
        }
        if let Some(secret) = &self.secret
            && let Err(error) = Verifier::new(Scheme::Standard, [secret.expose()])
        {
            problems.error(&[PathStep::Key("secret")], error.to_string(), None);
        }
    }
}

/// The connection of a receiver.
pub(crate) enum Target<'c> {
    /// A mail server.
    Email(&'c Smtp),
    /// A webhook.
    Webhook(&'c OutgoingWebhook),
    /// The bot of a messenger.
    Bot,
}

impl Receiver {
    /// Names the receiver without secrets.
    pub(crate) fn label(&self) -> String {
        match &self.chat {
            Some(chat) => format!("{} to the chat {chat}", self.connection_id),
            None if self.to.is_empty() => self.connection_id.clone(),
            None => format!("{} to {}", self.connection_id, self.to.join(", ")),
        }
    }

    /// Returns the connection.
    pub(crate) fn target<'c>(&self, config: &'c Config) -> Option<Target<'c>> {
        let connection = config.connections.get(&self.connection_id)?;
        let email = connection.properties::<Smtp>().map(Target::Email);
        let webhook = || connection.properties::<OutgoingWebhook>().map(Target::Webhook);
        // The type was checked.
        Some(email.or_else(webhook).unwrap_or(Target::Bot))
    }

    /// Runs the checks that do not need the connection.
    pub(super) fn check(&self, path: &[PathStep<'_>], problems: &mut SectionProblems<'_, '_, '_>) {
        let types = [[Smtp::TYPE, OutgoingWebhook::TYPE].as_slice(), &BOTS].concat();
        problems.check_connection_type(&[path, &[PathStep::Key("connectionId")]].concat(), &self.connection_id, &types);
        for (index, address) in self.to.iter().enumerate().filter(|(_, address)| !is_address(address)) {
            let path = [path, &[PathStep::Key("to"), PathStep::Index(index)]].concat();
            problems.error(&path, format!("`{address}` is not an e-mail address"), None);
        }
    }

    /// Runs the checks that need the connection.
    pub(super) fn check_with_config(
        &self,
        config: &Config,
        path: &[PathStep<'_>],
        problems: &mut SectionProblems<'_, '_, '_>,
    ) {
        let Some(target) = self.target(config) else { return };
        let is_bot = matches!(target, Target::Bot);
        if !is_bot && self.chat.is_some() {
            problems.error(&[path, &[PathStep::Key("chat")]].concat(), "only a messenger has chats", None);
        }
        match target {
            Target::Email(_) if self.to.is_empty() => {
                let help = "add `to: [ops@example.com]`".to_owned();
                problems.error(path, "nobody would get this e-mail", Some(help));
            }
            Target::Webhook(_) if !self.to.is_empty() => {
                problems.error(&[path, &[PathStep::Key("to")]].concat(), "a webhook has no addresses", None);
            }
            Target::Bot if !self.to.is_empty() => {
                problems.error(&[path, &[PathStep::Key("to")]].concat(), "a messenger has no addresses", None);
            }
            Target::Bot if self.chat.is_none() => {
                let help = "add `chat`, the id of a chat in which the bot is".to_owned();
                problems.error(path, "nobody would get this message", Some(help));
            }
            _ => {}
        }
    }
}
