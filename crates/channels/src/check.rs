//! Checks the bots of a config, for `chatwright doctor`.

use crate::messenger::{ApiError, Bot, Messenger, Pace, Refusal};
use crate::section::{channels, find};
use ::config::Config;

/// Whether the bot of a channel can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotCheck {
    /// The id of the channel.
    pub channel_id: String,
    /// The name of the bot, or why it cannot be used; contains no secret.
    pub outcome: Result<String, String>,
}

/// Asks the messengers for the bots of all channels.
pub async fn check_bots(config: &Config) -> Vec<BotCheck> {
    let check = async |id: &str| {
        let found = find(config, id).ok_or_else(|| "its connection is missing".to_owned())?;
        let bot = Bot::new(found.1, Pace::default()).map_err(|error| error.to_string())?;
        match bot.account().await {
            Ok(account) => Ok(account.name),
            Err(ApiError::Refused { refusal: Refusal::Token, .. }) => Err(wrong_token(bot.messenger()).to_owned()),
            Err(error) => Err(error.to_string()),
        }
    };
    let checks = channels(config).iter().map(async |channel| {
        let channel_id = channel.id.0.clone();
        BotCheck { outcome: check(&channel_id).await, channel_id }
    });
    futures::future::join_all(checks).await
}

fn wrong_token(messenger: Messenger) -> &'static str {
    match messenger {
        Messenger::Telegram => "Telegram does not know the token; @BotFather shows it after /token",
        Messenger::Email => "the mail server does not know the user name or the password",
        Messenger::Discord => {
            "Discord does not know the token; discord.com/developers/applications makes a new one under Bot, Reset Token"
        }
        Messenger::Feishu => {
            "Feishu does not know the app or its secret; open.feishu.cn/app (Lark: open.larksuite.com/app) shows them under Credentials & Basic Info"
        }
        Messenger::Slack => {
            "Slack does not know the token; api.slack.com/apps shows it under OAuth & Permissions once the app is installed"
        }
    }
}
