#![doc = include_str!("../README.md")]

mod connection;
mod endpoint;
mod error;
mod evaluation;
mod gate;
mod http;
mod routine;
mod secrets;
mod sql;
mod step;
mod text;
mod tool;

pub use connection::Connection;
pub use endpoint::{CallContext, Endpoint, Endpoints};
pub use error::EndpointError;
pub use evaluation::Facts;
pub use gate::Gate;
pub use http::{Http, HttpSettings};
pub use secrets::Secrets;
pub use sql::{Sql, SqlLimits, SqlSettings};
pub use text::{TextModels, TextQuestion};
pub use tool::{CallersTool, EndpointTool};
