//! The list of users, and the form for a new one.

use super::csv::{self, Csv};
use super::layout::{Tab, page};
use super::lists::{as_table, choice, field, paged, pager};
use super::table::Column::{Number, Text};
use super::table::{link, table, text};
use super::user_page::{Told, shown, state_of};
use super::users::{SortQuery, StateQuery, UserQuery, Users};
use super::{Admin, PageError, roles};
use crate::router::AppState;
use crate::routes::accounts::forms::problem;
use crate::routes::times::{day, minute};
use axum::Form;
use axum::extract::{Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde_json::Value;
use store::UserRow;
use wire::UserError;

/// `GET /admin/users`
pub(crate) async fn list(
    admin: Admin,
    State(state): State<AppState>,
    Query(query): Query<UserQuery>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    listed(&admin, &state, &query, raw.as_deref(), None).await
}

/// `GET /admin/users.csv`
pub(crate) async fn export(
    admin: Admin,
    State(state): State<AppState>,
    Query(mut query): Query<UserQuery>,
) -> Result<Response, PageError> {
    let users = Users::of(&state, &admin)?;
    state.composition.store.enter_audit(admin.entry("export_users", "", Value::Null)).await?;
    let mut file = Csv::new("id,name,roles,state,lastSeen,since,conversations");
    loop {
        query.after = file.add_page(users.list(&query).await?, cells);
        if query.after.is_none() {
            return Ok(file.file("users.csv"));
        }
    }
}

fn cells(user: &UserRow) -> [String; 7] {
    [
        csv::cell(&user.id),
        csv::cell(&user.name),
        csv::cell(&user.roles.join(" ")),
        csv::cell(state_of(user)),
        user.seen_at.map(csv::time).unwrap_or_default(),
        csv::time(user.created_at),
        user.conversations.to_string(),
    ]
}

/// The form for a new user.
struct NewUserForm {
    name: String,
    roles: Vec<String>,
}

/// `POST /admin/users`. The answer is the only page that shows the first password.
pub(crate) async fn add(
    admin: Admin,
    State(state): State<AppState>,
    Form(form): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let field = |wanted: &str| form.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    let sent = NewUserForm { name: field("name").unwrap_or_default(), roles: roles::roles_of_form(&form) };
    let allow_unknown = field("allowUnknownRoles").is_some();
    match Users::of(&state, &admin)?.add(&sent.name, sent.roles.clone(), allow_unknown).await {
        Ok((id, password)) => shown(&admin, &state, &id, Told::Password(password)).await,
        Err(error) => listed(&admin, &state, &UserQuery::default(), None, Some((sent, error))).await,
    }
}

async fn listed(
    admin: &Admin,
    state: &AppState,
    query: &UserQuery,
    raw: Option<&str>,
    refused: Option<(NewUserForm, UserError)>,
) -> Result<Response, PageError> {
    let users = match Users::of(state, admin) {
        Ok(users) => users,
        Err(_) => return Ok(elsewhere(admin)),
    };
    let ((lines, next), named) = (paged(users.list(query).await?), roles::named(state));
    let status = if refused.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let states = [("all", "All"), ("enabled", "Enabled"), ("disabled", "Disabled")];
    let chosen = match query.state {
        StateQuery::All => "all",
        StateQuery::Enabled => "enabled",
        StateQuery::Disabled => "disabled",
    };
    let sort = if query.sort == SortQuery::Name { "name" } else { "newest" };
    let content = view! {
        <form class="cw-admin-filter" method="get" role="search" aria-label="Users">
            {field("text", "Name", "search", query.text.as_deref())}
            {field("role", "Role", "text", query.role.as_deref())}
            {choice("state", "State", &states, chosen)}
            {choice("sort", "Order", &[("name", "By name"), ("newest", "Newest first")], sort)}
            <button class="cw-button">"Show"</button>
        </form>
        <p class="cw-admin-links">{as_table("/admin/users.csv", raw)}</p>
        {lines_of(lines, &named)}
        {pager("/admin/users", raw, next)}
        {new_user(refused, named)}
    };
    Ok(page(admin, Tab::Users, status, "Users", content))
}

fn lines_of(lines: Vec<UserRow>, named: &[String]) -> AnyView {
    let columns =
        [Text("Name"), Text("Roles"), Text("State"), Text("Last seen (UTC)"), Text("Created"), Number("Conversations")];
    let line = |user: UserRow| {
        let state = state_of(&user);
        [
            link(format!("/admin/users/{}", user.id), user.name),
            roles::shown(&user.roles, named),
            text(state),
            text(user.seen_at.map(minute).unwrap_or_default()),
            text(day(user.created_at)),
            link(format!("/admin/conversations?owner={}", user.id), user.conversations.to_string()),
        ]
    };
    table(columns, lines.into_iter().map(line), "No users match.")
}

fn new_user(refused: Option<(NewUserForm, UserError)>, named: Vec<String>) -> impl IntoView {
    let (name, chosen, text, insist) = match refused {
        Some((sent, error)) => (sent.name, sent.roles, Some(error.message.clone()), roles::is_unknown(&error)),
        None => Default::default(),
    };
    view! {
        <section class="cw-account-part" aria-labelledby="new-user">
            <h2 id="new-user">"Add a user"</h2>
            <p class="cw-account-note">"The user gets a first password, which is shown once. They can change it on their account page."</p>
            {problem(text)}
            <form class="cw-account-form" method="post" action="/admin/users">
                <label class="cw-account-field">
                    <span>"User name"</span>
                    <input name="name" value=name required maxlength="64" autocomplete="off" autocapitalize="none" spellcheck="false" />
                </label>
                {roles::fields(named, &chosen, insist)}
                <button class="cw-button">"Add user"</button>
            </form>
        </section>
    }
}

/// The page where users are kept elsewhere.
fn elsewhere(admin: &Admin) -> Response {
    let content = view! {
        <p class="cw-account-note">
            "This server does not manage users. It does with "<code>"auth: { mode: password }"</code>" in the config."
        </p>
    };
    page(admin, Tab::Users, StatusCode::OK, "Users", content)
}
