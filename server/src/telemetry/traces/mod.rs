//! Traces for whoever gathers them by OpenTelemetry: spans of requests, runs, replies of models and calls of tools, by the names of its
//! conventions for generative AI. They tell who, how long, how much and how it ended, and never what was said.

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

/// What a collector sees the server as, unless the environment says otherwise.
const SERVICE: &str = "chatwright";

static TRACES: OnceLock<Arc<Traces>> = OnceLock::new();

/// Begins to trace, where the environment names a collector, by the variables that OpenTelemetry defines.
///
/// # Errors
/// One line for the operator: a variable is wrong.
pub(crate) fn begin() -> Result<Option<Arc<Traces>>, String> {
    let Some(collector) = Collector::of_environment()? else { return Ok(None) };
    let url = collector.url().clone();
    let exporter = exporter(collector, &url)?;
    let resource = Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    let is_named = std::env::var("OTEL_SERVICE_NAME").is_ok_and(|name| !name.is_empty())
        || std::env::var("OTEL_RESOURCE_ATTRIBUTES").is_ok_and(|all| all.contains("service.name="));
    let resource = if is_named { resource } else { resource.with_service_name(SERVICE) };
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build();
    let tracer = provider.tracer(SERVICE);
    Ok(Some(TRACES.get_or_init(|| Arc::new(Traces::new(provider, tracer))).clone()))
}

/// Sends spans there, with the headers of the environment.
fn exporter(client: impl HttpClient + 'static, url: &Url) -> Result<SpanExporter, String> {
    let exporter = SpanExporter::builder().with_http().with_http_client(client).with_endpoint(url.to_string());
    exporter.build().map_err(|error| error.to_string())
}

/// What is traced with, if anything is.
pub(super) fn current() -> Option<&'static Arc<Traces>> {
    TRACES.get()
}
