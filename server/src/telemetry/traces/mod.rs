//! OpenTelemetry traces: spans of requests, runs, model replies and tool calls, named by the
//! semantic conventions for generative AI. They contain ids, durations, usage and outcomes, but no
//! content.

mod collector;
mod spans;

pub(crate) use collector::Collector;
pub(crate) use spans::{RequestSpan, Traces};

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::HttpClient;
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use std::sync::{Arc, OnceLock};
use url::Url;

/// The service name, unless the environment sets another one.
const SERVICE_NAME: &str = "chatwright";

static TRACES: OnceLock<Arc<Traces>> = OnceLock::new();

/// Starts tracing if the environment names a collector, by the variables that OpenTelemetry
/// defines.
///
/// # Errors
/// An environment variable is invalid.
pub(crate) fn start() -> Result<Option<Arc<Traces>>, String> {
    let Some(collector) = Collector::from_environment()? else { return Ok(None) };
    let url = collector.url().clone();
    let exporter = exporter(collector, &url)?;
    let resource = Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    let is_named = std::env::var("OTEL_SERVICE_NAME").is_ok_and(|name| !name.is_empty())
        || std::env::var("OTEL_RESOURCE_ATTRIBUTES").is_ok_and(|all| all.contains("service.name="));
    let resource = if is_named { resource } else { resource.with_service_name(SERVICE_NAME) };
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build();
    let tracer = provider.tracer(SERVICE_NAME);
    Ok(Some(TRACES.get_or_init(|| Arc::new(Traces::new(provider, tracer))).clone()))
}

/// Returns an exporter to the URL, with the headers of the environment.
fn exporter(client: impl HttpClient + 'static, url: &Url) -> Result<SpanExporter, String> {
    let exporter = SpanExporter::builder().with_http().with_http_client(client).with_endpoint(url.to_string());
    exporter.build().map_err(|error| error.to_string())
}

/// Returns the process-wide traces, if tracing is on.
pub(super) fn current() -> Option<&'static Arc<Traces>> {
    TRACES.get()
}
