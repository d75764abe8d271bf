//! `chatwright doctor`.

use crate::process::Server;
use crate::provider::start_provider;
use serde_json::Value;
use std::fs;
use std::process::Command;
use tempfile::tempdir;

const SECRET: &str = "sk-canary-0815";

/// Returns the JSON report, whether it found no problem, and the text output.
fn run_doctor(arguments: &[&str]) -> (Value, bool, String) {
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chatwright"));
        command.arg("doctor").args(arguments).args(more).output().unwrap()
    };
    let (json, text) = (run(&["--json"]), run(&[]));
    assert_eq!(json.status.success(), text.status.success());
    let report = serde_json::from_slice(&json.stdout).unwrap();
    (report, json.status.success(), String::from_utf8(text.stdout).unwrap())
}

fn verdict_of<'a>(report: &'a Value, check: &str) -> (&'a str, &'a str) {
    let found = report["checks"].as_array().unwrap().iter().find(|found| found["check"] == check);
    let found = found.unwrap_or_else(|| panic!("{check} is not in {report:#}"));
    (found["verdict"].as_str().unwrap(), found["text"].as_str().unwrap())
}

#[tokio::test]
async fn healthy_server_passes_all_checks() {
    let folder = tempdir().unwrap();
    let database = format!("sqlite://{}/chat.db", folder.path().display());
    let server = Server::start_on(&database);
    let address = server.origin.strip_prefix("http://").unwrap().to_owned();
    let (report, is_well, text) =
        tokio::task::spawn_blocking(move || run_doctor(&["--database", &database, "--addr", &address])).await.unwrap();
    assert!(is_well && text.ends_with("no problems found\n"), "{text}");
    assert_eq!(report["ok"], true);
    for check in ["config", "database", "clock", "permissions", "connection demo", "connection knowledge"] {
        assert_eq!(verdict_of(&report, check).0, "ok", "{text}");
    }
    assert_eq!(verdict_of(&report, "port").0, "note", "{text}");
}

#[tokio::test]
async fn problems_are_reported_without_secrets() {
    let folder = tempdir().unwrap();
    let path = folder.path().to_str().unwrap().to_owned();
    let alive = start_provider().await;
    let config = format!(
        "connections:\n\
         \x20 - {{ id: alive, type: OpenAICompatible, properties: {{ baseURL: '{alive}', apiKey: {SECRET} }} }}\n\
         \x20 - {{ id: dead, type: OpenAICompatible, properties: {{ baseURL: 'http://127.0.0.1:1/v1', apiKey: {SECRET} }} }}\n\
         \x20 - {{ id: pg, type: Sql, properties: {{ url: 'postgres://ada:{SECRET}@127.0.0.1:1/db' }} }}\n\
         \x20 - {{ id: files, type: Mcp, properties: {{ command: /nowhere/server }} }}\n\
         agents:\n\
         \x20 - {{ id: helper, type: Agent, connectionId: alive, mcp: [files], properties: {{ model: told }} }}\n"
    );
    fs::write(folder.path().join("chatwright.yaml"), &config).unwrap();
    let database = format!("sqlite://{path}/chat.db");
    fs::write(folder.path().join("chat.db"), "this is no database, and long enough to be looked at").unwrap();
    let arguments = ["--config", &path, "--database", &database, "--addr", "0.0.0.0:0"].map(str::to_owned);
    let (report, is_well, text) =
        tokio::task::spawn_blocking(move || run_doctor(&arguments.iter().map(String::as_str).collect::<Vec<_>>()))
            .await
            .unwrap();
    assert!(!is_well && report["ok"] == false, "{text}");
    assert!(!text.contains(SECRET) && !report.to_string().contains(SECRET), "{text}");
    for (check, expected) in [
        ("config", "ok"),
        ("database", "wrong"),
        ("address", "wrong"),
        // The provider has no list of models.
        ("connection alive", "note"),
        ("connection dead", "wrong"),
        ("connection pg", "wrong"),
        ("tools of files", "wrong"),
    ] {
        assert_eq!(verdict_of(&report, check).0, expected, "{check}: {text}");
    }
    fs::write(folder.path().join("chatwright.yaml"), config.replace(SECRET, "{ _secret: NOT_SET_ANYWHERE }")).unwrap();
    let (report, is_well, text) = run_doctor(&["--config", &path, "--database", &database, "--offline"]);
    assert!(!is_well && verdict_of(&report, "config").1.contains("NOT_SET_ANYWHERE"), "{text}");
}
