//! Telegram: its API, what people send there, and how Markdown is shown there. What another messenger would
//! bring is a module like this one.

mod client;
mod incoming;
mod render;
mod split;
mod types;

pub(crate) use client::{ApiError, Bot, Button, ChatPlace};
pub(crate) use incoming::{BotAccount, Incoming, IncomingFile, ReadUpdate, read_update, update_id};
pub(crate) use render::render;
pub(crate) use split::{MAX_UNITS, Rendered, code_message, split, units};

/// Renders Markdown as messages.
pub(crate) fn messages(markdown: &str) -> Vec<Rendered> {
    split(&render(markdown))
}
