//! Running an evaluation: resuming, repeating, the bound of the cost, two configs.

use crate::support::{Echo, Files, SETTINGS, candidate, describe, evaluate};
use evaluation::{Baseline, CaseResult, Gate, ResultsFile, RunError, RunSettings, Winner, run};
use serde_json::{Value, json};
use std::fs;
use std::sync::atomic::Ordering;

fn files(count: usize) -> Files {
    let cases: String = (0..count)
        .map(|n| format!("{}\n", json!({ "id": format!("c{n}"), "input": format!("n{n}"), "expected": "n1" })))
        .collect();
    Files::new("name: test\nagentId: helper\ndataset: cases.jsonl\nscorers: [{ id: exact, exact: {} }]\n", &cases)
}

fn names(results: &[CaseResult]) -> String {
    results
        .iter()
        .map(|result| format!("{}/{}#{}", result.config, result.case, result.repeat))
        .collect::<Vec<_>>()
        .join(" ")
}

#[tokio::test]
async fn results_are_in_order_and_failures_are_results() {
    let cases = "{\"id\":\"a\",\"input\":[\"hello\",\"n1\"]}\n{\"id\":\"b\",\"input\":\"fail\"}\n";
    let files = Files::new(
        "name: test\nagentId: helper\ndataset: cases.jsonl\nscorers: [{ id: s, exact: { value: n1 } }]\n",
        cases,
    );
    let (candidate, asked) = candidate("x", Echo::default());
    let finished = evaluate(&files, &[candidate], RunSettings { repeat: 2, ..SETTINGS }).await.unwrap();
    assert_eq!(names(&finished.results), "x/a#0 x/a#1 x/b#0 x/b#1");
    assert_eq!(describe(&finished.results[0]), "passed 1.00");
    assert_eq!((finished.results[2].passed, finished.results[2].error.as_deref()), (false, Some("the model failed")));
    assert_eq!(asked.asked.load(Ordering::Relaxed), 4);
}

/// A run continues where it was killed: whole lines count, the rest of a line is removed.
#[tokio::test]
async fn killed_run_is_resumed() {
    let files = files(5);
    let (evaluation, cases) = files.read();
    let path = files.path("results.jsonl");
    let config = ["x".to_owned()];
    let named = ("test", config.as_slice());
    let created = ResultsFile::create(Some(&path), named, 1).unwrap();
    let (first, _) = candidate("x", Echo::default());
    run(&evaluation, &cases, &[first], created, SETTINGS, &|_| {}).await.unwrap();
    let whole = fs::read_to_string(&path).unwrap();
    assert_eq!(whole.lines().count(), 6, "{whole}");
    assert!(ResultsFile::create(Some(&path), named, 1).unwrap_err().contains("exists already"));
    // Two results, and a third one that was cut off.
    let ends: Vec<_> = whole.match_indices('\n').map(|(at, _)| at + 1).collect();
    for (length, asked_again) in
        [(ends[2], 3), (ends[2] + 25, 3), (0, 5), (10, 5), (whole.len(), 0), (whole.len() - 1, 1)]
    {
        fs::write(&path, &whole.as_bytes()[..length]).unwrap();
        let resumed = ResultsFile::resume(&path, named, 1).unwrap();
        let (again, asked) = candidate("x", Echo::default());
        let finished = run(&evaluation, &cases, &[again], resumed, SETTINGS, &|_| {}).await.unwrap();
        assert_eq!(asked.asked.load(Ordering::Relaxed), asked_again, "{length}");
        assert_eq!(names(&finished.results), "x/c0#0 x/c1#0 x/c2#0 x/c3#0 x/c4#0");
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 6);
    }
    assert!(ResultsFile::resume(&path, named, 2).unwrap_err().contains("of another evaluation"));
    fs::write(&path, format!("{}not a result\n", &whole[..ends[1]])).unwrap();
    assert!(ResultsFile::resume(&path, named, 1).unwrap_err().ends_with("results.jsonl:3: the line is not a result"));
}

#[tokio::test]
async fn cost_is_bounded() {
    let files = files(20);
    let check = async |cost_usd: Option<f64>, max: f64, asked: usize, message: &str| {
        let (candidate, echo) = candidate("x", Echo { cost_usd, ..Echo::default() });
        let settings = RunSettings { max_cost_usd: Some(max), ..SETTINGS };
        let told = match evaluate(&files, &[candidate], settings).await {
            Ok(_) => String::new(),
            Err(RunError::Cost(message)) => message,
            Err(other) => panic!("{other}"),
        };
        assert!(told.starts_with(message) && told.is_empty() == message.is_empty(), "{told}");
        assert_eq!(echo.asked.load(Ordering::Relaxed), asked);
    };
    // The first case says what all of them cost.
    check(
        Some(0.1),
        1.0,
        1,
        "the cost is bounded to $1.0000: $0.1000 was spent, and all cases would cost about $2.0000; 19 were",
    )
    .await;
    check(Some(0.1), 2.01, 20, "").await;
    check(None, 2.0, 1, "the cost is bounded, but the price of a model is unknown").await;
    check(Some(0.0), 0.0, 20, "").await;
}

#[tokio::test]
async fn two_configs_are_compared_by_a_judge() {
    let evaluation = "name: test\nagentId: helper\ndataset: cases.jsonl\ncompare: { agentId: judge, rubric: Short. }\n";
    let files = Files::new(evaluation, "{\"id\":\"a\",\"input\":\"x\"}\n{\"id\":\"b\",\"input\":\"fail\"}\n");
    let compared = async |judgement: fn(&str) -> Value| {
        let (one, _) = candidate("one", Echo { judgement, ..Echo::default() });
        let (two, _) = candidate("two", Echo { prefix: "longer ", ..Echo::default() });
        let finished = evaluate(&files, &[one, two], SETTINGS).await.unwrap();
        assert_eq!(finished.comparisons.len(), 1, "only where both have an answer");
        finished.comparisons[0].clone()
    };
    let shorter = compared(|prompt| {
        let judged: Value = serde_json::from_str(prompt.split_once("\n\n").unwrap().0).unwrap();
        let length = |key: &str| judged[key].as_str().unwrap().len();
        json!({ "better": if length("first") < length("second") { "first" } else { "second" }, "reason": "short" })
    })
    .await;
    assert_eq!((shorter.winner, shorter.reason.as_str(), shorter.judge_cost_usd), (Winner::First, "short", 0.02));
    let biased = compared(|_| json!({ "better": "first", "reason": "first" })).await;
    assert_eq!(
        (biased.winner, biased.reason.as_str()),
        (Winner::Neither, "the judge preferred one position, not one answer")
    );
}

/// The gate fails if something got worse that is no chance, or if a case that must pass has failed.
#[tokio::test]
async fn gate_compares_with_the_baseline() {
    let cases: String = (0..30)
        .map(|n| format!("{}\n", json!({ "id": format!("c{n}"), "input": format!("n{}", n % 10), "must": n == 0 })))
        .collect();
    let gate = async |pattern: &str, baseline: Option<&Baseline>| {
        let scorer = format!("scorers: [{{ id: digits, regex: {{ pattern: '{pattern}' }} }}]\n");
        let files = Files::new(&format!("name: test\nagentId: helper\ndataset: cases.jsonl\n{scorer}"), &cases);
        let (candidate, _) = candidate("x", Echo::default());
        let finished = evaluate(&files, &[candidate], SETTINGS).await.unwrap();
        let gate = Gate::check(&files.read().1, &finished.results, "x", baseline, 0).unwrap();
        (gate, Baseline::new("test", &finished.results, "x"))
    };
    let (first, baseline) = gate("n[0-7]", None).await;
    assert!(first.is_passed() && first.compared == 0);
    let (same, _) = gate("n[0-7]", Some(&baseline)).await;
    assert!(same.is_passed() && same.changes.is_empty() && same.compared == 30);
    // Three of thirty cases may be chance for a bootstrap only just not; half of them is not.
    let (worse, _) = gate("n[0-3]", Some(&baseline)).await;
    assert_eq!(
        (worse.is_passed(), worse.worse.join(" "), worse.changes.len()),
        (false, "passed digits".to_owned(), 12)
    );
    let (better, _) = gate("n", Some(&baseline)).await;
    assert!(better.is_passed() && better.changes.len() == 6);
    let (must, _) = gate("n[1-8]", Some(&baseline)).await;
    assert_eq!((must.is_passed(), must.failed_must.join(" ")), (false, "c0".to_owned()));
    // It survives its file.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baseline.json");
    assert!(Baseline::read(&path, "test").unwrap_err().contains("`--update-baseline`"));
    baseline.write(&path).unwrap();
    baseline.write(&path).unwrap();
    assert_eq!(Baseline::read(&path, "test").unwrap(), baseline);
    assert!(Baseline::read(&path, "other").unwrap_err().contains("is the baseline of `test`, not of `other`"));
}
