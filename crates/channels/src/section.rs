//! The section `channels` of the config, and the type of connection to a bot of Telegram.

use config::{Config, ConnectionProperties, PathStep, SecretText, Section, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::Id;
use std::collections::HashSet;

/// Lets people talk to agents in a messenger. Each person is linked to a user first, on the page *Messengers* of
/// their account, and acts with that user's rights.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Channels(#[schemars(length(max = 8))] pub(crate) Vec<Channel>);

/// A bot that answers for an agent.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Channel {
    /// The id, which is stored with what people send. With another id, everybody has to link again.
    pub(crate) id: Id,
    /// The connection to the bot, of the type `Telegram`. Each bot has one channel.
    pub(crate) connection_id: String,
    /// The agent that answers. A page with a chat of it must exist: the conversations are shown there, too.
    pub(crate) agent_id: Id,
    /// How many messages of one person in a chat may wait while an answer is written.
    #[serde(default = "default_waiting")]
    #[schemars(range(min = 1, max = 100))]
    pub(crate) max_waiting: u32,
    /// In how many chats, such as groups, one user may use the bot.
    #[serde(default = "default_chats")]
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) max_chats: u32,
}

fn default_waiting() -> u32 {
    20
}

fn default_chats() -> u32 {
    100
}

/// A bot of Telegram. @BotFather makes it and tells its token.
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

impl Section for Channels {
    const KEY: &'static str = "channels";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let (mut ids, mut connections) = (HashSet::new(), HashSet::new());
        for (index, channel) in self.0.iter().enumerate() {
            let at = |key| [PathStep::Index(index), PathStep::Key(key)];
            if !ids.insert(&channel.id.0) {
                problems.error(&at("id"), format!("there are two channels with the id `{}`", channel.id.0), None);
            }
            problems.check_connection::<Telegram>(&at("connectionId"), &channel.connection_id);
            if !connections.insert(&channel.connection_id) {
                let message =
                    format!("`{}` has a channel already; its messages can be read only once", channel.connection_id);
                problems.error(&at("connectionId"), message, Some("make another bot with @BotFather".to_owned()));
            }
            problems.check_agent(&at("agentId"), &channel.agent_id.0);
        }
    }
}

/// Returns the channels of a config.
pub(crate) fn channels(config: &Config) -> &[Channel] {
    config.section::<Channels>().map_or(&[], |channels| &channels.0)
}

/// Returns a channel with its connection.
pub(crate) fn find<'c>(config: &'c Config, id: &str) -> Option<(&'c Channel, &'c Telegram)> {
    let channel = channels(config).iter().find(|channel| channel.id.0 == id)?;
    Some((channel, config.connections.get(&channel.connection_id)?.properties::<Telegram>()?))
}
