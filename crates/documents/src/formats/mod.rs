//! The parsers, one module per format.

pub(crate) mod csv;
pub(crate) mod email;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod text;

use crate::{Failure, FailureCode, Format, Limits, Source};

/// Returns the format of a ZIP archive.
pub(crate) fn archive_format(source: &Source<'_>, _limits: &Limits) -> Result<Format, Failure> {
    Err(Failure::new(FailureCode::NotBuilt, source.name))
}

/// Returns the format of a compound file.
pub(crate) fn compound_format(source: &Source<'_>) -> Result<Format, Failure> {
    Err(Failure::new(FailureCode::NotBuilt, source.name))
}
