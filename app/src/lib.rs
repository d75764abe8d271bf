#![doc = include_str!("../README.md")]

pub mod actions;
pub mod address;
pub mod agent_chat;
pub mod agent_conversations;
pub mod any_view;
pub mod api;
mod bidi;
pub mod blocks;
pub mod chat_context;
pub mod chunks;
#[cfg(feature = "ssr")]
pub mod context;
pub mod icons;
pub mod markdown;
mod node;
mod numbers;
pub mod page_state;
pub mod pages;
pub mod pictures;
pub mod prelude;
pub mod properties;
pub mod routes;
mod scope;
#[cfg(feature = "ssr")]
mod shared;
#[cfg(feature = "ssr")]
pub mod shell;
mod tabs;
pub mod texts;
pub mod theme;
pub mod title;
#[cfg(feature = "ssr")]
pub mod uploads;
mod validation;
mod visible;

pub use pages::account::AccountLink;
pub use routes::App;
#[cfg(feature = "ssr")]
pub use shared::{POLICY as SHARED_POLICY, shared_page};
#[cfg(feature = "ssr")]
pub use shell::{embedded_shell, shell};
