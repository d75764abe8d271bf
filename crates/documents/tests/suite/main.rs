//! Reads files of all formats, splits them, and runs the child process.

#[cfg(all(feature = "office", feature = "pdf"))]
mod binary;
#[cfg(all(feature = "office", feature = "pdf"))]
mod hostile;
mod process;
#[cfg(all(feature = "office", feature = "pdf"))]
mod support;
mod text;
