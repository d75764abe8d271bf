//! The gate: what is compared with a baseline, and what fails it.

use crate::support::{Echo, Files, SETTINGS, candidate, evaluate};
use evaluation::{Baseline, CaseResult, Checked, Gate, check_writable};
use serde_json::{Value, json};

/// Evaluates cases with a scorer.
async fn results(scorers: &str, cases: &[Value]) -> (Files, Vec<CaseResult>) {
    let lines: String = cases.iter().map(|case| format!("{case}\n")).collect();
    let files =
        Files::new(&format!("name: test\nagentId: helper\ndataset: cases.jsonl\nscorers: [{scorers}]\n"), &lines);
    let (candidate, _) = candidate("x", Echo::default());
    let finished = evaluate(&files, &[candidate], SETTINGS).await.unwrap();
    (files, finished.results)
}

/// What fails wholly, or is gone, cannot be compared; it fails the gate nevertheless.
#[tokio::test]
async fn errors_and_gone_cases_and_scorers_fail_the_gate() {
    let case = |n: usize, input: &str| json!({ "id": format!("c{n}"), "input": input });
    let cases: Vec<_> = (0..3).map(|n| case(n, "x")).collect();
    let scorer = "{ id: x, contains: { all: x } }";
    let (_, first) = results(scorer, &cases).await;
    let baseline = Baseline::new("test", &first, "x").unwrap();
    let check = async |scorers: &str, cases: Vec<Value>, selected: usize, expected: &str| {
        let (files, results) = results(scorers, &cases).await;
        let dataset = files.read().1;
        let results: Vec<_> = results.into_iter().take(selected).collect();
        let checked = Checked { dataset: &dataset, selected: &dataset[..selected], results: &results, config: "x" };
        let gate = Gate::check(checked, Some(&baseline), 0);
        let said = format!("{} {:?} {:?}", gate.is_passed(), gate.worse, gate.missing);
        assert_eq!(said, expected, "{scorers} {cases:?}");
    };
    check(scorer, cases.clone(), 3, "true [] []").await;
    check(scorer, cases.clone(), 1, "true [] []").await;
    let failing: Vec<_> = (0..3).map(|n| case(n, "fail")).collect();
    check(scorer, failing.clone(), 3, r#"false ["passed", "x"] []"#).await;
    // One case may be chance.
    check(scorer, failing.clone(), 1, "true [] []").await;
    check(scorer, cases[1..].to_vec(), 2, r#"false [] ["the case `c0`"]"#).await;
    let renamed = "{ id: y, contains: { all: x } }";
    check(renamed, cases.clone(), 3, r#"false [] ["the scorer `x` of `c0`, `c1`, `c2`"]"#).await;
    let (_, errors) = results(scorer, &failing).await;
    assert_eq!(
        Baseline::new("test", &errors, "x").unwrap_err(),
        "the baseline was not changed: there was no answer, or a scorer failed, for `c0`, `c1`, `c2`"
    );
    let (files, _) = results(scorer, &[case(7, "x")]).await;
    assert!(baseline.check_cases(&files.read().1).unwrap_err().starts_with("the baseline has none of these cases"));
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
        let cases = files.read().1;
        let checked = Checked { dataset: &cases, selected: &cases, results: &finished.results, config: "x" };
        (Gate::check(checked, baseline, 0), Baseline::new("test", &finished.results, "x").unwrap())
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
