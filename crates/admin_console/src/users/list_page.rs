//! The list of users, and the form for a new one.

use crate::state::ConsoleState;
use crate::users::page::{UserNotice, render, state_text};
use crate::users::roles;
use crate::users::{UserAdmin, UserQuery, UserSortQuery, UserStateQuery};
use axum::Form;
use axum::extract::{Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde_json::Value;
use store::UserRow;
use web::admin::csv::{self, Csv};
use web::admin::lists::{csv_link, field, pager, select_field, split_page};
use web::admin::page;
use web::admin::{Admin, PageError};
use web::html::Column::{Number, Text};
use web::html::error_message;
use web::html::{link, table, text};
use web::times::{day, minute};
use wire::UserError;

/// `GET /admin/users`
pub(crate) async fn list(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<UserQuery>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    render_list(&admin, &state, &query, raw.as_deref(), None).await
}

/// `GET /admin/users.csv`
pub(crate) async fn export(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(mut query): Query<UserQuery>,
) -> Result<Response, PageError> {
    let users = UserAdmin::new(&state, &admin)?;
    state.store.record_audit(admin.audit_entry("export_users", "", Value::Null)).await?;
    let mut file = Csv::new("id,name,roles,state,lastSeen,created,conversations");
    loop {
        query.after = file.add_page(users.list(&query).await?, cells);
        if query.after.is_none() {
            return Ok(file.into_file("users.csv"));
        }
    }
}

fn cells(user: &UserRow) -> [String; 7] {
    [
        csv::cell(&user.id),
        csv::cell(&user.name),
        csv::cell(&user.roles.join(" ")),
        csv::cell(state_text(user)),
        user.seen_at.map(csv::time_cell).unwrap_or_default(),
        csv::time_cell(user.created_at),
        user.conversations.to_string(),
    ]
}

/// The form for a new user.
struct NewUserForm {
    name: String,
    roles: Vec<String>,
}

/// `POST /admin/users`. The response is the only page that shows the first password.
pub(crate) async fn add(
    admin: Admin,
    State(state): State<ConsoleState>,
    Form(form): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let field = |wanted: &str| form.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    let sent = NewUserForm { name: field("name").unwrap_or_default(), roles: roles::parse_role_fields(&form) };
    let allow_unknown = field("allowUnknownRoles").is_some();
    match UserAdmin::new(&state, &admin)?.add(&sent.name, sent.roles.clone(), allow_unknown).await {
        Ok((id, password)) => render(&admin, &state, &id, UserNotice::Password(password)).await,
        Err(error) => render_list(&admin, &state, &UserQuery::default(), None, Some((sent, error))).await,
    }
}

async fn render_list(
    admin: &Admin,
    state: &ConsoleState,
    query: &UserQuery,
    raw: Option<&str>,
    refused: Option<(NewUserForm, UserError)>,
) -> Result<Response, PageError> {
    let users = match UserAdmin::new(state, admin) {
        Ok(users) => users,
        Err(_) => return Ok(unmanaged_page(admin)),
    };
    let ((lines, next), named) = (split_page(users.list(query).await?), roles::config_roles(state));
    let status = if refused.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let states = [("all", "All"), ("enabled", "Enabled"), ("disabled", "Disabled")];
    let chosen = match query.state {
        UserStateQuery::All => "all",
        UserStateQuery::Enabled => "enabled",
        UserStateQuery::Disabled => "disabled",
    };
    let sort = if query.sort == UserSortQuery::Name { "name" } else { "newest" };
    let content = view! {
        <form class="cw-admin-filter" method="get" role="search" aria-label="Users">
            {field("text", "Name", "search", query.text.as_deref())}
            {field("role", "Role", "text", query.role.as_deref())}
            {select_field("state", "State", &states, chosen)}
            {select_field("sort", "Order", &[("name", "By name"), ("newest", "Newest first")], sort)}
            <button class="cw-button">"Show"</button>
        </form>
        <p class="cw-admin-links">{csv_link("/admin/users.csv", raw)}</p>
        {users_table(lines, &named)}
        {pager("/admin/users", raw, next)}
        {new_user_view(refused, named)}
    };
    Ok(page(admin, "/admin/users", status, "Users", content))
}

fn users_table(lines: Vec<UserRow>, named: &[String]) -> AnyView {
    let columns =
        [Text("Name"), Text("Roles"), Text("State"), Text("Last seen (UTC)"), Text("Created"), Number("Conversations")];
    let line = |user: UserRow| {
        let state = state_text(&user);
        [
            link(format!("/admin/users/{}", user.id), user.name),
            roles::roles_text(&user.roles, named),
            text(state),
            text(user.seen_at.map(minute).unwrap_or_default()),
            text(day(user.created_at)),
            link(format!("/admin/conversations?owner={}", user.id), user.conversations.to_string()),
        ]
    };
    table(columns, lines.into_iter().map(line), "No users match.")
}

fn new_user_view(refused: Option<(NewUserForm, UserError)>, named: Vec<String>) -> impl IntoView {
    let (name, chosen, text, insist) = match refused {
        Some((sent, error)) => (sent.name, sent.roles, Some(error.message.clone()), roles::is_unknown_role(&error)),
        None => Default::default(),
    };
    view! {
        <section class="cw-account-part" aria-labelledby="new-user">
            <h2 id="new-user">"Add a user"</h2>
            <p class="cw-account-note">"The user gets a first password, which is shown once. They can change it on their account page."</p>
            {error_message(text)}
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

/// Renders the page for servers that do not manage users.
fn unmanaged_page(admin: &Admin) -> Response {
    let content = view! {
        <p class="cw-account-note">
            "This server does not manage users. To let it manage them, set "<code>"auth: { mode: password }"</code>" in the config."
        </p>
    };
    page(admin, "/admin/users", StatusCode::OK, "Users", content)
}
