//! `chatwright schema`: prints the JSON Schema of the config.

use crate::capabilities::config_language;
use std::io::{Write, stdout};
use std::process::ExitCode;

#[derive(clap::Args)]
pub(super) struct SchemaArguments {
    /// Print a reference of all keys in Markdown instead of the JSON Schema.
    #[arg(long)]
    markdown: bool,
}

/// Prints the JSON Schema of the config, or the reference that is made from it.
pub(super) fn run(arguments: &SchemaArguments) -> ExitCode {
    let language = config_language();
    let text = if arguments.markdown { language.reference() } else { format!("{:#}\n", language.schema()) };
    // The reader of a pipe may have closed it early, which is no error.
    let _ = stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}
