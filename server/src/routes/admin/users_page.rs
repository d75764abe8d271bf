//! The pages of users: the list, and one of them with what can be done.

use super::layout::{Tab, day, minute, page};
use super::lists::{choice, field, none, paged, pager};
use super::users::{SortQuery, StateQuery, UserQuery, Users, roles_of};
use super::{Admin, PageError};
use crate::router::AppState;
use crate::routes::accounts::forms::{done, problem};
use crate::routes::accounts::see_other;
use axum::Form;
use axum::extract::{Path, Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde::Deserialize;
use store::UserRow;
use wire::{ErrorCode, UserError};

/// `GET /admin/users`
pub(crate) async fn list(
    admin: Admin,
    State(state): State<AppState>,
    Query(query): Query<UserQuery>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    listed(&admin, &state, &query, raw.as_deref(), None).await
}

/// The form for a user who is new.
#[derive(Deserialize)]
pub(crate) struct NewUserForm {
    #[serde(default)]
    name: String,
    #[serde(default)]
    roles: String,
}

/// `POST /admin/users`. The answer is the only page that shows his first password.
pub(crate) async fn add(
    admin: Admin,
    State(state): State<AppState>,
    Form(sent): Form<NewUserForm>,
) -> Result<Response, PageError> {
    match Users::of(&state, &admin)?.add(&sent.name, roles_of(&sent.roles)).await {
        Ok((id, password)) => shown(&admin, &state, &id, Told::Password(password)).await,
        Err(error) => listed(&admin, &state, &UserQuery::default(), None, Some((sent, error))).await,
    }
}

/// `GET /admin/users/{id}`
pub(crate) async fn show(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(what): Query<What>,
) -> Result<Response, PageError> {
    let told = if what.done.is_some() { Told::Done } else { Told::Nothing };
    shown(&admin, &state, &id, told).await
}

/// What was done just now.
#[derive(Deserialize)]
pub(crate) struct What {
    done: Option<String>,
}

/// What can be done with a user.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Act {
    Roles,
    Disable,
    Enable,
    EndSessions,
    ResetPassword,
    Delete,
}

/// What a form says about it.
#[derive(Deserialize)]
pub(crate) struct ActForm {
    #[serde(default)]
    roles: String,
    #[serde(default)]
    name: String,
}

/// `POST /admin/users/{id}/{act}`
pub(crate) async fn act(
    admin: Admin,
    State(state): State<AppState>,
    Path((id, act)): Path<(String, Act)>,
    Form(sent): Form<ActForm>,
) -> Result<Response, PageError> {
    let users = Users::of(&state, &admin)?;
    let did = match act {
        Act::Roles => users.set_roles(&id, roles_of(&sent.roles)).await,
        Act::Disable => users.set_disabled(&id, true).await,
        Act::Enable => users.set_disabled(&id, false).await,
        Act::EndSessions => users.end_sessions(&id).await,
        Act::ResetPassword => match users.reset_password(&id).await {
            Ok(password) => return shown(&admin, &state, &id, Told::Password(password)).await,
            Err(error) => Err(error),
        },
        Act::Delete => match users.delete(&id, &sent.name).await {
            Ok(()) => return Ok(see_other("/admin/users", None)),
            Err(error) => Err(error),
        },
    };
    match did {
        Ok(()) => Ok(see_other(&format!("/admin/users/{id}?done=1"), None)),
        Err(error) => shown(&admin, &state, &id, Told::Problem(error)).await,
    }
}

/// What came of a form.
enum Told {
    Nothing,
    Done,
    Password(String),
    Problem(UserError),
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
    let (lines, next) = paged(users.list(query).await?);
    let status = if refused.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let states = [("all", "All"), ("enabled", "Enabled"), ("disabled", "Disabled")];
    let chosen = match query.state {
        StateQuery::All => "all",
        StateQuery::Enabled => "enabled",
        StateQuery::Disabled => "disabled",
    };
    let sort = if query.sort == SortQuery::Name { "name" } else { "newest" };
    let is_empty = lines.is_empty();
    let content = view! {
        <form class="cw-admin-filter" method="get" role="search" aria-label="Users">
            {field("text", "Name", "search", query.text.as_deref())}
            {field("role", "Role", "text", query.role.as_deref())}
            {choice("state", "State", &states, chosen)}
            {choice("sort", "Order", &[("name", "By name"), ("newest", "Newest first")], sort)}
            <button class="cw-button">"Show"</button>
        </form>
        {none(is_empty, "No user fits.")}
        {(!is_empty).then(|| table(lines))}
        {pager("/admin/users", raw, next)}
        {new_user(refused)}
    };
    Ok(page(admin, Tab::Users, status, "Users", content))
}

fn table(lines: Vec<UserRow>) -> impl IntoView {
    let line = |user: UserRow| {
        view! {
            <tr>
                <th scope="row"><a href=format!("/admin/users/{}", user.id)>{user.name.clone()}</a></th>
                <td data-label="Roles">{roles(&user)}</td>
                <td data-label="State">{state_of(&user)}</td>
                <td data-label="Last seen">{user.seen_at.map_or_else(|| "–".to_owned(), minute)}</td>
                <td data-label="Since">{day(user.created_at)}</td>
                <td class="cw-admin-number" data-label="Conversations">
                    <a href=format!("/admin/conversations?owner={}", user.id)>{user.conversations}</a>
                </td>
            </tr>
        }
    };
    view! {
        <table class="cw-admin-table">
            <thead>
                <tr>
                    <th scope="col">"Name"</th>
                    <th scope="col">"Roles"</th>
                    <th scope="col">"State"</th>
                    <th scope="col">"Last seen (UTC)"</th>
                    <th scope="col">"Since"</th>
                    <th scope="col" class="cw-admin-number">"Conversations"</th>
                </tr>
            </thead>
            <tbody>{lines.into_iter().map(line).collect_view()}</tbody>
        </table>
    }
}

fn new_user(refused: Option<(NewUserForm, UserError)>) -> impl IntoView {
    let (name, roles, text) = match refused {
        Some((sent, error)) => (sent.name, sent.roles, Some(error.message)),
        None => Default::default(),
    };
    view! {
        <section class="cw-account-part" aria-labelledby="new-user">
            <h2 id="new-user">"Add a user"</h2>
            <p class="cw-account-note">"He gets a first password, which is shown once. He takes another one at his account."</p>
            {problem(text)}
            <form class="cw-account-form" method="post" action="/admin/users">
                <label class="cw-account-field">
                    <span>"Name of the user"</span>
                    <input name="name" value=name required maxlength="64" autocomplete="off" autocapitalize="none" spellcheck="false" />
                </label>
                <label class="cw-account-field">
                    <span>"Roles, with commas between them"</span>
                    <input name="roles" value=roles maxlength="2000" autocomplete="off" autocapitalize="none" spellcheck="false" />
                </label>
                <button class="cw-button">"Add the user"</button>
            </form>
        </section>
    }
}

async fn shown(admin: &Admin, state: &AppState, id: &str, told: Told) -> Result<Response, PageError> {
    let user = Users::of(state, admin)?.one(id).await?;
    let is_self = user.id == admin.0.user_id;
    let title = user.name.clone();
    let (status, text, password, is_done) = match told {
        Told::Nothing => (StatusCode::OK, None, None, false),
        Told::Done => (StatusCode::OK, None, None, true),
        Told::Password(password) => (StatusCode::OK, None, Some(password), false),
        Told::Problem(error) => {
            let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
            if error.code == ErrorCode::NotFound {
                return Err(error.into());
            }
            (status, Some(error.message), None, false)
        }
    };
    let password = password.map(|password| {
        view! {
            {done(Some("Give the user this password now: it is not shown again."))}
            <input class="cw-account-key" readonly aria-label="The password" value=password />
        }
    });
    let facts = [
        ("Roles", roles(&user)),
        ("State", state_of(&user).to_owned()),
        ("Since", day(user.created_at)),
        ("Last seen (UTC)", user.seen_at.map_or_else(|| "–".to_owned(), minute)),
        ("Sessions", user.sessions.to_string()),
    ];
    let facts = facts.map(|(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> }).collect_view();
    let conversations = format!("/admin/conversations?owner={}", user.id);
    let log = format!("/admin/audit?user={}", user.id);
    let content = view! {
        {problem(text)}
        {done(is_done.then_some("Done."))}
        {password}
        <section class="cw-account-part" aria-label="About">
            <dl class="cw-admin-facts">{facts}</dl>
            <p class="cw-admin-links">
                <a href=conversations>{format!("Conversations ({})", user.conversations)}</a>
                <a href=log>"Audit log"</a>
            </p>
        </section>
        {match (is_self, user.deleted_at.is_some()) {
            (_, true) => view! { <p class="cw-account-note">"This user is being deleted."</p> }.into_any(),
            (true, _) => {
                view! { <p class="cw-account-note">"This is you: change your password at "<a href="/auth/account">"your account"</a>"."</p> }
                    .into_any()
            }
            (false, false) => acts(user).into_any(),
        }}
    };
    Ok(page(admin, Tab::Users, status, &title, content))
}

fn acts(user: UserRow) -> impl IntoView {
    let to = |act: &str| format!("/admin/users/{}/{act}", user.id);
    let (switch, switch_name, note) = match user.disabled_at {
        None => (
            "disable",
            "Disable",
            "A user who is disabled is signed out everywhere, and what is written for him stops.",
        ),
        Some(_) => ("enable", "Enable", "A user who is enabled may sign in again."),
    };
    view! {
        <section class="cw-account-part" aria-labelledby="rights">
            <h2 id="rights">"Rights"</h2>
            <form class="cw-account-form" method="post" action=to("roles")>
                <label class="cw-account-field">
                    <span>"Roles, with commas between them"</span>
                    <input name="roles" value=user.roles.join(", ") maxlength="2000" autocomplete="off" autocapitalize="none" spellcheck="false" />
                </label>
                <button class="cw-button">"Save the roles"</button>
            </form>
            <p class="cw-account-note">{note}</p>
            <div class="cw-admin-acts">
                <form method="post" action=to(switch)><button class="cw-button">{switch_name}</button></form>
                <form method="post" action=to("end-sessions")><button class="cw-button">"Sign out everywhere"</button></form>
                <form method="post" action=to("reset-password")><button class="cw-button">"Reset the password"</button></form>
            </div>
        </section>
        <section class="cw-account-part" aria-labelledby="delete">
            <h2 id="delete">"Delete with all data"</h2>
            <p class="cw-account-note">
                "Conversations, approvals, feedback, links, folders, sessions and keys go for good. What was used and the audit log stay, by id only."
            </p>
            <form class="cw-account-form" method="post" action=to("delete")>
                <label class="cw-account-field">
                    <span>"The user's name, to be sure"</span>
                    <input name="name" required maxlength="64" autocomplete="off" autocapitalize="none" spellcheck="false" />
                </label>
                <button class="cw-button cw-danger">"Delete the user"</button>
            </form>
        </section>
    }
}

/// Where users are kept elsewhere, there is nothing to do here.
fn elsewhere(admin: &Admin) -> Response {
    let content = view! {
        <p class="cw-account-note">
            "Users are not kept by this server. With "<code>"auth: { mode: password }"</code>" in the config they are."
        </p>
    };
    page(admin, Tab::Users, StatusCode::OK, "Users", content)
}

fn roles(user: &UserRow) -> String {
    if user.roles.is_empty() { "–".to_owned() } else { user.roles.join(", ") }
}

fn state_of(user: &UserRow) -> &'static str {
    match (user.deleted_at, user.disabled_at) {
        (Some(_), _) => "Being deleted",
        (None, Some(_)) => "Disabled",
        (None, None) => "Enabled",
    }
}
