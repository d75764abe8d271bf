//! Telegram: its API, what people send there, and how Markdown is shown there. What another messenger would
//! bring is a module like this one.

mod client;
mod incoming;
mod pace;
mod render;
mod split;
mod types;

pub(crate) use client::{ApiError, Bot, Button, ChatPlace};
pub(crate) use incoming::{BotAccount, Incoming, IncomingFile, ReadUpdate, read_update, update_id};
pub(crate) use pace::{MAX_WAIT, Pace, Pacer};
pub(crate) use render::render;
pub(crate) use split::{MAX_UNITS, Rendered, code_message, split, units};

#[cfg(feature = "fuzz")]
pub(crate) use split::valid::assert_valid;

/// The longest Markdown that is rendered, in bytes. A longer text would not fit in the messages that are sent.
const MAX_MARKDOWN: usize = 160 << 10;

/// What comes last if an answer is too long.
pub(crate) const MORE: &str = "The rest of the answer is on the website.";

/// Renders Markdown as messages. Of a very long one, that is its beginning.
pub(crate) fn messages(markdown: &str) -> Vec<Rendered> {
    let shown = &markdown[..markdown.floor_char_boundary(MAX_MARKDOWN)];
    let mut messages = split(&render(shown));
    if shown.len() < markdown.len() {
        messages.push(Rendered::plain(MORE));
    }
    messages
}
