//! Running an evaluation: resuming, repeating, the bound of the cost, two configs.

use crate::support::{Echo, Files, SETTINGS, candidate, describe, evaluate};
use evaluation::{CaseResult, Results, RunError, RunSettings, Winner, run};
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
    let created = Results::create(Some(&path), named, "1").unwrap();
    let (first, _) = candidate("x", Echo::default());
    let resume = |fingerprint: &str| Results::resume(&path, named, fingerprint);
    assert!(resume("1").unwrap_err().ends_with("results.jsonl is used by another process"));
    run(&evaluation, &cases, &[first], created, SETTINGS, &|_| {}).await.unwrap();
    let whole = fs::read_to_string(&path).unwrap();
    assert_eq!(whole.lines().count(), 6, "{whole}");
    assert!(Results::create(Some(&path), named, "1").unwrap_err().contains("exists already"));
    // Two results, and a third one that was cut off.
    let ends: Vec<_> = whole.match_indices('\n').map(|(at, _)| at + 1).collect();
    for (length, asked_again) in
        [(ends[2], 3), (ends[2] + 25, 3), (0, 5), (10, 5), (whole.len(), 0), (whole.len() - 1, 1)]
    {
        fs::write(&path, &whole.as_bytes()[..length]).unwrap();
        let resumed = resume("1").unwrap();
        let (again, asked) = candidate("x", Echo::default());
        let finished = run(&evaluation, &cases, &[again], resumed, SETTINGS, &|_| {}).await.unwrap();
        assert_eq!(asked.asked.load(Ordering::Relaxed), asked_again, "{length}");
        assert_eq!(names(&finished.results), "x/c0#0 x/c1#0 x/c2#0 x/c3#0 x/c4#0");
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 6);
    }
    assert!(resume("2").unwrap_err().contains("of another evaluation"));
    fs::write(&path, format!("{}not a result\n", &whole[..ends[1]])).unwrap();
    assert!(resume("1").unwrap_err().ends_with("results.jsonl:3: the line is not a result"));
}

/// Failed cases and failed judges are evaluated again, and the cost of the first attempt counts.
#[tokio::test]
async fn errors_are_repeated_when_a_run_is_resumed() {
    let evaluation = "name: test\nagentId: helper\ndataset: cases.jsonl\nscorers: [{ id: j, judge: { agentId: judge, rubric: Short. } }]\n";
    let files = Files::new(evaluation, "{\"id\":\"a\",\"input\":\"x\"}\n{\"id\":\"b\",\"input\":\"fail\"}\n");
    let (evaluation, cases) = files.read();
    let path = files.path("results.jsonl");
    let config = ["x".to_owned()];
    let named = ("test", config.as_slice());
    let run_with = async |judgement: fn(&str) -> Value, file: Results, max: f64| {
        let (candidate, asked) = candidate("x", Echo { judgement, ..Echo::default() });
        let settings = RunSettings { max_cost_usd: Some(max), ..SETTINGS };
        let finished = run(&evaluation, &cases, &[candidate], file, settings, &|_| {}).await;
        (finished.map(|finished| finished.results), asked.asked.load(Ordering::Relaxed))
    };
    let created = Results::create(Some(&path), named, "1").unwrap();
    let (first, asked) = run_with(|_| Value::Null, created, 1.0).await;
    let first = first.unwrap();
    assert_eq!((describe(&first[0]).as_str(), asked), ("failed 0.00 the judge failed: the model failed", 2));
    assert!((first[0].judge_cost_usd, first[1].cost_usd) == (0.01, Some(0.1)), "both have their cost");
    let fine = |_: &str| json!({ "score": 5, "reason": "fine" });
    let (again, asked) = run_with(fine, Results::resume(&path, named, "1").unwrap(), 1.0).await;
    assert_eq!((names(again.as_ref().unwrap()).as_str(), asked), ("x/a#0 x/b#0", 2));
    assert_eq!(describe(&again.unwrap()[0]), "passed 1.00 5 of 5: fine");
    // The last result counts, and only the error is left. $0.42 were spent.
    let (refused, asked) = run_with(fine, Results::resume(&path, named, "1").unwrap(), 0.4).await;
    assert!(refused.unwrap_err().to_string().contains("$0.4200 was spent"));
    assert_eq!(asked, 0);
    let (last, asked) = run_with(fine, Results::resume(&path, named, "1").unwrap(), 1.0).await;
    assert_eq!((last.unwrap().len(), asked), (2, 1));
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
