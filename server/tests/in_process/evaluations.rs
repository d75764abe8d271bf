//! `chatwright eval`, as a process.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const CONFIG: &str = "
connections:
  - { id: demo, type: Demo, properties: { delayMs: 0 } }
agents:
  - { id: helper, type: Agent, connectionId: demo, tools: [search_articles], properties: { model: demo } }
  - { id: judge, type: Agent, connectionId: demo, properties: { model: demo } }
api:
  - id: search_articles
    description: Search articles.
    payloadSchema: { type: object, properties: { query: { type: string } } }
    routine: [{ ':return': { articles: [{ title: Refunds, body: Within 30 days. }] } }]
  - id: length
    routine: [{ ':return': { score: 0.75, reason: { _payload: answer.text } } }]
prices: { demo: { input: 1000, output: 1000 } }
";

const EVALUATION: &str = "
name: test
config: chatwright.yaml
agentId: helper
dataset: cases.jsonl
scorers:
  - { id: text, contains: { all: { _case: expected } } }
  - { id: endpoint, endpoint: { endpointId: length } }
  - { id: judge, judge: { agentId: judge, rubric: 'score: 4, reason: fine' } }
compare: { agentId: judge, rubric: 'better: first, reason: shorter' }
";

const CASES: &str = r#"{"id":"refunds","input":"What do you know about refunds?","expected":"30 days"}
{"id":"hello","input":"hello","expected":"Hello!"}
{"id":"count","input":"count to 20","expected":"20"}
"#;

/// A folder with an evaluation.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("chatwright.yaml", CONFIG);
        folder.write("evaluation.yaml", EVALUATION);
        folder.write("cases.jsonl", CASES);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chatwright"));
        command.args(["eval", "evaluation.yaml"]).args(arguments).current_dir(self.0.path());
        command
    }

    /// Runs it, and returns the exit code, what was printed and what was said of problems.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        text(self.command(arguments).output().unwrap())
    }
}

fn text(Output { status, stdout, stderr }: Output) -> (i32, String, String) {
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The answers and all kinds of scorers of a config, and the exit codes.
#[test]
fn evaluation_is_reported() {
    let folder = Folder::new();
    let (code, out, said) = folder.run(&["--json", "--junit", "junit.xml", "--markdown", "report.md"]);
    assert_eq!(code, 0, "{out}{said}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let config = &report["configs"][0];
    assert_eq!((&config["cases"], &config["passed"]["mean"]), (&3.into(), &1.0.into()), "{out}");
    assert_eq!(config["scorers"]["endpoint"]["mean"], 0.75);
    assert_eq!(config["scorers"]["judge"]["mean"], 0.75);
    assert!(config["judgeCostUsd"].as_f64().unwrap() > 0.0, "{out}");
    assert!(said.contains("all cases will cost about $") && !said.contains("INFO"), "{said}");
    assert!(folder.read("junit.xml").contains("tests=\"3\" failures=\"0\" errors=\"0\""));
    assert!(folder.read("report.md").starts_with("# Evaluation: test\n"));
    let check = |arguments: &[&str], code: i32, message: &str| {
        let (ended, out, said) = folder.run(arguments);
        assert!(ended == code && (out.clone() + &said).contains(message), "{arguments:?}: {ended}\n{out}{said}");
    };
    check(&["--max-cost", "0.01"], 2, "the cost is bounded to $0.0100");
    check(&["--cases", "other"], 2, "there is no case `other`");
    check(&["--junit", "no/junit.xml"], 2, "no/junit.xml cannot be written");
    check(&["--gate", "baseline.json"], 2, "`--update-baseline` stores");
    folder.write("cases.jsonl", &CASES.replace("\"Hello!\"", "\"Goodbye\""));
    check(&["--cases", "hello"], 1, "the answer does not contain “Goodbye”");
    check(&["--gate", "baseline.json", "--update-baseline"], 0, "## Failed (1)");
    check(&["--gate", "baseline.json"], 0, "No case has changed.");
    folder.write("cases.jsonl", CASES);
    check(
        &["--gate", "baseline.json"],
        1,
        "Changed since the baseline (`--update-baseline` accepts that):\n\n- the case `hello`",
    );
    check(&["--max-worse", "1"], 2, "--gate <FILE>");
    folder.write("cases.jsonl", &CASES.replace("\"Hello!\"", "\"Goodbye\",\"must\":true"));
    check(&["--gate", "baseline.json", "--max-worse", "0"], 1, "Cases that must pass and have failed: `hello`");
    check(&["--gate", "baseline.json"], 1, "Cases that must pass and have failed: `hello`");
    folder.write("cases.jsonl", &CASES.replace("\"hello\"", "\"other\""));
    check(&["--gate", "baseline.json"], 1, "- the case `hello`");
    folder.write("evaluation.yaml", &EVALUATION.replace("id: endpoint,", "id: other,"));
    check(&["--gate", "baseline.json"], 1, "- the scorer `endpoint` of `count`, `refunds`");
    folder.write("cases.jsonl", &CASES.replace("count to 20", "simulate a failure"));
    check(&["--gate", "baseline.json", "--update-baseline"], 2, "there was no answer, or a scorer failed, for `count`");
    folder.write("evaluation.yaml", &EVALUATION.replace("length", "longth"));
    check(&[], 2, "has no endpoint `longth`, which is to score");
    folder.write("evaluation.yaml", &EVALUATION.replace("agentId: helper", "agentId: helpr"));
    check(&[], 2, "has no agent `helpr`");
    folder.write("evaluation.yaml", "name: x\nparallel: many\n");
    check(&[], 2, "evaluation.yaml:2:11: error:");
    let texts_only = EVALUATION.lines().filter(|line| !line.contains("endpoint:") && !line.contains("judge:"));
    folder.write("evaluation.yaml", &texts_only.collect::<Vec<_>>().join("\n"));
    folder.write("cases.jsonl", &format!("{CASES}{{\"id\":\"free\",\"input\":\"hello\"}}\n"));
    check(&[], 2, "no scorer applies to the case `free`");
}

/// The cost of an answer that fails or takes too long is the cost of what was used, and judges count.
#[test]
fn cost_is_counted_in_every_case() {
    let folder = Folder::new();
    folder.write("chatwright.yaml", &CONFIG.replace("delayMs: 0", "delayMs: 10"));
    folder.write("evaluation.yaml", &format!("{EVALUATION}timeoutSeconds: 3\n"));
    // The second message of a conversation takes too long.
    let case = "{\"id\":\"late\",\"input\":[\"hello\",\"count to 2000\"],\"expected\":\"2000\"}\n";
    folder.write("cases.jsonl", case);
    let (code, out, said) = folder.run(&["--json", "--max-cost", "100", "--output", "results.jsonl"]);
    assert_eq!(code, 1, "{out}{said}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let failure = &report["failures"][0];
    assert_eq!(failure["error"], "the answer took longer than 3 s", "{out}");
    assert!(failure["costUsd"].as_f64().unwrap() > 0.0 && failure["inputTokens"].as_u64().unwrap() > 0, "{out}");
    let config = CONFIG.replace("prices: { demo:", "prices: { other:");
    folder.write("chatwright.yaml", &config);
    let (code, _, said) = folder.run(&["--max-cost", "100"]);
    let message = "the price of the model `demo` of the agent `helper` is unknown: add it to `prices`";
    assert!(code == 2 && said.contains(message), "{said}");
    let judge = "{ id: judge, type: Agent, connectionId: demo, properties: { model: other } }";
    let known = CONFIG.replace("{ id: judge, type: Agent, connectionId: demo, properties: { model: demo } }", judge);
    folder.write("chatwright.yaml", &known);
    let (code, _, said) = folder.run(&["--max-cost", "100"]);
    assert!(code == 2 && said.contains("the model `other` of the agent `judge` is unknown"), "{said}");
}

#[test]
fn two_configs_are_compared() {
    let folder = Folder::new();
    folder.write("worse.yaml", &CONFIG.replace("Within 30 days.", "Ask somebody."));
    let (code, out, said) = folder.run(&["--config", "chatwright.yaml", "--config", "worse.yaml"]);
    assert_eq!(code, 1, "{out}{said}");
    assert!(out.contains("## worse.yaml compared with chatwright.yaml"), "{out}");
    assert!(out.contains("- worse: `refunds`: passed 1.00 → 0.00, text 1.00 → 0.00"), "{out}");
    assert!(out.contains("The judge prefers the first 0 times, the second 0 times, and neither 3 times."), "{out}");
}

/// Kills the process in the middle: what was evaluated stays, and only the rest is evaluated again.
#[test]
fn killed_evaluation_continues() {
    let folder = Folder::new();
    folder.write("chatwright.yaml", &CONFIG.replace("delayMs: 0", "delayMs: 10"));
    let cases = (0..12).map(|n| format!("{{\"id\":\"c{n}\",\"input\":\"count to 20\",\"expected\":\"20\"}}\n"));
    folder.write("cases.jsonl", &cases.collect::<String>());
    let arguments = ["--parallel", "2", "--output", "results.jsonl"];
    let mut child = folder.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let lines = || fs::read_to_string(folder.path("results.jsonl")).map_or(0, |text| text.lines().count());
    while lines() < 4 {
        assert!(child.try_wait().unwrap().is_none(), "it was too quick to be killed");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = folder.read("results.jsonl");
    let whole = &before[..before.rfind('\n').unwrap() + 1];
    assert!(whole.lines().count() < 13, "it was killed too late");
    // A line that was cut off.
    folder.write("results.jsonl", &format!("{whole}{{\"kind\":\"result\",\"con"));
    let (code, out, said) = folder.run(&["--resume", "results.jsonl"]);
    assert_eq!(code, 0, "{out}{said}");
    let after = folder.read("results.jsonl");
    assert!(after.starts_with(whole), "{after}");
    let results = after.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut ids: Vec<_> = results.map(|result| result["case"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), after.lines().count()), (12, 13), "{after}");
    folder.write("cases.jsonl", CASES);
    let (code, _, said) = folder.run(&["--resume", "results.jsonl"]);
    assert!(code == 2 && said.contains("of another evaluation"), "{said}");
}

/// The judge of the config gives each answer 4 of 5, also the one that the person disliked.
#[test]
fn judges_are_compared_with_people() {
    let folder = Folder::new();
    let rated = |id: &str, liked: bool| {
        let rated = json!({ "answer": "Hello!", "liked": liked });
        format!("{}\n", json!({ "id": id, "input": "hello", "expected": "Hello!", "rated": rated }))
    };
    folder.write("cases.jsonl", &(rated("good", true) + &rated("bad", false)));
    let (code, out, said) = folder.run(&[]);
    assert_eq!(code, 0, "{out}{said}");
    let expected = "\
- `judge` agrees with people in 1 of 2 (Cohen's κ 0.00)
  - `bad`: a person disliked the rated answer, the judge passes it: 4 of 5: fine";
    assert!(out.contains(expected), "{out}");
    let report: Value = serde_json::from_str(&folder.run(&["--json"]).1).unwrap();
    assert_eq!(report["agreements"][0]["disagreements"][0]["case"], "bad");
}

#[test]
fn example_passes_its_gate() {
    let folder = root().join("examples/support");
    let output = Command::new(env!("CARGO_BIN_EXE_chatwright"))
        .args(["eval", "evaluation.yaml", "--gate", "baseline.json", "--json"])
        .current_dir(folder)
        .output()
        .unwrap();
    let (code, out, said) = text(output);
    assert_eq!(code, 0, "{out}{said}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&report["configs"][0]["cases"], &report["gate"]["compared"]), (&30.into(), &30.into()));
    assert_eq!(
        (&report["failures"], &report["gate"]["changes"]),
        (&Value::Array(Vec::new()), &Value::Array(Vec::new()))
    );
}

/// The files of the page for newcomers, as they are there.
#[test]
fn documented_evaluation_runs() {
    let page = fs::read_to_string(root().join("docs/evaluation.md")).unwrap();
    let file = |language: &str| {
        let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
        rest.split("```").next().unwrap().to_owned()
    };
    let folder = Folder::new();
    folder.write("chatwright.yaml", &file("yaml"));
    folder.write("evaluation.yaml", &file("yml"));
    folder.write("cases.jsonl", &file("jsonl"));
    let (code, out, said) = folder.run(&[]);
    assert_eq!(code, 1, "{out}{said}");
    // The page shows the beginning of the report; times differ.
    let shown = file("text");
    for line in shown.lines().filter(|line| !line.is_empty() && !line.contains("time ")) {
        assert!(out.contains(line), "the page shows {line}\n{out}");
    }
}

#[test]
fn evaluations_of_other_tools_are_imported() {
    let folder = Folder::new();
    folder.write("samples.jsonl", "{\"input\":\"hello\",\"target\":\"demo model\",\"id\":1}\n");
    folder.write("p.yaml", "prompts: ['{{q}}']\ntests: [{ vars: { q: hello }, assert: [{ type: contains, value: Hello }, { type: python, value: x }] }]\n");
    for (tool, file) in [("inspect-ai", "samples.jsonl"), ("promptfoo", "p.yaml")] {
        let import = |more: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_chatwright"));
            command.args(["import", tool, file, "--agent", "helper", "--output", tool]).args(more);
            text(command.current_dir(folder.0.path()).output().unwrap())
        };
        let (code, out, said) = import(&[]);
        assert!(code == 0 && out.contains("wrote 1 case to"), "{out}{said}");
        assert_eq!(said.contains("p.yaml:2:74: warning: the assertion is left out"), tool == "promptfoo", "{said}");
        assert_eq!(import(&[]).0, 1, "files are not overwritten");
        assert_eq!(import(&["--force"]).0, 0);
        let mut evaluate = Command::new(env!("CARGO_BIN_EXE_chatwright"));
        evaluate.args(["eval", &format!("{tool}/evaluation.yaml"), "--config", "chatwright.yaml"]);
        let (code, out, said) = text(evaluate.current_dir(folder.0.path()).output().unwrap());
        assert_eq!(code, 0, "{out}{said}");
    }
}
