#![doc = include_str!("../README.md")]

mod account_log;
pub mod auth_state;
mod authentication;
mod authority;
mod budgets;
pub mod cookies;
mod credentials;
mod embedding;
mod external_keys;
mod forwarded;
pub mod groups;
mod hosts;
mod jwt;
pub mod oauth;
pub mod openid_connect;
pub mod password;
mod proxy;
pub mod rates;
pub mod rights;
mod sealing;
mod token_parts;
mod user;
mod visitors;

pub use account_log::{AccountAction, audit_address, audit_row};
pub use auth_state::AuthState;
pub use authentication::{AuthMethod, Authentication, Identity};
pub use authority::Authority;
pub use credentials::Credentials;
pub use embedding::EmbedCredentials;
pub use external_keys::ApiKeys;
pub use forwarded::network as client_network;
pub use hosts::{reached_origin, requested_host};
pub use sealing::{EnvironmentKeys, SealingKeys};
pub use token_parts::{random_bytes, random_text};
pub use user::{LOCAL_OWNER, SERVICE_USER, is_visitor_id};
pub use visitors::{COOKIE_KEY, HEADER as VISITOR_HEADER};
