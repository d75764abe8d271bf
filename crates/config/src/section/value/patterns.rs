//! Patterns of names.

use crate::section::Context;
use config_source::Span;
use globset::Glob;

/// Checks glob patterns such as `read_*`.
pub(crate) fn check_patterns(texts: &[String], at: Span, context: &mut Context<'_, '_>) {
    if let Some(error) = texts.iter().find_map(|text| Glob::new(text).err()) {
        context.report.error(at, format!("this is not a pattern: {}", error.kind()), None);
    }
}
