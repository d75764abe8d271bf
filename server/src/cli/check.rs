//! `chatwright check`

use super::ConfigArgument;
use crate::compose;
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
            warnings.iter().for_each(|warning| eprintln!("{warning}"));
            println!("the config is good");
            ExitCode::SUCCESS
        }
        Err(problems) => {
            problems.iter().for_each(|problem| eprintln!("{problem}"));
            ExitCode::FAILURE
        }
    }
}
