//! The environment variables by which OpenTelemetry names a collector.

/// Returns the value of an environment variable that is set and not blank.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// Returns the URL to which traces are sent, after the name of the variable that says so:
/// `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, or `/v1/traces` below `OTEL_EXPORTER_OTLP_ENDPOINT`.
pub(super) fn traces_endpoint() -> Option<(&'static str, String)> {
    let (whole, base) = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT");
    let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || variable("OTEL_TRACES_EXPORTER").is_some_and(|value| value == "none");
    let named = variable(whole).map(|url| (whole, url));
    let named = named.or_else(|| variable(base).map(|url| (base, format!("{}/v1/traces", url.trim_end_matches('/')))));
    named.filter(|_| !is_off)
}
