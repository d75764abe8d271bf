//! The list of datasets, and keeping an answer as a case.

use super::DATASETS;
use crate::keep::keep_answer;
use crate::service::Service;
use crate::store::{self, Dataset};
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde::Deserialize;
use web::admin::filters::options_field;
use web::admin::{Admin, PageError, UserNames, page};
use web::html::Heading::{Number, Text};
use web::html::{error_message, link, table, text};
use web::see_other;
use web::times::minute;
use wire::{ErrorCode, UserError};

const TITLE: &str = "Datasets";

/// `GET /admin/datasets`
pub(super) async fn show(admin: Admin, State(service): State<Service>) -> Result<Response, PageError> {
    list(&admin, &service, StatusCode::OK, None).await
}

async fn list(
    admin: &Admin,
    service: &Service,
    status: StatusCode,
    problem: Option<String>,
) -> Result<Response, PageError> {
    let datasets = store::datasets(&service.context.store).await?;
    let names = datasets.iter().map(|dataset| dataset.created_by.as_str());
    let names = UserNames::load(&service.context.store, names).await?;
    let agents = service.context.current.usable_agents(&admin.caller);
    let none = "There is no dataset yet. Keep a rated answer as a case, or create a dataset here.";
    let columns = [
        Text("Dataset"),
        Text("Agent"),
        Number("Cases"),
        Number("Version"),
        Number("Experiments"),
        Text("Created by"),
        Text("Changed (UTC)"),
    ];
    let row = |dataset: &Dataset| {
        [
            link(format!("{DATASETS}/{}", dataset.id), dataset.name.clone()),
            text(dataset.agent_id.clone()),
            dataset.cases.into_any(),
            dataset.version.into_any(),
            dataset.experiments.into_any(),
            names.view(&dataset.created_by),
            text(minute(dataset.updated_at)),
        ]
    };
    let content = view! {
        <p class="cw-account-note">
            "Cases with which agents are checked before they change. Most come from answers that users have rated: open "
            {link("/admin/feedback", "Feedback")}" and keep one as a case. "{link("/docs/evaluation", "How it works")}"."
        </p>
        {table(columns, datasets.iter().map(row), none)}
        <section class="cw-account-part" aria-labelledby="new">
            <h2 id="new">"New dataset"</h2>
            {error_message(problem)}
            <form class="cw-admin-filter" method="post" action=DATASETS>
                <label class="cw-admin-field"><span>"Name"</span><input name="name" required maxlength="120" autocomplete="off" /></label>
                {agent_field("agent", "Agent", &agents, None, None)}
                <button class="cw-button cw-primary">"Create dataset"</button>
            </form>
        </section>
    };
    Ok(page(admin, DATASETS, status, TITLE, content))
}

/// Renders the choice of an agent. `none` is the label of no agent.
pub(super) fn agent_field(
    name: &'static str,
    label: &'static str,
    agents: &[String],
    chosen: Option<&str>,
    none: Option<&'static str>,
) -> AnyView {
    let option = |agent: &String| {
        view! { <option value=agent.clone() selected={chosen == Some(agent.as_str())}>{agent.clone()}</option> }
    };
    let options = view! {
        {none.map(|none| view! { <option value="">{none}</option> })}
        {agents.iter().map(option).collect_view()}
    };
    options_field(name, label, options)
}

#[derive(Deserialize)]
pub(super) struct NewDataset {
    name: String,
    agent: String,
}

/// `POST /admin/datasets`
pub(super) async fn add(
    admin: Admin,
    State(service): State<Service>,
    Form(form): Form<NewDataset>,
) -> Result<Response, PageError> {
    match service.add_dataset(&admin, &form.name, &form.agent).await {
        Ok(id) => Ok(see_other(&format!("{DATASETS}/{id}"), None)),
        Err(error) if error.code == ErrorCode::Invalid => {
            list(&admin, &service, StatusCode::UNPROCESSABLE_ENTITY, Some(error.message)).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /admin/datasets/keep/{conversation}/{message}`: makes a case of an answer, and shows it.
pub(super) async fn keep(
    admin: Admin,
    State(service): State<Service>,
    Path((conversation, message)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let kept = keep_answer(&service, &admin, (&conversation, &message), None).await?;
    let state = if kept.was_known { "known" } else { "kept" };
    Ok(see_other(&format!("{DATASETS}/{}/cases/{}?{state}=1", kept.dataset_id, kept.id), None))
}

/// `GET /admin/datasets/{id}/delete`
pub(super) async fn confirm(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let dataset = service.dataset(&id).await?;
    let question = format!(
        "Delete the dataset “{}” with {} cases and {} experiments? This cannot be undone.",
        dataset.name, dataset.cases, dataset.experiments
    );
    let content = view! {
        <section class="cw-account-part" aria-label="Delete">
            <p>{question}</p>
            <form class="cw-admin-acts" method="post" action=format!("{DATASETS}/{id}/delete")>
                <button class="cw-button cw-danger">"Delete dataset"</button>
                <a class="cw-button" href=format!("{DATASETS}/{id}")>"Cancel"</a>
            </form>
        </section>
    };
    Ok(page(&admin, DATASETS, StatusCode::OK, "Delete dataset", content))
}

/// `POST /admin/datasets/{id}/delete`
pub(super) async fn delete(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    match service.delete_dataset(&admin, &id).await {
        Err(error) if error.code != ErrorCode::NotFound => Err(error.into()),
        Ok(()) | Err(UserError { .. }) => Ok(see_other(DATASETS, None)),
    }
}
