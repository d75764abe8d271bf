//! `chatwright import`: turns the config of a Lowdefy app into one of Chatwright, and datasets of other
//! tools into evaluations.

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

/// The source of an import.
#[derive(clap::Subcommand)]
enum From {
    /// A Lowdefy app. Parts that cannot be converted are reported as warnings with their place in the app.
    Lowdefy(LowdefyArguments),
    /// The tests of a promptfoo config, as an evaluation. Parts that cannot be converted are reported as warnings with
    /// their place.
    Promptfoo(EvaluationArguments),
    /// A dataset of Inspect AI (JSON Lines), as an evaluation.
    InspectAi(EvaluationArguments),
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

#[derive(clap::Args)]
struct EvaluationArguments {
    /// The file to import.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The agent that the evaluation is for.
    #[arg(long, value_name = "ID")]
    agent: String,
    /// The folder to write `evaluation.yaml` and `cases.jsonl` to.
    #[arg(long, value_name = "FOLDER", default_value = "evaluation")]
    output: PathBuf,
    /// Overwrite existing files.
    #[arg(long)]
    force: bool,
}

/// Reads the file of another tool: its name, its text and the id of the agent.
type ReadEvaluation = fn(&str, &str, &str) -> Result<evaluation::Imported, Vec<config::Diagnostic>>;

/// Imports, and reports the parts that were left out. Only an app that cannot be read, or files that cannot be written,
/// are a failure.
pub(crate) fn run(arguments: &ImportArguments) -> ExitCode {
    match &arguments.from {
        From::Lowdefy(arguments) => import_app(arguments),
        From::Promptfoo(arguments) => import_evaluation(arguments, evaluation::promptfoo),
        From::InspectAi(arguments) => import_evaluation(arguments, evaluation::inspect_ai),
    }
}

fn import_app(arguments: &LowdefyArguments) -> ExitCode {
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

fn import_evaluation(arguments: &EvaluationArguments, read: ReadEvaluation) -> ExitCode {
    let name = arguments.file.display().to_string();
    let text = evaluation::read_text(&arguments.file, &name);
    let imported = match text.and_then(|text| read(&name, &text, &arguments.agent)) {
        Ok(imported) => imported,
        Err(problems) => {
            let _ = writeln!(stderr(), "{}", config::render(&problems));
            return fail("the file cannot be imported; nothing was written");
        }
    };
    // The reader of a pipe may have closed it early, which is no error.
    if !imported.notes.is_empty() {
        let _ = writeln!(stderr(), "{}", config::render(&imported.notes));
    }
    let files = [("evaluation.yaml", &imported.evaluation), ("cases.jsonl", &imported.cases)];
    let existing = files.iter().map(|(name, _)| arguments.output.join(name)).find(|path| path.exists());
    if let Some(existing) = existing.filter(|_| !arguments.force) {
        return fail(&format!("{} exists already; `--force` overwrites it", existing.display()));
    }
    let written = std::fs::create_dir_all(&arguments.output)
        .and_then(|()| files.iter().try_for_each(|(name, text)| std::fs::write(arguments.output.join(name), text)));
    if let Err(error) = written {
        return fail(&format!("{} cannot be written: {error}", arguments.output.display()));
    }
    let _ = writeln!(
        stdout(),
        "wrote {} case{} to {}",
        imported.count,
        if imported.count == 1 { "" } else { "s" },
        arguments.output.display()
    );
    ExitCode::SUCCESS
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
