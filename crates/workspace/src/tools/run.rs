//! `bash`.

use super::{AgentWorkspace, tool_error};
use crate::section::{ShellLevel, ShellSettings};
use crate::shell::{Shell, ShellError, ShellOutput, ShellRequest};
use crate::tool_names::BASH;
use crate::workspace::{Change, WorkspaceError};
use contract::{Annotations, Tool, ToolContext, ToolError, ToolSpec, read_arguments};
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The time for waiting and for storing files that a call may take in addition to its script.
const AROUND: Duration = Duration::from_secs(60);
/// The most files that are named.
const MAX_NAMED: usize = 30;

const EMULATED: &str = "Runs a Bash script over the files, in /workspace. It is emulated: the usual commands are there (awk, sed, grep, \
     sort, cut, jq-like tools as far as `compgen -c` lists them), but no programs, no Python, no network and no links. Temporary files in \
     /tmp are gone after the call, and so are variables and empty folders. A script that is ended by a limit changes nothing.";
const CONTAINED: &str = "Runs a script with the shell and the programs of a Linux container over the files, in /workspace, without a \
     network. Nothing can be installed outside of /tmp. Variables are gone after the call, and so are empty folders, links and modes of \
     files; /tmp may be. What still runs when the script ends is ended. A script that is ended by a limit changes nothing.";
const PROGRAMS: &str = "Runs a script with the shell of a Linux machine over the files, in /workspace, without a network. Nothing can be \
     installed. Temporary files in /tmp are gone after the call, and so are variables, empty folders, links and modes of files; what still \
     runs when the script ends is ended. A script that is ended by a limit changes nothing.";
/// Programs that the description of the tool names, if they are installed.
const NAMED_PROGRAMS: [&str; 12] =
    ["bash", "awk", "python3", "perl", "ruby", "node", "jq", "sqlite3", "git", "gcc", "ffmpeg", "pandoc"];
/// The folders in which they are looked for.
const PLACES: [&str; 2] = ["/usr/bin", "/usr/local/bin"];

/// The installed programs of [`NAMED_PROGRAMS`]. A program that is installed later is found at the next start of the server.
static INSTALLED_PROGRAMS: LazyLock<String> = LazyLock::new(|| {
    let is_there = |name: &&str| PLACES.iter().any(|place| Path::new(place).join(name).exists());
    NAMED_PROGRAMS.into_iter().filter(is_there).collect::<Vec<_>>().join(", ")
});

/// Returns the description of the tool for the model.
fn description(level: ShellLevel) -> String {
    match level {
        ShellLevel::Process => {
            format!("{PROGRAMS} Among its programs: {}.", INSTALLED_PROGRAMS.as_str())
        }
        ShellLevel::Container => CONTAINED.to_owned(),
        ShellLevel::Virtual | ShellLevel::None => EMULATED.to_owned(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    command: String,
}

struct Run {
    spec: ToolSpec,
    of: AgentWorkspace,
    settings: ShellSettings,
}

pub(super) fn tool(of: &AgentWorkspace, settings: ShellSettings) -> Arc<dyn Tool> {
    let command = json!({ "type": "string", "minLength": 1, "description": "The script." });
    let schema = json!({ "type": "object", "properties": { "command": command }, "required": ["command"], "additionalProperties": false });
    // The output of a script may contain the user's files, so it has the same annotations as reading files.
    let annotations = Annotations { idempotent: false, reads_only: false, ..super::READS };
    let spec = ToolSpec {
        annotations,
        timeout: settings.timeout + AROUND,
        ..ToolSpec::new(BASH, description(settings.level), schema)
    };
    Arc::new(Run { spec, of: of.clone(), settings })
}

impl Tool for Run {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let Input { command } = read_arguments(input)?;
            let (workspace, reports) = (self.of.open(&context.scope), context.reports);
            let container = self.of.settings.container.clone().map(Arc::new);
            let request = ShellRequest { script: command, workspace, settings: self.settings, container, reports };
            let ran = run(self.of.shell.as_ref(), request, &context.cancel).await;
            ran.map_err(tool_error)
        })
    }
}

/// Runs a script and stores what it has changed. Dropping the script's future ends it.
async fn run(shell: &dyn Shell, request: ShellRequest, cancel: &CancellationToken) -> Result<Value, WorkspaceError> {
    let (workspace, most) = (request.workspace.clone(), request.settings.output_bytes);
    let mut output = match cancel.run_until_cancelled(shell.run(request)).await {
        Some(Ok(output)) => output,
        Some(Err(ShellError::Ended(reason))) => {
            return super::refused(format!("the script was ended, and nothing of it is stored: {reason}"));
        }
        Some(Err(ShellError::Unavailable(_))) => {
            return super::refused(
                "commands cannot run on this server right now; its operator can read the reason in the log",
            );
        }
        Some(Err(ShellError::Busy)) => return super::refused("too many scripts run right now: try again later"),
        None => return super::refused("the script was stopped, and nothing of it is stored"),
    };
    let refused = output.refused.take();
    let stored = if output.changes.is_empty() { Ok(Vec::new()) } else { workspace.apply(output.changes.clone()).await };
    let not_stored = match stored {
        Ok(_) => refused,
        Err(WorkspaceError::Refused(reason)) => Some(reason),
        Err(other) => return Err(other),
    };
    Ok(shown(&output, not_stored.as_deref(), most).into())
}

/// Returns what the model reads of a script.
fn shown(output: &ShellOutput, not_stored: Option<&str>, most: u64) -> String {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut text = piece(&output.stdout, most, "output");
    let errors = piece(&output.stderr, most / 4, "error output");
    if !errors.is_empty() {
        let _ = write!(text, "[Errors]\n{errors}");
    }
    if output.is_truncated {
        text.push_str("[The script wrote more than is kept: what is shown or was passed on is not all.]\n");
    }
    match not_stored {
        Some(reason) => {
            let _ = writeln!(text, "[None of the files that it changed is stored: {reason}.]");
        }
        None => text.push_str(&named(&output.changes)),
    }
    for reason in &output.left_out {
        let _ = writeln!(text, "[Not stored: {reason}]");
    }
    let _ = write!(text, "[Exit code {}]", output.exit_code);
    text
}

/// Returns output as text, with its beginning and its end if it is long.
fn piece(bytes: &[u8], most: usize, what: &str) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut shown = if text.len() <= most {
        text.into_owned()
    } else {
        let (head, tail) = (text.floor_char_boundary(most * 3 / 4), text.ceil_char_boundary(text.len() - most / 4));
        format!("{}\n[{} bytes of the {what} are left out here.]\n{}", &text[..head], tail - head, &text[tail..])
    };
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push('\n');
    }
    shown
}

/// Returns the files that were changed.
fn named(changes: &[Change]) -> String {
    let mut text = String::new();
    for (is_written, what) in [(true, "Written"), (false, "Deleted")] {
        let paths: Vec<&str> = changes
            .iter()
            .filter(|change| change.content.is_some() == is_written)
            .map(|change| change.path.as_str())
            .collect();
        if !paths.is_empty() {
            let more =
                if paths.len() > MAX_NAMED { format!(" and {} more", paths.len() - MAX_NAMED) } else { String::new() };
            let _ = writeln!(text, "[{what}: {}{more}]", paths[..paths.len().min(MAX_NAMED)].join(", "));
        }
    }
    text
}
