//! Discord: its API, its Gateway, what people send there, and how messages are shown there.

mod client;
mod failure;
mod gateway;
mod incoming;
mod interactions;
mod markup;
mod types;

pub(crate) use client::DiscordBot;
pub(crate) use gateway::{Gateway, GatewayEvent, GatewayPosition};
pub(crate) use incoming::{ReadEvent, Response, read_event};
pub(crate) use markup::{escaped_length, length_around, markup};

#[cfg(feature = "fuzz")]
pub(crate) use gateway::fuzz_payload;
