//! Tests of the gate: the comparison with a baseline, and the conditions under which it fails.

use crate::support::{Echo, Files, SETTINGS, candidate, evaluate};
use evaluation::{Baseline, CaseResult, Checked, Finished, Gate, Report, check_writable, markdown};
use serde_json::{Value, json};

/// An agent that answers with the question.
const ECHO: fn(&str) -> String = str::to_owned;
/// An agent that fails.
const FAILING: fn(&str) -> String = |_| String::new();

/// Agents that know only some digits.
const UP_TO_7: fn(&str) -> String = |text| text.replace(['8', '9'], "x");
const UP_TO_3: fn(&str) -> String = |text| text.replace(['4', '5', '6', '7', '8', '9'], "x");
const FROM_1_TO_8: fn(&str) -> String = |text| text.replace(['0', '9'], "x");
const WITHOUT_7_AND_9: fn(&str) -> String = |text| text.replace(['7', '9'], "x");

/// A run of an evaluation.
struct Evaluated {
    files: Files,
    results: Vec<CaseResult>,
}

impl Evaluated {
    /// Evaluates cases with scorers and an agent.
    async fn new(scorers: &str, cases: &[Value], written: fn(&str) -> String) -> Self {
        let lines: String = cases.iter().map(|case| format!("{case}\n")).collect();
        let evaluation = format!("name: test\nagentId: helper\ndataset: cases.jsonl\nscorers: [{scorers}]\n");
        let files = Files::new(&evaluation, &lines);
        let (candidate, _) = candidate("x", Echo { written, ..Echo::default() });
        let finished = evaluate(&files, &[candidate], SETTINGS).await.unwrap();
        Self { files, results: finished.results }
    }

    fn baseline(&self) -> Result<Baseline, String> {
        let (evaluation, cases) = self.files.read();
        Baseline::new(&evaluation, &cases, &self.results, "x")
    }

    /// Checks the first of the results.
    fn gate(&self, baseline: Option<&Baseline>, selected: usize) -> Gate {
        let (evaluation, dataset) = self.files.read();
        let (selected, results) = (&dataset[..selected], &self.results[..selected]);
        Gate::check(Checked { evaluation: &evaluation, dataset: &dataset, selected, results, config: "x" }, baseline, 0)
    }
}

/// Results that are all errors, and removed cases and scorers, cannot be compared; they fail the gate nevertheless.
#[tokio::test]
async fn errors_and_gone_cases_and_scorers_fail_the_gate() {
    let cases: Vec<_> = (0..3).map(|n| json!({ "id": format!("c{n}"), "input": "x" })).collect();
    let scorer = "{ id: x, contains: { all: x } }";
    let baseline = Evaluated::new(scorer, &cases, ECHO).await.baseline().unwrap();
    let check =
        async |scorers: &str, cases: &[Value], (written, selected): (fn(&str) -> String, usize), expected: &str| {
            let gate = Evaluated::new(scorers, cases, written).await.gate(Some(&baseline), selected);
            let said = format!("{} {:?} {:?}", gate.is_passed(), gate.worse, gate.missing);
            assert_eq!(said, expected, "{scorers} {cases:?}");
        };
    check(scorer, &cases, (ECHO, 3), "true [] []").await;
    check(scorer, &cases, (ECHO, 1), "true [] []").await;
    check(scorer, &cases, (FAILING, 3), r#"false ["passed", "x"] []"#).await;
    // One case may be chance.
    check(scorer, &cases, (FAILING, 1), "true [] []").await;
    check(scorer, &cases[1..], (ECHO, 2), r#"false [] ["the case `c0`"]"#).await;
    let renamed = "{ id: y, contains: { all: x } }";
    check(renamed, &cases, (ECHO, 3), r#"false [] ["the scorer `x` of `c0`, `c1`, `c2`"]"#).await;
    assert_eq!(
        Evaluated::new(scorer, &cases, FAILING).await.baseline().unwrap_err(),
        "the baseline was not changed: there was no answer, or a scorer failed, for `c0`, `c1`, `c2`"
    );
    let other = Evaluated::new(scorer, &[json!({ "id": "c7", "input": "x" })], ECHO).await;
    let refused = baseline.check_cases(&other.files.read().1).unwrap_err();
    assert!(refused.starts_with("the baseline has none of these cases"), "{refused}");
}

/// A case or a scorer that has become easier would hide that the agent got worse.
#[tokio::test]
async fn changed_cases_and_scorers_fail_the_gate() {
    let scorers =
        "{ id: says, contains: { all: { _case: expected.says } } }, { id: short, regex: { pattern: '^.{1,9}$' } }";
    let case = |more: Value| {
        let mut case = json!({ "id": "a", "input": "xy", "expected": { "says": "x", "not": 1 }, "tags": ["t"] });
        case.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        vec![case, json!({ "id": "b", "input": "x", "expected": { "says": "x" } })]
    };
    let baseline = Evaluated::new(scorers, &case(json!({})), ECHO).await.baseline().unwrap();
    let check = async |scorers: &str, more: Value, expected: &[&str]| {
        let gate = Evaluated::new(scorers, &case(more.clone()), ECHO).await.gate(Some(&baseline), 2);
        assert_eq!(
            (gate.changed.as_slice(), gate.is_passed()),
            (strings(expected).as_slice(), expected.is_empty()),
            "{more}"
        );
        assert!(!gate.lacks_hashes);
    };
    check(scorers, json!({}), &[]).await;
    // The order of keys, and what only selects a case, do not count; nor does a default that is written.
    check(scorers, json!({ "expected": { "not": 1, "says": "x" }, "tags": ["u"], "split": "s", "must": true }), &[])
        .await;
    check(&scorers.replace("'^.{1,9}$'", "'^.{1,9}$', matches: true"), json!({}), &[]).await;
    check(&format!("{scorers}, {{ id: new, exact: {{ value: x }} }}"), json!({}), &[]).await;
    check(scorers, json!({ "input": "x" }), &["the case `a`"]).await;
    check(scorers, json!({ "expected": { "says": "y" } }), &["the case `a`"]).await;
    check(scorers, json!({ "metadata": { "m": 1 } }), &["the case `a`"]).await;
    check(scorers, json!({ "scorers": [{ "id": "own", "exact": { "value": "xy" } }] }), &["the case `a`"]).await;
    check(&scorers.replace("1,9", "1,8"), json!({}), &["the scorer `short`"]).await;
    check(&scorers.replace("all", "any"), json!({ "input": "x" }), &["the scorer `says`", "the case `a`"]).await;
}

/// `null` is a value of a JSON Schema, and not a setting that is left out.
#[tokio::test]
async fn changed_schemas_fail_the_gate() {
    let case = [json!({ "id": "a", "input": "null" })];
    let baseline = Evaluated::new("{ id: none, schema: { const: null } }", &case, ECHO).await.baseline().unwrap();
    let check = async |scorers: &str, expected: &[&str]| {
        let gate = Evaluated::new(scorers, &case, ECHO).await.gate(Some(&baseline), 1);
        assert_eq!((gate.changed, gate.worse), (strings(expected), Vec::new()), "{scorers}");
    };
    check("{ schema: { const: null }, id: none }", &[]).await;
    check("{ id: none, schema: {} }", &["the scorer `none`"]).await;
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// A baseline of an earlier version has no hashes. It is compared as before, and the report says so.
#[tokio::test]
async fn baselines_without_hashes_still_compare() {
    let case = |input: &str| [json!({ "id": "a", "input": input })];
    let scorer = "{ id: x, contains: { all: x } }";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baseline.json");
    let earlier = json!({ "evaluation": "test", "cases": { "a": { "passed": 1.0, "scores": { "x": 1.0 } } } });
    std::fs::write(&path, earlier.to_string()).unwrap();
    let baseline = Baseline::read(&path, "test").unwrap();
    let evaluated = Evaluated::new(scorer, &case("another x"), ECHO).await;
    let gate = evaluated.gate(Some(&baseline), 1);
    assert_eq!((gate.is_passed(), gate.lacks_hashes, gate.compared), (true, true, 1));
    let finished = Finished { results: evaluated.results.clone(), comparisons: Vec::new() };
    let text = markdown(&Report::new("test", &["x".to_owned()], &finished, gate, 0), &[], 1);
    assert!(text.contains("The baseline is of an earlier version"), "{text}");
    evaluated.baseline().unwrap().write(&path).unwrap();
    let changed = Evaluated::new(scorer, &case("x"), ECHO).await.gate(Some(&Baseline::read(&path, "test").unwrap()), 1);
    assert_eq!(changed.changed, ["the case `a`"]);
}

#[test]
fn files_are_checked_before_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.md");
    assert_eq!(check_writable(&path), Ok(()));
    assert!(!path.exists());
    assert!(check_writable(folder.path()).unwrap_err().contains("cannot be written"));
    assert!(check_writable(&folder.path().join("other/report.md")).unwrap_err().contains("cannot be written"));
}

/// The gate fails if something got worse that is no chance, if a case that must pass has failed, or if more cases are
/// worse than may be.
#[tokio::test]
async fn gate_compares_with_the_baseline() {
    let case = |n: usize| json!({ "id": format!("c{n}"), "input": format!("n{}", n % 10), "must": n == 0 });
    let cases: Vec<_> = (0..30).map(case).collect();
    let gate = async |written: fn(&str) -> String, baseline: Option<&Baseline>| {
        let evaluated = Evaluated::new("{ id: digits, regex: { pattern: 'n[0-9]' } }", &cases, written).await;
        (evaluated.gate(baseline, 30), evaluated.baseline().unwrap())
    };
    let (first, baseline) = gate(UP_TO_7, None).await;
    assert!(first.is_passed() && first.compared == 0);
    let (same, _) = gate(UP_TO_7, Some(&baseline)).await;
    assert!(same.is_passed() && same.changes.is_empty() && same.compared == 30);
    // Three of thirty cases may be chance for a bootstrap only just not; half of them is not.
    let (worse, _) = gate(UP_TO_3, Some(&baseline)).await;
    assert_eq!(
        (worse.is_passed(), worse.worse.join(" "), worse.changes.len()),
        (false, "passed digits".to_owned(), 12)
    );
    let (better, _) = gate(ECHO, Some(&baseline)).await;
    assert!(better.is_passed() && better.changes.len() == 6 && better.worse_cases == 0);
    let (must, _) = gate(FROM_1_TO_8, Some(&baseline)).await;
    assert_eq!((must.is_passed(), must.failed_must.join(" ")), (false, "c0".to_owned()));
    // Three cases of thirty got worse, and three got better: that may be chance, but not more than two may be worse.
    let (few, _) = gate(WITHOUT_7_AND_9, Some(&baseline)).await;
    assert_eq!((few.is_passed(), few.worse_cases), (true, 3));
    let bounded = [2, 3].map(|most| few.clone().with_max_worse(Some(most)).is_passed());
    assert_eq!(bounded, [false, true]);
    // It survives its file.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baseline.json");
    assert!(Baseline::read(&path, "test").unwrap_err().contains("`--update-baseline`"));
    baseline.write(&path).unwrap();
    baseline.write(&path).unwrap();
    assert_eq!(Baseline::read(&path, "test").unwrap(), baseline);
    assert!(Baseline::read(&path, "other").unwrap_err().contains("is the baseline of `test`, not of `other`"));
}
