//! The page `/account/notifications`. Switching notifications on in a browser needs a script
//! (`public/assets/notifications.js`); the rest does not.

use crate::email;
use crate::service::{NotificationSettings, Service, SubscribedBrowser};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use chat::Caller;
use leptos::prelude::*;
use serde::Deserialize;
use web::html::{account_content, account_part, page_with_script, row_button, success_message};
use web::times::day;
use web::{HttpError, query_encoded, require_account, see_other, signed_in};

/// The page.
pub(crate) const PATH: &str = "/account/notifications";
/// Its title.
pub(crate) const TITLE: &str = "Notifications";

/// Returns the page and the routes of its forms.
pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .route(PATH, get(show))
        .route("/account/notifications/test", post(test))
        .route("/account/notifications/{id}/remove", post(remove))
        .merge(email::page::forms())
        .layer(from_fn_with_state(PATH, require_account))
        .merge(email::page::confirm_routes())
}

/// The query of the page: set after a change.
#[derive(Deserialize)]
struct DoneQuery {
    done: Option<String>,
}

/// `GET /account/notifications`
async fn show(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<DoneQuery>,
) -> Result<Response, HttpError> {
    signed_in(&caller)?;
    let (done, wrong) = match query.done.as_deref() {
        Some("removed") => (Some("Removed. That browser gets no more notifications."), None),
        Some("tested") => (Some("A test is on its way to each browser."), None),
        Some("asked") => (Some("A link is on its way to your mailbox."), None),
        Some("confirmed") => (Some("The address is confirmed. Notifications by e-mail are on."), None),
        Some("off") => (Some("Notifications by e-mail are off."), None),
        Some("expired") => (None, Some("That link is not the newest one, or it was used before.")),
        _ => (None, None),
    };
    render(&service, &caller, done, wrong.map(|text| (StatusCode::OK, text.to_owned()))).await
}

/// Renders the page, with what went wrong with the address for e-mails.
pub(crate) async fn render(
    service: &Service,
    caller: &Caller,
    done: Option<&'static str>,
    wrong: Option<(StatusCode, String)>,
) -> Result<Response, HttpError> {
    let NotificationSettings { public_key, browsers, most, email } = service.show(caller).await?;
    let has_browsers = !browsers.is_empty();
    let (status, wrong) = wrong.map_or((StatusCode::OK, None), |(status, text)| (status, Some(text)));
    let here = view! {
        <p class="cw-account-note">
            "You are notified of answers that you have not seen and of decisions that are needed, even while no page is open."
        </p>
        {this_browser(public_key)}
    };
    let all = view! {
        {browser_list(browsers)}
        <p class="cw-account-note">
            {format!("Up to {most} browsers. Remove one that others use: it gets your notifications also when you are signed out.")}
        </p>
        {has_browsers.then(|| view! {
            <form method="post" action="/account/notifications/test"><button class="cw-button">"Send a test"</button></form>
        })}
    };
    let content = view! {
        {success_message(done)}
        {account_part("here", "This browser", here)}
        {account_part("browsers", "Browsers with notifications", all)}
        {email::page::part(email, wrong)}
    };
    let content = account_content(TITLE, ("/", "Back"), content);
    Ok(page_with_script(status, TITLE, "/assets/notifications.js", content))
}

/// Renders the elements that the script shows and hides; see `public/assets/notifications.js`.
fn this_browser(public_key: String) -> impl IntoView {
    let states = [
        (
            "unsupported",
            "This browser does not support notifications. On an iPhone or iPad, add this page to the home screen and open it there.",
        ),
        ("insecure", "Browsers allow notifications only over an encrypted connection (https)."),
        (
            "denied",
            "Notifications of this site are blocked. Allow them in the browser's settings for this site, then load the page again.",
        ),
        ("on", "Notifications are on in this browser."),
        ("off", "Notifications are off in this browser."),
        ("failed", "That did not work. Check the connection, and try again."),
    ];
    let states = states.map(|(state, text)| view! { <p data-state=state hidden>{text}</p> }.into_any());
    view! {
        <div class="cw-notifications" data-key=public_key>
            <noscript><p>"Switching them on needs JavaScript."</p></noscript>
            <div role="status">{states.into_iter().collect_view()}</div>
            <div class="cw-memory-actions">
                <button type="button" class="cw-button cw-primary" data-act="on" hidden>"Turn on in this browser"</button>
                <button type="button" class="cw-button" data-act="off" hidden>"Turn off in this browser"</button>
            </div>
        </div>
    }
}

fn browser_list(browsers: Vec<SubscribedBrowser>) -> AnyView {
    if browsers.is_empty() {
        return view! { <p class="cw-account-note">"None yet."</p> }.into_any();
    }
    let item = |browser: SubscribedBrowser| {
        let SubscribedBrowser { id, name, created_at, sent_at, endpoint } = browser;
        let since = format!("since {}", day(created_at));
        let sent = sent_at.map(|at| format!(", last notified on {}", day(at)));
        let label = format!("Remove: {name}");
        view! {
            <li class="cw-memory-fact" data-endpoint=endpoint>
                <p><strong>{name}</strong></p>
                <p class="cw-account-note">{since}{sent}</p>
                <div class="cw-memory-actions">
                    {row_button(format!("{PATH}/{}/remove", query_encoded(&id)), "Remove", label)}
                </div>
            </li>
        }
    };
    view! { <ul class="cw-memory-list">{browsers.into_iter().map(item).collect_view()}</ul> }.into_any()
}

async fn test(State(service): State<Service>, Extension(caller): Extension<Caller>) -> Result<Response, HttpError> {
    service.test(&caller).await?;
    Ok(see_other(&format!("{PATH}?done=tested"), None))
}

async fn remove(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    service.remove(&caller, &id).await?;
    Ok(see_other(&format!("{PATH}?done=removed"), None))
}
