//! Tracing, metrics and log context of each HTTP request.

use super::traces::RequestSpan;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chat::Trace;
use metrics::{counter, gauge, histogram};
use std::any::Any;
use std::time::Instant;
use tracing::Instrument;
use web::HttpError;
use wire::{ErrorCode, UserError};

/// The response header with the trace id.
const TRACE_ID: &str = "x-trace-id";

/// The outermost middleware: traces and counts the request.
pub(crate) async fn observe_request(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("page", MatchedPath::as_str).to_owned();
    let (method, begun) = (method_label(request.method()), Instant::now());
    let client = client_trace(request.headers());
    let traced = super::traces::current().filter(|_| is_traced(&route));
    let traced = traced.map(|traces| traces.start_request(method, &route, client.as_ref()));
    let trace = traced.as_ref().map(RequestSpan::trace).or(client).unwrap_or_else(new_trace);
    let id = HeaderValue::from_str(&trace.trace_id);
    // At the error level, so that log lines name their trace whatever the filter.
    let span = tracing::error_span!("request", trace_id = trace.trace_id, method, route);
    let active = ActiveRequest::start();
    let answer = async {
        let response = next.run(request).await;
        let (status, took) = (response.status(), begun.elapsed());
        if status.is_server_error() {
            tracing::warn!(status = status.as_u16(), ?took, "a request failed with a server error")
        } else {
            tracing::debug!(status = status.as_u16(), ?took, "a request was answered")
        }
        response
    };
    let mut response = chat::traced(trace, answer.instrument(span)).await;
    drop(active);
    let status = response.status().as_u16();
    if let Some(traced) = traced {
        traced.finish(status);
    }
    let status = status.to_string();
    histogram!("chatwright_http_seconds", "method" => method, "route" => route.clone()).record(begun.elapsed());
    counter!("chatwright_http_requests_total", "method" => method, "route" => route, "status" => status).increment(1);
    if let Ok(id) = id {
        response.headers_mut().insert(TRACE_ID, id);
    }
    response
}

/// Returns whether a route is traced. Static files and health checks would only be noise.
fn is_traced(route: &str) -> bool {
    !matches!(route, "/healthz" | "/readyz" | "/metrics" | "/pkg/{*file}" | "page")
}

/// Returns the response after a handler panicked; the panic itself is in the log.
pub(crate) fn panic_response(_: Box<dyn Any + Send>) -> Response {
    tracing::error!("a request's handler panicked");
    HttpError(UserError::new(ErrorCode::Internal, "Something went wrong on our side. Try again.")).into_response()
}

/// A request in progress; its drop is counted also when the client disconnects.
struct ActiveRequest;

impl ActiveRequest {
    fn start() -> Self {
        gauge!("chatwright_http_requests_active").increment(1.0);
        Self
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        gauge!("chatwright_http_requests_active").decrement(1.0);
    }
}

/// Returns the label of a method; clients may invent methods.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Parses the client's trace from the header `traceparent` (W3C Trace Context, level 1).
fn client_trace(headers: &HeaderMap) -> Option<Trace> {
    let mut parts = headers.get("traceparent")?.to_str().ok()?.split('-');
    let (version, trace_id, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_hex = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_id = |text: &str, length: usize| is_hex(text, length) && text.bytes().any(|byte| byte != b'0');
    let is_good = is_hex(version, 2)
        && version != "ff"
        && (version != "00" || parts.next().is_none())
        && is_id(trace_id, 32)
        && is_id(parent, 16)
        && is_hex(flags, 2);
    let is_sampled = u8::from_str_radix(flags, 16).is_ok_and(|flags| flags & 1 == 1);
    is_good.then(|| Trace { trace_id: trace_id.to_owned(), span_id: parent.to_owned(), is_sampled })
}

fn new_trace() -> Trace {
    let (trace_id, span) = (uuid::Uuid::new_v4().simple().to_string(), uuid::Uuid::new_v4().simple().to_string());
    Trace { trace_id, span_id: span[..16].to_owned(), is_sampled: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traceparent_headers_are_parsed() {
        const ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
        let check = |header: &str, expected: Option<bool>| {
            let mut headers = HeaderMap::new();
            headers.insert("traceparent", header.parse().unwrap());
            let found = client_trace(&headers);
            assert_eq!(found.as_ref().map(|trace| trace.is_sampled), expected, "{header}");
            assert!(found.is_none_or(|trace| trace.trace_id == ID && trace.span_id == "00f067aa0ba902b7"));
        };
        check(&format!("00-{ID}-00f067aa0ba902b7-01"), Some(true));
        check(&format!("00-{ID}-00f067aa0ba902b7-00"), Some(false));
        check(&format!("01-{ID}-00f067aa0ba902b7-03-more"), Some(true));
        check(&format!("00-{ID}-00f067aa0ba902b7-01-more"), None);
        check(&format!("ff-{ID}-00f067aa0ba902b7-01"), None);
        check(&format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)), None);
        check(&format!("00-{ID}-0000000000000000-01"), None);
        check(&format!("00-{}-00f067aa0ba902b7-01", ID.to_uppercase()), None);
        check("00-4bf9-00f067aa0ba902b7-01", None);
        check("nonsense", None);
    }
}
