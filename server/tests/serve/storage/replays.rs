//! The path of `docs/replay.md`: a run is recorded, exported and replayed.

use crate::http::chunks;
use crate::process::Server;
use reqwest::Method;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Returns the first snippet of the page in this language.
fn documented(language: &str) -> String {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/replay.md")).unwrap();
    let (_, snippet) = page.split_once(&format!("```{language}\n")).unwrap();
    snippet.split_once("```").unwrap().0.to_owned()
}

/// Runs a command in a folder; returns whether it succeeded, its output and what it said is wrong.
fn run_in(folder: &Path, arguments: &[&str]) -> (bool, String, String) {
    let output = chatwright(folder, arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.success(), text, String::from_utf8(output.stderr).unwrap())
}

fn chatwright(folder: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_chatwright");
    Command::new(program).args(arguments).current_dir(folder).env_remove("CHATWRIGHT_CONFIG").output().unwrap()
}

/// Waits until a run is recorded; returns its id.
async fn first_recording(folder: &Path, database: &str) -> String {
    let begun = Instant::now();
    loop {
        let (listed, text, problem) = run_in(folder, &["run", "list", "--database", database]);
        assert!(listed, "{problem}");
        if let Some(id) = text.split_whitespace().next() {
            return id.to_owned();
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing was recorded");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_changed_config_is_compared_with_a_recorded_run() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let config = documented("yaml");
    fs::write(path("chatwright.yaml"), &config).unwrap();
    fs::write(path("next.yaml"), config.replace("query", "number")).unwrap();
    let database = format!("sqlite://{}", path("chat.db"));
    let run = |arguments: &[&str]| run_in(folder.path(), arguments);
    let mut server = Server::start_with(&["--config", &path("chatwright.yaml"), "--database", &database]);
    let sent = server.message_to("shop/orders", "c", "Look up 1234").send().await.unwrap();
    chunks(sent).await;
    let id = first_recording(folder.path(), &database).await;
    // A listed recording is stored: it survives a kill.
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
    let report: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}{problem}"));
    assert_eq!((passed, &report["passed"], &report["runs"][0]["firstDivergence"]), (false, &false.into(), &0.into()));
    let (found, _, problem) = run(&["replay", "nothing", "--database", &database]);
    assert!(!found && problem.contains("`nothing` is neither a file nor a recorded run"), "{problem}");

    // Options that would do nothing are mistakes.
    let refused = |more: &[&str], expected: &str| {
        let (passed, _, problem) = run(&[&same[..], more].concat());
        assert!(!passed && problem.contains(expected), "{problem}");
    };
    refused(&["--allow-effects", "search_orders"], "needs `--tools live`");
    refused(
        &["--tools", "live", "--allow-effects", "search_order"],
        "has a tool `search_order`; there are: search_orders",
    );
    let kinds = ["--fail-on", "steps,messages,settings"];
    let (passed, _, problem) = run(&[&same[..4], &kinds[..]].concat());
    assert!(passed, "{problem}");
    let (found, _, problem) = run(&["replay", "missing.jsonl", "--config", "chatwright.yaml"]);
    assert!(!found && problem.contains("there is no file `missing.jsonl`"), "{problem}");
    fs::write(path("cases.jsonl"), "{\"input\": \"Hello\"}\n").unwrap();
    let (found, _, problem) = run(&["replay", "cases.jsonl", "--config", "chatwright.yaml"]);
    assert!(!found && problem.contains("`chatwright eval cases.jsonl"), "{problem}");
}

#[tokio::test]
async fn cases_of_a_dataset_are_replayed_with_their_recordings() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let config = documented("yaml");
    fs::write(path("chatwright.yaml"), &config).unwrap();
    fs::write(path("next.yaml"), config.replace("query", "number")).unwrap();
    let database = format!("sqlite://{}", path("chat.db"));
    let mut server = Server::start_with(&["--config", &path("chatwright.yaml"), "--database", &database]);
    let post = async |path: &str, body: Option<Value>| {
        let request = server.request(Method::POST, path).header("origin", &server.origin);
        let request = body.iter().fold(request, |request, body| request.json(body));
        let answer = request.send().await.unwrap();
        assert!(answer.status().is_success() || answer.status().is_redirection(), "{path}: {}", answer.status());
        answer
    };
    chunks(server.message_to("shop/orders", "c", "Look up 1234").send().await.unwrap()).await;
    let view = server.conversation("c").await;
    let answer = view["messages"].as_array().unwrap().last().unwrap()["id"].as_str().unwrap().to_owned();
    first_recording(folder.path(), &database).await;
    let kept = post(&format!("/admin/datasets/keep/c/{answer}"), None).await;
    let dataset = kept.headers()["location"].to_str().unwrap().split('/').nth(3).unwrap().to_owned();
    let made = json!({ "cases": [{ "id": "made", "input": "Hello" }] });
    post(&format!("/api/admin/datasets/{dataset}/cases"), Some(made)).await;
    server.kill();

    let replay = |dataset: &str, more: &[&str]| {
        let all =
            ["replay", dataset, "--database", &database, "--config", "chatwright.yaml", "--fail-on", "divergence"];
        run_in(folder.path(), &[&all[..], more].concat())
    };
    let totals = |same: usize| format!("\ncases with a recording: 1 of 2\nreplayed without a divergence: {same}\n");
    for name in ["Feedback on orders", dataset.as_str()] {
        let (passed, text, problem) = replay(name, &[]);
        assert!(passed && text.ends_with(&format!("{}without a recording: made\n", totals(1))), "{text}{problem}");
    }
    let (passed, text, problem) = replay("Feedback on orders", &["--against", "next.yaml"]);
    assert!(!passed && text.contains(&format!("{}with a divergence: {answer}\n", totals(0))), "{text}{problem}");
    let (passed, _, problem) = replay("Feedback on orders", &["--keep"]);
    assert!(passed, "{problem}");
    let (passed, _, problem) = replay("Feedback on orders", &["--tools", "live", "--allow-effects", "search_order"]);
    assert!(!passed && problem.contains("has a tool `search_order`; there are: search_orders"), "{problem}");
    let (_, text, problem) = replay("Feedback on orders", &["--json"]);
    let report: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}{problem}"));
    assert_eq!(report["dataset"], json!({ "same": [answer], "diverging": [], "withoutRecording": ["made"] }));
}

#[test]
fn the_reply_of_a_provider_is_replayed_and_imported() {
    let folder = TempDir::new().unwrap();
    let config = documented("yaml");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let run = |arguments: &[&str]| run_in(folder.path(), arguments);
    write("chatwright.yaml", &config);
    write("next.yaml", &config.replace("Look orders up", "Always look orders up"));
    write("reply.jsonl", &documented("jsonl"));
    let replay = ["replay", "reply.jsonl", "--config", "chatwright.yaml", "--message", "Look up 1234"];
    let (passed, text, problem) = run(&[&replay[..], &["--fail-on", "divergence"]].concat());
    assert!(passed && text.ends_with("\nthe replay is the same as the recording\n"), "{text}{problem}");
    for line in ["user: Look up 1234", "call: search_orders {\"query\":\"1234\"}", "end: tool-calls, 40 tokens in, 12"]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
    // The same reply with another prompt, and the demo model in its place.
    let against = [&replay[..], &["--against", "next.yaml", "--fail-on", "divergence"]].concat();
    let (passed, text, problem) = run(&[&against[..], &["--replies", "recorded"]].concat());
    assert!(passed && text.contains("prompt: the system prompt"), "{text}{problem}");
    let (passed, text, problem) = run(&against);
    assert!(!passed && text.contains("first divergence"), "{text}{problem}");

    // A file that keeps what was decoded.
    let import = ["run", "import", "reply.jsonl", "--config", "chatwright.yaml", "--output", "kept.jsonl"];
    let (imported, text, problem) = run(&import);
    assert!(imported && text.contains("call: search_orders"), "{text}{problem}");
    let kept = ["replay", "kept.jsonl", "--config", "chatwright.yaml", "--fail-on", "divergence"];
    let (passed, text, problem) = run(&kept);
    assert!(passed && text.ends_with("\nthe replay is the same as the recording\n"), "{text}{problem}");
    // As if the version that has imported it had decoded other arguments.
    let text = fs::read_to_string(folder.path().join("kept.jsonl")).unwrap();
    let parts = |line: &&str| line.contains("\"type\":\"reply\"");
    let reply = text.lines().find(parts).unwrap();
    write("kept.jsonl", &text.replace(reply, &reply.replace("1234", "12")));
    let (passed, text, problem) = run(&kept);
    assert!(!passed && text.contains("tools: call 1"), "{text}{problem}");

    // Errors are reported with their position.
    write("damaged.jsonl", "{\"choices\":[]}\n{\"choices\": [}\n");
    let (passed, _, problem) = run(&["replay", "damaged.jsonl", "--config", "chatwright.yaml"]);
    assert!(!passed && problem.contains("damaged.jsonl:2:14: neither an event as JSON"), "{problem}");
    let (passed, _, problem) = run(&["replay", "reply.jsonl", "--config", "chatwright.yaml", "--agent", "nobody"]);
    assert!(!passed && problem.contains("the agent `nobody`"), "{problem}");
}

/// Agents behave as in earlier versions of the program: `crates/recordings/README.md` says when a recording may be
/// changed.
#[test]
fn recordings_of_earlier_versions_are_replayed_without_a_difference() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/recordings/tests/recorded");
    let replay = |file: &str, config: &str| {
        let any = "divergence,model,prompt,schema,settings,tokens,cost";
        run_in(&folder, &["replay", file, "--config", config, "--fail-on", any])
    };
    let check = |file: &str, runs: usize, has: &[&str]| {
        let recorded = fs::read_to_string(folder.join(file)).unwrap();
        let lacks: Vec<_> = has.iter().filter(|part| !recorded.contains(**part)).collect();
        assert!(lacks.is_empty() && recorded.len() < 60 * 1024, "{file}: {lacks:?}");
        let (passed, report, problem) = replay(file, "chatwright.yaml");
        let same = report.matches("the replay is the same as the recording\n").count();
        assert!(passed && same == runs, "{file}: {report}{problem}");
        file.to_owned()
    };
    let failures =
        ["\"error\":\"the provider is temporarily unavailable\"", "\"ending\":\"failed: the provider refused"];
    let checked = [
        check("approval.jsonl", 2, &["\"ending\":\"waiting\"", "\"state\":\"cancelled\""]),
        check("parallel-calls.jsonl", 1, &["\"callId\":\"call_3\"", "{\"error\":\"No customer has this name.\"}"]),
        check("plain-answer.jsonl", 2, &["\"type\":\"reasoning-start\""]),
        check("provider-failure.jsonl", 2, &failures),
        check("structured-output.jsonl", 1, &["\"responseFormat\":{\"name\":\"route\""]),
        check("sub-agent.jsonl", 1, &["\"agent\":\"lead/researcher\""]),
    ];
    let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<_> = files.filter(|file| file.ends_with(".jsonl")).collect();
    files.sort();
    assert_eq!(files, checked, "each recording is checked");

    // It would be seen: the request of another prompt is not the recorded one.
    let config = fs::read_to_string(folder.join("chatwright.yaml")).unwrap();
    let changed = TempDir::new().unwrap();
    let changed = changed.path().join("chatwright.yaml");
    fs::write(&changed, config.replace("Look orders up before you answer", "Look orders up")).unwrap();
    let (passed, report, _) = replay("parallel-calls.jsonl", &changed.display().to_string());
    assert!(!passed && report.contains("miss:"), "{report}");
}
