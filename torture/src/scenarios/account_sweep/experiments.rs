//! The writes of datasets and experiments.

use super::{Browser, Progress, Write, send_write};
use anyhow::{Context, Result};
use reqwest::Method;
use serde_json::{Value, json};

const DATASETS: &str = "/api/admin/datasets";
const EXPERIMENTS: &str = "/api/admin/experiments";
const NAME: &str = "swept";

/// The writes in their order.
const WRITES: [Write; 7] = [
    Write::AddDataset,
    Write::AddCases,
    Write::ReplaceCase,
    Write::UploadResults,
    Write::GiveVerdict,
    Write::Decide,
    Write::DeleteDataset,
];

/// The stored state that the scenario compares.
#[derive(Debug, PartialEq, Eq)]
struct Stored {
    /// The version of the dataset, and the number of its cases.
    dataset: Option<(i64, i64)>,
    experiments: usize,
    /// The number of verdicts of people on the answers.
    verdicts: usize,
    is_decided: bool,
}

impl Stored {
    /// Returns the state after this number of writes.
    fn after(writes: usize) -> Self {
        let dataset = match writes {
            1 => Some((1, 0)),
            2 => Some((2, 2)),
            3..=6 => Some((3, 2)),
            _ => None,
        };
        Self {
            dataset,
            experiments: usize::from(matches!(writes, 4..=6)),
            verdicts: usize::from(matches!(writes, 5 | 6)),
            is_decided: writes == 6,
        }
    }

    async fn read(browser: &Browser, admin: &str) -> Result<Self> {
        let read = async |path: &str| -> Result<Value> {
            Ok(browser.request(Method::GET, path, admin).send().await?.error_for_status()?.json().await?)
        };
        let (datasets, experiments) = (read(DATASETS).await?, read(EXPERIMENTS).await?);
        let datasets = datasets["datasets"].as_array().context("there is no list of datasets")?;
        let dataset = datasets.iter().find(|dataset| dataset["name"] == NAME);
        let experiments = experiments["experiments"].as_array().context("there is no list of experiments")?;
        let verdicts = match experiments.first().and_then(|experiment| experiment["id"].as_str()) {
            Some(id) => read(&format!("{EXPERIMENTS}/{id}")).await?["verdicts"].as_array().map_or(0, Vec::len),
            None => 0,
        };
        Ok(Self {
            dataset: dataset.and_then(|dataset| dataset["version"].as_i64().zip(dataset["cases"].as_i64())),
            experiments: experiments.len(),
            verdicts,
            is_decided: experiments.iter().any(|experiment| experiment["decision"]["isAdopted"] == true),
        })
    }
}

/// Sends the writes.
pub(super) async fn send(browser: &Browser, progress: &mut Progress) -> Result<()> {
    let ada = progress.ada.clone();
    let post = |path: &str, body: Value| browser.request(Method::POST, path, &ada).json(&body);
    let add = post(DATASETS, json!({ "name": NAME, "agentId": "worker" }));
    let made: Value = send_write(progress, Write::AddDataset, 200, add).await?.json().await?;
    let path = format!("{DATASETS}/{}", made["id"].as_str().context("the dataset has no id")?);
    let cases = format!("{path}/cases");
    let case = |id: &str| json!({ "id": id, "input": "Hello" });
    send_write(progress, Write::AddCases, 200, post(&cases, json!({ "cases": [case("x"), case("y")] }))).await?;
    send_write(progress, Write::ReplaceCase, 200, post(&cases, json!({ "cases": [case("x")] }))).await?;
    let upload = format!("{EXPERIMENTS}?datasetId={}", made["id"].as_str().unwrap_or_default());
    let upload = post(&upload, json!({ "results": results() }));
    let made: Value = send_write(progress, Write::UploadResults, 200, upload).await?.json().await?;
    let experiment = made["id"].as_str().context("the experiment has no id")?;
    let verdict = json!({ "config": "one", "case": "x", "liked": true });
    let verdict = browser.request(Method::PUT, &format!("{EXPERIMENTS}/{experiment}/verdict"), &ada).json(&verdict);
    send_write(progress, Write::GiveVerdict, 204, verdict).await?;
    let decide = post(&format!("{EXPERIMENTS}/{experiment}/decision"), json!({ "isAdopted": true }));
    send_write(progress, Write::Decide, 204, decide).await?;
    send_write(progress, Write::DeleteDataset, 204, browser.request(Method::DELETE, &path, &ada)).await?;
    Ok(())
}

/// The file of an evaluation with one result.
fn results() -> String {
    let run = json!({ "kind": "run", "evaluation": NAME, "configs": ["one"], "fingerprint": "f" });
    let result = json!({
        "kind": "result", "config": "one", "case": "x", "repeat": 0, "passed": true, "scores": [], "answer": "Hello",
        "tools": [], "conversationId": "", "inputTokens": 1, "outputTokens": 1, "judgeCostUsd": 0.0, "seconds": 1.0,
    });
    format!("{run}\n{result}\n")
}

/// Returns the problems of the stored state. A write that was sent and not acknowledged may be stored or not.
pub(super) async fn check(browser: &Browser, progress: &Progress) -> Result<Option<String>> {
    let writes = WRITES.iter().filter(|write| progress.is_acknowledged(**write)).count();
    let is_next_sent = WRITES.get(writes).is_some_and(|write| progress.is_sent(*write));
    let stored = Stored::read(browser, &progress.ada).await?;
    let is_right = stored == Stored::after(writes) || is_next_sent && stored == Stored::after(writes + 1);
    Ok((!is_right).then(|| format!("I1 after {writes} writes of experiments there is {stored:?}")))
}
