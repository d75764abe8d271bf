//! The page of a user, with what can be done.

use super::layout::{Tab, page};
use super::table::{self, text};
use super::users::{Users, roles_of};
use super::{Admin, PageError};
use crate::router::AppState;
use crate::routes::accounts::forms::{done, problem};
use crate::routes::accounts::see_other;
use crate::routes::times::{day, minute};
use axum::Form;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde::Deserialize;
use store::UserRow;
use wire::{ErrorCode, UserError};

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
pub(super) enum Told {
    Nothing,
    Done,
    Password(String),
    Problem(UserError),
}

pub(super) async fn shown(admin: &Admin, state: &AppState, id: &str, told: Told) -> Result<Response, PageError> {
    let user = Users::of(state, admin)?.one(id).await?;
    let is_self = user.id == admin.0.user_id;
    let title = user.name.clone();
    let (status, refused, password, is_done) = match told {
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
        ("Roles", text(user.roles.join(", "))),
        ("State", text(state_of(&user))),
        ("Since", text(day(user.created_at))),
        ("Last seen (UTC)", text(user.seen_at.map(minute).unwrap_or_default())),
        ("Sessions", user.sessions.into_any()),
    ];
    let conversations = format!("/admin/conversations?owner={}", user.id);
    let log = format!("/admin/audit?user={}", user.id);
    let content = view! {
        {problem(refused)}
        {done(is_done.then_some("Done."))}
        {password}
        <section class="cw-account-part" aria-label="About">
            {table::facts(facts)}
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

/// Whether he may sign in.
pub(super) fn state_of(user: &UserRow) -> &'static str {
    match (user.deleted_at, user.disabled_at) {
        (Some(_), _) => "Being deleted",
        (None, Some(_)) => "Disabled",
        (None, None) => "Enabled",
    }
}
