//! Evaluations for other tools.

use crate::support::Files;
use evaluation::{export_inspect_ai, export_promptfoo, inspect_ai, promptfoo};
use serde_json::{Value, json};

const EVALUATION: &str = "
name: support
agentId: helper
dataset: cases.jsonl
scorers:
  - { id: says, contains: { all: { _case: expected.says }, none: [sorry] } }
  - { id: calls, tools: { called: { _case: expected.tools } } }
  - { id: judged, judge: { agentId: judge, rubric: { _case: expected.rubric } } }
  - { id: quick, tags: [fast], time: { maxSeconds: 5 } }
";

const CASES: &str = r#"{"id":"refunds","input":"May I return it?","expected":{"says":["30 days","paid"],"rubric":"It is kind."},"tags":["fast"],"split":"test","must":true,"rated":{"answer":"No.","liked":false}}
{"id":"long","input":["one","two"],"expected":{"reference":"Three.","tools":["search"]},"scorers":[{"id":"digits","regex":{"pattern":"[0-9]"}}],"metadata":{"from":"c1"}}
"#;

#[test]
fn cases_become_tests_of_promptfoo() {
    let (evaluation, cases) = Files::new(EVALUATION, CASES).read();
    let exported = export_promptfoo(&evaluation, &cases);
    let must = "`must` of the case `refunds` is only metadata: to promptfoo, all tests are equal";
    let left_out = "promptfoo has no assertion about the tools that an agent of a server has called";
    let notes = [
        must.to_owned(),
        "of the case `long`, only the last message is sent".to_owned(),
        format!("the scorer `calls` is left out: {left_out}"),
    ];
    assert_eq!(exported.notes, notes);
    let comments: Vec<_> = exported.text.lines().map_while(|line| line.strip_prefix("# ")).collect();
    assert_eq!(comments, notes, "who downloads the file reads them, too");
    // Our own import reads it.
    let imported = promptfoo("promptfooconfig.yaml", &exported.text, "helper").unwrap();
    let read: Vec<Value> = imported.cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let scorers = |case: &Value| -> Vec<String> {
        let ids = case["scorers"].as_array().into_iter().flatten().filter_map(|scorer| scorer["id"].as_str());
        ids.map(str::to_owned).collect()
    };
    assert_eq!((&read[0]["metadata"]["must"], &read[1]["metadata"]["must"]), (&json!(true), &Value::Null));
    assert_eq!(read[0]["rated"], json!({ "answer": "No.", "liked": false }));
    assert_eq!((&read[0]["input"], &read[1]["input"]), (&json!("May I return it?"), &json!("two")));
    assert_eq!(scorers(&read[0]), ["1-icontains", "2-icontains", "3-not-icontains", "4-llm-rubric", "5-latency"]);
    assert_eq!(scorers(&read[1]), ["1-not-icontains", "2-regex"]);
}

#[test]
fn cases_become_samples_of_inspect_ai() {
    let (_, cases) = Files::new(EVALUATION, CASES).read();
    let exported = export_inspect_ai(&cases);
    let samples: Vec<Value> = exported.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(samples[0]["target"], json!(["30 days", "paid"]));
    assert_eq!(
        samples[1],
        json!({
            "id": "long",
            "input": [{ "role": "user", "content": "one" }, { "role": "user", "content": "two" }],
            "target": "Three.",
            "metadata": { "from": "c1", "expected": { "reference": "Three.", "tools": ["search"] } },
        })
    );
    assert_eq!(samples[0]["metadata"]["must"], json!(true));
    let must = "`must` of the case `refunds` is only metadata: to Inspect AI, all samples are equal";
    let note = "the scorers of the case `long` are left out: scorers are Python in Inspect AI";
    assert_eq!(exported.notes, [must, note]);
    let imported = inspect_ai("samples.jsonl", &exported.text, "helper").unwrap();
    assert_eq!(imported.count, 2);
    let first: Value = serde_json::from_str(imported.cases.lines().next().unwrap()).unwrap();
    assert_eq!(first["rated"], json!({ "answer": "No.", "liked": false }));
}
