//! The capability with real conversations, jobs and databases, against stand-ins of Telegram's Bot API, of Slack, of Discord
//! and of Feishu. Those in `peers` are by others.

#[path = "channels/closed_cards.rs"]
mod closed_cards;
#[path = "channels/config.rs"]
mod config_errors;
#[path = "channels/conversations.rs"]
mod conversations;
#[path = "channels/discord.rs"]
mod discord;
#[path = "channels/discord_conversations.rs"]
mod discord_conversations;
#[path = "channels/discord_gateway.rs"]
mod discord_gateway;
#[path = "channels/discord_messages.rs"]
mod discord_messages;
#[path = "channels/email.rs"]
mod email;
#[path = "channels/email_conversations.rs"]
mod email_conversations;
#[path = "channels/feishu/fake.rs"]
mod feishu;
#[path = "channels/feishu/cards.rs"]
mod feishu_cards;
#[path = "channels/feishu/connection.rs"]
mod feishu_connection;
#[path = "channels/feishu/conversations.rs"]
mod feishu_conversations;
#[path = "channels/feishu/events.rs"]
mod feishu_events;
#[path = "channels/feishu/long_connection.rs"]
mod feishu_long_connection;
#[path = "channels/files.rs"]
mod files;
#[path = "channels/forms.rs"]
mod forms;
#[path = "channels/kill.rs"]
mod kill;
#[path = "channels/peers/process.rs"]
mod peers;
#[path = "channels/pictures.rs"]
mod pictures;
#[path = "channels/posts.rs"]
mod posts;
#[path = "channels/server.rs"]
mod server;
#[path = "channels/slack.rs"]
mod slack;
#[path = "channels/slack_conversations.rs"]
mod slack_conversations;
#[path = "channels/slack_events.rs"]
mod slack_events;
#[path = "channels/slack_messages.rs"]
mod slack_messages;
#[path = "channels/peers/slack.rs"]
mod slack_peer;
#[path = "channels/telegram.rs"]
mod telegram;
#[path = "channels/peers/telegram.rs"]
mod telegram_peer;
