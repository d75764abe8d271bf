//! The log, on standard error: lines to read, or JSON for whoever gathers them.

use tracing_subscriber::EnvFilter;

/// How lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// To be read.
    #[default]
    Text,
    /// An object in each line.
    Json,
}

/// What is logged without `CHATWRIGHT_LOG`.
const USUAL: &str = "warn,chatwright=info,server=info,chat=info";

/// Begins to log. Lines tell ids and causes; prompts, answers, arguments and secrets are in none.
pub(crate) fn begin(format: Format) {
    let filter = EnvFilter::try_from_env("CHATWRIGHT_LOG").unwrap_or_else(|_| EnvFilter::new(USUAL));
    // Whoever read the log may be gone. To say so in the same place would be a panic of whatever wanted to log, the end of the server included.
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).log_internal_errors(false);
    match format {
        Format::Text => log.init(),
        // The spans around a line name its trace, its run, its conversation and its agent.
        Format::Json => log.json().flatten_event(true).with_current_span(false).with_span_list(true).init(),
    }
}
