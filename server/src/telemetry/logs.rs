//! The log on standard error, as text or as JSON lines for log collectors.

use std::ffi::OsStr;
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// Human-readable text.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// The log filter without `CHATWRIGHT_LOG`.
pub(crate) const DEFAULT_FILTER: &str = "warn,chatwright=info,server=info,accounts=info,chat=info";

/// Returns whether lines are coloured: on a terminal, unless `NO_COLOR` is set to anything
/// (https://no-color.org). A file or a collector would keep the escape codes.
pub(crate) fn is_coloured(is_terminal: bool, no_color: Option<&OsStr>) -> bool {
    is_terminal && no_color.is_none_or(OsStr::is_empty)
}

/// The filter of commands whose output is for people, not a record of what a server does.
pub(crate) const WARNINGS: &str = "warn";

/// Starts logging, with this filter unless `CHATWRIGHT_LOG` is another one. Log lines contain ids and causes, but no prompts, answers, arguments or secrets.
pub(crate) fn init(format: LogFormat, default_filter: &str) {
    let filter = EnvFilter::try_from_env("CHATWRIGHT_LOG").unwrap_or_else(|_| EnvFilter::new(default_filter));
    // When standard error is closed, reporting that on standard error would panic in the code that
    // logs, for example while the server shuts down.
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(is_coloured(std::io::stderr().is_terminal(), std::env::var_os("NO_COLOR").as_deref()))
        .log_internal_errors(false);
    match format {
        LogFormat::Text => log.init(),
        // The spans of a line name its trace, run, conversation and agent.
        LogFormat::Json => log.json().flatten_event(true).with_current_span(false).with_span_list(true).init(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_terminals_are_coloured() {
        let check = |is_terminal: bool, no_color: Option<&str>, expected: bool| {
            assert_eq!(is_coloured(is_terminal, no_color.map(OsStr::new)), expected, "{is_terminal} {no_color:?}");
        };
        check(true, None, true);
        check(true, Some(""), true);
        check(true, Some("1"), false);
        check(false, None, false);
        check(false, Some(""), false);
    }
}
