//! The page of a case in an experiment: the answers beside each other, with what differs, and how they came about.

use super::case_names::{CaseNames, case_of, input_text};
use super::dataset_page::shortened;
use super::experiment_page::ExperimentQuery;
use super::experiments::percent;
use super::verdicts::Verdicts;
use super::{DATASETS, EXPERIMENTS};
use crate::service::Service;
use crate::store::{self, CaseRow, Experiment, Verdict};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use evaluation::{CaseResult, Score};
use leptos::prelude::*;
use recordings::format::{Recording, read};
use recordings::report::compare;
use recordings::view::{comparison_view, recording_view, text_difference};
use serde::Deserialize;
use std::collections::BTreeMap;
use web::admin::{Admin, PageError, UserNames, folded_text, page};
use web::html::Heading::{Number, Text};
use web::html::{link, table, text};
use web::query_encoded;
use wire::UserError;

/// The most results in the list of all cases.
const MAX_LISTED: usize = 1_000;

/// The query of the page: the case; without it, all cases are listed.
#[derive(Deserialize)]
pub(super) struct CaseQuery {
    #[serde(default)]
    case: String,
}

/// An answer to the case.
struct Side {
    /// The config or the experiment.
    name: String,
    result: Option<CaseResult>,
    verdicts: Verdicts,
    recordings: Vec<Recording>,
}

/// `GET /admin/experiments/{id}/case`
pub(super) async fn show(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
    Query(CaseQuery { case }): Query<CaseQuery>,
    Query(query): Query<ExperimentQuery>,
) -> Result<Response, PageError> {
    let experiment = service.experiment(&id).await?;
    if case.is_empty() {
        return all(&admin, &service, &experiment).await;
    }
    let mut sides = sides(&service, &experiment, &case).await?;
    if !query.with.is_empty() {
        let earlier = service.experiment(&query.with).await?;
        let earlier_sides = self::sides(&service, &earlier, &case).await?;
        let last = |sides: Vec<Side>, name: &str| {
            sides.into_iter().next_back().map(|side| Side { name: name.to_owned(), ..side })
        };
        sides = [last(earlier_sides, &earlier.name), last(sides, &experiment.name)].into_iter().flatten().collect();
    }
    if sides.iter().all(|side| side.result.is_none()) {
        return Err(UserError::not_found().into());
    }
    let people = sides.iter().flat_map(|side| &side.verdicts.all).map(|verdict| verdict.person.as_str());
    let names = UserNames::load(&service.context.store, people).await?;
    let reader = (admin.caller.user_id.as_str(), &names);
    let found = case_of(&service.context.store, &experiment, &case).await?;
    let (title, question) = match found {
        Some(row) => {
            let input = input_text(&row.content);
            (shortened(&input), Some(question_part(&row, &experiment, input)))
        }
        // It is no longer in the dataset.
        None => (format!("Case {case}"), None),
    };
    let content = view! {
        <p class="cw-account-note">
            {link(format!("{EXPERIMENTS}/{id}"), experiment.name.clone())}" · "
            {link(format!("{EXPERIMENTS}/{id}/case"), "all cases")}" · "<span class="cw-admin-id">{case}</span>
        </p>
        {question}
        {answers_part(&sides, reader)}
        {steps_part(&sides)}
    };
    Ok(page(&admin, EXPERIMENTS, StatusCode::OK, &title, content))
}

/// Returns the answers of an experiment to a case, in the order of its configs.
async fn sides(service: &Service, experiment: &Experiment, case: &str) -> Result<Vec<Side>, PageError> {
    let mut by_config = BTreeMap::new();
    let store = &service.context.store;
    let kept = store::results_of_case(store, &experiment.id, case).await?;
    for result in kept.results {
        by_config.entry(result.config.clone()).or_insert(result);
    }
    let mut sides = Vec::new();
    for config in &experiment.configs {
        let file = store::recordings_of(store, &experiment.id, config, case).await?;
        let recordings = file.map(|file| read(file.as_bytes()).unwrap_or_default()).unwrap_or_default();
        let result = by_config.remove(config);
        let is_about = |verdict: &&Verdict| {
            verdict.config == *config && result.as_ref().is_some_and(|result| result.repeat == verdict.repeat)
        };
        let all = kept.verdicts.iter().filter(is_about).cloned().collect();
        let verdicts = Verdicts { experiment_id: experiment.id.clone(), all };
        sides.push(Side { name: config.clone(), result, verdicts, recordings });
    }
    Ok(sides)
}

/// Renders what the user writes.
fn question_part(row: &CaseRow, experiment: &Experiment, input: String) -> AnyView {
    let dataset = experiment.dataset_id.clone().unwrap_or_default();
    let expected = serde_json::to_string_pretty(&row.content["expected"]).unwrap_or_default();
    view! {
        <section class="cw-account-part" aria-labelledby="question">
            <h2 id="question">"The user writes"</h2>
            <p class="cw-admin-text" dir="auto">{input}</p>
            {folded_text("Expected", expected)}
            <p>{link(format!("{DATASETS}/{dataset}"), "Open the dataset")}</p>
        </section>
    }
    .into_any()
}

fn answers_part(sides: &[Side], reader: (&str, &UserNames)) -> AnyView {
    let other = |index: usize| match (sides.len(), index) {
        (2, 0) => sides[1].result.as_ref(),
        (2, 1) => sides[0].result.as_ref(),
        _ => None,
    };
    let side = |(index, side): (usize, &Side)| {
        let content = match &side.result {
            None => view! { <p class="cw-account-note">"There is no result."</p> }.into_any(),
            Some(result) => {
                let other = other(index).map(|other| other.answer.as_str());
                result_view(result, (other, index == 0), side.verdicts.view(result, reader))
            }
        };
        view! { <div class="cw-replay-side"><h3>{side.name.clone()}</h3>{content}</div> }
    };
    view! {
        <section class="cw-account-part" aria-labelledby="answers">
            <h2 id="answers">{if sides.len() == 2 { "Answers" } else { "Answer" }}</h2>
            <div class="cw-replay-sides">{sides.iter().enumerate().map(side).collect_view()}</div>
        </section>
    }
    .into_any()
}

fn result_view(result: &CaseResult, (other, is_first): (Option<&str>, bool), verdicts: Option<AnyView>) -> AnyView {
    let (class, verdict) =
        if result.passed { ("cw-eval-better", "passes") } else { ("cw-eval-worse", "does not pass") };
    let row = |score: &Score| {
        [
            text(score.scorer.clone()),
            text(percent(score.score)),
            text(if score.passed { "yes" } else { "no" }),
            text(score.reason.clone()),
        ]
    };
    let cost = result.cost_usd.map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
    let used = format!("{} + {} tokens{cost}, {:.2} s", result.input_tokens, result.output_tokens, result.seconds);
    let answer = text_difference(&result.answer, other, is_first);
    let columns = [Text("Scorer"), Number("Score"), Text("Passes"), Text("Why")];
    view! {
        <p><span class=class>{verdict}</span></p>
        {result.error.clone().map(|error| view! { <p class="cw-account-problem">{error}</p> })}
        <p class="cw-admin-text cw-admin-diff" dir="auto">{answer}</p>
        {verdicts}
        {(!result.tools.is_empty()).then(|| view! { <p class="cw-account-note">{format!("Tools: {}", result.tools.join(", "))}</p> })}
        {table(columns, result.scores.iter().map(row), "No scorer applies.")}
        <p class="cw-account-note">{used}</p>
    }
    .into_any()
}

/// Renders how the answers came about: the steps of each message beside each other.
fn steps_part(sides: &[Side]) -> Option<AnyView> {
    let content = match sides {
        [first, second] if !first.recordings.is_empty() && !second.recordings.is_empty() => {
            let names = (first.name.as_str(), second.name.as_str());
            let pairs = first.recordings.iter().zip(&second.recordings).zip(1..);
            let views = pairs.map(|((before, after), place)| {
                // The agents have other names, and are compared as one.
                let after = after.clone().with_agent(&before.header.agent_id);
                comparison_view(&compare(before, &after, &[], 1), names, place)
            });
            views.collect_view().into_any()
        }
        _ => {
            let recordings = sides.iter().flat_map(|side| &side.recordings);
            let views: Vec<_> = recordings.map(recording_view).collect();
            if views.is_empty() {
                return None;
            }
            views.into_any()
        }
    };
    let part = view! {
        <section class="cw-account-part" aria-labelledby="steps">
            <h2 id="steps">"How it was produced"</h2>
            {content}
        </section>
    };
    Some(part.into_any())
}

/// Renders the list of all cases of an experiment.
async fn all(admin: &Admin, service: &Service, experiment: &Experiment) -> Result<Response, PageError> {
    let results = service.results(&experiment.id).await?.results;
    let shown = results.iter().take(MAX_LISTED);
    let names =
        CaseNames::load(&service.context.store, experiment, shown.clone().map(|result| result.case.as_str())).await?;
    let row = |result: &CaseResult| {
        let path = format!("{EXPERIMENTS}/{}/case?case={}", experiment.id, query_encoded(&result.case));
        [
            link(path, names.get(&result.case)),
            text(result.config.clone()),
            text(if result.passed { "yes" } else { "no" }),
            text(shortened(&result.answer)),
            text(format!("{:.2} s", result.seconds)),
        ]
    };
    let columns = [Text("Case"), Text("Config"), Text("Passes"), Text("Answer"), Number("Time")];
    let content = view! {
        <p class="cw-account-note">{link(format!("{EXPERIMENTS}/{}", experiment.id), experiment.name.clone())}</p>
        {table(columns, shown.map(row), "There is no result yet.")}
    };
    Ok(page(admin, EXPERIMENTS, StatusCode::OK, "All cases", content))
}
