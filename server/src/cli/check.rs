//! `chatwright check`

use super::ConfigArgument;
use crate::compose;
use config::Diagnostic;
use std::io::{Write, stderr, stdout};
use std::process::ExitCode;

/// What to check.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    config: ConfigArgument,
}

/// Prints every problem; fails when one is an error.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    match compose::read(arguments.config.path.as_deref()).outcome {
        Ok((_, warnings)) => {
            tell(&warnings);
            // Whoever closed the output does not want to know.
            let _ = writeln!(stdout(), "the config is good");
            ExitCode::SUCCESS
        }
        Err(problems) => {
            tell(&problems);
            ExitCode::FAILURE
        }
    }
}

/// Until the reader has seen enough: `check | head` closes the output early.
fn tell(problems: &[Diagnostic]) {
    let mut out = stderr().lock();
    let _ = problems.iter().try_for_each(|problem| writeln!(out, "{problem}"));
}
