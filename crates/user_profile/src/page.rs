//! The page `/account/profile`, on which users write how they want to be answered. It needs no
//! script.

use crate::service::{MAX_CONTENT, Profiles};
use axum::extract::{Query, RawForm, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use chat::Caller;
use leptos::prelude::*;
use serde::Deserialize;
use web::html::{account_page, error_message, success_message, text_area_content};
use web::{HttpError, SentFields, require_account, see_other, signed_in};
use wire::ErrorCode;

/// The page.
pub(crate) const PATH: &str = "/account/profile";
/// Its title.
pub(crate) const TITLE: &str = "How to answer me";
/// The values of `done` in its query.
const SAVED: &str = "saved";
const DELETED: &str = "deleted";

/// Returns the page and the routes of its forms.
pub(crate) fn routes() -> Router<Profiles> {
    Router::new()
        .route(PATH, get(show).post(save))
        .route("/account/profile/delete", post(delete))
        .layer(from_fn_with_state(PATH, require_account))
}

/// The query of the page: set after a change.
#[derive(Deserialize)]
struct DoneQuery {
    done: Option<String>,
}

async fn show(
    State(profiles): State<Profiles>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<DoneQuery>,
) -> Result<Response, HttpError> {
    let profile = profiles.profile(signed_in(&caller)?).await?;
    let content = profile.map(|profile| profile.content).unwrap_or_default();
    Ok(render(StatusCode::OK, &profiles, content, query.done.as_deref().and_then(done_text), None))
}

/// Returns the message of the page after a change.
fn done_text(done: &str) -> Option<&'static str> {
    match done {
        SAVED => Some("Saved. It applies to new conversations."),
        DELETED => Some("Deleted."),
        _ => None,
    }
}

async fn save(
    State(profiles): State<Profiles>,
    Extension(caller): Extension<Caller>,
    RawForm(form): RawForm,
) -> Result<Response, HttpError> {
    let user_id = signed_in(&caller)?;
    let content = SentFields::parse(&form).first("content").to_owned();
    match profiles.save(user_id, &content).await {
        Ok(()) => {
            let done = if content.trim().is_empty() { DELETED } else { SAVED };
            Ok(see_other(&format!("{PATH}?done={done}"), None))
        }
        Err(error) if error.code == ErrorCode::Invalid => {
            Ok(render(StatusCode::UNPROCESSABLE_ENTITY, &profiles, content, None, Some(error.message)))
        }
        Err(error) => Err(error.into()),
    }
}

async fn delete(State(profiles): State<Profiles>, Extension(caller): Extension<Caller>) -> Result<Response, HttpError> {
    profiles.delete(signed_in(&caller)?).await?;
    Ok(see_other(&format!("{PATH}?done={DELETED}"), None))
}

fn render(
    status: StatusCode,
    profiles: &Profiles,
    content: String,
    done: Option<&'static str>,
    wrong: Option<String>,
) -> Response {
    let is_unread = !profiles.is_used();
    let is_there = !content.is_empty();
    let content = view! {
            {success_message(done)}
            {is_unread.then(|| view! { <p class="cw-account-note">"No agent on this server reads it at the moment."</p> })}
            <section class="cw-account-part" aria-label=TITLE>
                {error_message(wrong)}
                <form class="cw-account-form" method="post" action=PATH>
                    <label class="cw-account-field">
                        <span>"How agents should answer you"</span>
                        <textarea name="content" rows="12" maxlength=MAX_CONTENT.to_string() aria-describedby="about" dir="auto" inner_html=text_area_content(&content)></textarea>
                    </label>
                    <p class="cw-account-note" id="about">
                        "For example: answer in English, briefly, with the result first; I know SQL, explain the rest. Up to 4,000 characters. Not read in temporary conversations."
                    </p>
                    <button class="cw-button cw-primary">"Save"</button>
                </form>
            </section>
            {is_there.then(|| view! {
                <section class="cw-account-part" aria-label="Download and delete">
                    <div class="cw-memory-actions">
                        <a class="cw-button" href="/api/profile/export" download="profile.json">"Download as JSON"</a>
                        <form method="post" action="/account/profile/delete"><button class="cw-button">"Delete"</button></form>
                    </div>
                    <p class="cw-account-note">"When it is deleted, existing conversations no longer use it."</p>
                </section>
            })}
    };
    account_page(status, TITLE, ("/", "Back"), content)
}
