//! Errors of the console's pages.

use super::layout;
use crate::error::from_store_error;
use axum::response::{IntoResponse, Response};
use store::StoreError;
use wire::UserError;

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
