//! The port that decides which endpoints a caller may call.

use crate::EndpointError;
use contract::RunScope;
use serde_json::{Value, json};

/// The rights of one caller. It is asked before every endpoint that runs for the caller, including
/// those that routines call.
pub trait EndpointGate: Send + Sync + 'static {
    /// Checks whether the caller may call an endpoint.
    ///
    /// # Errors
    /// [`EndpointError::NotFound`] and [`EndpointError::Unauthenticated`].
    fn check(&self, endpoint_id: &str) -> Result<(), EndpointError>;

    /// Returns the value of `_user` for the caller with this id.
    fn user(&self, id: &str) -> Value {
        json!({ "id": id })
    }

    /// Returns the user on whose behalf web services are called for the caller with this id.
    fn scope(&self, id: &str) -> RunScope {
        RunScope { user_id: id.to_owned(), ..RunScope::default() }
    }
}

impl<F: Fn(&str) -> Result<(), EndpointError> + Send + Sync + 'static> EndpointGate for F {
    fn check(&self, endpoint_id: &str) -> Result<(), EndpointError> {
        self(endpoint_id)
    }
}
