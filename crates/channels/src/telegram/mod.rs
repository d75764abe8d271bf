//! Telegram: its API, and what people send there.

mod client;
mod incoming;
mod types;

pub(crate) use client::TelegramBot;
pub(crate) use incoming::{read_update, update_id};
