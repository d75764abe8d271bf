#![doc = include_str!("../README.md")]

mod connection;
mod endpoint;
mod error;
mod evaluation;
mod gate;
mod http;
mod request_keys;
mod routine;
mod secrets;
mod sql;
mod step;
mod text_models;
mod tool;
mod user_tokens;

pub use connection::Connection;
pub use endpoint::{CallContext, CallingAgent, Endpoint, Endpoints};
pub use error::EndpointError;
pub use evaluation::OwnedScope;
pub use gate::EndpointGate;
pub use http::{HttpConnection, HttpSettings};
pub use secrets::Secrets;
pub use sql::{OpenDatabases, SqlConnection, SqlFailure, SqlLimits, SqlSettings};
pub use text_models::{GenerateRequest, TextModels};
pub use tool::{CallerEndpointTool, EndpointTool};
pub use user_tokens::{NoUserToken, UserTokens};
