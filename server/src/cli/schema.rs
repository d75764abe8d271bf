//! `chatwright schema`: prints the JSON Schema of the config, or the pages that are made from the code.

use crate::capabilities::{all_operators, config_language};
use std::io::{Write, stdout};
use std::process::ExitCode;

#[derive(clap::Args)]
pub(super) struct SchemaArguments {
    /// Print a reference of all keys in Markdown instead of the JSON Schema.
    #[arg(long)]
    markdown: bool,
    /// Print a reference of all operators in Markdown instead of the JSON Schema.
    #[arg(long, conflicts_with = "markdown")]
    operators: bool,
}

/// Prints the JSON Schema of the config, the reference that is made from it, or that of operators.
pub(super) fn run(arguments: &SchemaArguments) -> ExitCode {
    let language = config_language();
    let text = match arguments {
        SchemaArguments { operators: true, .. } => operators::reference(&all_operators()),
        SchemaArguments { markdown: true, .. } => language.reference(),
        _ => format!("{:#}\n", language.schema()),
    };
    // The reader of a pipe may have closed it early, which is no error.
    let _ = stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}
