//! What a caller may call: the port through which it is asked.

use crate::EndpointError;

/// The rights of one caller. Implemented where callers are known; this room only asks, before each endpoint that runs for the
/// caller, those that routines call included.
pub trait Gate: Send + Sync + 'static {
    /// Lets the caller pass to an endpoint.
    ///
    /// # Errors
    /// [`EndpointError::NotFound`] and [`EndpointError::Unauthenticated`].
    fn admit(&self, endpoint_id: &str) -> Result<(), EndpointError>;
}

impl<F: Fn(&str) -> Result<(), EndpointError> + Send + Sync + 'static> Gate for F {
    fn admit(&self, endpoint_id: &str) -> Result<(), EndpointError> {
        self(endpoint_id)
    }
}
