//! The log, on standard error: lines to read, or JSON for whoever gathers them.

use std::ffi::OsStr;
use std::io::IsTerminal;
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

/// Whether lines are coloured: on a terminal, unless `NO_COLOR` is set to anything (https://no-color.org). A file or a
/// collector would keep the codes of the colours.
fn is_coloured(is_terminal: bool, no_color: Option<&OsStr>) -> bool {
    is_terminal && no_color.is_none_or(OsStr::is_empty)
}

/// Begins to log. Lines tell ids and causes; prompts, answers, arguments and secrets are in none.
pub(crate) fn begin(format: Format) {
    let filter = EnvFilter::try_from_env("CHATWRIGHT_LOG").unwrap_or_else(|_| EnvFilter::new(USUAL));
    // Whoever read the log may be gone. To say so in the same place would be a panic of whatever wanted to log, the end of the server included.
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(is_coloured(std::io::stderr().is_terminal(), std::env::var_os("NO_COLOR").as_deref()))
        .log_internal_errors(false);
    match format {
        Format::Text => log.init(),
        // The spans around a line name its trace, its run, its conversation and its agent.
        Format::Json => log.json().flatten_event(true).with_current_span(false).with_span_list(true).init(),
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
