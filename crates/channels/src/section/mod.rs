//! The section `channels` of the config, and the types of connections to bots.

mod discord;
mod email;
mod feishu;
mod slack;
mod telegram;

pub(crate) use discord::Discord;
pub(crate) use email::{ImapSecurity, Mailbox};
pub(crate) use feishu::Feishu;
pub(crate) use slack::Slack;
pub(crate) use telegram::Telegram;

use crate::messenger::Settings;
use config::{AuthMode, Config, ConnectionProperties, PathStep, Section, SectionProblems};
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
    /// The connection to the bot, of the type `Telegram`, `Slack`, `Discord`, `Feishu` or `Mailbox`. Each bot has one channel.
    pub(crate) connection_id: String,
    /// The agent that answers. A page with a chat of it must exist: the conversations are shown there, too.
    pub(crate) agent_id: Id,
    /// The maximum number of messages of one person in a chat that wait while an answer is written.
    #[serde(default = "default_waiting")]
    #[schemars(range(min = 1, max = 100))]
    pub(crate) max_waiting: u32,
    /// The maximum number of chats, such as groups, in which one user may use the bot. In Slack, Discord,
    /// Feishu and mailboxes, each thread is a chat, and beyond the maximum, the thread that was not used for
    /// the longest time is forgotten.
    #[serde(default = "default_chats")]
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) max_chats: u32,
    /// The people who may write. Default: `linked`.
    #[serde(default)]
    pub(crate) users: Users,
}

/// The people who may write to a bot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Users {
    /// People who have linked themselves on the page *Messengers* of their account.
    #[default]
    Linked,
    /// Also members of the Slack workspace `teamId` whose confirmed e-mail address is the name of an account here: they
    /// are linked to it with their first message.
    VerifiedEmail,
}

fn default_waiting() -> u32 {
    20
}

fn default_chats() -> u32 {
    100
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
            let types = [Telegram::TYPE, Slack::TYPE, Discord::TYPE, Feishu::TYPE, Mailbox::TYPE];
            problems.check_connection_type(&at("connectionId"), &channel.connection_id, &types);
            if !connections.insert(&channel.connection_id) {
                let message =
                    format!("`{}` has a channel already; its messages can be read only once", channel.connection_id);
                problems.error(
                    &at("connectionId"),
                    message,
                    Some("make another bot, and a connection to it".to_owned()),
                );
            }
            problems.check_agent(&at("agentId"), &channel.agent_id.0);
        }
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        for (index, channel) in self.0.iter().enumerate() {
            if let Some(id) = missing_smtp(config, channel) {
                let at = [PathStep::Index(index), PathStep::Key("connectionId")];
                let message = format!("its `smtpConnectionId` is `{id}`, which is not a connection of the type Smtp");
                problems.error(&at, message, Some("add the connection that sends the answers".to_owned()));
            }
            let mut error = |message: &str, help: &str| {
                problems.error(&[PathStep::Index(index), PathStep::Key("users")], message, Some(help.to_owned()));
            };
            if channel.users == Users::Linked {
                continue;
            }
            match settings(config, channel) {
                Some(Settings::Slack(slack)) if slack.team_id.is_some() => {}
                Some(Settings::Slack(_)) => error(
                    "people of any workspace could claim an e-mail address",
                    "add `teamId` to the connection, the id of your workspace",
                ),
                _ => error("only Slack knows e-mail addresses", "leave out `users`: people link themselves"),
            }
            match &config.auth.mode {
                AuthMode::Accounts(accounts) if accounts.open_sign_up => error(
                    "anyone could create an account with another person's e-mail address, and that person would then \
                     be linked to it",
                    "leave out `openSignUp` of `auth`, or let people link themselves",
                ),
                AuthMode::Accounts(_) => {}
                _ => error("there are no accounts with names here", "it needs `auth: { mode: password }`"),
            }
        }
    }
}

/// Returns the channels of a config.
pub(crate) fn channels(config: &Config) -> &[Channel] {
    config.section::<Channels>().map_or(&[], |channels| &channels.0)
}

/// Returns a channel with its connection.
pub(crate) fn find<'c>(config: &'c Config, id: &str) -> Option<(&'c Channel, Settings<'c>)> {
    let channel = channels(config).iter().find(|channel| channel.id.0 == id)?;
    Some((channel, settings(config, channel)?))
}

/// Returns the connection of a channel.
pub(crate) fn settings<'c>(config: &'c Config, channel: &Channel) -> Option<Settings<'c>> {
    connection_settings(config, &channel.connection_id)
}

/// Returns the settings of a connection to a bot.
pub(crate) fn connection_settings<'c>(config: &'c Config, id: &str) -> Option<Settings<'c>> {
    let connection = config.connections.get(id)?;
    let telegram = || connection.properties::<Telegram>().map(Settings::Telegram);
    let slack = || connection.properties::<Slack>().map(Settings::Slack);
    let discord = || connection.properties::<Discord>().map(Settings::Discord);
    let feishu = || connection.properties::<Feishu>().map(Settings::Feishu);
    let email = || {
        let mailbox = connection.properties::<Mailbox>()?;
        let smtp = config.connections.get(&mailbox.smtp_connection_id)?;
        smtp.properties::<mail::Smtp>().map(|smtp| Settings::Email(mailbox, smtp))
    };
    telegram().or_else(slack).or_else(discord).or_else(feishu).or_else(email)
}

/// Returns the connection that a mailbox names for its answers if it is not one that sends mails.
fn missing_smtp<'c>(config: &'c Config, channel: &Channel) -> Option<&'c str> {
    let mailbox = config.connections.get(&channel.connection_id)?.properties::<Mailbox>()?;
    settings(config, channel).is_none().then_some(mailbox.smtp_connection_id.as_str())
}
