//! The type of connection to a bot of Discord.

use config::{ConnectionProperties, PathStep, SecretText, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;

/// A bot of Discord, whose messages come over the Gateway: the server opens a connection to Discord, and needs no public
/// address.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Discord {
    /// The token of the bot, best as `{ _secret: NAME_OF_A_VARIABLE }`.
    pub(crate) token: SecretText,
    /// The base URL of the API, with its version.
    #[serde(rename = "baseURL", default = "default_url")]
    pub(crate) base_url: String,
    /// Allows an address of this machine or a private network.
    #[serde(default)]
    pub(crate) allow_private: bool,
}

fn default_url() -> String {
    "https://discord.com/api/v10".to_owned()
}

/// Returns whether a token has three parts of letters and digits, separated by dots.
fn is_token(token: &str) -> bool {
    let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || matches!(sign, b'-' | b'_');
    let parts: Vec<&str> = token.split('.').collect();
    parts.len() == 3 && parts.iter().all(|part| !part.is_empty() && part.bytes().all(is_sign))
}

impl ConnectionProperties for Discord {
    const TYPE: &'static str = "Discord";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        if !is_token(self.token.expose()) {
            let help =
                "it has three parts with dots between them; discord.com/developers/applications shows it under Bot, \
                        after Reset Token"
                    .to_owned();
            problems.error(&[PathStep::Key("token")], "this is not the token of a bot", Some(help));
        }
        let words = ("messages", "https://discord.example.com/api/v10");
        problems.check_base_url(&[PathStep::Key("baseURL")], &self.base_url, self.allow_private, words);
    }
}
