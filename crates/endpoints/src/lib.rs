#![doc = include_str!("../README.md")]

mod endpoint;
mod error;
mod named;
mod routine;
mod sql;
mod tool;

pub use endpoint::{CallContext, Endpoint, Endpoints};
pub use error::EndpointError;
pub use sql::{Sql, SqlSettings};
pub use tool::EndpointTool;
