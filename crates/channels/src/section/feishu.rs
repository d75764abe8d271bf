//! The type of connection to an app of Feishu or Lark.

use config::{ConnectionProperties, PathStep, SecretText, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;

/// An app of Feishu or Lark with a bot, which receives messages over a long connection (`longConnection`) or over HTTP
/// (`encryptKey`).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Feishu {
    /// The *App ID*, `cli_…`.
    #[schemars(length(min = 5, max = 64))]
    pub(crate) app_id: String,
    /// The *App Secret*, best as `{ _secret: NAME_OF_A_VARIABLE }`.
    pub(crate) app_secret: SecretText,
    /// Receives messages over a long connection: the server opens it to Feishu, and needs no public address.
    #[serde(default)]
    pub(crate) long_connection: bool,
    /// The *Encrypt Key* of the app, with which the events are encrypted and signed that Feishu sends to
    /// `/api/channels/{channel}/feishu`.
    #[serde(default)]
    pub(crate) encrypt_key: Option<SecretText>,
    /// The *Verification Token* of the app. With it, events over HTTP with another one are refused.
    #[serde(default)]
    pub(crate) verification_token: Option<SecretText>,
    /// The base URL of the API: `https://open.feishu.cn`, which is the default, or `https://open.larksuite.com` for Lark.
    #[serde(rename = "baseURL", default = "default_url")]
    pub(crate) base_url: String,
    /// Allows an address of this machine or a private network.
    #[serde(default)]
    pub(crate) allow_private: bool,
}

fn default_url() -> String {
    "https://open.feishu.cn".to_owned()
}

/// The shortest Encrypt Key that is accepted, in bytes. Feishu makes longer ones.
const MIN_KEY: usize = 16;

impl ConnectionProperties for Feishu {
    const TYPE: &'static str = "Feishu";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let mut error = |key, message: &str, help: &str| {
            problems.error(&[PathStep::Key(key)], message, Some(help.to_owned()));
        };
        let is_id = self.app_id.strip_prefix("cli_").is_some_and(|id| !id.is_empty());
        if !is_id || !self.app_id.bytes().all(|sign| sign.is_ascii_alphanumeric() || sign == b'_') {
            let help = "it begins with `cli_`; open.feishu.cn/app shows it under Credentials & Basic Info";
            error("appId", "this is not the id of an app", help);
        }
        let secret = self.app_secret.expose();
        if secret.is_empty() || secret.chars().any(char::is_whitespace) {
            let help = "open.feishu.cn/app shows it under Credentials & Basic Info";
            error("appSecret", "this is not the secret of an app", help);
        }
        if self.encrypt_key.as_ref().is_some_and(|key| key.expose().len() < MIN_KEY) {
            let help = "open.feishu.cn/app makes one under Events & Callbacks, Encryption Strategy";
            error("encryptKey", "this key is too short to protect events", help);
        }
        if self.encrypt_key.is_none() && self.verification_token.is_some() {
            let help = "add `encryptKey`, or leave it out: over a long connection, events have no such check";
            error("verificationToken", "it checks events over HTTP, which need `encryptKey`", help);
        }
        if self.encrypt_key.is_none() && !self.long_connection {
            let help = "add `longConnection: true`, or `encryptKey` for events over HTTP".to_owned();
            problems.error(&[], "messages cannot be received", Some(help));
        }
        let words = ("messages", "https://feishu.example.com");
        problems.check_base_url(&[PathStep::Key("baseURL")], &self.base_url, self.allow_private, words);
    }
}
