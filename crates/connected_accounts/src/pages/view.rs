//! The pages.

use super::TITLE;
use crate::accounts::PATH;
use crate::routes::{ConnectedAccount, RouteState};
use crate::sign_in::sign_in_path;
use axum::http::StatusCode;
use axum::response::Response;
use chat::Caller;
use leptos::prelude::*;
use settings::user_auth::UserVariable;
use url::Url;
use web::admin::from_store_error;
use web::html::{account_page, account_part, error_message, row_button, success_message};
use web::times::minute;
use web::{HttpError, query_encoded};

/// The result of a form.
pub(super) struct Notice {
    /// The change that was made.
    pub(super) done: Option<&'static str>,
    /// Why there was none.
    pub(super) wrong: Option<String>,
}

/// A variable with whether the user has entered something for it.
struct Entry {
    connection: String,
    host: String,
    variable: UserVariable,
    is_entered: bool,
}

/// Returns the page of a user. The service for which it was opened comes first.
pub(super) async fn page(
    state: &RouteState,
    caller: &Caller,
    status: StatusCode,
    wanted: Option<&str>,
    notice: Notice,
) -> Result<Response, HttpError> {
    let mut accounts = state.list(caller).await?;
    accounts.sort_by_key(|account| Some(account.service.as_str()) != wanted);
    let mut entries = Vec::new();
    for variables in state.variables(caller).into_values() {
        let entered = state.accounts.entered(&variables, &caller.user_id).await.map_err(from_store_error)?;
        let host = variables.url.host_str().unwrap_or_default().to_owned();
        entries.extend(variables.variables.into_iter().map(|variable| Entry {
            connection: variables.connection.clone(),
            host: host.clone(),
            is_entered: entered.contains_key(&variable.key),
            variable,
        }));
    }
    entries.sort_by_key(|entry| Some(entry.connection.as_str()) != wanted);
    Ok(render(status, accounts, entries, notice))
}

fn render(status: StatusCode, accounts: Vec<ConnectedAccount>, entries: Vec<Entry>, notice: Notice) -> Response {
    let is_empty = accounts.is_empty() && entries.is_empty();
    let lines: Vec<_> = accounts.into_iter().map(line).collect();
    let accounts = (!lines.is_empty()).then(|| {
        view! {
            <section class="cw-account-part" aria-label=TITLE>
                <p class="cw-account-note">
                    "Agents act in these services with your own account, within what you allow there. Nobody else uses it."
                </p>
                <ul class="cw-account-list">{lines}</ul>
            </section>
        }
    });
    let forms: Vec<_> = entries.into_iter().map(entry_form).collect();
    let entries = (!forms.is_empty()).then(|| {
        let content = view! {
            <p class="cw-account-note">"These are sent to the named service only. They are stored encrypted, and not shown again."</p>
            {forms}
        };
        account_part("entries", "Your entries", content)
    });
    let content = view! {
        {success_message(notice.done)}
        {error_message(notice.wrong)}
        {is_empty.then(|| view! { <p class="cw-account-note">"No agent that you can use needs an account."</p> })}
        {accounts}
        {entries}
    };
    account_page(status, TITLE, ("/", "Back"), content)
}

fn entry_form(entry: Entry) -> impl IntoView {
    let Entry { connection, host, variable, is_entered } = entry;
    let UserVariable { key, name, description, is_required } = variable;
    let path = format!("{PATH}/{}/variables", encoded(&connection));
    let state = match (is_entered, is_required) {
        (true, _) => "Entered. Save an empty field to delete it.",
        (false, true) => "Not entered: the tools cannot be used without it.",
        (false, false) => "Not entered.",
    };
    let about = format!("{connection}, {host}. {description} {state}");
    view! {
        <form class="cw-account-form" method="post" action=path>
            <input type="hidden" name="key" value=key />
            <label class="cw-account-field">
                <span dir="auto">{name}</span>
                <input name="value" type="password" autocomplete="off" maxlength="4096" />
            </label>
            <p class="cw-account-note" dir="auto">{about}</p>
            <button class="cw-button">"Save"</button>
        </form>
    }
}

fn line(account: ConnectedAccount) -> impl IntoView {
    let ConnectedAccount { service, host, is_connected, connected_at, scopes, needed_scopes } = account;
    let path = |what: &str| format!("{PATH}/{}/{what}", encoded(&service));
    let is_usable = host.is_some();
    let state = match (is_connected, connected_at, is_usable) {
        (true, Some(at), _) => format!("Connected on {} UTC", minute(at)),
        (false, Some(_), true) => "It must be connected again".to_owned(),
        (_, Some(_), false) => "No agent uses it any more".to_owned(),
        _ => "Not connected".to_owned(),
    };
    let place = host.map(|host| format!("{host}. ")).unwrap_or_default();
    let granted = (is_connected && !scopes.is_empty()).then(|| format!(". Allowed: {}", scopes.join(", ")));
    let needed = (!needed_scopes.is_empty()).then(|| format!(". Asked for since: {}", needed_scopes.join(", ")));
    let about = format!("{place}{state}{}{}", granted.unwrap_or_default(), needed.unwrap_or_default());
    let label = if connected_at.is_some() { "Connect again" } else { "Connect" };
    let again = sign_in_path(&service, &format!("{PATH}?done=signed-in"));
    let is_sign_in = again.is_some();
    let sign_in = again.filter(|_| is_usable).map(|path| {
        view! { <a class="cw-button" aria-label=format!("Sign in again: {service}") href=path>"Sign in again"</a> }
    });
    let connect = (is_usable && !is_sign_in).then(|| row_button(path("connect"), label, format!("{label}: {service}")));
    let disconnect =
        connected_at.map(|_| row_button(path("disconnect"), "Disconnect", format!("Disconnect: {service}")));
    view! {
        <li class="cw-account-line">
            <div>
                <strong dir="auto">{service.clone()}</strong>
                <p class="cw-account-note">{about}</p>
            </div>
            {sign_in}
            {connect}
            {disconnect}
        </li>
    }
}

/// Returns the page that leads to the authorization server, with its host and what it will be asked for.
pub(super) fn continue_page(service: &str, url: &Url, scopes: &[String]) -> Response {
    let host = url.host_str().unwrap_or_default().to_owned();
    let asked = match scopes {
        [] => "It will ask you what agents may do with it.".to_owned(),
        scopes => format!("It will ask you to allow: {}.", scopes.join(", ")),
    };
    let title = format!("Connect your account at {service}");
    let content = view! {
        <div class="cw-account">
            <header class="cw-account-head"><h1 dir="auto">{title.clone()}</h1></header>
            <section class="cw-account-part" aria-label=title.clone()>
                <p>"You are going to " <strong>{host.clone()}</strong> ". Sign in there only if you expect this."</p>
                <p class="cw-account-note">{asked}</p>
                <div class="cw-memory-actions">
                    <a class="cw-button cw-primary" href=url.to_string() rel="noreferrer">{format!("Continue to {host}")}</a>
                    <a class="cw-button" href=PATH>"Cancel"</a>
                </div>
            </section>
        </div>
    };
    web::html::page(StatusCode::OK, &title, content)
}

fn encoded(text: &str) -> String {
    // A space is `%20` in a path.
    query_encoded(text).replace('+', "%20")
}
