//! The page of a user, and the actions on it.

use super::identities::identities_view;
use super::{UserAdmin, roles, sent_field};
use crate::state::ConsoleState;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Form, Router};
use leptos::prelude::*;
use serde::Deserialize;
use store::{UserGroup, UserRow};
use web::admin::{Admin, PageError, page};
use web::html::{error_message, link, number, success_message, text};
use web::times::{day, minute};
use web::{see_other, status_of};
use wire::{ErrorCode, UserError};

pub(super) fn routes() -> Router<ConsoleState> {
    Router::new().route("/admin/users/{id}", get(show)).route("/admin/users/{id}/{act}", post(apply_action))
}

/// `GET /admin/users/{id}`
async fn show(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    Query(what): Query<DoneQuery>,
) -> Result<Response, PageError> {
    let notice = if what.done.is_some() { UserNotice::Done } else { UserNotice::Nothing };
    render(&admin, &state, &id, notice).await
}

/// The query of the page: set after a change.
#[derive(Deserialize)]
struct DoneQuery {
    done: Option<String>,
}

/// An action on a user.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum UserAction {
    Roles,
    Disable,
    Enable,
    EndSessions,
    ResetPassword,
    ResetSecondFactor,
    Unlink,
    Provision,
    Release,
    Delete,
}

/// `POST /admin/users/{id}/{act}`
async fn apply_action(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path((id, act)): Path<(String, UserAction)>,
    Form(form): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let users = UserAdmin::new(&state, &admin)?;
    let field = |name: &str| sent_field(&form, name).unwrap_or_default();
    let did = match act {
        UserAction::Roles => {
            let (roles, allow_unknown) = (roles::parse_role_fields(&form), !field("allowUnknownRoles").is_empty());
            match users.set_roles(&id, roles.clone(), allow_unknown).await {
                Err(error) if roles::is_unknown_role(&error) => {
                    return render(&admin, &state, &id, UserNotice::UnknownRoles(roles, error)).await;
                }
                did => did,
            }
        }
        UserAction::Disable => users.set_disabled(&id, true).await,
        UserAction::Enable => users.set_disabled(&id, false).await,
        UserAction::Unlink => users.unlink_identity(&id, field("identity")).await,
        UserAction::Provision => users.set_provisioned(&id, true).await,
        UserAction::Release => users.set_provisioned(&id, false).await,
        UserAction::EndSessions => users.end_sessions(&id).await,
        UserAction::ResetPassword => match users.reset_password(&id).await {
            Ok(password) => return render(&admin, &state, &id, UserNotice::Password(password)).await,
            Err(error) => Err(error),
        },
        UserAction::ResetSecondFactor => users.reset_second_factor(&id).await,
        UserAction::Delete => match users.delete(&id, field("name")).await {
            Ok(()) => return Ok(see_other("/admin/users", None)),
            Err(error) => Err(error),
        },
    };
    match did {
        Ok(()) => Ok(see_other(&format!("/admin/users/{id}?done=1"), None)),
        Err(error) => render(&admin, &state, &id, UserNotice::Problem(error)).await,
    }
}

/// The result of a form, shown on the page.
pub(super) enum UserNotice {
    Nothing,
    Done,
    Password(String),
    Problem(UserError),
    /// The roles that were entered, of which the config does not name at least one.
    UnknownRoles(Vec<String>, UserError),
}

pub(super) async fn render(
    admin: &Admin,
    state: &ConsoleState,
    id: &str,
    notice: UserNotice,
) -> Result<Response, PageError> {
    let users = UserAdmin::new(state, admin)?;
    let user = users.get(id).await?;
    let identities = users.identities(id).await?;
    let passwords = users.accounts.settings.passwords;
    let named = roles::config_roles(state);
    let is_self = user.id == admin.caller.user_id;
    let title = user.name.clone();
    let (mut chosen, mut insist) = (user.roles.clone(), false);
    let (status, refused, password, is_done) = match notice {
        UserNotice::Nothing => (StatusCode::OK, None, None, false),
        UserNotice::Done => (StatusCode::OK, None, None, true),
        UserNotice::Password(password) => (StatusCode::OK, None, Some(password), false),
        UserNotice::UnknownRoles(roles, error) => {
            (chosen, insist) = (roles, true);
            (StatusCode::UNPROCESSABLE_ENTITY, Some(error.message), None, false)
        }
        UserNotice::Problem(error) => {
            let status = status_of(&error);
            if error.code == ErrorCode::NotFound {
                return Err(error.into());
            }
            (status, Some(error.message), None, false)
        }
    };
    let password = password.map(|password| {
        view! {
            {success_message(Some("Give this password to the user now: it will not be shown again. They replace it when they sign in."))}
            <input class="cw-account-key" readonly aria-label="Password" value=password />
        }
    });
    let facts = [
        ("Roles", roles::roles_text(&user.roles, &named)),
        ("Groups", groups_view(&user)),
        ("Managed by", text(if user.provisioned { "directory" } else { "administrators" })),
        ("Signs in with", text(sign_in_text(&user))),
        ("State", text(state_text(&user))),
        ("Created", text(day(user.created_at))),
        ("Last seen (UTC)", text(user.seen_at.map(minute).unwrap_or_default())),
        ("Sessions", user.sessions.into_any()),
    ];
    let conversations = format!("/admin/conversations?owner={}", user.id);
    let log = format!("/admin/audit?user={}", user.id);
    let content = view! {
        {error_message(refused)}
        {success_message(is_done.then_some("Done."))}
        {password}
        <section class="cw-account-part" aria-label="About">
            {web::html::facts(facts)}
            <p class="cw-admin-links">
                <a href=conversations>{format!("Conversations ({})", number(user.conversations as f64))}</a>
                <a href=log>"Audit log"</a>
            </p>
        </section>
        {identities_view(&user.id, identities, !is_self && user.deleted_at.is_none())}
        {match (is_self, user.deleted_at.is_some()) {
            (_, true) => view! { <p class="cw-account-note">"This user is being deleted."</p> }.into_any(),
            (true, _) => {
                view! { <p class="cw-account-note">"This is your own account: change your password on "<a href="/auth/account">"your account page"</a>"."</p> }
                    .into_any()
            }
            (false, false) => actions_view(user, roles::fields(named, &chosen, insist), passwords).into_any(),
        }}
    };
    Ok(page(admin, "/admin/users", status, &title, content))
}

fn actions_view(user: UserRow, roles: impl IntoView, passwords: bool) -> impl IntoView {
    let to = |act: &str| format!("/admin/users/{}/{act}", user.id);
    let (switch, switch_name, note) = match user.disabled_at {
        None => ("disable", "Disable", "Disabling signs the user out everywhere and stops their running answers."),
        Some(_) => ("enable", "Enable", "Enabling lets the user sign in again."),
    };
    view! {
        <section class="cw-account-part" aria-labelledby="rights">
            <h2 id="rights">"Roles and access"</h2>
            <form class="cw-account-form" method="post" action=to("roles")>
                {roles}
                <button class="cw-button">"Save roles"</button>
            </form>
            <p class="cw-account-note">{note}</p>
            <div class="cw-admin-acts">
                <form method="post" action=to(switch)><button class="cw-button">{switch_name}</button></form>
                <form method="post" action=to("end-sessions")><button class="cw-button">"Sign out everywhere"</button></form>
                {passwords.then(|| view! {
                    <form method="post" action=to("reset-password")><button class="cw-button">"Reset password"</button></form>
                })}
                {if user.provisioned {
                    view! {
                        <form method="post" action=to("release")><button class="cw-button">"Release from the directory"</button></form>
                    }.into_any()
                } else {
                    view! {
                        <form method="post" action=to("provision")><button class="cw-button">"Let the directory manage the user"</button></form>
                    }.into_any()
                }}
                {user.has_second_factor.then(|| view! {
                    <form method="post" action=to("reset-second-factor")><button class="cw-button">"Reset two-step sign-in"</button></form>
                })}
            </div>
        </section>
        <section class="cw-account-part" aria-labelledby="delete">
            <h2 id="delete">"Delete user and data"</h2>
            <p class="cw-account-note">
                "Permanently deletes the user's conversations, approvals, feedback, links, folders, sessions and keys. Usage figures and the audit log are kept, with the user's id only."
            </p>
            <form class="cw-account-form" method="post" action=to("delete")>
                <label class="cw-account-field">
                    <span>"Type the user's name to confirm"</span>
                    <input name="name" required maxlength="64" autocomplete="off" autocapitalize="none" spellcheck="false" />
                </label>
                <button class="cw-button cw-danger">"Delete user"</button>
            </form>
        </section>
    }
}

/// Formats the groups of a user, with the roles that each gives.
pub(super) fn groups_text(user: &UserRow) -> String {
    user.groups.iter().map(group_text).collect::<Vec<_>>().join("; ")
}

fn group_text(group: &UserGroup) -> String {
    match group.roles.as_slice() {
        [] => group.name.clone(),
        roles => format!("{} (gives {})", group.name, roles.join(", ")),
    }
}

fn groups_view(user: &UserRow) -> AnyView {
    if user.groups.is_empty() {
        return text("–");
    }
    let item = |group: &UserGroup| view! { <li>{link(format!("/admin/groups/{}", group.id), group_text(group))}</li> };
    view! { <ul class="cw-account-list">{user.groups.iter().map(item).collect_view()}</ul> }.into_any()
}

/// Formats how a user signs in.
pub(super) fn sign_in_text(user: &UserRow) -> String {
    let password =
        user.has_password.then_some(if user.must_change_password { "password (not yet replaced)" } else { "password" });
    let app = user.has_second_factor.then_some("authenticator app");
    password.into_iter().chain(app).chain(user.issuers.iter().map(String::as_str)).collect::<Vec<_>>().join(", ")
}

/// Formats whether a user may sign in.
pub(super) fn state_text(user: &UserRow) -> &'static str {
    match (user.deleted_at, user.disabled_at) {
        (Some(_), _) => "Being deleted",
        (None, Some(_)) => "Disabled",
        (None, None) => "Enabled",
    }
}
