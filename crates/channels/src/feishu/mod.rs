//! Feishu and Lark: their API, signed and encrypted events, the long connection, what people send there, and how messages are
//! shown there.

mod card;
mod client;
mod connection;
mod content;
mod envelope;
mod failure;
mod frame;
mod incoming;
mod markup;
mod parts;
mod types;

pub(crate) use client::FeishuBot;
pub(crate) use connection::LongConnection;
pub(crate) use envelope::{Delivered, open};
pub(crate) use incoming::read_event;
pub(crate) use markup::{escaped_length, length_around, markup, sent_length};

#[cfg(feature = "fuzz")]
pub(crate) use frame::fuzz_frame;
