//! The list of experiments, and the upload of results.

use super::{DATASETS, EXPERIMENTS};
use crate::service::Service;
use crate::store::{self, Experiment, State as ExperimentState};
use axum::extract::{Form, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde::Deserialize;
use web::admin::{Admin, PageError, UserNames, page};
use web::html::Heading::{Number, Text};
use web::html::{dollars, error_message, link, table, text, text_area_content};
use web::see_other;
use web::times::minute;
use wire::ErrorCode;

const TITLE: &str = "Experiments";
/// The most experiments on the page.
const MAX_SHOWN: i64 = 200;

/// `GET /admin/experiments`
pub(super) async fn show(admin: Admin, State(service): State<Service>) -> Result<Response, PageError> {
    list(&admin, &service, StatusCode::OK, None).await
}

async fn list(
    admin: &Admin,
    service: &Service,
    status: StatusCode,
    refused: Option<(String, String)>,
) -> Result<Response, PageError> {
    let experiments = store::experiments(&service.context.store, MAX_SHOWN).await?;
    let names = UserNames::load(&service.context.store, people_of(&experiments).into_iter()).await?;
    let (problem, results) = refused.unzip();
    let results = text_area_content(&results.unwrap_or_default());
    let content = view! {
        <p class="cw-account-note">
            "Runs of agents over test cases, with the decisions about them. Start one on the page of a "{link(DATASETS, "dataset")}
            ", or keep the results of "<code>"chatwright eval"</code>" here. "{link("/docs/evaluation", "How it works")}"."
        </p>
        {experiments_table(&experiments, &names, "There are no experiments yet.")}
        <section class="cw-account-part" aria-labelledby="upload">
            <h2 id="upload">"Results of chatwright eval"</h2>
            {error_message(problem)}
            <form class="cw-eval-form" method="post" action=format!("{EXPERIMENTS}/uploads")>
                <label class="cw-eval-field"><span>"Name"</span><input name="name" maxlength="120" autocomplete="off" /></label>
                <label class="cw-eval-field">
                    <span>"The file of "<code>"--output"</code></span>
                    <textarea class="cw-eval-code" name="results" rows="4" spellcheck="false" required inner_html=results></textarea>
                </label>
                <div class="cw-admin-acts"><button class="cw-button">"Keep results"</button></div>
            </form>
        </section>
    };
    Ok(page(admin, EXPERIMENTS, status, TITLE, content))
}

/// Returns the ids of the users who started experiments and decided about them.
pub(super) fn people_of(experiments: &[Experiment]) -> Vec<&str> {
    let people = experiments.iter().map(|experiment| experiment.created_by.as_str());
    people.chain(experiments.iter().filter_map(|run| Some(run.decision.as_ref()?.decided_by.as_str()))).collect()
}

/// Renders experiments, newest first.
pub(super) fn experiments_table(experiments: &[Experiment], names: &UserNames, none: &'static str) -> AnyView {
    let columns = [
        Text("Experiment"),
        Text("Compared"),
        Text("State"),
        Number("Passed"),
        Number("Cost"),
        Text("By"),
        Text("Time (UTC)"),
        Text("Decision"),
    ];
    let row = |experiment: &Experiment| {
        [
            link(format!("{EXPERIMENTS}/{}", experiment.id), experiment.name.clone()),
            text(experiment.configs.join(" → ")),
            state_view(experiment),
            text(passed(experiment)),
            text(dollars(experiment.spent_usd)),
            names.view(&experiment.created_by),
            text(minute(experiment.created_at)),
            decision_view(experiment, names),
        ]
    };
    table(columns, experiments.iter().map(row), none)
}

/// Returns the parts of the cases that pass.
fn passed(experiment: &Experiment) -> String {
    let part = |config: &store::ConfigSummary| config.measures.first().map(|measure| percent(measure.mean));
    experiment.summary.iter().filter_map(part).collect::<Vec<_>>().join(" → ")
}

/// Formats a part as percent.
pub(super) fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// Returns the name of a measure for people.
pub(super) fn measure_label(name: &str) -> String {
    if name == "passed" { "Cases that pass".to_owned() } else { name.to_owned() }
}

/// Renders the state, with how far a running one is.
pub(super) fn state_view(experiment: &Experiment) -> AnyView {
    match experiment.state {
        ExperimentState::Waiting => text("waiting"),
        ExperimentState::Running => text(format!("{} of {}", experiment.done, experiment.total)),
        ExperimentState::Done => text("done"),
        ExperimentState::Stopped => view! { <strong>"stopped"</strong> }.into_any(),
        ExperimentState::Failed => view! { <strong>"failed"</strong> }.into_any(),
    }
}

/// Renders what was decided, by whom.
fn decision_view(experiment: &Experiment, names: &UserNames) -> AnyView {
    let Some(decision) = &experiment.decision else { return text("") };
    let what = if decision.is_adopted { "adopted" } else { "rejected" };
    let by = names.get(&decision.decided_by).map(|name| format!(" by {name}")).unwrap_or_default();
    text(format!("{what}{by}"))
}

#[derive(Deserialize)]
pub(super) struct UploadForm {
    #[serde(default)]
    name: String,
    results: String,
}

/// `POST /admin/experiments/uploads`
pub(super) async fn upload(
    admin: Admin,
    State(service): State<Service>,
    Form(form): Form<UploadForm>,
) -> Result<Response, PageError> {
    let name = Some(form.name.as_str()).filter(|name| !name.trim().is_empty());
    match service.upload(&admin, (name, None), &form.results).await {
        Ok(id) => Ok(see_other(&format!("{EXPERIMENTS}/{id}"), None)),
        Err(error) if error.code == ErrorCode::Invalid => {
            list(&admin, &service, StatusCode::UNPROCESSABLE_ENTITY, Some((error.message, form.results))).await
        }
        Err(error) => Err(error.into()),
    }
}
