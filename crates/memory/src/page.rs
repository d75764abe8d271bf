//! The page `/account/memory`, on which users see, change and delete what agents remember about
//! them. It needs no script.

use crate::fact::{Category, Fact, MAX_CONTENT, Topic, single_line};
use crate::prompt::is_acceptable;
use crate::service::{Memory, Switches, failed, not_a_fact};
use crate::store::{self, FactChange, Update};
use axum::extract::{Path, RawForm, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use chat::Caller;
use leptos::prelude::*;
use serde::de::DeserializeOwned;
use web::html::{account_page, account_part, error_message, not_found_page, page, row_button, text_area_content};
use web::times::{minute, now_millis};
use web::{HttpError, query_encoded, require_account, see_other, signed_in};
use wire::{ErrorCode, UserError};

/// The page.
pub(crate) const PATH: &str = "/account/memory";

/// Returns the page and the routes of its forms.
pub(crate) fn routes() -> Router<Memory> {
    Router::new()
        .route(PATH, get(show))
        .route("/account/memory/on", post(on))
        .route("/account/memory/off", post(off))
        .route("/account/memory/delete-all", get(confirm).post(delete_all))
        .route("/account/memory/facts/{id}", get(edit).post(change))
        .route("/account/memory/facts/{id}/delete", post(delete))
        .route("/account/memory/updates/{id}/undo", post(undo))
        .layer(from_fn_with_state(PATH, require_account))
}

/// Returns the user of a request.
fn user(caller: &Caller) -> Result<&str, HttpError> {
    Ok(signed_in(caller)?)
}

/// Returns to the page after a change, also if the fact was already deleted.
fn back(outcome: Result<(), UserError>) -> Result<Response, HttpError> {
    match outcome {
        Err(error) if error.code != ErrorCode::NotFound => Err(error.into()),
        _ => Ok(see_other(PATH, None)),
    }
}

async fn show(State(memory): State<Memory>, Extension(caller): Extension<Caller>) -> Result<Response, HttpError> {
    let user_id = user(&caller)?;
    let (switches, facts) = memory.load_facts(user_id).await?;
    let updates = store::updates(memory.store(), user_id, "").await.map_err(failed)?;
    let count = facts.len();
    let has_facts = count > 0;
    let now = now_millis();
    let content = view! {
        <p class="cw-account-note">
            "Facts about you that agents have found in your messages. Only you see them. Answers, documents and web pages are never remembered."
        </p>
        {switch_view(switches)}
        {updates_view(updates)}
        {facts_view(&facts, now)}
        {has_facts.then(|| view! {
            <section class="cw-account-part" aria-label="All facts">
                <div class="cw-memory-actions">
                    <a class="cw-button" href="/api/memory/export" download="memory.json">"Download as JSON"</a>
                    <a class="cw-button" href="/account/memory/delete-all">"Delete all…"</a>
                </div>
            </section>
        })}
    };
    Ok(account_page(StatusCode::OK, "Memory", ("/", "Back"), content))
}

fn switch_view(switches: Switches) -> impl IntoView {
    let (state, action, label) = match (switches.config && switches.all, switches.user.is_enabled) {
        (false, _) => ("Memory is switched off on this server. Nothing is remembered or used.", None, ""),
        (true, true) => ("Memory is on.", Some("/account/memory/off"), "Switch memory off"),
        (true, false) => (
            "Memory is off. Nothing more is remembered, and agents do not see what is stored.",
            Some("/account/memory/on"),
            "Switch memory on",
        ),
    };
    view! {
        <section class="cw-account-part" aria-label="State">
            <div class="cw-memory-actions">
                <p>{state}</p>
                {action.map(|action| view! {
                    <form method="post" action=action><button class="cw-button">{label}</button></form>
                })}
            </div>
        </section>
    }
}

fn updates_view(updates: Vec<Update>) -> Option<impl IntoView> {
    let shown: Vec<_> = updates.into_iter().filter(|update| !update.is_undone && !update.added.is_empty()).collect();
    (!shown.is_empty()).then(|| {
        let rows: Vec<_> = shown
            .into_iter()
            .map(|update| {
                let action = format!("/account/memory/updates/{}/undo", update.id);
                let label = format!("Undo: {}", update.added.join(" "));
                view! {
                    <li class="cw-memory-fact">
                        <p dir="auto">{update.added.join(" ")}</p>
                        <p class="cw-account-note">{minute(update.created_at)} " UTC"</p>
                        {row_button(action, "Undo", label)}
                    </li>
                }
            })
            .collect();
        account_part("lately", "Remembered in the last day", view! { <ul class="cw-memory-list">{rows}</ul> })
    })
}

fn facts_view(facts: &[Fact], now: i64) -> impl IntoView + use<> {
    if facts.is_empty() {
        let none = view! {
            <section class="cw-account-part" aria-label="Facts">
                <p>"Nothing is remembered about you."</p>
            </section>
        };
        return none.into_any();
    }
    let sections = Topic::ALL.into_iter().filter_map(|topic| {
        let of_topic: Vec<_> = facts.iter().filter(|fact| fact.topic_at(now) == topic).map(fact_view).collect();
        (!of_topic.is_empty())
            .then(|| account_part(topic.name(), topic.heading(), view! { <ul class="cw-memory-list">{of_topic}</ul> }))
    });
    sections.collect::<Vec<_>>().into_any()
}

fn fact_view(fact: &Fact) -> impl IntoView + use<> {
    let path = format!("/account/memory/facts/{}", fact.id);
    let source = &fact.source;
    let conversation =
        format!("/{}?conversation={}", query_encoded(&source.page_id), query_encoded(&source.conversation_id));
    let about = format!("{}, {} % certain", fact.category.name(), (fact.confidence * 100.0).round());
    let edited = fact.is_edited.then_some(", changed by you");
    let only = (!fact.agent_id.is_empty()).then(|| format!(", only for {}", fact.agent_id));
    let (edit, delete) = (format!("Change: {}", fact.content), format!("Delete: {}", fact.content));
    view! {
        <li class="cw-memory-fact">
            <p dir="auto">{fact.content.clone()}</p>
            <p class="cw-account-note">
                {about} {only} {edited} " · from " <a href=conversation dir="auto">{source.title.clone()}</a> ", "
                {minute(fact.created_at)} " UTC"
            </p>
            <div class="cw-memory-actions">
                <a class="cw-button" href=path.clone() aria-label=edit>"Change"</a>
                {row_button(format!("{path}/delete"), "Delete", delete)}
            </div>
        </li>
    }
}

/// The form of a fact.
fn edit_page(status: StatusCode, id: &str, content: &str, category: Category, wrong: Option<String>) -> Response {
    let options: Vec<_> = Category::names()
        .into_iter()
        .map(|name| {
            let is_chosen = name == category.name();
            view! { <option value=name selected=is_chosen>{name}</option> }
        })
        .collect();
    let content = view! {
        <section class="cw-account-part" aria-label="Fact">
            {error_message(wrong)}
            <form class="cw-account-form" method="post" action=format!("/account/memory/facts/{id}")>
                <label class="cw-account-field">
                    <span>"Fact"</span>
                    <textarea name="content" rows="3" maxlength=MAX_CONTENT.to_string() required dir="auto" inner_html=text_area_content(content)></textarea>
                </label>
                <label class="cw-account-field">
                    <span>"Category"</span>
                    <select name="category">{options}</select>
                </label>
                <button class="cw-button">"Save"</button>
            </form>
        </section>
    };
    account_page(status, "Change a fact", (PATH, "Back"), content)
}

async fn edit(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    let (_, facts) = memory.load_facts(user(&caller)?).await?;
    let fact = facts.iter().find(|fact| fact.id == id);
    let Some(fact) = fact else { return Ok(not_found_page()) };
    Ok(edit_page(StatusCode::OK, &id, &fact.content, fact.category, None))
}

/// The fields of the form of a fact.
#[derive(serde::Deserialize)]
struct FactForm {
    content: String,
    category: Category,
}

fn form<T: DeserializeOwned>(sent: &[u8]) -> Result<T, HttpError> {
    let pairs: serde_json::Map<String, serde_json::Value> =
        url::form_urlencoded::parse(sent).map(|(name, value)| (name.into_owned(), value.into_owned().into())).collect();
    serde_json::from_value(pairs.into()).map_err(|_| HttpError::malformed("The form is incomplete."))
}

async fn change(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    RawForm(sent): RawForm,
) -> Result<Response, HttpError> {
    let user_id = user(&caller)?;
    let FactForm { content, category } = form(&sent)?;
    let content = single_line(&content);
    if !is_acceptable(&content) {
        let wrong = Some(not_a_fact("/content").message);
        return Ok(edit_page(StatusCode::UNPROCESSABLE_ENTITY, &id, &content, category, wrong));
    }
    back(memory.change(user_id, &id, FactChange { content, category }).await)
}

async fn delete(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    back(memory.delete(user(&caller)?, &id).await)
}

async fn undo(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    back(memory.undo(user(&caller)?, &id).await)
}

async fn confirm(Extension(caller): Extension<Caller>) -> Result<Response, HttpError> {
    user(&caller)?;
    let content = view! {
        <div class="cw-account">
            <header class="cw-account-head">
                <h1>"Delete all facts?"</h1>
            </header>
            <section class="cw-account-part" aria-label="Delete all">
                <p>"Everything that agents remember about you is deleted at once. This cannot be undone. Your conversations stay."</p>
                <div class="cw-memory-actions">
                    <form method="post" action="/account/memory/delete-all">
                        <button class="cw-button cw-danger">"Delete all facts"</button>
                    </form>
                    <a class="cw-button" href=PATH>"Keep them"</a>
                </div>
            </section>
        </div>
    };
    Ok(page(StatusCode::OK, "Delete all facts", content))
}

async fn delete_all(State(memory): State<Memory>, Extension(caller): Extension<Caller>) -> Result<Response, HttpError> {
    back(memory.delete_all(user(&caller)?).await)
}

async fn on(State(memory): State<Memory>, Extension(caller): Extension<Caller>) -> Result<Response, HttpError> {
    back(memory.set_enabled(user(&caller)?, true).await)
}

async fn off(State(memory): State<Memory>, Extension(caller): Extension<Caller>) -> Result<Response, HttpError> {
    back(memory.set_enabled(user(&caller)?, false).await)
}
