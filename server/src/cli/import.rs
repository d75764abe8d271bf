//! `chatwright import lowdefy`: turns the config of a Lowdefy app into one of Chatwright.

use super::fail;
use crate::capabilities::config_language;
use lowdefy_import::Import;
use std::collections::HashMap;
use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The arguments of `chatwright import`.
#[derive(clap::Args)]
pub(crate) struct ImportArguments {
    #[command(subcommand)]
    from: From,
}

/// What is imported.
#[derive(clap::Subcommand)]
enum From {
    /// A Lowdefy app. What cannot be taken over is a warning with its place in the app.
    Lowdefy(LowdefyArguments),
}

#[derive(clap::Args)]
struct LowdefyArguments {
    /// The folder with `lowdefy.yaml`.
    #[arg(value_name = "FOLDER")]
    app: PathBuf,
    /// The folder to write the config to.
    #[arg(long, value_name = "FOLDER", default_value = "chatwright")]
    output: PathBuf,
    /// Overwrite existing files.
    #[arg(long)]
    force: bool,
    /// Print the files instead of writing them.
    #[arg(long)]
    dry_run: bool,
}

/// Imports, and reports what was left out. Only an app that cannot be read, or files that cannot be
/// written, are a failure.
pub(crate) fn run(arguments: &ImportArguments) -> ExitCode {
    let From::Lowdefy(arguments) = &arguments.from;
    let import = match lowdefy_import::import_folder(&arguments.app, config_language()) {
        Ok(import) => import,
        Err(problems) => {
            let _ = write!(stderr(), "{}", config::render(&problems));
            return fail("the app cannot be read; nothing was written");
        }
    };
    // The reader of a pipe may have closed it early, which is no error.
    if !import.notes.is_empty() {
        let _ = writeln!(stderr(), "{}", config::render(&import.notes));
    }
    if arguments.dry_run {
        print_files(&import);
        let _ = writeln!(stderr(), "{}", import.summary);
        return ExitCode::SUCCESS;
    }
    if let Err(error) = lowdefy_import::write(&import, &arguments.app, &arguments.output, arguments.force) {
        return fail(&error.to_string());
    }
    let checked = check(&import, &arguments.output);
    let _ = writeln!(stdout(), "{}", import.summary);
    let count = import.files.len();
    let _ =
        writeln!(stdout(), "wrote {count} file{} to {}", if count == 1 { "" } else { "s" }, arguments.output.display());
    checked
}

fn print_files(import: &Import) {
    let mut out = stdout().lock();
    for file in &import.files {
        let _ = writeln!(out, "# --- {}\n{}", file.path, file.text);
    }
    for folder in &import.folders {
        let _ = writeln!(out, "# --- {}: the folder is copied", folder.path);
    }
}

/// Checks the config that was written, as if the variables of its secrets were set.
fn check(import: &Import, output: &Path) -> ExitCode {
    let env: HashMap<String, String> = import.secrets.iter().cloned().collect();
    let (problems, code) = match config_language().read_path(output, &env).outcome {
        Ok((_, warnings)) => (warnings, ExitCode::SUCCESS),
        Err(problems) => (problems, ExitCode::FAILURE),
    };
    if !problems.is_empty() {
        let _ = writeln!(stderr(), "{}", config::render(&problems));
    }
    let valid = match (code == ExitCode::SUCCESS, import.secrets.is_empty()) {
        (true, true) => "the config is valid",
        (true, false) => "the config is valid once the variables in .env.example are set",
        (false, _) => "the config has errors",
    };
    let _ = writeln!(stdout(), "{valid}");
    code
}
