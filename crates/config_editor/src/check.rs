//! Checks changes as the server checks a config.

use crate::section::ConfigEditor;
use config::{
    Config, ConfigChange, Diagnostic, Language, LoadAttempt, Outline, Overlay, ProcessEnv, Severity, ShownText,
};
use std::sync::LazyLock;
use std::time::Duration;
use tokio::sync::Semaphore;
use wire::{ErrorCode, UserError};

/// The name of the changes in diagnostics.
pub(crate) const NAME: &str = "(console)";
/// The largest changes in bytes.
pub(crate) const MAX_BYTES: usize = 256 << 10;
/// How long a check may take, with the time that it waits for others.
const MAX_TIME: Duration = Duration::from_secs(20);

/// Two checks at a time: a large config takes a while.
static PERMITS: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(2));

/// Changes that were checked.
pub(crate) struct Checked {
    /// The config with the changes; `None` if there are errors.
    pub(crate) config: Option<Config>,
    /// The errors and warnings.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The entries of the config, with the changes.
    pub(crate) outline: Outline,
}

impl Checked {
    /// Returns the entries that differ from the config with other changes.
    pub(crate) fn changes(&self, before: &Outline) -> Vec<ConfigChange> {
        self.outline.changes(before)
    }

    /// Returns the number of errors.
    pub(crate) fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|problem| problem.severity == Severity::Error).count()
    }
}

/// Reads a config with changes of its files.
///
/// # Errors
/// 422 if the changes are too large, 503 if the check takes too long.
pub(crate) async fn read(
    language: &'static Language,
    config: &Config,
    section: &ConfigEditor,
    text: &str,
) -> Result<LoadAttempt, UserError> {
    check_size(text)?;
    let (source, sections, text) = (config.source.clone(), section.sections.clone(), text.to_owned());
    let mut attempt = in_time(move || {
        let overlay = Overlay { name: NAME, text: &text, sections: &sections };
        language.read_with_overlay(&source, &overlay, &ProcessEnv)
    })
    .await?;
    if let Ok((read, _)) = &mut attempt.outcome {
        read.source = config.source.clone();
    }
    Ok(attempt)
}

/// Checks changes.
///
/// # Errors
/// The errors of [`read`].
pub(crate) async fn check(
    language: &'static Language,
    config: &Config,
    section: &ConfigEditor,
    text: &str,
) -> Result<Checked, UserError> {
    let LoadAttempt { outcome, outline, .. } = read(language, config, section, text).await?;
    let (config, diagnostics) = match outcome {
        Ok((config, warnings)) => (Some(config), own(warnings)),
        Err(problems) => (None, own(problems)),
    };
    Ok(Checked { config, diagnostics, outline })
}

/// Returns the errors, and the warnings about changes; those about the files are shown with the files.
pub(crate) fn own(problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    problems.into_iter().filter(|problem| problem.severity == Severity::Error || problem.file == NAME).collect()
}

/// Returns the lines of the config's files and of changes, without the secrets that are written in them.
///
/// # Errors
/// The errors of [`read`].
pub(crate) async fn shown(
    language: &'static Language,
    config: &Config,
    section: &ConfigEditor,
    text: Option<&str>,
) -> Result<Vec<ShownText>, UserError> {
    let (source, sections, text) = (config.source.clone(), section.sections.clone(), text.map(str::to_owned));
    in_time(move || {
        let overlay = text.as_deref().map(|text| Overlay { name: NAME, text, sections: &sections });
        language.shown_texts(&source, overlay.as_ref())
    })
    .await
}

/// Returns the lines of changes, without the secrets that are written in them.
///
/// # Errors
/// The errors of [`read`].
pub(crate) async fn shown_changes(
    language: &'static Language,
    config: &Config,
    section: &ConfigEditor,
    text: &str,
) -> Result<Vec<String>, UserError> {
    let shown = shown(language, config, section, Some(text)).await?;
    Ok(shown.into_iter().rev().find(|shown| &*shown.name == NAME).map(|shown| shown.lines).unwrap_or_default())
}

/// Checks the size of changes.
///
/// # Errors
/// 422.
pub(crate) fn check_size(text: &str) -> Result<(), UserError> {
    match text.len() {
        0..=MAX_BYTES => Ok(()),
        size => Err(UserError::invalid(
            "/text",
            format!("The changes have {size} bytes; at most {MAX_BYTES} are possible."),
        )),
    }
}

/// Runs work off the threads that answer requests.
pub(crate) async fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, UserError> {
    let run = async {
        let permit = PERMITS.acquire().await;
        // Work that goes on after the time keeps its permit.
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        })
        .await
    };
    match tokio::time::timeout(MAX_TIME, run).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(_)) => Err(UserError::new(ErrorCode::Internal, "The changes could not be checked.")),
        Err(_) => Err(UserError::new(ErrorCode::Unavailable, "The check takes too long. Try again later.")),
    }
}
