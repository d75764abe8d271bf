//! `chatwright check`: reports the problems of a config.

use super::ConfigArgument;
use crate::compose;
use config::Diagnostic;
use std::io::{Write, stderr, stdout};
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

/// Prints diagnostics until the reader closes the pipe, as `check | head` does.
fn print_diagnostics(problems: &[Diagnostic]) {
    let mut out = stderr().lock();
    let _ = problems.iter().try_for_each(|problem| writeln!(out, "{problem}"));
}
