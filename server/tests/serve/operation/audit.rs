//! `chatwright audit` on the database of a running server.

use crate::http::chunks;
use crate::process::Server;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use std::process::{Command, Output};
use tempfile::TempDir;

const CONFIG: &str = r#"
connections:
  - { id: demo, type: Demo, properties: { delayMs: 0 } }
  - { id: kb, type: Sql, properties: { url: "sqlite::memory:", init: "create table articles (title text, body text); insert into articles values ('Refunds', 'Within 30 days.')" } }
agents:
  - id: helper
    type: Agent
    connectionId: demo
    properties: { model: demo }
    tools: [search_articles]
api:
  - id: search_articles
    description: Search.
    payloadSchema: { type: object, properties: { query: { type: string } } }
    routine: [{ id: a, type: SqlQuery, connectionId: kb, properties: { query: "select title, body from articles" } }, { ":return": { articles: { _step: a } } }]
pages:
  - { id: demo, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }
"#;

fn run_audit(arguments: &[&str], database: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chatwright"));
    command.arg("audit").args(arguments).args(["--database", database]).output().unwrap()
}

/// Returns the output of the command and whether it succeeded.
fn output_text(output: Output) -> (String, bool) {
    let printed = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    (String::from_utf8(printed).unwrap(), output.status.success())
}

#[tokio::test]
async fn log_of_a_running_server_is_exported_and_verified() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("chatwright.yaml");
    std::fs::write(&file, CONFIG).unwrap();
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    let verify = |more: &[&str]| output_text(run_audit(&[&["verify"], more].concat(), &server.database));
    let nothing = format!("0 row(s), all valid\nhead 0:{}\n", "0".repeat(64));
    assert_eq!(verify(&[]), (nothing, true));
    for conversation in ["c1", "c2"] {
        let ask = server.message_to("demo/helper", conversation, "What do you know about refunds?");
        chunks(ask.send().await.unwrap()).await;
    }

    let export = |more: &[&str]| {
        let (text, good) = output_text(run_audit(&[&["export"], more].concat(), &server.database));
        assert!(good, "{text}");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let rows = export(&[]);
    let shown =
        |row: &Value| json!([row["number"], row["agentId"], row["conversationId"], row["tool"], row["outcome"]]);
    assert_eq!(
        rows.iter().map(shown).collect::<Vec<_>>(),
        [json!([1, "helper", "c1", "search_articles", "ok"]), json!([2, "helper", "c2", "search_articles", "ok"])]
    );
    let row = &rows[1];
    assert!(row["arguments"]["query"].is_string() && row["durationMs"].is_u64(), "{row}");
    assert_eq!((&row["gates"], &row["previous"]), (&json!([]), &rows[0]["hash"]));
    let time = row["time"].as_str().unwrap();
    assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
    assert_eq!(export(&["--since", time]), rows[1..]);
    assert_eq!(export(&["--since", "2020-01-01"]), rows);
    assert_eq!(export(&["--since", "2200-01-01"]), [] as [Value; 0]);

    let head = format!("2:{}", row["hash"].as_str().unwrap());
    assert_eq!(verify(&["--head", &head]), (format!("2 row(s), all valid\nhead {head}\n"), true));
    let mut outsider = SqliteConnection::connect(&server.database).await.unwrap();
    let mut execute = async |sql: &'static str| {
        sqlx::query(AssertSqlSafe(sql)).execute(&mut outsider).await.unwrap();
    };
    execute("DELETE FROM audit WHERE no = 2").await;
    assert!(verify(&[]).1, "a missing last row cannot be detected without a noted head");
    let cut = "the log ends with row 1, and row 2 was noted: rows were cut off\n";
    assert_eq!(verify(&["--head", &head]), (cut.to_owned(), false));
    execute("UPDATE audit SET outcome = 'denied'").await;
    let changed = "row 1 was changed: its hash is not that of its content\n";
    assert_eq!(verify(&[]), (changed.to_owned(), false));
}

#[test]
fn missing_database_and_invalid_arguments_are_rejected() {
    let folder = TempDir::new().unwrap();
    let database = format!("sqlite://{}/none.db", folder.path().display());
    for command in ["verify", "export"] {
        let (text, good) = output_text(run_audit(&[command], &database));
        let expected = format!(
            "chatwright: cannot open the database {}/none.db: there is no such file\n",
            folder.path().display()
        );
        assert_eq!((text, good), (expected, false), "{command}");
    }
    assert!(folder.path().read_dir().unwrap().next().is_none(), "the command creates no files");
    let refused = |arguments: &[&str], expected: &str| {
        let (text, good) = output_text(run_audit(arguments, &database));
        assert!(!good && text.contains(expected), "{text}");
    };
    refused(&["verify", "--head", "12"], "a head is NUMBER:HASH");
    refused(&["export", "--since", "yesterday"], "expected a date such as 2026-11-21 or 2026-11-21T08:30:00Z");
}
