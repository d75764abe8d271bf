//! Imports of other tools' evaluations, and the notes on parts that are left out.

use crate::support::Files;
use evaluation::{Imported, inspect_ai, promptfoo};
use insta::assert_snapshot;
use std::fs;

/// Returns the notes, and the cases as they are written. Checks that the written files can be read.
fn described(imported: &Imported) -> String {
    let files = Files::new(&imported.evaluation, &imported.cases);
    assert_eq!(files.read().1.len(), imported.count);
    assert_eq!(fs::read_to_string(files.path("cases.jsonl")).unwrap(), imported.cases);
    let notes = imported.notes.iter().map(|note| note.to_string().lines().next().unwrap_or_default().to_owned());
    format!("{}\n{}\n{}", imported.evaluation, imported.cases, notes.collect::<Vec<_>>().join("\n"))
}

#[test]
fn promptfoo_tests_become_cases() {
    let config = r#"description: Support
providers: [openai:gpt-4.1]
prompts: ["Answer: {{question}}"]
defaultTest:
  assert:
    - { type: latency, threshold: 5000 }
tests:
  - description: refund
    vars: { question: May I return it?, days: 30 }
    assert:
      - { type: icontains, value: "{{days}} days" }
      - { type: not-contains, value: sorry }
      - { type: contains-any, value: [refund, return] }
      - { type: javascript, value: output.length < 100 }
      - { type: llm-rubric, value: Is polite, weight: 2 }
  - vars: { question: Total? }
    assert:
      - { type: is-json, value: { type: object } }
      - { type: equals, value: { total: 7 } }
      - { type: starts-with, value: "{" }
      - { type: cost, threshold: 0.01 }
      - { type: similar, value: x, threshold: 0.8 }
  - vars: { other: 1 }
"#;
    assert_snapshot!(described(&promptfoo("promptfooconfig.yaml", config, "helper").unwrap()), @r###"
    name: Support
    agentId: helper
    dataset: cases.jsonl

    {"id":"test-1","input":"Answer: May I return it?","scorers":[{"contains":{"all":["30 days"],"ignoreCase":true},"id":"1-icontains"},{"contains":{"none":["sorry"],"ignoreCase":false},"id":"2-not-contains"},{"contains":{"any":["refund","return"],"ignoreCase":false},"id":"3-contains-any"},{"judge":{"agentId":"judge","rubric":"Is polite"},"id":"4-llm-rubric"},{"time":{"maxSeconds":5.0},"id":"5-latency"}],"metadata":{"description":"refund"}}
    {"id":"test-2","input":"Answer: Total?","scorers":[{"schema":{"type":"object"},"id":"1-is-json"},{"jsonPath":{"path":"$","equals":{"total":7}},"id":"2-equals"},{"regex":{"pattern":"^\\{","matches":true},"id":"3-starts-with"},{"cost":{"maxUsd":0.01},"id":"4-cost"},{"time":{"maxSeconds":5.0},"id":"5-latency"}]}

    promptfooconfig.yaml:14:9: warning: the assertion is left out: there is no scorer like `javascript`
    promptfooconfig.yaml:15:55: warning: `weight` is left out
    promptfooconfig.yaml:22:9: warning: the assertion is left out: there is no scorer like `similar`
    promptfooconfig.yaml:23:5: warning: the test is left out: its message cannot be made of its variables
    "###);
    let problems = promptfoo("p.yaml", "tests: file://tests.csv", "helper").unwrap_err();
    assert!(problems[0].to_string().starts_with("p.yaml:1:8: error: `tests` is not a list"), "{}", problems[0]);
}

#[test]
fn inspect_samples_become_cases() {
    let samples = r#"{"input":"2+2?","target":"4","id":7}
{"input":[{"role":"system","content":"Be short."},{"role":"user","content":"3+3?"}],"target":["6","six"],"metadata":{"level":1}}
{"input":"?","choices":["a","b"]}
"#;
    assert_snapshot!(described(&inspect_ai("samples.jsonl", samples, "helper").unwrap()), @r###"
    name: inspect
    agentId: helper
    dataset: cases.jsonl
    scorers:
      - id: includes
        contains:
          any: { _case: expected }

    {"id":"7","input":["2+2?"],"expected":"4"}
    {"id":"2","input":["3+3?"],"expected":["6","six"],"metadata":{"level":1}}
    {"id":"3","input":["?"]}

    samples.jsonl:2:1: warning: a message of the role `system` is left out; only texts of the user are sent
    samples.jsonl:3:1: warning: `choices` is left out
    "###);
    let problems = inspect_ai("s.jsonl", "{}\n", "helper").unwrap_err();
    assert!(problems[0].to_string().starts_with("s.jsonl:1:2: error: missing field `input`"), "{}", problems[0]);
}

/// An evaluation with such a test would be rejected as a whole.
#[test]
fn promptfoo_test_without_assertions_is_left_out() {
    let config = "prompts: ['{{q}}']\ntests:\n  - { vars: { q: One? }, assert: [{ type: contains, value: one }] }\n  - { vars: { q: Two? } }\n";
    let imported = promptfoo("p.yaml", config, "helper").unwrap();
    assert_eq!(imported.count, 1);
    let note = imported.notes[0].to_string();
    assert!(note.starts_with("p.yaml:4:5: warning: the test is left out: it has no assertion"), "{note}");
}

/// A small file cannot become a large one.
#[test]
fn variables_are_replaced_within_bounds() {
    let check = |prompt: &str, assertion: &str, tests: usize| {
        let large = "x".repeat(1 << 19);
        let defaults = format!("{{ vars: {{ a: {large} }}, assert: [{{ type: contains, value: '{assertion}' }}] }}");
        let tests = "  - { vars: {} }\n".repeat(tests);
        let config = format!("prompts: ['{prompt}']\ndefaultTest: {defaults}\ntests:\n{tests}");
        promptfoo("p.yaml", &config, "helper")
    };
    assert_eq!(check("{{a}}", "x", 2).unwrap().count, 2);
    let many = "{{a}}".repeat(200);
    for problems in [check(&many, "x", 1), check("x", &many, 1), check("{{a}}", "x", 100), check("x", "x", 1_000)] {
        let problem = problems.unwrap_err()[0].to_string();
        assert!(problem.contains("the tests are larger than 64 MB"), "{problem:.200}");
    }
}
