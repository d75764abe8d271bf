//! The type of connection to an app of Slack.

use config::{ConnectionProperties, PathStep, SecretText, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;

/// An app of Slack with a bot, which receives messages over Socket Mode (`appToken`) or over HTTP (`signingSecret`).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Slack {
    /// The token of the bot, `xoxb-…`, best as `{ _secret: NAME_OF_A_VARIABLE }`.
    pub(crate) bot_token: SecretText,
    /// The token of the app, `xapp-…`, for Socket Mode: the server opens a connection to Slack, and needs no public
    /// address.
    #[serde(default)]
    pub(crate) app_token: Option<SecretText>,
    /// The signing secret of the app, for events that Slack sends to `/api/channels/{channel}/slack`.
    #[serde(default)]
    pub(crate) signing_secret: Option<SecretText>,
    /// The id of the workspace, `T…`. With it, a token of another workspace is refused.
    #[serde(default)]
    #[schemars(length(min = 2, max = 32))]
    pub(crate) team_id: Option<String>,
    /// The base URL of the Web API.
    #[serde(rename = "baseURL", default = "default_url")]
    pub(crate) base_url: String,
    /// Allows an address of this machine or a private network.
    #[serde(default)]
    pub(crate) allow_private: bool,
}

fn default_url() -> String {
    "https://slack.com/api".to_owned()
}

/// The shortest signing secret that is accepted, in bytes. Slack's have 32.
const MIN_SECRET: usize = 16;

impl ConnectionProperties for Slack {
    const TYPE: &'static str = "Slack";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let mut token = |key, token: &SecretText, prefix: &str, page: &str| {
            if !token.expose().starts_with(prefix) || token.expose().chars().any(char::is_whitespace) {
                let help = format!("it begins with `{prefix}`; api.slack.com/apps shows it under {page}");
                problems.error(&[PathStep::Key(key)], "this is not the token that is needed", Some(help));
            }
        };
        token("botToken", &self.bot_token, "xoxb-", "OAuth & Permissions");
        if let Some(app_token) = &self.app_token {
            token("appToken", app_token, "xapp-", "Basic Information, App-Level Tokens");
        }
        if let Some(secret) = &self.signing_secret
            && secret.expose().len() < MIN_SECRET
        {
            let help = "api.slack.com/apps shows it under Basic Information, App Credentials".to_owned();
            problems.error(&[PathStep::Key("signingSecret")], "this is not a signing secret", Some(help));
        }
        if self.app_token.is_none() && self.signing_secret.is_none() {
            let help = "add `appToken` for Socket Mode, or `signingSecret` for events over HTTP".to_owned();
            problems.error(&[], "messages cannot be received", Some(help));
        }
        if self
            .team_id
            .as_ref()
            .is_some_and(|id| !id.starts_with('T') || !id.bytes().all(|b| b.is_ascii_alphanumeric()))
        {
            let help = "it looks like T0123ABCD; it is in the address of the workspace in a browser".to_owned();
            problems.error(&[PathStep::Key("teamId")], "this is not the id of a workspace", Some(help));
        }
        let words = ("messages", "https://slack.example.com/api");
        problems.check_base_url(&[PathStep::Key("baseURL")], &self.base_url, self.allow_private, words);
    }
}
