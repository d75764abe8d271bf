//! Compiled regular expressions, whose work is charged.

use crate::meter;
use regex_lite::{Captures, Regex, RegexBuilder};

/// The maximum length of a pattern in bytes.
const MAX_PATTERN: usize = 2_000;
/// The sizes in bytes that compiled patterns are sorted into. Repetitions make them larger than
/// their text.
const SIZES: [usize; 8] = [1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 14, 1 << 16, 1 << 18];
/// The work of a search in units is the length of the text times the size of the pattern, divided
/// by this.
const BYTES_PER_UNIT: u64 = 1 << 12;

/// A compiled pattern.
pub(crate) struct Pattern {
    regex: Regex,
    size: u64,
    pub(crate) is_global: bool,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// The pattern or a flag cannot be used, or the budget is used up.
    pub(crate) fn new(pattern: &str, flags: &str) -> Result<Self, String> {
        if pattern.len() > MAX_PATTERN {
            return Err(format!("the pattern is longer than {MAX_PATTERN} bytes"));
        }
        if let Some(unknown) = flags.chars().find(|flag| !"gimsu".contains(*flag)) {
            return Err(format!("there is no flag `{unknown}`; the flags are `g`, `i`, `m`, `s` and `u`"));
        }
        let mut builder = RegexBuilder::new(pattern);
        builder.case_insensitive(flags.contains('i'));
        builder.multi_line(flags.contains('m'));
        builder.dot_matches_new_line(flags.contains('s'));
        let mut problem = String::new();
        for size in SIZES {
            meter::charge(1 + meter::units(pattern.len()))?;
            match builder.size_limit(size).build() {
                Ok(regex) => return Ok(Self { regex, size: meter::units(size), is_global: flags.contains('g') }),
                Err(error) => problem = error.to_string(),
            }
        }
        Err(format!("the pattern cannot be used: {problem} (look-around, back references and `\\p` are not supported)"))
    }

    /// Returns the problem of a pattern.
    pub(crate) fn problem(pattern: &str) -> Option<String> {
        Self::new(pattern, "").err()
    }

    /// Finds the first match at a position or later. Every search is charged for the whole rest of
    /// the text, because it may have to read it.
    pub(crate) fn captures_at<'t>(&self, text: &'t str, start: usize) -> Result<Option<Captures<'t>>, String> {
        let rest = meter::units(text.len().saturating_sub(start));
        meter::charge(1 + rest.saturating_mul(self.size) / BYTES_PER_UNIT)?;
        Ok(self.regex.captures_at(text, start))
    }

    /// Visits all matches, or the first one without the flag `g`.
    pub(crate) fn for_each_match<'t>(
        &self,
        text: &'t str,
        mut visit: impl FnMut(&Captures<'t>) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut start = 0;
        while start <= text.len() {
            let Some(captures) = self.captures_at(text, start)? else { break };
            visit(&captures)?;
            let Some(whole) = captures.get(0).filter(|_| self.is_global) else { break };
            // After an empty match, the search continues behind the next character.
            let next = text.get(whole.end()..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
            start = if whole.is_empty() { whole.end() + next } else { whole.end() };
        }
        Ok(())
    }
}
