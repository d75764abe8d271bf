//! The page on which users say whether what they have rated may become test cases as it is. It needs no script.

use crate::store::{has_consent, set_consent};
use axum::extract::{Form, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use capability::Context;
use chat::Caller;
use leptos::prelude::*;
use serde::Deserialize;
use web::admin::ADMINISTRATION;
use web::html::account_page;
use web::openapi::ApiRouter;
use web::times::now_millis;
use web::{HttpError, require_account, see_other};

/// The page.
pub(crate) const PATH: &str = "/account/test-cases";
/// Its title.
pub(crate) const TITLE: &str = "Test cases";

/// Returns the page.
pub(crate) fn routes(context: Context) -> ApiRouter {
    let pages = Router::new().route(PATH, get(show).post(change)).layer(from_fn_with_state(PATH, require_account));
    ApiRouter::new(&ADMINISTRATION).with_pages(pages).map(|router| router.with_state(context))
}

async fn show(State(context): State<Context>, Extension(caller): Extension<Caller>) -> Result<Response, HttpError> {
    let agrees = has_consent(&context.store, &caller.user_id).await?;
    let (state, value, label) = if agrees {
        ("You agree: answers that you rate may be kept unmasked.", "0", "Withdraw")
    } else {
        ("You have not agreed: answers that you rate are kept only with personal data masked.", "1", "Agree")
    };
    let content = view! {
        <section class="cw-account-part" aria-label="Consent">
            <p class="cw-account-note">
                "When you rate an answer, an administrator may keep your messages and the answer as a test case, with which agents are checked before they change. E-mail addresses, numbers, keys and your name are masked, unless you agree that cases are kept as they are. If you withdraw, those are deleted with their results. All cases go with your account."
            </p>
            <form class="cw-memory-actions" method="post" action=PATH>
                <p>{state}</p>
                <button class="cw-button" name="agrees" value=value>{label}</button>
            </form>
        </section>
    };
    Ok(account_page(StatusCode::OK, TITLE, ("/", "Back"), content))
}

#[derive(Deserialize)]
struct ConsentForm {
    agrees: String,
}

async fn change(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Form(form): Form<ConsentForm>,
) -> Result<Response, HttpError> {
    set_consent(&context.store, &caller.user_id, form.agrees == "1", now_millis()).await?;
    Ok(see_other(PATH, None))
}
