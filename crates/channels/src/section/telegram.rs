//! The type of connection to a bot of Telegram.

use config::{ConnectionProperties, PathStep, SecretText, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;

/// A bot of Telegram. @BotFather creates it and shows its token.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Telegram {
    /// The token, best as `{ _secret: NAME_OF_A_VARIABLE }`.
    pub(crate) token: SecretText,
    /// The base URL, for a Bot API server of your own.
    #[serde(rename = "baseURL", default = "default_url")]
    pub(crate) base_url: String,
    /// Allows an address of this machine or a private network.
    #[serde(default)]
    pub(crate) allow_private: bool,
}

fn default_url() -> String {
    "https://api.telegram.org".to_owned()
}

/// Returns whether a token has the form `NUMBER:LETTERS`.
fn is_token(token: &str) -> bool {
    let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || matches!(sign, b'-' | b'_');
    token.split_once(':').is_some_and(|(number, key)| {
        !number.is_empty()
            && number.bytes().all(|digit| digit.is_ascii_digit())
            && !key.is_empty()
            && key.bytes().all(is_sign)
    })
}

impl ConnectionProperties for Telegram {
    const TYPE: &'static str = "Telegram";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        if !is_token(self.token.expose()) {
            let help = "it looks like 123456789:AAE…; @BotFather shows it after /newbot and /token".to_owned();
            problems.error(&[PathStep::Key("token")], "this is not the token of a bot", Some(help));
        }
        let words = ("messages", "https://telegram.example.com");
        problems.check_base_url(&[PathStep::Key("baseURL")], &self.base_url, self.allow_private, words);
    }
}
