//! Where spans are sent: over HTTP, by the client that all requests of the server use.

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

/// For one batch, the answer included.
const TIME: Duration = Duration::from_secs(10);
/// Bytes of an answer.
const MAX_ANSWER: usize = 64 * 1024;

/// A collector of traces. The operator names it, so it may be on this machine.
#[derive(Clone)]
pub(crate) struct Collector {
    egress: Egress,
    url: Url,
    /// Batches are made on a thread of their own.
    runtime: Handle,
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Collector").field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

/// Why it did not take what it was sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    /// It was not reached.
    #[error("{0}")]
    Egress(#[from] EgressError),
    /// What stands in the environment cannot be used.
    #[error("{0}")]
    Settings(String),
    /// It was, and said no.
    #[error("it answers with the status {0}")]
    Status(u16),
}

/// A variable that is set to something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

impl Collector {
    /// The one that the environment names: `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, or `/v1/traces` below `OTEL_EXPORTER_OTLP_ENDPOINT`.
    ///
    /// # Errors
    /// One line for the operator.
    pub(crate) fn of_environment() -> Result<Option<Self>, String> {
        let (whole, base) = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT");
        let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || variable("OTEL_TRACES_EXPORTER").is_some_and(|value| value == "none");
        let named = variable(whole).map(|url| (whole, url));
        let named =
            named.or_else(|| variable(base).map(|url| (base, format!("{}/v1/traces", url.trim_end_matches('/')))));
        let Some((name, url)) = named.filter(|_| !is_off) else { return Ok(None) };
        let protocol =
            variable("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL").or_else(|| variable("OTEL_EXPORTER_OTLP_PROTOCOL"));
        if let Some(protocol) = protocol.filter(|protocol| protocol != "http/protobuf") {
            return Err(format!(
                "OTEL_EXPORTER_OTLP_PROTOCOL is `{protocol}`; traces are sent by `http/protobuf` alone"
            ));
        }
        let url = Url::parse(&url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some());
        let url = url.ok_or_else(|| format!("{name} is not an address such as http://127.0.0.1:4318"))?;
        Ok(Some(Self { egress: Egress::new(true)?, url, runtime: Handle::current() }))
    }

    /// Where it is.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Sends it nothing, to see whether it takes anything: as batches are sent, with the headers of the environment.
    pub(crate) async fn try_it(&self) -> Result<(), Problem> {
        let trial = Trial { collector: self.clone(), outcome: Arc::default() };
        let exporter = super::exporter(trial.clone(), &self.url).map_err(Problem::Settings)?;
        let sent = exporter.export(Vec::new()).await;
        let outcome = trial.outcome.lock().take();
        outcome.unwrap_or_else(|| sent.map_err(|error| Problem::Settings(error.to_string())))
    }

    async fn post(&self, headers: HeaderMap, body: Vec<u8>) -> Result<egress::Answer, Problem> {
        let (method, url) = (http::Method::POST, self.url.clone());
        let request = egress::Request { method, url, headers, body: Some(body), time: TIME, max_bytes: MAX_ANSWER };
        let answer = self.egress.send(request).await?;
        if (200..300).contains(&answer.status) { Ok(answer) } else { Err(Problem::Status(answer.status)) }
    }
}

/// A batch that tells of nothing but whether it was taken.
#[derive(Clone, Debug)]
struct Trial {
    collector: Collector,
    outcome: Arc<Mutex<Option<Result<(), Problem>>>>,
}

#[async_trait]
impl HttpClient for Trial {
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
