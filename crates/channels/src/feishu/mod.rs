//! Feishu and Lark: their API, signed and encrypted events, what people send there, and how messages are shown there.

mod card;
mod client;
mod content;
mod envelope;
mod failure;
mod incoming;
mod markup;
mod types;

pub(crate) use client::FeishuBot;
pub(crate) use envelope::{Delivered, open};
pub(crate) use incoming::read_event;
pub(crate) use markup::{escaped_length, length_around, markup, sent_length};
