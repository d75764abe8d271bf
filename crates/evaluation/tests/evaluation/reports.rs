//! Tests of the reports on results.

use crate::support::{Echo, Files, SETTINGS, candidate, evaluate};
use evaluation::{CaseResult, Checked, Estimate, Estimates, Finished, Gate, Report, junit, markdown};

const CASES: &str = concat!(
    r#"{"id":"a","input":"x"}"#,
    "\n",
    r#"{"id":"b","input":["hello","y|\u001b[31m <z>"],"must":true}"#,
    "\n",
    r#"{"id":"c","input":"fail"}"#,
    "\n"
);

async fn report() -> (Report, Files, Vec<CaseResult>) {
    let evaluation =
        "name: test\nagentId: helper\ndataset: cases.jsonl\nscorers: [{ id: has x, contains: { all: x } }]\n";
    let files = Files::new(evaluation, CASES);
    let (one, _) = candidate("one.yaml", Echo::default());
    let (two, _) = candidate("two.yaml", Echo { prefix: "x", cost_usd: None, ..Echo::default() });
    let finished = evaluate(&files, &[one, two], SETTINGS).await.unwrap();
    let (evaluation, cases) = files.read();
    let checked = Checked {
        evaluation: &evaluation,
        dataset: &cases,
        selected: &cases,
        results: &finished.results,
        config: "two.yaml",
    };
    let gate = Gate::check(checked, None, 0);
    let report = Report::new("test", &["one.yaml".to_owned(), "two.yaml".to_owned()], &finished, gate, 0);
    (report, files, finished.results)
}

#[tokio::test]
async fn report_is_readable() {
    let (report, files, _) = report().await;
    let text = markdown(&report, &files.read().1, 2);
    let check = |line: &str| assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    check("# Evaluation: test");
    check("| passed         | 33.3 % (6.1 to 79.2)            | 66.7 % (20.8 to 93.9)           |");
    check("| has x          | 0.500 (0.000 to 1.000; 2 cases) | 1.000 (1.000 to 1.000; 2 cases) |");
    check("| cost           | $0.3000                         | $0.0000, 3 unpriced             |");
    check("| without answer | 1                               | 1                               |");
    check("## two.yaml compared with one.yaml");
    check("- better: `b`: passed 0.00 → 1.00, has x 0.00 → 1.00");
    check("## Failed (3)");
    check("### b (must pass) (one.yaml)");
    check("- asked: hello ⏎ y| [31m <z>");
    check("- **has x** (0.00): the answer does not contain “x”");
    check("- no answer: the model failed");
    check("And 1 more, which `--output` keeps.");
}

#[tokio::test]
async fn junit_is_valid_xml() {
    let (report, _, results) = report().await;
    let names: Vec<_> = report.configs.iter().map(|config| config.config.clone()).collect();
    let xml = junit(&report.evaluation, &names, &results).unwrap();
    let mut reader = quick_xml::Reader::from_str(&xml);
    while !matches!(reader.read_event().unwrap(), quick_xml::events::Event::Eof) {}
    let check = |text: &str| assert!(xml.contains(text), "{text}\n{xml}");
    check(r#"<testsuite name="one.yaml" tests="3" failures="1" errors="1" time="4.000">"#);
    check(r#"<testcase classname="one.yaml" name="a" time="2.000"/>"#);
    check(r#"<failure message="has x: the answer does not contain “x”">"#);
    check("y| [31m &lt;z&gt;</failure>");
    check(r#"<error message="the model failed">"#);
}

#[tokio::test]
async fn known_estimates_are_used_as_long_as_the_results_are_the_same() {
    let (before, _, results) = report().await;
    let name = "one.yaml".to_owned();
    let has_x = before.configs[0].scorers["has x"];
    // Bounds that no bootstrap gives show which estimate is used.
    let known = Estimate { low: -1.0, high: 2.0, ..has_x };
    let check = |known: Estimate, expected: Estimate| {
        let known = Estimates::from([((name.clone(), "has x".to_owned()), known)]);
        let finished = Finished { results: results.clone(), comparisons: Vec::new() };
        let report = Report::with_estimates("test", std::slice::from_ref(&name), &finished, Gate::default(), 0, &known);
        assert_eq!(report.configs[0].scorers["has x"], expected);
    };
    check(known, known);
    check(Estimate { count: known.count + 1, ..known }, has_x);
    check(Estimate { mean: known.mean + 0.1, ..known }, has_x);
}

#[tokio::test]
async fn last_results_of_a_file_count() {
    let (_, _, results) = report().await;
    let first = CaseResult { answer: "an earlier one".to_owned(), ..results[0].clone() };
    let kept: Vec<_> = std::iter::once(first).chain(results.iter().rev().cloned()).collect();
    assert_eq!(Finished::last(kept, Vec::new()).results, results);
}
