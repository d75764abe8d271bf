//! An MCP server over stdin and stdout, which scenarios kill: this binary, started with `--peer
//! FOLDER`. Its calls take a while, so that some are interrupted.

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::io::{Write, stdin, stdout};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// The duration of a call.
pub(crate) const CALL_DURATION: Duration = Duration::from_millis(500);

/// The name of its normal tool.
pub(crate) const TOOL: &str = "look";

/// The name of a tool whose schema takes 2^40 steps to check, since each level refers to the next
/// one twice.
pub(crate) const COSTLY: &str = "costly";

/// The result of a call.
pub(crate) const RESULT: &str = "seen by the peer";

/// The argument that starts it; the folder that follows identifies its scenario.
const ARGUMENT: &str = "--peer";

/// Returns a JSON Schema of 2.6 KB whose cost is exponential in its depth.
pub(crate) fn costly_schema() -> Value {
    let mut definitions = json!({ "l0": { "type": "object" } });
    for level in 1..=40 {
        let below = json!({ "$ref": format!("#/$defs/l{}", level - 1) });
        definitions[format!("l{level}")] = json!({ "allOf": [below, below] });
    }
    json!({ "type": "object", "$defs": definitions, "$ref": "#/$defs/l40" })
}

/// Returns a schema of 4 KB with patterns that take long to compile.
pub(crate) fn costly_patterns() -> Value {
    let patterns = (0..190).map(|number| (format!(r"\p{{L}}{{4}}{number}"), json!(true)));
    json!({ "type": "object", "patternProperties": Value::from_iter(patterns) })
}

/// Returns its connection in the config of the server.
pub(crate) fn connection_yaml(folder: &Path) -> Result<String> {
    let program = std::env::current_exe().context("this binary has no path")?;
    Ok(format!(
        "  - {{ id: peer, type: Mcp, properties: {{ command: {:?}, args: [{ARGUMENT}, {folder:?}], shared: true }} }}\n",
        program.display().to_string()
    ))
}

/// Returns the running MCP servers of a folder.
pub(crate) fn running_processes(folder: &Path) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_one = |id: &i32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0).skip(1);
        words.next() == Some(ARGUMENT.as_bytes()) && words.next() == Some(folder.as_os_str().as_encoded_bytes())
    };
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    ids.filter(is_one).filter_map(Pid::from_raw).collect()
}

/// Kills the MCP servers of a folder; returns their number.
pub(crate) fn kill(folder: &Path) -> u64 {
    let killed = running_processes(folder).into_iter().filter(|id| kill_process(*id, Signal::KILL).is_ok());
    killed.count() as u64
}

/// Serves requests until stdin is closed.
///
/// # Errors
/// Reading or parsing a request failed.
pub(crate) fn serve() -> Result<()> {
    for line in stdin().lines() {
        let request: Value = serde_json::from_str(&line?).context("a request is not valid JSON")?;
        // Calls are answered concurrently.
        thread::spawn(move || answer(&request));
    }
    Ok(())
}

fn answer(request: &Value) {
    let Some(result) = result(request) else { return };
    let line = format!("{}\n", json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
    let mut out = stdout().lock();
    // The server may have ended.
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

/// Returns the result of a request, or none for a notification.
fn result(request: &Value) -> Option<Value> {
    match request["method"].as_str()? {
        "initialize" => Some(json!({
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "peer", "version": "1" },
        })),
        "tools/list" => Some(json!({ "tools": [
            { "name": TOOL, "description": "Returns a fixed text.", "inputSchema": { "type": "object", "properties": {} } },
            { "name": COSTLY, "description": "Has a costly schema.", "inputSchema": costly_schema() },
        ] })),
        "tools/call" => {
            thread::sleep(CALL_DURATION);
            Some(json!({ "content": [{ "type": "text", "text": RESULT }] }))
        }
        "ping" => Some(json!({})),
        _ => None,
    }
}
