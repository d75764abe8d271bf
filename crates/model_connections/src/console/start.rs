//! The page with the first steps on a new server.

use super::PATH;
use crate::current::Current;
use crate::start::FirstSteps;
use added_entries::load;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use capability::Context;
use leptos::prelude::*;
use web::admin::{Admin, PageError, START_PATH, page};
use web::html::text_with_code;
use web::query_encoded;

pub(super) fn routes() -> Router<Context> {
    Router::new().route(START_PATH, get(show))
}

/// `GET /admin/start`
async fn show(admin: Admin, State(context): State<Context>) -> Result<Response, PageError> {
    let current: Current = load(&context).await?;
    let steps = FirstSteps::new(&context, &admin.caller, &current);
    let content = view! {
        <section class="cw-account-part" aria-labelledby="model">
            <h2 id="model">"1. Add a model"</h2>
            {model_step(&steps)}
        </section>
        <section class="cw-account-part" aria-labelledby="question">
            <h2 id="question">"2. Ask the first question"</h2>
            {question_step(&steps)}
        </section>
        <section class="cw-account-part" aria-labelledby="others">
            <h2 id="others">"3. Invite users"</h2>
            {others_step(&steps)}
        </section>
    };
    Ok(page(&admin, PATH, StatusCode::OK, "First steps", content))
}

fn model_step(steps: &FirstSteps) -> AnyView {
    let note = match steps.providers.as_slice() {
        [] => "Only the built-in demo model answers so far. Choose a provider and enter its API key.".to_owned(),
        providers => format!("Done: {}.", providers.join(", ")),
    };
    let unfinished = steps.unfinished.as_ref().map(|name| {
        let path = format!("{PATH}/{}", query_encoded(name));
        view! { <a class="cw-button" href=path>{format!("Finish {name}")}</a> }
    });
    let key = steps.key_problem.as_ref().filter(|_| steps.providers.is_empty());
    let key = key.map(|problem| {
        let note = format!("This server cannot store API keys yet: {problem}.");
        view! { <p class="cw-account-note">{text_with_code(&note)}</p> }
    });
    let (class, text) = if steps.providers.is_empty() {
        ("cw-button cw-primary", "Add a model")
    } else {
        ("cw-button", "Add another model")
    };
    view! {
        <p class="cw-account-note">{note}</p>
        {key}
        <p class="cw-admin-links">{unfinished}<a class=class href=format!("{PATH}/new")>{text}</a></p>
    }
    .into_any()
}

fn question_step(steps: &FirstSteps) -> AnyView {
    match &steps.question {
        Some((page, agent)) => view! {
            <p class="cw-account-note">{format!("{agent} answers with a provider's model.")}</p>
            <p class="cw-admin-links"><a class="cw-button cw-primary" href=format!("/{page}")>"Ask the first question"</a></p>
        }
        .into_any(),
        None => view! {
            <p class="cw-account-note">"No agent answers with a provider's model yet. On the page of the model, choose agents or make one."</p>
        }
        .into_any(),
    }
}

fn others_step(steps: &FirstSteps) -> AnyView {
    let (note, link) = match steps {
        FirstSteps { invites: true, .. } => {
            ("Users get a link with which they choose a name and a password.", Some(("/admin/users", "Invite users")))
        }
        FirstSteps { is_local: true, .. } => (
            "This server is for you alone. To let others in, write auth: { mode: password } in the config, and start the server again.",
            None,
        ),
        _ => ("Users sign in as the config says in auth.", Some(("/admin/users", "Users"))),
    };
    let link = link.map(|(path, text)| {
        view! { <p class="cw-admin-links"><a class="cw-button" href=path>{text}</a></p> }
    });
    view! {
        <p class="cw-account-note">{note}</p>
        {link}
    }
    .into_any()
}
