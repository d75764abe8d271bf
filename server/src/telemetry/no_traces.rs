//! Replaces `traces` in a build without the feature `otlp`: no traces, and an error if the environment names a
//! collector.

use super::otlp_environment::traces_endpoint;
use chat::{RunFacts, Telemetry, ToolEnd, Trace};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use store::StepRecord;
use url::Url;
use wire::EndReason;

/// Traces; there are none.
pub(crate) struct Traces(Infallible);

/// The span of a request; there is none.
pub(crate) struct RequestSpan(Infallible);

/// A collector; there is none.
pub(crate) struct Collector(Infallible);

/// Starts nothing.
///
/// # Errors
/// The environment names a collector.
pub(crate) fn start() -> Result<Option<Arc<Traces>>, String> {
    match traces_endpoint() {
        None => Ok(None),
        Some((name, _)) => Err(format!(
            "{name} is set, but this program was built without the export of traces; `cargo xtask build --release` \
             builds one with it, and so does the feature `otlp`"
        )),
    }
}

/// Returns none.
pub(super) fn current() -> Option<&'static Arc<Traces>> {
    None
}

impl Collector {
    /// Returns none.
    ///
    /// # Errors
    /// The errors of [`start`].
    pub(crate) fn from_environment() -> Result<Option<Self>, String> {
        start().map(|_| None)
    }

    /// The URL of the collector.
    pub(crate) fn url(&self) -> &Url {
        match self.0 {}
    }

    /// Checks the collector.
    pub(crate) async fn probe(&self) -> Result<(), String> {
        match self.0 {}
    }
}

impl Traces {
    /// Starts the span of a request.
    pub(crate) fn start_request(&self, _: &'static str, _: &str, _: Option<&Trace>) -> RequestSpan {
        match self.0 {}
    }

    /// Ends the export.
    pub(crate) fn shutdown(&self) {
        match self.0 {}
    }
}

impl RequestSpan {
    /// Returns the trace of the span.
    pub(crate) fn trace(&self) -> Trace {
        match self.0 {}
    }

    /// Ends the span.
    pub(crate) fn finish(self, _: u16) {
        match self.0 {}
    }
}

impl Telemetry for Traces {
    fn run_began(&self, _: &RunFacts) {
        match self.0 {}
    }

    fn model_replied(&self, _: &RunFacts, _: &StepRecord) {
        match self.0 {}
    }

    fn tool_ended(&self, _: &RunFacts, _: ToolEnd<'_>) {
        match self.0 {}
    }

    fn run_ended(&self, _: &RunFacts, _: &'static str, _: EndReason, _: Duration) {
        match self.0 {}
    }
}
