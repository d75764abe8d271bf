//! An MCP server over stdin and stdout, which is killed now and then: this very binary, started with `--peer FOLDER`. Its one tool takes a
//! while, so that some calls are in their midst when it dies.

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::io::{Write, stdin, stdout};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// How long a call takes.
pub(crate) const TAKES: Duration = Duration::from_millis(500);

/// What its tool is called.
pub(crate) const TOOL: &str = "look";

/// A tool whose schema takes 2^40 steps to check: each level asks for the one below twice.
pub(crate) const COSTLY: &str = "costly";

/// What comes of a call.
pub(crate) const SEEN: &str = "seen by the peer";

/// The argument with which it is started; the folder behind it is whose it is.
const ARGUMENT: &str = "--peer";

/// A JSON Schema of 2.6 KB that is exponential in its levels.
pub(crate) fn costly_schema() -> Value {
    let mut definitions = json!({ "l0": { "type": "object" } });
    for level in 1..=40 {
        let below = json!({ "$ref": format!("#/$defs/l{}", level - 1) });
        definitions[format!("l{level}")] = json!({ "allOf": [below, below] });
    }
    json!({ "type": "object", "$defs": definitions, "$ref": "#/$defs/l40" })
}

/// As the config starts it.
pub(crate) fn connection(folder: &Path) -> Result<String> {
    let program = std::env::current_exe().context("this binary has no path")?;
    Ok(format!(
        "  - {{ id: peer, type: Mcp, properties: {{ command: {:?}, args: [{ARGUMENT}, {folder:?}], shared: true }} }}\n",
        program.display().to_string()
    ))
}

/// Those that run and were started for a folder.
pub(crate) fn running(folder: &Path) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_one = |id: &i32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0).skip(1);
        words.next() == Some(ARGUMENT.as_bytes()) && words.next() == Some(folder.as_os_str().as_encoded_bytes())
    };
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    ids.filter(is_one).filter_map(Pid::from_raw).collect()
}

/// Kills those of a folder; how many.
pub(crate) fn kill(folder: &Path) -> u64 {
    let killed = running(folder).into_iter().filter(|id| kill_process(*id, Signal::KILL).is_ok());
    killed.count() as u64
}

/// Serves until nobody writes to it any more.
///
/// # Errors
/// When its input or output breaks off.
pub(crate) fn serve() -> Result<()> {
    for line in stdin().lines() {
        let request: Value = serde_json::from_str(&line?).context("no JSON came")?;
        // A call does not keep the next one waiting.
        thread::spawn(move || answer(&request));
    }
    Ok(())
}

fn answer(request: &Value) {
    let Some(result) = result(request) else { return };
    let line = format!("{}\n", json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
    let mut out = stdout().lock();
    // Whoever asked may be gone.
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

/// Of a request; none of a notification.
fn result(request: &Value) -> Option<Value> {
    match request["method"].as_str()? {
        "initialize" => Some(json!({
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "peer", "version": "1" },
        })),
        "tools/list" => Some(json!({ "tools": [
            { "name": TOOL, "description": "Looks.", "inputSchema": { "type": "object", "properties": {} } },
            { "name": COSTLY, "description": "Costs.", "inputSchema": costly_schema() },
        ] })),
        "tools/call" => {
            thread::sleep(TAKES);
            Some(json!({ "content": [{ "type": "text", "text": SEEN }] }))
        }
        "ping" => Some(json!({})),
        _ => None,
    }
}
