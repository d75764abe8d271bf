//! Why a service that was called gave no answer.

use crate::client::EgressResponse;
use crate::error::EgressError;
use crate::retry_after::retry_after;
use reqwest::StatusCode;
use std::time::{Duration, SystemTime};
use thiserror::Error;

/// Why a service gave no answer that can be used. The messages contain nothing from the service.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ServiceFailure {
    /// The settings of the connection cannot be used.
    #[error("the connection cannot be used: {0}")]
    Settings(String),
    /// The service refused the key.
    #[error("it refused the key")]
    Credentials,
    /// There are too many requests, or the quota is used up; with the time that the service asks to wait.
    #[error("it gets too many requests, or the quota of its plan is used up")]
    Limited(Option<Duration>),
    /// The service answered with another status than that of success.
    #[error("it answered with the status {0}")]
    Status(u16),
    /// The answer is not of the form that the caller reads.
    #[error("its answer cannot be read")]
    Malformed,
    /// There is no answer.
    #[error(transparent)]
    Egress(#[from] EgressError),
}

impl EgressResponse {
    /// Checks that the service has done what was requested.
    ///
    /// # Errors
    /// [`ServiceFailure::Credentials`], [`ServiceFailure::Limited`] or [`ServiceFailure::Status`].
    pub fn check_status(&self) -> Result<(), ServiceFailure> {
        match self.status {
            status if StatusCode::from_u16(status).is_ok_and(|status| status.is_success()) => Ok(()),
            401 | 403 => Err(ServiceFailure::Credentials),
            // Tavily answers with 432 and 433 when a plan or a budget is used up.
            402 | 429 | 432 | 433 => Err(ServiceFailure::Limited(retry_after(&self.headers, SystemTime::now()))),
            status => Err(ServiceFailure::Status(status)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};

    #[test]
    fn statuses_of_services_are_distinguished() {
        let check = |status: u16, expected: Result<(), ServiceFailure>| {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static("7"))]);
            let response = EgressResponse { status, content_type: None, headers, body: Vec::new() };
            assert_eq!(response.check_status(), expected);
        };
        let limited = Err(ServiceFailure::Limited(Some(Duration::from_secs(7))));
        check(200, Ok(()));
        check(204, Ok(()));
        check(401, Err(ServiceFailure::Credentials));
        check(403, Err(ServiceFailure::Credentials));
        check(402, limited.clone());
        check(429, limited.clone());
        check(433, limited);
        check(302, Err(ServiceFailure::Status(302)));
        check(400, Err(ServiceFailure::Status(400)));
        check(503, Err(ServiceFailure::Status(503)));
    }
}
