//! `chatwright export`: turns an evaluation into the form of another tool.

use super::fail;
use evaluation::{Evaluation, Exported, export_inspect_ai, export_promptfoo};
use std::io::{Write, stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments of `chatwright export`.
#[derive(clap::Args)]
pub(crate) struct ExportArguments {
    #[command(subcommand)]
    to: To,
}

/// For which tool.
#[derive(clap::Subcommand)]
enum To {
    /// A config of promptfoo, with a test for each case. Parts without a counterpart are reported as warnings.
    Promptfoo(FileArguments),
    /// A dataset of Inspect AI (JSON Lines). Parts without a counterpart are reported as warnings.
    InspectAi(FileArguments),
}

#[derive(clap::Args)]
struct FileArguments {
    /// The evaluation: a YAML file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// File to write. Default: standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Exports, and reports the parts that were left out.
pub(crate) fn run(arguments: &ExportArguments) -> ExitCode {
    let (To::Promptfoo(of) | To::InspectAi(of)) = &arguments.to;
    let (evaluation, cases) = match Evaluation::read(&of.file) {
        Ok(read) => read,
        Err(problems) => {
            let _ = writeln!(stderr(), "{}", config::render(&problems));
            return fail("the evaluation cannot be read; nothing was written");
        }
    };
    let Exported { text, notes } = match &arguments.to {
        To::Promptfoo(_) => export_promptfoo(&evaluation, &cases),
        To::InspectAi(_) => export_inspect_ai(&cases),
    };
    for note in notes {
        let _ = writeln!(stderr(), "warning: {note}");
    }
    match &of.output {
        None => {
            // The reader of a pipe may have closed it early, which is no error.
            let _ = stdout().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        Some(path) => match std::fs::write(path, text) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&format!("{} cannot be written: {error}", path.display())),
        },
    }
}
