//! What is wrong with a config, for the person who writes it.

use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The config is refused.
    Error,
    /// The config works, but probably not as its author thinks.
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

/// One problem. `Display` renders it over several lines, with the line it is about and a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file as the user named it, or below the folder that the user named.
    pub file: String,
    /// Counted from 1; 0 when the problem is the file as a whole.
    pub line: u32,
    /// Counted from 1, in characters; 0 when the problem is the file as a whole.
    pub column: u32,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The line, if there is one.
    pub excerpt: Option<Excerpt>,
}

/// The part of a line that is shown, with the place of the marker in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Without control characters; the ends of a long line are cut off.
    pub text: String,
    /// Characters before the marker.
    pub offset: usize,
    /// Characters under the marker, at least 1.
    pub width: usize,
}

/// Characters of a line that are shown at most, so that a config in one long line stays readable.
const SHOWN: usize = 110;

impl Excerpt {
    /// The part of `line` around `column` (from 1), with `width` characters marked.
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

/// All of them below each other, with an empty line between two, ready to print.
pub fn render(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect::<Vec<_>>().join("\n")
}
