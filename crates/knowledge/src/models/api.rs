//! Requests to the services, with retries.

use config::SecretText;
use egress::{Egress, EgressError, EgressRequest, ServiceFailure};
use http::Method;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;
use std::time::Duration;
use url::Url;

/// The first pause before a request is repeated; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Returns the pause after which another attempt may succeed; `None` if it would fail again.
fn pause(failure: &ServiceFailure, attempt: u32) -> Option<Duration> {
    let pause = PAUSE * 2_u32.saturating_pow(attempt.saturating_sub(1));
    match failure {
        ServiceFailure::Limited(asked) => Some(asked.unwrap_or(pause)),
        ServiceFailure::Status(status) if *status >= 500 || *status == 408 => Some(pause),
        ServiceFailure::Egress(EgressError::Unreachable | EgressError::TimedOut(_)) => Some(pause),
        _ => None,
    }
    .map(|pause| pause.min(LONGEST_PAUSE))
}

/// An endpoint that is asked with JSON.
pub(super) struct Api {
    egress: Egress,
    url: Url,
    authorization: Option<HeaderValue>,
    timeout: Duration,
    max_bytes: usize,
}

/// The address and the authentication of an endpoint.
pub(super) struct ApiSettings<'a> {
    pub(super) url: &'a str,
    pub(super) path: &'static str,
    pub(super) api_key: Option<&'a SecretText>,
    pub(super) allow_private: bool,
    pub(super) timeout: Duration,
    pub(super) max_bytes: usize,
}

impl Api {
    /// # Errors
    /// A message for the operator.
    pub(super) fn new(settings: &ApiSettings<'_>) -> Result<Self, String> {
        let mut url: Url = settings.url.parse().map_err(|_| "`url` is not a URL".to_owned())?;
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push(settings.path);
        }
        let authorization = settings.api_key.map(|key| {
            let value = HeaderValue::try_from(format!("Bearer {}", key.expose()));
            let mut value = value.map_err(|_| "`apiKey` has characters that a header cannot have".to_owned())?;
            value.set_sensitive(true);
            Ok::<_, String>(value)
        });
        Ok(Self {
            egress: Egress::new(settings.allow_private)?,
            url,
            authorization: authorization.transpose()?,
            timeout: settings.timeout,
            max_bytes: settings.max_bytes,
        })
    }

    /// Sends a request, up to `attempts` times while another attempt may help, and reads the answer.
    pub(super) async fn post<T>(
        &self,
        body: &Value,
        attempts: u32,
        read: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<T, ServiceFailure> {
        let body = body.to_string().into_bytes();
        let mut attempt = 1;
        loop {
            let failure = match self.send(body.clone()).await {
                Ok(answer) => match read(&answer) {
                    Some(result) => return Ok(result),
                    None => ServiceFailure::Malformed,
                },
                Err(failure) => failure,
            };
            match pause(&failure, attempt) {
                Some(pause) if attempt < attempts => tokio::time::sleep(pause).await,
                _ => return Err(failure),
            }
            attempt += 1;
        }
    }

    async fn send(&self, body: Vec<u8>) -> Result<Vec<u8>, ServiceFailure> {
        let json = HeaderValue::from_static("application/json");
        let mut headers = HeaderMap::from_iter([(ACCEPT, json.clone()), (CONTENT_TYPE, json)]);
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let (url, timeout, max_bytes) = (self.url.clone(), self.timeout, self.max_bytes);
        let request = EgressRequest { method: Method::POST, url, headers, body: Some(body), timeout, max_bytes };
        let answer = self.egress.send(request).await?;
        answer.check_status()?;
        Ok(answer.body)
    }
}
