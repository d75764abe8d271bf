#![doc = include_str!("../README.md")]

mod endpoint;
mod error;
mod routine;
mod sql;
mod step;
mod tool;

pub use endpoint::{CallContext, Endpoint, Endpoints};
pub use error::EndpointError;
pub use sql::{Sql, SqlLimits, SqlSettings};
pub use tool::EndpointTool;
