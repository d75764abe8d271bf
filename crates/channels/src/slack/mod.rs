//! Slack: its Web API, Socket Mode, signed requests, what people send there, and how messages are shown there.

mod blocks;
mod client;
mod incoming;
mod signature;
mod socket;
mod text;
mod types;

pub(crate) use client::SlackBot;
pub(crate) use incoming::{read_form, read_payload};
pub(crate) use signature::is_signed;
pub(crate) use socket::{Socket, SocketEvent};

#[cfg(feature = "fuzz")]
pub(crate) use blocks::blocks;
#[cfg(feature = "fuzz")]
pub(crate) use socket::read_envelope;
