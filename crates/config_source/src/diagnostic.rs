//! Diagnostics: errors and warnings about a config, for its author.

use std::fmt;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The config is refused.
    Error,
    /// The config is accepted, but probably does not do what its author expects.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// One error or warning. `Display` renders it over several lines, with an excerpt and a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The file as the user named it, or its path in the folder that the user named.
    pub file: String,
    /// The line, counted from 1. 0 if the diagnostic is about the whole file.
    pub line: u32,
    /// The column in characters, counted from 1. 0 if the diagnostic is about the whole file.
    pub column: u32,
    /// The problem, in one sentence without a full stop.
    pub message: String,
    /// How to solve the problem.
    pub help: Option<String>,
    /// The line in question, if there is one.
    pub excerpt: Option<Excerpt>,
}

/// The part of a line that is shown, with the position of the marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The text without control characters. The ends of a long line are cut off.
    pub text: String,
    /// The number of characters before the marker.
    pub offset: usize,
    /// The number of marked characters, at least 1.
    pub width: usize,
}

/// The most characters of a line that are shown, so that a config in one long line stays readable.
const SHOWN: usize = 110;

impl Excerpt {
    /// Cuts the part around `column` (counted from 1) out of `line` and marks `width` characters.
    pub(crate) fn new(line: &str, column: u32, width: u32) -> Self {
        let characters: Vec<char> = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let end = characters.iter().rposition(|c| *c != ' ').map_or(0, |last| last + 1);
        let at = (column.max(1) as usize - 1).min(end);
        let from = if end > SHOWN { at.saturating_sub(SHOWN / 3) } else { 0 };
        let to = end.min(from + SHOWN);
        let (before, after) = (if from > 0 { "…" } else { "" }, if to < end { "…" } else { "" });
        let shown: String = characters[from..to].iter().collect();
        Self {
            text: format!("{before}{shown}{after}"),
            offset: before.chars().count() + at - from,
            width: (width as usize).clamp(1, (to - at.min(to)).max(1)),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}: {}", self.severity, self.message)?;
        let number = self.line.to_string();
        if let Some(Excerpt { text, offset, width }) = &self.excerpt {
            let margin = " ".repeat(number.len());
            let marker = format!("{}{}", " ".repeat(*offset), "^".repeat(*width));
            write!(f, "\n {margin} |\n {number} | {text}\n {margin} | {marker}")?;
        }
        if let Some(help) = &self.help {
            let margin = " ".repeat(if self.excerpt.is_some() { number.len() } else { 0 });
            write!(f, "\n {margin} = help: {help}")?;
        }
        Ok(())
    }
}

/// Renders the position and the message of each diagnostic and what helps, without excerpts of the config.
pub fn render_short(diagnostics: &[Diagnostic]) -> String {
    let text = render(diagnostics);
    let is_shown = |line: &&str| [": error", ": warning", "= help:"].iter().any(|mark| line.contains(mark));
    text.lines().filter(is_shown).collect::<Vec<_>>().join("\n")
}

/// Renders diagnostics for printing, with an empty line between two.
pub fn render(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect::<Vec<_>>().join("\n")
}
