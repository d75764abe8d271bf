//! What the requests of a routine go to.

use crate::http::Http;
use crate::sql::Sql;
use crate::text::TextModels;
use std::sync::Arc;

/// Where a request goes; a cheap handle.
#[derive(Clone)]
pub enum Connection {
    /// A database: `SqlQuery`, `SqlExecute`.
    Sql(Sql),
    /// A web service: `Http`.
    Http(Http),
    /// A provider of models: `GenerateText`, `GenerateObject`.
    Models(Arc<dyn TextModels>),
}
