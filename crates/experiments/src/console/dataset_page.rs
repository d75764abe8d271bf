//! The page of a dataset: its cases, its scorers, and its experiments.

use super::datasets::agent_field;
use super::experiments::{experiments_table, people_of};
use super::{DATASETS, EXPERIMENTS, amount, plot};
use crate::service::{NewExperiment, Service};
use crate::store::{self, CaseRow, Dataset, Experiment};
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use web::admin::filters::options_field;
use web::admin::{Admin, PageError, UserNames, page};
use web::html::Heading::Text;
use web::html::{error_message, facts, link, table, text, text_area_content};
use web::see_other;
use web::times::minute;
use wire::{ErrorCode, UserError};

/// The most cases on the page.
const MAX_SHOWN: usize = 500;
/// The most experiments on the page, and in the plot.
const MAX_EXPERIMENTS: i64 = 30;
/// The longest text of a case in the table, in characters.
const MAX_TEXT: usize = 120;
/// The bound of the cost that the form suggests, in US dollars.
const SUGGESTED_COST: &str = "1";

/// `GET /admin/datasets/{id}`
pub(super) async fn show(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    dataset_page(&admin, &service, &id, StatusCode::OK, Refused::default()).await
}

/// A form that was refused.
#[derive(Default)]
struct Refused {
    problem: Option<String>,
    /// The scorers as they were sent.
    scorers: Option<String>,
    /// The cases as they were sent.
    cases: Option<String>,
}

async fn dataset_page(
    admin: &Admin,
    service: &Service,
    id: &str,
    status: StatusCode,
    refused: Refused,
) -> Result<Response, PageError> {
    let dataset = service.dataset(id).await?;
    let store = &service.context.store;
    let cases = store::current_cases(store, id).await?;
    let experiments = store::of_dataset(store, id, MAX_EXPERIMENTS).await?;
    let people = cases.iter().flat_map(|case| [case.created_by.as_str(), case.owner.as_str()]);
    let names = UserNames::load(store, people.chain(people_of(&experiments))).await?;
    let agents = service.context.current.usable_agents(&admin.caller);
    let path = format!("{DATASETS}/{id}");
    let about = [
        ("Agent", text(dataset.agent_id.clone())),
        ("Cases", dataset.cases.into_any()),
        ("Version", dataset.version.into_any()),
        ("Changed (UTC)", text(minute(dataset.updated_at))),
    ];
    let has_cases = !cases.is_empty();
    let content = view! {
        {error_message(refused.problem)}
        <section class="cw-account-part" aria-label="About">
            {facts(about)}
            <div class="cw-admin-acts">
                <a class="cw-button" href=format!("{path}/export/jsonl")>"Download cases"</a>
                <a class="cw-button" href=format!("{path}/export/promptfoo")>"Download for promptfoo"</a>
                <a class="cw-button" href=format!("{path}/export/inspect")>"Download for Inspect AI"</a>
                <a class="cw-button" href=format!("{path}/delete")>"Delete…"</a>
            </div>
        </section>
        <section class="cw-account-part" aria-labelledby="experiments">
            <h2 id="experiments">"Experiments"</h2>
            {has_cases.then(|| start_form(&path, &dataset, &agents, &cases, &experiments))}
            {plot::trends(&experiments)}
            {experiments_table(&experiments, &names, "There are no experiments with these cases yet.")}
        </section>
        <section class="cw-account-part" aria-labelledby="cases">
            <h2 id="cases">"Cases"</h2>
            <div class="cw-admin-acts"><a class="cw-button" href=format!("{path}/cases")>"New case"</a></div>
            {cases_table(&path, &cases, &names)}
        </section>
        {scorers_part(&path, &dataset, refused.scorers)}
        {import_part(&path, refused.cases)}
    };
    Ok(page(admin, DATASETS, status, &dataset.name, content))
}

fn start_form(
    path: &str,
    dataset: &Dataset,
    agents: &[String],
    cases: &[CaseRow],
    experiments: &[Experiment],
) -> impl IntoView + use<> {
    let splits: BTreeSet<_> = cases.iter().filter_map(|case| case.content["split"].as_str()).collect();
    let options = splits.iter().map(|split| view! { <option value=split.to_string()>{split.to_string()}</option> });
    let options = view! {
        <option value="">"All"</option>
        {options.collect_view()}
    };
    let has_splits = !splits.is_empty();
    view! {
        <form class="cw-admin-filter" method="post" action=format!("{path}/experiments")>
            {agent_field("agent", "Agent", agents, Some(&dataset.agent_id), None)}
            {agent_field("other", "Compare with", agents, None, Some("Nothing"))}
            {has_splits.then(|| options_field("split", "Split", options))}
            <label class="cw-admin-field"><span>"Repetitions"</span><input type="number" name="repeat" value="1" min="1" max="20" /></label>
            <label class="cw-admin-field"><span>"At most (US$)"</span><input type="number" name="cost" value=SUGGESTED_COST min="0" max="10000" step="any" /></label>
            <label class="cw-admin-field"><span>"Name"</span><input name="name" maxlength="120" autocomplete="off" /></label>
            <button class="cw-button cw-primary">"Run experiment"</button>
        </form>
        <p class="cw-account-note">
            {estimate(dataset, experiments)}
            " The agents of this server answer in temporary conversations of yours. Tools run for real, except those that wait for an approval."
        </p>
    }
}

/// Returns the estimated cost of an experiment, if there is an earlier one.
fn estimate(dataset: &Dataset, experiments: &[Experiment]) -> String {
    let known = experiments.iter().find(|experiment| experiment.done > 0);
    let Some(known) = known else {
        return "The cost is known after the first case. The experiment ends before it exceeds the limit.".to_owned();
    };
    let one = known.spent_usd / known.done as f64;
    format!(
        "Each answer has cost ${one:.4} in “{}”, so all {} cases will cost about ${:.4} for each agent and repetition.",
        known.name,
        dataset.cases,
        one * dataset.cases as f64
    )
}

fn cases_table(path: &str, cases: &[CaseRow], names: &UserNames) -> AnyView {
    let row = |case: &CaseRow| {
        let input = match &case.content["input"] {
            Value::Array(messages) => messages.last().and_then(Value::as_str).unwrap_or_default(),
            input => input.as_str().unwrap_or_default(),
        };
        let from = match (&case.conversation_id, case.is_masked) {
            (None, _) => text("created here"),
            (Some(id), is_masked) => {
                let what = if is_masked { "conversation, masked" } else { "conversation" };
                let message = case.message_id.clone().unwrap_or_default();
                link(format!("/admin/conversations/{id}#m-{message}"), what)
            }
        };
        let tags = case.content["tags"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let must = (case.content["must"] == Value::Bool(true)).then_some("must pass");
        let split = case.content["split"].as_str().map(|split| format!("split {split}"));
        let marks: Vec<_> = tags.map(str::to_owned).chain(split).chain(must.map(str::to_owned)).collect();
        [
            link(format!("{path}/cases/{}", case.id), shortened(input)),
            text(marks.join(", ")),
            from,
            names.view(&case.created_by),
            text(minute(case.created_at)),
        ]
    };
    let columns = [Text("The user writes"), Text("Marks"), Text("Source"), Text("By"), Text("Time (UTC)")];
    let more = cases.len().saturating_sub(MAX_SHOWN);
    view! {
        {table(columns, cases.iter().take(MAX_SHOWN).map(row), "There is no case yet.")}
        {(more > 0).then(|| view! { <p class="cw-account-note">{format!("{more} more are in the download.")}</p> })}
    }
    .into_any()
}

/// Shortens a text for a table.
pub(super) fn shortened(text: &str) -> String {
    wire::text::shortened(text, MAX_TEXT)
}

fn scorers_part(path: &str, dataset: &Dataset, sent: Option<String>) -> impl IntoView + use<> {
    let scorers = text_area_content(&sent.unwrap_or_else(|| dataset.scorers.clone()));
    let name = dataset.name.clone();
    view! {
        <section class="cw-account-part" aria-labelledby="scorers">
            <h2 id="scorers">"How answers are scored"</h2>
            <p class="cw-account-note">
                "A list of scorers in YAML; a case passes if all that apply to it pass. "
                {link("/docs/evaluation#scorers", "All scorers")}"."
            </p>
            <form class="cw-eval-form" method="post" action=path.to_owned()>
                <label class="cw-eval-field"><span>"Name of the dataset"</span><input name="name" value=name required maxlength="120" /></label>
                <label class="cw-eval-field">
                    <span>"Scorers"</span>
                    <textarea class="cw-eval-code" name="scorers" rows="12" spellcheck="false" inner_html=scorers></textarea>
                </label>
                <div class="cw-admin-acts"><button class="cw-button">"Save"</button></div>
            </form>
        </section>
    }
}

fn import_part(path: &str, sent: Option<String>) -> impl IntoView + use<> {
    let cases = text_area_content(&sent.unwrap_or_default());
    view! {
        <section class="cw-account-part" aria-labelledby="import">
            <h2 id="import">"Add cases from a file"</h2>
            <form class="cw-eval-form" method="post" action=format!("{path}/import")>
                <label class="cw-eval-field">
                    <span>"JSON Lines, a case in each line; one with a known id replaces it"</span>
                    <textarea class="cw-eval-code" name="cases" rows="5" spellcheck="false" required inner_html=cases></textarea>
                </label>
                <div class="cw-admin-acts"><button class="cw-button">"Add"</button></div>
            </form>
        </section>
    }
}

#[derive(Deserialize)]
pub(super) struct ScorersForm {
    name: String,
    scorers: String,
}

/// `POST /admin/datasets/{id}`
pub(super) async fn change(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
    Form(form): Form<ScorersForm>,
) -> Result<Response, PageError> {
    let scorers = form.scorers.replace("\r\n", "\n");
    let changed = service.change_dataset(&admin, &id, (&form.name, scorers.clone())).await;
    let refused = |problem| Refused { problem: Some(problem), scorers: Some(scorers), cases: None };
    back_or_refused(&admin, &service, &id, changed, refused).await
}

#[derive(Deserialize)]
pub(super) struct ImportForm {
    cases: String,
}

/// `POST /admin/datasets/{id}/import`
pub(super) async fn import(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
    Form(form): Form<ImportForm>,
) -> Result<Response, PageError> {
    let added = match cases_of(&form.cases) {
        Ok(cases) => service.put_cases(&admin, &id, cases).await.map(drop),
        Err(error) => Err(error),
    };
    let refused = |problem| Refused { problem: Some(problem), scorers: None, cases: Some(form.cases) };
    back_or_refused(&admin, &service, &id, added, refused).await
}

/// Reads the lines of a dataset file.
fn cases_of(text: &str) -> Result<Vec<Value>, UserError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let case = |(index, line): (usize, &str)| {
        let problem = |error| UserError::invalid("/cases", format!("Line {}: {error}", index + 1));
        serde_json::from_str(line).map_err(problem)
    };
    lines.map(case).collect()
}

#[derive(Deserialize)]
pub(super) struct StartForm {
    agent: String,
    #[serde(default)]
    other: String,
    #[serde(default)]
    split: String,
    repeat: String,
    cost: String,
    #[serde(default)]
    name: String,
}

/// `POST /admin/datasets/{id}/experiments`
pub(super) async fn start(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
    Form(form): Form<StartForm>,
) -> Result<Response, PageError> {
    let agents = [form.agent, form.other].into_iter().filter(|agent| !agent.is_empty()).collect();
    let new = NewExperiment {
        name: form.name,
        agents,
        split: Some(form.split),
        repeat: form.repeat.trim().parse().unwrap_or_default(),
        max_cost_usd: amount(&form.cost),
    };
    match service.start(&admin, &id, new).await {
        Ok(experiment) => Ok(see_other(&format!("{EXPERIMENTS}/{experiment}"), None)),
        Err(error) => {
            let refused = |problem| Refused { problem: Some(problem), ..Refused::default() };
            back_or_refused(&admin, &service, &id, Err(error), refused).await
        }
    }
}

/// Returns to the page after a change, or shows what is wrong with it.
async fn back_or_refused(
    admin: &Admin,
    service: &Service,
    id: &str,
    changed: Result<(), UserError>,
    refused: impl FnOnce(String) -> Refused,
) -> Result<Response, PageError> {
    match changed {
        Ok(()) => Ok(see_other(&format!("{DATASETS}/{id}"), None)),
        Err(error) if error.code == ErrorCode::Invalid => {
            dataset_page(admin, service, id, StatusCode::UNPROCESSABLE_ENTITY, refused(error.message)).await
        }
        Err(error) => Err(error.into()),
    }
}
