//! Agents for tests.

use async_trait::async_trait;
use evaluation::{
    Candidate, Case, CaseResult, Evaluation, Finished, JudgeRequest, Judgement, Results, RunError, RunSettings,
    Subject, Transcript, run,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use wire::{Role, UiMessage};

/// An agent that repeats the question.
pub(crate) struct Echo {
    /// The beginning of its answers.
    pub(crate) prefix: &'static str,
    /// Maps the question to the rest of the answer; an empty text makes the agent fail.
    pub(crate) written: fn(&str) -> String,
    /// The cost of an answer.
    pub(crate) cost_usd: Option<f64>,
    /// How often it was asked.
    pub(crate) asked: AtomicUsize,
    /// Parts of its answers beside the text.
    pub(crate) parts: Value,
    /// Maps the prompt to the output of a judge, which fails with `null`.
    pub(crate) judgement: fn(&str) -> Value,
}

impl Default for Echo {
    fn default() -> Self {
        Self {
            prefix: "",
            written: str::to_owned,
            cost_usd: Some(0.1),
            asked: AtomicUsize::new(0),
            parts: json!([]),
            judgement: |_| json!({ "score": 5, "reason": "fine" }),
        }
    }
}

#[async_trait]
impl Subject for Echo {
    async fn answer(&self, _: &str, messages: &[String], _: Duration) -> Transcript {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let last = messages.last().unwrap();
        let written = (self.written)(last);
        if written.is_empty() || last == "fail" {
            let error = Some("the model failed".to_owned());
            return Transcript { error, cost_usd: self.cost_usd, ..Transcript::default() };
        }
        let mut parts = self.parts.as_array().unwrap().clone();
        parts.push(json!({ "type": "text", "text": format!("{}{written}", self.prefix) }));
        let answer = json!({ "id": "a", "role": Role::Assistant, "parts": parts });
        let answer: UiMessage = serde_json::from_value(answer).unwrap();
        Transcript { answers: vec![answer], cost_usd: self.cost_usd, seconds: 2.0, ..Transcript::default() }
    }

    async fn judge(&self, request: JudgeRequest) -> Judgement {
        let output = match (self.judgement)(&request.prompt) {
            Value::Null => Err("the model failed".to_owned()),
            output => Ok(output),
        };
        Judgement { output, cost_usd: 0.01 }
    }

    async fn call_endpoint(&self, id: &str, payload: Value) -> Result<Value, String> {
        match id {
            "length" => Ok(json!({ "score": 0.25, "reason": payload["answer"]["text"] })),
            "truth" => Ok(json!(payload["case"]["id"] == "1")),
            "half" => Ok(json!(0.5)),
            "wrong" => Ok(json!("many")),
            _ => Err("it is broken".to_owned()),
        }
    }
}

/// An evaluation in a folder.
pub(crate) struct Files {
    pub(crate) folder: TempDir,
}

impl Files {
    pub(crate) fn new(evaluation: &str, cases: &str) -> Self {
        let files = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::write(files.path("evaluation.yaml"), evaluation).unwrap();
        std::fs::write(files.path("cases.jsonl"), cases).unwrap();
        files
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self) -> (Evaluation, Vec<Case>) {
        Evaluation::read(&self.path("evaluation.yaml"))
            .unwrap_or_else(|problems| panic!("{}", config::render(&problems)))
    }

    /// Returns the problems, without the name of the folder and the excerpts.
    pub(crate) fn problems(&self) -> String {
        let problems = Evaluation::read(&self.path("evaluation.yaml")).unwrap_err();
        let lines = problems.iter().map(|problem| problem.to_string().lines().next().unwrap_or_default().to_owned());
        let folder = format!("{}/", self.folder.path().display());
        lines.map(|line| line.replace(&folder, "")).collect::<Vec<_>>().join("\n")
    }
}

pub(crate) fn candidate(name: &str, subject: Echo) -> (Candidate, Arc<Echo>) {
    let subject = Arc::new(subject);
    (Candidate { name: name.to_owned(), agent_id: None, subject: subject.clone() }, subject)
}

pub(crate) const SETTINGS: RunSettings = RunSettings { repeat: 1, parallel: 4, max_cost_usd: None };

/// Runs an evaluation without a results file.
pub(crate) async fn evaluate(
    files: &Files,
    candidates: &[Candidate],
    settings: RunSettings,
) -> Result<Finished, RunError> {
    let (evaluation, cases) = files.read();
    run(&evaluation, &cases, candidates, Results::default(), settings, &|_| {}).await
}

/// Evaluates one case with one scorer, and returns the score as a text.
pub(crate) async fn score(subject: Echo, scorer: &str, case: Value) -> String {
    let evaluation = format!("name: test\nagentId: helper\ndataset: cases.jsonl\nscorers: [{scorer}]\n");
    let files = Files::new(&evaluation, &case.to_string());
    let (candidate, _) = candidate("a", subject);
    let finished = evaluate(&files, &[candidate], SETTINGS).await.unwrap();
    describe(&finished.results[0])
}

/// Returns a result on one line.
pub(crate) fn describe(result: &CaseResult) -> String {
    let verdict = if result.passed { "passed" } else { "failed" };
    let scores = result.scores.iter().map(|score| format!(" {:.2} {}", score.score, score.reason));
    format!("{verdict}{}", scores.collect::<String>()).trim_end().to_owned()
}
