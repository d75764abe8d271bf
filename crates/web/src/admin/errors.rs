//! Errors of the console, for pages and for the API.

use super::layout;
use axum::response::{IntoResponse, Response};
use store::StoreError;
use wire::{ErrorCode, UserError};

/// Converts an error of the store to the message for the administrator.
pub fn from_store_error(error: StoreError) -> UserError {
    match error {
        StoreError::NotFound => UserError::not_found(),
        StoreError::InvalidCursor => invalid_cursor(),
        error => {
            if !error.is_reported() {
                tracing::error!(%error, "a request failed in the database");
            }
            UserError::new(ErrorCode::Unavailable, "The database is not available right now. Try again in a moment.")
        }
    }
}

/// Returns the error for a cursor that no list has returned.
pub(super) fn invalid_cursor() -> UserError {
    UserError::new(ErrorCode::Malformed, "The cursor in `after` is not valid. Use `next` of the previous page.")
}

/// An error that is rendered as a page.
#[derive(Debug)]
pub struct PageError(UserError);

impl From<UserError> for PageError {
    fn from(error: UserError) -> Self {
        Self(error)
    }
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        Self(from_store_error(error))
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        layout::error_page(&self.0)
    }
}
