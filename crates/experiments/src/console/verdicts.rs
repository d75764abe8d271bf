//! The verdicts of people on answers in an experiment: on the page of a case, and how far judges agree with them.

use super::EXPERIMENTS;
use super::case_names::CaseNames;
use super::experiment_parts::case_path;
use crate::service::Service;
use crate::store::{Experiment, NewVerdict, Verdict};
use axum::extract::{Form, Path, State};
use axum::response::Response;
use evaluation::{Agreement, CaseResult, Disagreement};
use leptos::prelude::*;
use serde::Deserialize;
use web::admin::{Admin, PageError, UserNames};
use web::html::Heading::Text;
use web::html::{link, table, text};
use web::times::minute;
use web::{query_encoded, see_other};
use wire::UserError;

/// The most cases of a list.
const MAX_SHOWN: usize = 200;

/// The verdicts about the answer in a result, and who reads them.
pub(super) struct Verdicts {
    /// The experiment of the result.
    pub(super) experiment_id: String,
    pub(super) all: Vec<Verdict>,
}

impl Verdicts {
    /// Renders what people say of the answer, and the form for what this administrator says.
    pub(super) fn view(&self, result: &CaseResult, (own_id, names): (&str, &UserNames)) -> Option<AnyView> {
        if result.error.is_some() {
            return None;
        }
        let own = self.all.iter().find(|verdict| verdict.person == own_id);
        let said = |verdict: &Verdict| {
            let what = if verdict.liked { "Good" } else { "Bad" };
            let time = format!(", {} UTC", minute(verdict.given_at));
            view! { <li>{what}", says "{names.view(&verdict.person)}{time}</li> }
        };
        let said = (!self.all.is_empty()).then(|| view! { <ul>{self.all.iter().map(said).collect_view()}</ul> });
        let button = |value: &'static str, label: &'static str, is_pressed: bool| {
            view! { <button class="cw-button" name="verdict" value=value aria-pressed=is_pressed.to_string()>{label}</button> }
        };
        let form = view! {
            <form class="cw-admin-acts" method="post" action=format!("{EXPERIMENTS}/{}/verdict", self.experiment_id)>
                <input type="hidden" name="config" value=result.config.clone() />
                <input type="hidden" name="case" value=result.case.clone() />
                <input type="hidden" name="repeat" value=result.repeat.to_string() />
                <input type="hidden" name="conversation" value=result.conversation_id.clone() />
                {button("good", "Good answer", own.is_some_and(|own| own.liked))}
                {button("bad", "Bad answer", own.is_some_and(|own| !own.liked))}
                {own.is_some().then(|| button("none", "Withdraw", false))}
            </form>
        };
        Some(view! { {said}{form} }.into_any())
    }
}

#[derive(Deserialize)]
pub(super) struct VerdictForm {
    config: String,
    case: String,
    repeat: u32,
    /// The conversation of the answer that the page has shown.
    conversation: String,
    verdict: String,
}

/// `POST /admin/experiments/{id}/verdict`
pub(super) async fn give(
    admin: Admin,
    State(service): State<Service>,
    Path(id): Path<String>,
    Form(form): Form<VerdictForm>,
) -> Result<Response, PageError> {
    let liked = match form.verdict.as_str() {
        "good" => Some(true),
        "bad" => Some(false),
        "none" => None,
        _ => return Err(UserError::invalid("/verdict", "An answer is good or bad.").into()),
    };
    let path = format!("{EXPERIMENTS}/{id}/case?case={}", query_encoded(&form.case));
    let VerdictForm { config, case, repeat, conversation, .. } = form;
    let new = NewVerdict { config, case, repeat, liked, conversation_id: Some(conversation) };
    service.give_verdict(&admin, &id, new).await?;
    Ok(see_other(&path, None))
}

/// Renders how far judges agree with people, and the answers of which they say something else; nothing if no person has
/// said something of an answer that was judged.
pub(super) fn agreement_part(experiment: &Experiment, agreements: &[Agreement], cases: &CaseNames) -> Option<AnyView> {
    if agreements.is_empty() {
        return None;
    }
    let item = |judge: &Agreement| {
        let words = format!(" {}", judge.in_words());
        view! { <li><strong>{judge.scorer.clone()}</strong>{words}</li> }
    };
    let others = agreements.iter().flat_map(|judge| judge.disagreements.iter().map(move |other| (judge, other)));
    let row = |(judge, other): (&Agreement, &Disagreement)| {
        [
            link(case_path(experiment, &other.case, None), cases.get(&other.case)),
            text(judge.scorer.clone()),
            text(other.in_words()),
        ]
    };
    let columns = [Text("Case"), Text("Judge"), Text("What they say")];
    let part = view! {
        <section class="cw-account-part" aria-labelledby="people">
            <h2 id="people">"Judges compared with people"</h2>
            <ul>{agreements.iter().map(item).collect_view()}</ul>
            {table(columns, others.take(MAX_SHOWN).map(row), "They agree each time.")}
        </section>
    };
    Some(part.into_any())
}
