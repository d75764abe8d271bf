//! `chatwright check`: reports the problems of a config.

use super::ConfigArgument;
use super::diagnostics::print_diagnostics;
use crate::compose;
use std::io::{Write, stdout};
use std::process::ExitCode;

/// The arguments of `chatwright check`.
#[derive(clap::Args)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    config: ConfigArgument,
}

/// Prints every problem and fails if one of them is an error.
pub(crate) fn run(arguments: &CheckArguments) -> ExitCode {
    match compose::load_config(arguments.config.path.as_deref()).outcome {
        Ok((_, warnings)) => {
            print_diagnostics(&warnings);
            // The reader of a pipe may have closed it early, which is no error.
            let _ = writeln!(stdout(), "the config is valid");
            ExitCode::SUCCESS
        }
        Err(problems) => {
            print_diagnostics(&problems);
            ExitCode::FAILURE
        }
    }
}
