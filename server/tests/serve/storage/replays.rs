//! The path of `docs/replay.md`: a run is recorded, exported and replayed.

use crate::http::chunks;
use crate::process::Server;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Returns the config of the page.
fn documented_config() -> String {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/replay.md")).unwrap();
    let (_, config) = page.split_once("```yaml\n").unwrap();
    config.split_once("```").unwrap().0.to_owned()
}

fn chatwright(folder: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_chatwright");
    Command::new(program).args(arguments).current_dir(folder).env_remove("CHATWRIGHT_CONFIG").output().unwrap()
}

#[tokio::test]
async fn a_changed_config_is_compared_with_a_recorded_run() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let config = documented_config();
    fs::write(path("chatwright.yaml"), &config).unwrap();
    fs::write(path("next.yaml"), config.replace("query", "number")).unwrap();
    let database = format!("sqlite://{}", path("chat.db"));
    let run = |arguments: &[&str]| {
        let output = chatwright(folder.path(), arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.success(), text, String::from_utf8(output.stderr).unwrap())
    };
    let mut server = Server::start_with(&["--config", &path("chatwright.yaml"), "--database", &database]);
    let sent = server.message_to("shop/orders", "c", "Look up 1234").send().await.unwrap();
    chunks(sent).await;
    let begun = Instant::now();
    let id = loop {
        let (listed, text, problem) = run(&["run", "list", "--database", &database]);
        assert!(listed, "{problem}");
        if let Some(id) = text.split_whitespace().next() {
            break id.to_owned();
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing was recorded");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    // What is listed survives.
    server.kill();
    let (exported, _, problem) = run(&["run", "export", &id, "--database", &database, "--output", "order.jsonl"]);
    assert!(exported, "{problem}");
    let same = ["replay", "order.jsonl", "--config", "chatwright.yaml", "--fail-on", "divergence,prompt,schema,model"];
    let (passed, text, problem) = run(&same);
    assert!(passed && text.ends_with("\nthe replay is the same as the recording\n"), "{text}{problem}");
    // The same from the database.
    let (passed, text, problem) = run(&["replay", &id, "--database", &database, "--config", "chatwright.yaml"]);
    assert!(passed && text.ends_with("\nthe replay is the same as the recording\n"), "{text}{problem}");
    let other = [
        "replay",
        "order.jsonl",
        "--config",
        "chatwright.yaml",
        "--against",
        "next.yaml",
        "--fail-on",
        "divergence",
        "--junit",
        "report.xml",
    ];
    let (passed, text, problem) = run(&other);
    assert!(!passed, "{text}{problem}");
    assert!(text.contains("the first divergence is in step 1 of orders"), "{text}");
    assert!(text.contains("miss: the call search_orders"), "{text}");
    assert!(fs::read_to_string(path("report.xml")).unwrap().contains("<failure type=\"tools\""));
    let (passed, text, problem) = run(&[&other[..], &["--json", "--repeat", "1"]].concat());
    let report: serde_json::Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}{problem}"));
    assert_eq!((passed, &report["passed"], &report["runs"][0]["firstDivergence"]), (false, &false.into(), &0.into()));
    let (found, _, problem) = run(&["replay", "nothing", "--database", &database]);
    assert!(!found && problem.contains("`nothing` is neither a file nor a recorded run"), "{problem}");
}
