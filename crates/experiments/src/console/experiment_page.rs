//! The page of an experiment: its measures, what got worse, and the decision.

use super::case_names::CaseNames;
use super::experiment_parts::{changes_part, decision_part, failures_part, measures_part, run_part};
use super::experiments::people_of;
use super::verdicts::agreement_part;
use super::{DATASETS, EXPERIMENTS, amount};
use crate::report::{report, report_against};
use crate::service::Service;
use crate::store::{self, Experiment};
use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde::Deserialize;
use web::admin::filters::options_field;
use web::admin::{Admin, PageError, UserNames, live_page};
use web::html::{facts, link, text};
use web::times::minute;
use web::{busy, see_other};
use wire::UserError;

/// The most experiments among which one to compare with is chosen.
const MAX_OTHERS: i64 = 50;

/// The query of the page: another experiment to compare with.
#[derive(Default, Deserialize)]
pub(super) struct ExperimentQuery {
    #[serde(default)]
    pub(super) with: String,
}

/// `GET /admin/experiments/{id}`
pub(super) async fn show(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
    Query(query): Query<ExperimentQuery>,
) -> Result<Response, PageError> {
    let experiment = service.experiment(&id).await?;
    let kept = service.results(&id).await?;
    let others = others(&service, &experiment).await?;
    let earlier = others.iter().find(|other| other.id == query.with);
    let compared = match earlier {
        Some(earlier) => {
            let before = service.results(&earlier.id).await?;
            Some(report_against((earlier, &before), (&experiment, &kept)).await.map_err(|_| busy())?)
        }
        None => None,
    };
    let people = people_of(std::slice::from_ref(&experiment));
    let names = UserNames::load(&service.context.store, people.into_iter()).await?;
    let is_live = !experiment.state.is_over();
    let own = report(&experiment, kept).await.map_err(|_| busy())?;
    let shown = compared.as_ref().unwrap_or(&own);
    let with = earlier.map(|earlier| earlier.id.clone());
    let has_results = shown.configs.iter().any(|config| config.cases > 0);
    let about = about_part(&service, &experiment, &names).await?;
    let changed = shown.comparison.iter().flat_map(|pair| &pair.changes).map(|change| change.case.as_str());
    let failed = own.failures.iter().map(|result| result.case.as_str());
    let disagreed = own.agreements.iter().flat_map(|judge| &judge.disagreements).map(|other| other.case.as_str());
    let named = changed.chain(failed).chain(disagreed);
    let cases = CaseNames::load(&service.context.store, &experiment, named).await?;
    let results = has_results.then(|| {
        view! {
            {measures_part(shown, with_form(&experiment, &others, with.as_deref()))}
            {changes_part(&experiment, shown.comparison.as_ref(), (with.as_deref(), &cases))}
            {failures_part(&experiment, &own.failures, &cases)}
            {agreement_part(&experiment, &own.agreements, &cases)}
        }
    });
    let content = view! {
        {about}
        <div class="cw-admin-live" data-live="run">{run_part(&experiment)}</div>
        <div class="cw-admin-live" data-live="results">{results}</div>
        <div class="cw-admin-live" data-live="decision">{decision_part(&experiment, &names)}</div>
    };
    Ok(live_page(&admin, EXPERIMENTS, StatusCode::OK, &experiment.name, is_live, content))
}

/// Returns the experiments with which this one can be compared: those of its dataset, or all uploaded ones.
async fn others(service: &Service, experiment: &Experiment) -> Result<Vec<Experiment>, PageError> {
    let store = &service.context.store;
    let all = match &experiment.dataset_id {
        Some(dataset) => store::of_dataset(store, dataset, MAX_OTHERS).await?,
        None => store::experiments(store, MAX_OTHERS).await?,
    };
    Ok(all.into_iter().filter(|other| other.id != experiment.id && other.done > 0).collect())
}

async fn about_part(
    service: &Service,
    experiment: &Experiment,
    names: &UserNames,
) -> Result<impl IntoView + use<>, PageError> {
    let dataset = match &experiment.dataset_id {
        Some(id) => {
            let dataset = service.dataset(id).await?;
            let version = experiment.dataset_version.map(|version| format!(", version {version}")).unwrap_or_default();
            link(format!("{DATASETS}/{id}"), format!("{}{version}", dataset.name))
        }
        None => text("results of chatwright eval"),
    };
    let split = experiment.settings.split.clone().unwrap_or_else(|| "all".to_owned());
    let about = [
        ("Dataset", dataset),
        ("Split", text(split)),
        ("Repetitions", experiment.settings.repeat.into_any()),
        ("Started by", names.view(&experiment.created_by)),
        ("Time (UTC)", text(minute(experiment.created_at))),
        (
            "Config",
            view! { <span class="cw-admin-id">{experiment.fingerprint.chars().take(16).collect::<String>()}</span> }
                .into_any(),
        ),
    ];
    Ok(view! { <section class="cw-account-part" aria-label="About">{facts(about)}</section> })
}

/// Renders the choice of an experiment to compare with.
fn with_form(experiment: &Experiment, others: &[Experiment], with: Option<&str>) -> Option<AnyView> {
    if others.is_empty() {
        return None;
    }
    let option = |other: &Experiment| {
        let label = format!("{}, {}", other.name, minute(other.created_at));
        view! { <option value=other.id.clone() selected={with == Some(other.id.as_str())}>{label}</option> }
    };
    let options = view! {
        <option value="">"No other experiment"</option>
        {others.iter().map(option).collect_view()}
    };
    let form = view! {
        <form class="cw-admin-filter cw-replay-form" method="get" action=format!("{EXPERIMENTS}/{}", experiment.id)>
            {options_field("with", "Compare with", options)}
            <button class="cw-button">"Show"</button>
        </form>
    };
    Some(form.into_any())
}

/// `POST /admin/experiments/{id}/stop`
pub(super) async fn stop(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    service.stop(&admin, &id).await?;
    Ok(see_other(&format!("{EXPERIMENTS}/{id}"), None))
}

#[derive(Deserialize)]
pub(super) struct ContinueForm {
    cost: String,
}

/// `POST /admin/experiments/{id}/continue`
pub(super) async fn go_on(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
    Form(form): Form<ContinueForm>,
) -> Result<Response, PageError> {
    service.go_on(&admin, &id, amount(&form.cost)).await?;
    Ok(see_other(&format!("{EXPERIMENTS}/{id}"), None))
}

#[derive(Deserialize)]
pub(super) struct DecisionForm {
    decision: String,
    #[serde(default)]
    note: String,
    /// The time of the decision that the page has shown.
    replaces: Option<i64>,
}

/// `POST /admin/experiments/{id}/decision`
pub(super) async fn decide(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
    Form(form): Form<DecisionForm>,
) -> Result<Response, PageError> {
    let is_adopted = match form.decision.as_str() {
        "adopt" => true,
        "reject" => false,
        _ => return Err(UserError::invalid("/decision", "A decision is to adopt or to reject.").into()),
    };
    service.decide(&admin, &id, (is_adopted, form.note), form.replaces).await?;
    Ok(see_other(&format!("{EXPERIMENTS}/{id}"), None))
}
