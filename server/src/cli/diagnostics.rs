//! Prints the problems of configs.

use config::{Config, Diagnostic, LoadResult, Severity};
use std::io::{Write, stderr};

/// Prints diagnostics until the reader closes the pipe, as `check | head` does.
pub(super) fn print_diagnostics(problems: &[Diagnostic]) {
    let mut out = stderr().lock();
    let _ = problems.iter().try_for_each(|problem| writeln!(out, "{problem}"));
}

/// Returns a config with its warnings. If it is invalid, prints its problems, warnings included.
///
/// # Errors
/// The config is invalid; the message has the number of errors.
pub(super) fn valid_or_printed(loaded: LoadResult) -> anyhow::Result<(Config, Vec<Diagnostic>)> {
    loaded.map_err(|problems| {
        print_diagnostics(&problems);
        anyhow::anyhow!("the config has {} error(s)", error_count(&problems))
    })
}

/// Returns the number of errors; warnings do not count.
pub(super) fn error_count(problems: &[Diagnostic]) -> usize {
    problems.iter().filter(|problem| problem.severity == Severity::Error).count()
}

#[cfg(test)]
mod tests {
    use super::error_count;
    use std::collections::HashMap;

    #[test]
    fn warnings_are_not_counted_as_errors() {
        let text = "
auth:
  mode: password
  openidConnect:
    - { id: a, clientId: c, issuer: 'https://accounts.google.com', signUp: true }
    - { id: a, clientId: c, issuer: 'https://id.example.com' }
pages: [{ id: p }]
";
        let loaded = config::load_embedded(&[("chatwright.yaml", text)], &HashMap::<String, String>::new());
        let problems = loaded.unwrap_err();
        assert_eq!((problems.len(), error_count(&problems)), (3, 1), "{}", config::render(&problems));
    }
}
