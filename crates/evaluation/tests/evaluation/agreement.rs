//! Judges compared with people, about answers that people have rated and about answers in results.

use crate::support::{Echo, Files, SETTINGS, candidate, evaluate};
use evaluation::{Case, Finished, Gate, PersonVerdict, Report, RunSettings, markdown};
use serde_json::{Value, json};

const EVALUATION: &str = "
name: test
agentId: helper
dataset: cases.jsonl
scorers:
  - { id: clear, judge: { agentId: judge, rubric: It names the days. } }
  - { id: of case, judge: { agentId: judge, rubric: { _case: expected.rubric } } }
";

/// A case whose rated answer is this one.
fn rated(id: &str, answer: &str, liked: bool) -> Value {
    json!({
        "id": id,
        "input": "own answer, 30 days",
        "expected": { "says": "30 days", "reference": answer, "disliked": answer, "rubric": "A user disliked it." },
        "tags": ["disliked"],
        "rated": { "answer": answer, "liked": liked },
    })
}

/// Gives the best mark to answers with a number of days.
fn judgement(prompt: &str) -> Value {
    let judged: Value = serde_json::from_str(prompt.split_once("\n\n").unwrap().0).unwrap();
    let answer = judged["answer"].as_str().unwrap();
    if !answer.starts_with("own") {
        let seen =
            json!({ "id": judged["case"]["id"], "input": ["own answer, 30 days"], "expected": { "says": "30 days" } });
        assert_eq!(judged["case"], seen, "the judge does not see what the person has said");
    }
    let mark = if answer.contains("30 days") { 5 } else { 1 };
    json!({ "score": mark, "reason": "Days." })
}

/// Evaluates cases with two configs, each twice.
async fn evaluated(cases: &[Value]) -> (Finished, Vec<Case>) {
    let lines: String = cases.iter().map(|case| format!("{case}\n")).collect();
    let files = Files::new(EVALUATION, &lines);
    let (one, _) = candidate("one", Echo { judgement, ..Echo::default() });
    let (two, _) = candidate("two", Echo { judgement, ..Echo::default() });
    let finished = evaluate(&files, &[one, two], RunSettings { repeat: 2, ..SETTINGS }).await.unwrap();
    (finished, files.read().1)
}

fn report(finished: &Finished) -> Report {
    Report::new("test", &["one".to_owned(), "two".to_owned()], finished, Gate::default(), 0)
}

fn in_words(report: &Report) -> Vec<String> {
    report.agreements.iter().map(|judge| format!("{} {}", judge.scorer, judge.in_words())).collect()
}

#[tokio::test]
async fn judges_are_compared_with_people_about_the_rated_answers() {
    let cases = [
        rated("a", "Within 30 days.", true),
        rated("b", "Ask somebody else.", false),
        rated("c", "30 days, and go away.", false),
        rated("d", "A month.", true),
        rated("e", "30 days after you have paid.", true),
        json!({ "id": "f", "input": "own", "expected": { "rubric": "Kind." } }),
    ];
    let (finished, cases) = evaluated(&cases).await;
    let report = report(&finished);
    // Each answer is judged once, whatever is repeated. po = 3/5, pe = 0.6 * 0.6 + 0.4 * 0.4 = 0.52, 0.08 / 0.48.
    assert_eq!(in_words(&report), ["clear agrees with people in 3 of 5 (Cohen's κ 0.17)"]);
    let text = markdown(&report, &cases, 2);
    let section = text.split("## Judges compared with people\n\n").nth(1).unwrap();
    let expected = "\
- `clear` agrees with people in 3 of 5 (Cohen's κ 0.17)
  - `c`: a person disliked the rated answer, the judge passes it: 5 of 5: Days.
  - `d`: a person liked the rated answer, the judge does not pass it: 1 of 5: Days.
";
    assert!(section.starts_with(expected), "{text}");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!((&json["agreements"][0]["agreed"], &json["agreements"][0]["verdicts"]), (&json!(3), &json!(5)));
    // The judge is asked for two configs, twice: by two scorers of an answer, and once of each rated answer.
    let judged: f64 = finished.results.iter().map(|result| result.judge_cost_usd).sum();
    let expected = f64::from(6 * 4 * 2 + 5) / 100.0;
    assert!((judged - expected).abs() < 1e-9, "{judged}");
}

#[tokio::test]
async fn rated_answers_are_judged_if_the_agent_fails() {
    let cases = [rated("a", "Within 30 days.", true), rated("b", "Ask somebody else.", false)];
    let lines: String = cases.iter().map(|case| format!("{case}\n")).collect();
    let failing = Echo { judgement, written: |_| String::new(), ..Echo::default() };
    let (one, _) = candidate("one", failing);
    let finished = evaluate(&Files::new(EVALUATION, &lines), &[one], SETTINGS).await.unwrap();
    let report = Report::new("test", &["one".to_owned()], &finished, Gate::default(), 0);
    assert_eq!(in_words(&report), ["clear agrees with people in 2 of 2 (Cohen's κ 1.00)"]);
    assert_eq!(report.failures.len(), 2);
}

#[tokio::test]
async fn reports_say_nothing_of_judges_without_verdicts() {
    let (finished, cases) = evaluated(&[json!({ "id": "f", "input": "own", "expected": { "rubric": "Kind." } })]).await;
    let report = report(&finished);
    assert!(report.agreements.is_empty() && !markdown(&report, &cases, 2).contains("people"));
    assert_eq!(serde_json::to_value(&report).unwrap().get("agreements"), None);
}

#[tokio::test]
async fn judges_are_compared_with_people_about_the_answers_in_results() {
    let case = |id: &str, input: &str| json!({ "id": id, "input": input, "expected": { "rubric": "Kind." } });
    let (finished, _) = evaluated(&[case("a", "own 30 days"), case("b", "own")]).await;
    let verdict = |config: &str, case: &str, repeat: u32, liked: bool| PersonVerdict {
        config: config.to_owned(),
        case: case.to_owned(),
        repeat,
        liked,
    };
    let check = |verdicts: &[PersonVerdict], expected: [&str; 2]| {
        let report = report(&finished).with_verdicts(&finished.results, verdicts);
        assert_eq!(in_words(&report), expected);
        report
    };
    // Two people have read the first answer, and one the other answers; a verdict of an unknown result does not count.
    let verdicts = [
        verdict("one", "a", 0, true),
        verdict("one", "a", 0, false),
        verdict("one", "b", 1, false),
        verdict("two", "a", 0, true),
        verdict("two", "gone", 0, true),
    ];
    // po = 3/4, pe = 0.5 * 0.75 + 0.5 * 0.25 = 0.5, 0.25 / 0.5
    let all = "agrees with people in 3 of 4 (Cohen's κ 0.50)";
    let report = check(&verdicts, [&format!("clear {all}"), &format!("of case {all}")]);
    let other = &report.agreements[0].disagreements[0];
    assert_eq!(other.in_words(), "a person disliked the answer of one, the judge passes it: 5 of 5: Days.");
    let undefined =
        "agrees with people in 1 of 2 (Cohen's κ is undefined: people have given the same verdict each time)";
    let liked = [verdict("one", "a", 0, true), verdict("one", "b", 0, true)];
    check(&liked, [&format!("clear {undefined}"), &format!("of case {undefined}")]);
}
