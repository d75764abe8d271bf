//! The capability with real conversations, jobs and databases, against a stand-in of Telegram's Bot API.

#[path = "channels/config.rs"]
mod config_errors;
#[path = "channels/conversations.rs"]
mod conversations;
#[path = "channels/kill.rs"]
mod kill;
#[path = "channels/server.rs"]
mod server;
#[path = "channels/telegram.rs"]
mod telegram;
