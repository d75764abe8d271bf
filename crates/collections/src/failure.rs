//! The errors of operations on records, for models and for callers of the API.

use ::store::StoreError;
use contract::ToolError;
use wire::{ErrorCode, UserError};

/// The error of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DataError {
    /// The operation cannot succeed as it is.
    Invalid(String),
    /// A record was changed meanwhile.
    Conflict,
    /// There is no such collection, or no such record, for this user.
    NotFound,
    /// The user may read the collection only.
    ReadOnly,
    /// The database cannot be reached, or took too long.
    Unavailable,
}

impl DataError {
    fn message(&self) -> String {
        match self {
            Self::Invalid(message) => message.clone(),
            Self::Conflict => "A record was changed meanwhile, so none was updated. Try again.".to_owned(),
            Self::NotFound => "There is no such collection.".to_owned(),
            Self::ReadOnly => "The records of this collection cannot be changed by this user.".to_owned(),
            Self::Unavailable => "The data cannot be reached right now.".to_owned(),
        }
    }
}

/// The cause is for the operator.
impl From<StoreError> for DataError {
    fn from(error: StoreError) -> Self {
        if !error.is_reported() {
            tracing::error!(%error, "records cannot be read or stored");
        }
        Self::Unavailable
    }
}

impl From<DataError> for ToolError {
    fn from(error: DataError) -> Self {
        Self::new(error.message())
    }
}

impl From<DataError> for UserError {
    fn from(error: DataError) -> Self {
        let code = match error {
            DataError::NotFound => return Self::not_found(),
            DataError::Invalid(_) => ErrorCode::Invalid,
            DataError::Conflict => ErrorCode::Conflict,
            DataError::ReadOnly => ErrorCode::Forbidden,
            DataError::Unavailable => ErrorCode::Unavailable,
        };
        Self::new(code, error.message())
    }
}
