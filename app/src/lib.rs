#![doc = include_str!("../README.md")]

pub mod actions;
pub mod address;
pub mod agent_chat;
pub mod agent_conversations;
pub mod api;
mod approval;
pub mod blocks;
pub mod chat_context;
pub mod chunks;
#[cfg(feature = "ssr")]
pub mod context;
#[cfg(feature = "ssr")]
pub mod home;
#[cfg(not(feature = "ssr"))]
pub mod hydration;
mod libraries;
pub mod markdown;
pub mod page_state;
pub mod pages;
mod palette;
pub mod prelude;
pub mod properties;
pub mod routes;
mod scope;
#[cfg(feature = "ssr")]
mod shared;
#[cfg(feature = "ssr")]
pub mod shell;
mod tab_sync;
pub mod texts;
pub mod theme;
pub mod title;
pub mod ui;
#[cfg(feature = "ssr")]
pub mod upload_origins;
mod validation;
pub mod workflows;

pub use pages::account::AccountLink;
pub use routes::App;
#[cfg(feature = "ssr")]
pub use shared::{CONVERSATION_POLICY, FILE_POLICY, SharedFileContent, file_has_text, shared_file_page, shared_page};
#[cfg(feature = "ssr")]
pub use shell::{embedded_shell, shell};
