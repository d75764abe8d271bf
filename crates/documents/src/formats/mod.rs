//! The parsers, one module per format.

#[cfg(feature = "office")]
mod archive;
pub(crate) mod csv;
pub(crate) mod email;
#[cfg(feature = "office")]
pub(crate) mod epub;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod markdown;
#[cfg(feature = "office")]
mod notes;
#[cfg(feature = "office")]
pub(crate) mod office;
#[cfg(feature = "pdf")]
pub(crate) mod pdf;
#[cfg(feature = "office")]
pub(crate) mod spreadsheet;
pub(crate) mod text;

#[cfg(feature = "office")]
pub(crate) use archive::archive_format;
#[cfg(feature = "office")]
pub(crate) use office::compound_format;

#[cfg(not(feature = "office"))]
use crate::{Failure, FailureCode, Format, Limits, Source};

/// Refuses all archives, since none can be read.
#[cfg(not(feature = "office"))]
pub(crate) fn archive_format(source: &Source<'_>, _limits: &Limits) -> Result<Format, Failure> {
    Err(Failure::new(FailureCode::NotBuilt, source.name))
}

/// Refuses all compound files, since none can be read.
#[cfg(not(feature = "office"))]
pub(crate) fn compound_format(source: &Source<'_>) -> Result<Format, Failure> {
    Err(Failure::new(FailureCode::NotBuilt, source.name))
}
