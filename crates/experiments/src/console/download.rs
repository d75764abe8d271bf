//! Datasets as files, for `chatwright eval` and for other tools.

use super::DATASETS;
use crate::run::read_scorers;
use crate::service::Service;
use crate::store;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use evaluation::{Case, export_inspect_ai, export_promptfoo};
use leptos::prelude::*;
use serde_json::json;
use web::admin::{Admin, PageError, page};
use web::download;
use web::html::link;
use wire::UserError;

/// `GET /admin/datasets/{id}/export/{format}`: `jsonl`, `promptfoo` or `inspect`. The export is in the audit log.
pub(super) async fn export(
    admin: Admin,
    State(service): State<Service>,
    Path((id, format)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let dataset = service.dataset(&id).await?;
    let rows = store::current_cases(&service.context.store, &id).await?;
    let cases = || -> Vec<Case> { rows.iter().filter_map(|row| Case::from_value(row.content.clone()).ok()).collect() };
    let (text, kind, file) = match format.as_str() {
        "jsonl" => {
            let lines: String = rows.iter().map(|row| format!("{}\n", row.content)).collect();
            (lines, "application/jsonl", "cases.jsonl")
        }
        "promptfoo" => {
            let evaluation = match read_scorers(&dataset.name, &dataset.agent_id, &dataset.scorers) {
                Ok(evaluation) => evaluation,
                Err(problems) => return Ok(unusable(&admin, &id, problems)),
            };
            (export_promptfoo(&evaluation, &cases()).text, "application/yaml", "promptfooconfig.yaml")
        }
        "inspect" => (export_inspect_ai(&cases()).text, "application/jsonl", "samples.jsonl"),
        _ => return Err(UserError::not_found().into()),
    };
    let about = json!({ "datasetId": id, "format": format });
    admin.record(&service.context.store, "export_dataset", "", about).await?;
    Ok(download(kind, file, text))
}

/// Returns the page that says why the scorers of a dataset cannot be exported.
fn unusable(admin: &Admin, id: &str, problems: String) -> Response {
    let content = view! {
        <p class="cw-account-problem" role="alert">{problems}</p>
        <p>{link(format!("{DATASETS}/{id}"), "Open the dataset")}</p>
    };
    page(admin, DATASETS, StatusCode::UNPROCESSABLE_ENTITY, "The scorers cannot be used", content)
}
