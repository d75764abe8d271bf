//! The connections that the requests of a routine are sent to.

use crate::http::HttpConnection;
use crate::sql::SqlConnection;
use crate::text_models::TextModels;
use std::sync::Arc;

/// A connection; a cheap handle.
#[derive(Clone)]
pub enum Connection {
    /// A database: `SqlQuery`, `SqlExecute`.
    Sql(SqlConnection),
    /// A web service: `Http`.
    Http(HttpConnection),
    /// A model provider: `GenerateText`, `GenerateObject`.
    Models(Arc<dyn TextModels>),
}
