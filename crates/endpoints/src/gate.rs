//! What a caller may call: the port through which it is asked.

use crate::EndpointError;
use serde_json::{Value, json};

/// The rights of one caller. Implemented where callers are known; this room only asks, before each endpoint that runs for the
/// caller, those that routines call included.
pub trait Gate: Send + Sync + 'static {
    /// Lets the caller pass to an endpoint.
    ///
    /// # Errors
    /// [`EndpointError::NotFound`] and [`EndpointError::Unauthenticated`].
    fn admit(&self, endpoint_id: &str) -> Result<(), EndpointError>;

    /// What `_user` reads of the caller with this id.
    fn user(&self, id: &str) -> Value {
        json!({ "id": id })
    }
}

impl<F: Fn(&str) -> Result<(), EndpointError> + Send + Sync + 'static> Gate for F {
    fn admit(&self, endpoint_id: &str) -> Result<(), EndpointError> {
        self(endpoint_id)
    }
}
