//! Evaluations for other tools.

use crate::support::Files;
use evaluation::{export_inspect_ai, export_promptfoo, inspect_ai, promptfoo};
use insta::assert_snapshot;

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

const CASES: &str = r#"{"id":"refunds","input":"May I return it?","expected":{"says":["30 days","paid"],"rubric":"It is kind."},"tags":["fast"],"split":"test"}
{"id":"long","input":["one","two"],"expected":{"reference":"Three.","tools":["search"]},"scorers":[{"id":"digits","regex":{"pattern":"[0-9]"}}],"metadata":{"from":"c1"}}
"#;

#[test]
fn cases_become_tests_of_promptfoo() {
    let (evaluation, cases) = Files::new(EVALUATION, CASES).read();
    let exported = export_promptfoo(&evaluation, &cases);
    assert_snapshot!(exported.text, @"");
    assert_snapshot!(exported.notes.join("\n"), @"");
    // Our own import reads it.
    let imported = promptfoo("promptfooconfig.yaml", &exported.text, "helper").unwrap();
    assert_eq!(imported.count, 2);
}

#[test]
fn cases_become_samples_of_inspect_ai() {
    let (_, cases) = Files::new(EVALUATION, CASES).read();
    let exported = export_inspect_ai(&cases);
    assert_snapshot!(exported.text, @"");
    assert_snapshot!(exported.notes.join("\n"), @"");
    assert_eq!(inspect_ai("samples.jsonl", &exported.text, "helper").unwrap().count, 2);
}
