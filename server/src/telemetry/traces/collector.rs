//! The OTLP collector, to which spans are sent over HTTP by the server's egress client.

use crate::telemetry::otlp_environment::{traces_endpoint, variable};
use async_trait::async_trait;
use egress::{Egress, EgressError};
use http::header::HeaderMap;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_sdk::trace::SpanExporter;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use url::Url;

/// Timeout for a batch, with its response.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The limit on the size of a response in bytes.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// A collector of traces. The operator configures it, so private addresses are allowed.
#[derive(Clone)]
pub(crate) struct Collector {
    egress: Egress,
    url: Url,
    /// The runtime on which batches are sent; the SDK creates them on its own thread.
    runtime: Handle,
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Collector").field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

/// Why the collector did not accept a batch.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CollectorError {
    /// The collector could not be reached.
    #[error("{0}")]
    Egress(#[from] EgressError),
    /// An environment variable is invalid.
    #[error("{0}")]
    Settings(String),
    /// The collector returned an error status.
    #[error("it returned status {0}")]
    Status(u16),
}

impl Collector {
    /// Returns the collector of the environment: `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, or
    /// `/v1/traces` below `OTEL_EXPORTER_OTLP_ENDPOINT`.
    ///
    /// # Errors
    /// An environment variable is invalid.
    pub(crate) fn from_environment() -> Result<Option<Self>, String> {
        let Some((name, url)) = traces_endpoint() else { return Ok(None) };
        let protocol =
            variable("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL").or_else(|| variable("OTEL_EXPORTER_OTLP_PROTOCOL"));
        if let Some(protocol) = protocol.filter(|protocol| protocol != "http/protobuf") {
            return Err(format!(
                "OTEL_EXPORTER_OTLP_PROTOCOL is `{protocol}`; only `http/protobuf` is supported for traces"
            ));
        }
        let url = Url::parse(&url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some());
        let url = url.ok_or_else(|| format!("{name} is not a URL such as http://127.0.0.1:4318"))?;
        Ok(Some(Self { egress: Egress::new(true)?, url, runtime: Handle::current() }))
    }

    /// The URL of the collector.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Sends an empty batch, with the headers of the environment, to check that the collector
    /// accepts batches.
    pub(crate) async fn probe(&self) -> Result<(), CollectorError> {
        let trial = ProbeClient { collector: self.clone(), outcome: Arc::default() };
        let exporter = super::exporter(trial.clone(), &self.url).map_err(CollectorError::Settings)?;
        let sent = exporter.export(Vec::new()).await;
        let outcome = trial.outcome.lock().take();
        outcome.unwrap_or_else(|| sent.map_err(|error| CollectorError::Settings(error.to_string())))
    }

    async fn post(&self, headers: HeaderMap, body: Vec<u8>) -> Result<egress::EgressResponse, CollectorError> {
        let (method, url) = (http::Method::POST, self.url.clone());
        let request = egress::EgressRequest {
            method,
            url,
            headers,
            body: Some(body),
            timeout: TIMEOUT,
            max_bytes: MAX_RESPONSE_BYTES,
        };
        let answer = self.egress.send(request).await?;
        if (200..300).contains(&answer.status) { Ok(answer) } else { Err(CollectorError::Status(answer.status)) }
    }
}

/// An HTTP client that records whether an empty batch was accepted.
#[derive(Clone, Debug)]
struct ProbeClient {
    collector: Collector,
    outcome: Arc<Mutex<Option<Result<(), CollectorError>>>>,
}

#[async_trait]
impl HttpClient for ProbeClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let outcome = self.collector.post(parts.headers, body.to_vec()).await.map(drop);
        *self.outcome.lock() = Some(outcome);
        Ok(Response::new(Bytes::new()))
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (collector, (parts, body)) = (self.clone(), request.into_parts());
        let sent = self.runtime.spawn(async move { collector.post(parts.headers, body.to_vec()).await });
        let outcome = sent.await.map_err(HttpError::from)?;
        let name = if outcome.is_ok() { "ok" } else { "error" };
        metrics::counter!("chatwright_trace_batches_total", "outcome" => name).increment(1);
        let answer = outcome.inspect_err(|error| tracing::warn!(%error, "traces could not be sent"))?;
        Ok(Response::builder().status(answer.status).body(answer.body.into())?)
    }
}
