//! The API for programs: datasets and experiments, as on the pages.

use crate::keep::keep_answer;
use crate::report::report;
use crate::service::{NewExperiment, Service};
use crate::store::{self, CaseRow, Dataset, Experiment, NewVerdict, Verdict};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::NoContent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use web::admin::{ADMINISTRATION, Admin};
use web::openapi::ApiRouter;
use web::{HttpError, SentJson, SentQuery, busy, valid_json, valid_query};

/// The most experiments of a list.
const MAX_LISTED: i64 = 1_000;

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<Service> {
    ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/datasets", datasets, "List datasets for evaluations")
        .post("/api/admin/datasets", add_dataset, "Create a dataset for evaluations")
        .get("/api/admin/datasets/{id}", dataset, "Get a dataset with its cases")
        .put("/api/admin/datasets/{id}", change_dataset, "Change the name and the scorers of a dataset")
        .delete("/api/admin/datasets/{id}", delete_dataset, "Delete a dataset with its experiments")
        .post("/api/admin/datasets/{id}/cases", put_cases, "Add cases to a dataset, or replace them")
        .delete("/api/admin/datasets/{id}/cases/{case}", remove_case, "Remove a case from a dataset")
        .post("/api/admin/datasets/{id}/answers", keep, "Keep an answer as a case")
        .post("/api/admin/datasets/{id}/experiments", start, "Run an experiment with a dataset")
        .get("/api/admin/experiments", experiments, "List experiments")
        .post("/api/admin/experiments", upload, "Keep the results of an evaluation as an experiment")
        .get("/api/admin/experiments/{id}", experiment, "Get an experiment with its report")
        .post("/api/admin/experiments/{id}/stop", stop, "Stop an experiment")
        .post("/api/admin/experiments/{id}/continue", go_on, "Continue an experiment that is not complete")
        .post("/api/admin/experiments/{id}/decision", decide, "Decide about an experiment")
        .put("/api/admin/experiments/{id}/verdict", give_verdict, "Say whether an answer of an experiment is good")
}

/// Datasets.
#[derive(Serialize, JsonSchema)]
struct DatasetList {
    /// The datasets, those that were changed last first.
    datasets: Vec<Dataset>,
}

async fn datasets(_: Admin, State(service): State<Service>) -> Result<Json<DatasetList>, HttpError> {
    Ok(Json(DatasetList { datasets: store::datasets(&service.context.store).await? }))
}

/// A new dataset.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewDatasetBody {
    /// The name.
    name: String,
    /// The agent whose answers it is about.
    agent_id: String,
}

/// The id of what was made.
#[derive(Serialize, JsonSchema)]
struct MadeId {
    /// The id.
    id: String,
}

async fn add_dataset(
    admin: Admin,
    State(service): State<Service>,
    sent: SentJson<NewDatasetBody>,
) -> Result<Json<MadeId>, HttpError> {
    let body = valid_json(sent)?;
    Ok(Json(MadeId { id: service.add_dataset(&admin, &body.name, &body.agent_id).await? }))
}

/// A dataset with its cases.
#[derive(Serialize, JsonSchema)]
struct DatasetDetail {
    /// The dataset.
    dataset: Dataset,
    /// The cases of its newest version.
    cases: Vec<CaseRow>,
}

async fn dataset(
    _: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
) -> Result<Json<DatasetDetail>, HttpError> {
    let dataset = service.dataset(&id).await?;
    Ok(Json(DatasetDetail { dataset, cases: store::current_cases(&service.context.store, &id).await? }))
}

/// The name and the scorers of a dataset.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChangedDataset {
    /// The name.
    name: String,
    /// A list of scorers, as YAML.
    scorers: String,
}

async fn change_dataset(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
    sent: SentJson<ChangedDataset>,
) -> Result<NoContent, HttpError> {
    let body = valid_json(sent)?;
    service.change_dataset(&admin, &id, (&body.name, body.scorers)).await?;
    Ok(NoContent)
}

async fn delete_dataset(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    service.delete_dataset(&admin, &id).await?;
    Ok(NoContent)
}

/// Cases for a dataset.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewCases {
    /// The cases, as in the lines of a dataset file.
    cases: Vec<Value>,
}

/// How many cases were stored.
#[derive(Serialize, JsonSchema)]
struct StoredCases {
    /// The number of cases.
    cases: usize,
}

async fn put_cases(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
    sent: SentJson<NewCases>,
) -> Result<Json<StoredCases>, HttpError> {
    let body = valid_json(sent)?;
    Ok(Json(StoredCases { cases: service.put_cases(&admin, &id, body.cases).await?.len() }))
}

async fn remove_case(
    admin: Admin,
    State(service): State<Service>,
    Path((id, case)): Path<(String, String)>,
) -> Result<NoContent, HttpError> {
    service.remove_case(&admin, &id, &case).await?;
    Ok(NoContent)
}

/// An answer that is kept.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct KeptAnswer {
    /// The conversation.
    conversation_id: String,
    /// The answer.
    message_id: String,
}

async fn keep(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
    sent: SentJson<KeptAnswer>,
) -> Result<Json<MadeId>, HttpError> {
    let body = valid_json(sent)?;
    let kept = keep_answer(&service, &admin, (&body.conversation_id, &body.message_id), Some(id)).await?;
    Ok(Json(MadeId { id: kept.id }))
}

/// An experiment that is to be run.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewExperimentBody {
    /// The name; the names of the agents without it.
    #[serde(default)]
    name: String,
    /// The agents, one or two. The second is compared with the first.
    agents: Vec<String>,
    /// Only the cases of this part of the dataset.
    #[serde(default)]
    split: Option<String>,
    /// How often each case is evaluated.
    #[serde(default = "one")]
    repeat: u32,
    /// The highest cost in US dollars. The prices of the models must be known then.
    #[serde(default)]
    max_cost_usd: Option<f64>,
}

fn one() -> u32 {
    1
}

async fn start(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
    sent: SentJson<NewExperimentBody>,
) -> Result<Json<MadeId>, HttpError> {
    let body = valid_json(sent)?;
    let NewExperimentBody { name, agents, split, repeat, max_cost_usd } = body;
    let new = NewExperiment { name, agents, split, repeat, max_cost_usd };
    Ok(Json(MadeId { id: service.start(&admin, &id, new).await? }))
}

/// Experiments.
#[derive(Serialize, JsonSchema)]
struct ExperimentList {
    /// The experiments, newest first.
    experiments: Vec<Experiment>,
}

async fn experiments(_: Admin, State(service): State<Service>) -> Result<Json<ExperimentList>, HttpError> {
    Ok(Json(ExperimentList { experiments: store::experiments(&service.context.store, MAX_LISTED).await? }))
}

/// The name of an upload, and the dataset that it belongs to.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UploadQuery {
    /// The name; that of the evaluation without it.
    name: Option<String>,
    /// The dataset with whose experiments it is compared.
    dataset_id: Option<String>,
}

/// The results of `chatwright eval --output`, as text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UploadBody {
    /// The lines of the file.
    results: String,
}

async fn upload(
    admin: Admin,
    State(service): State<Service>,
    query: SentQuery<UploadQuery>,
    sent: SentJson<UploadBody>,
) -> Result<Json<MadeId>, HttpError> {
    let body = valid_json(sent)?;
    let query = valid_query(query)?;
    let of = (query.name.as_deref(), query.dataset_id.as_deref());
    Ok(Json(MadeId { id: service.upload(&admin, of, &body.results).await? }))
}

/// An experiment with its report.
#[derive(Serialize, JsonSchema)]
struct ExperimentDetail {
    /// The experiment.
    experiment: Experiment,
    /// The report, as `chatwright eval --json` prints it.
    report: Value,
    /// The verdicts of people on the answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    verdicts: Vec<Verdict>,
}

async fn experiment(
    _: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
) -> Result<Json<ExperimentDetail>, HttpError> {
    let experiment = service.experiment(&id).await?;
    let kept = service.results(&id).await?;
    let verdicts = kept.verdicts.clone();
    let report = report(&experiment, kept).await.map_err(|_| busy())?;
    let report = serde_json::to_value(report).unwrap_or_default();
    Ok(Json(ExperimentDetail { experiment, report, verdicts }))
}

async fn stop(admin: Admin, State(service): State<Service>, Path(id): Path<String>) -> Result<NoContent, HttpError> {
    service.stop(&admin, &id).await?;
    Ok(NoContent)
}

/// The bound with which an experiment goes on.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ContinueBody {
    /// The highest cost in US dollars, with what was spent already.
    #[serde(default)]
    max_cost_usd: Option<f64>,
}

async fn go_on(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
    sent: SentJson<ContinueBody>,
) -> Result<NoContent, HttpError> {
    let body = valid_json(sent)?;
    service.go_on(&admin, &id, body.max_cost_usd).await?;
    Ok(NoContent)
}

/// A decision about an experiment.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DecisionBody {
    /// Whether what was tried is adopted.
    is_adopted: bool,
    /// Why.
    #[serde(default)]
    note: String,
    /// `decidedAt` of the decision that this one replaces. Without it, an experiment that is decided stays so (409).
    replaces: Option<i64>,
}

async fn decide(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
    sent: SentJson<DecisionBody>,
) -> Result<NoContent, HttpError> {
    let body = valid_json(sent)?;
    service.decide(&admin, &id, (body.is_adopted, body.note), body.replaces).await?;
    Ok(NoContent)
}

/// The administrator's verdict on an answer. It replaces their earlier one.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct VerdictBody {
    /// The config of the result.
    config: String,
    /// Its case.
    case: String,
    /// Its repetition, from 0.
    #[serde(default)]
    repeat: u32,
    /// Whether the answer is good. Without it, the verdict is withdrawn.
    liked: Option<bool>,
    /// The conversation of the answer that was read. If the result has another answer by now, nothing is stored (409).
    conversation_id: Option<String>,
}

async fn give_verdict(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
    sent: SentJson<VerdictBody>,
) -> Result<NoContent, HttpError> {
    let VerdictBody { config, case, repeat, liked, conversation_id } = valid_json(sent)?;
    service.give_verdict(&admin, &id, NewVerdict { config, case, repeat, liked, conversation_id }).await?;
    Ok(NoContent)
}
