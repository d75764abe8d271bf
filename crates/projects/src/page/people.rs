//! The members of a project on its page.

use super::detail::{PageState, render};
use super::{PATH, is_shown, project_path};
use crate::project::Role;
use crate::service::{self, Service};
use crate::views::{ProjectMember, ProjectView};
use axum::Extension;
use axum::extract::{Path, RawForm, State};
use axum::response::Response;
use chat::Caller;
use leptos::prelude::*;
use web::html::{account_part, error_message, row_button, row_button_with};
use web::{HttpError, SentFields, query_encoded, see_other};
use wire::{ErrorCode, UserError};

/// The form that adds a member.
#[derive(Default)]
pub(super) struct MemberForm {
    name: String,
    role: Option<Role>,
    /// The reason why it was refused.
    pub(super) refused: Option<UserError>,
}

impl MemberForm {
    fn parse(sent: &[u8]) -> Self {
        let sent = SentFields::parse(sent);
        Self { name: sent.first("name").to_owned(), role: Role::from_name(sent.first("role")), refused: None }
    }

    /// Returns the role that was chosen.
    fn role(&self) -> Role {
        self.role.unwrap_or(Role::Viewer)
    }
}

/// Returns to the page of the project after a change, also if the user is gone already.
fn back(id: &str, done: &str, outcome: Result<(), UserError>) -> Result<Response, HttpError> {
    match outcome {
        Err(error) if error.code != ErrorCode::NotFound => Err(error.into()),
        _ => Ok(see_other(&format!("{}?done={done}", project_path(id)), None)),
    }
}

/// `POST /account/projects/{id}/members`
pub(super) async fn add(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    RawForm(sent): RawForm,
) -> Result<Response, HttpError> {
    let form = MemberForm::parse(&sent);
    match service::add_member(&service, &caller, &id, &form.name, form.role()).await {
        Ok(_) => Ok(see_other(&format!("{}?done=added", project_path(&id)), None)),
        Err(error) if is_shown(&error) => {
            let members = MemberForm { refused: Some(error), ..form };
            render(&service, &caller, &id, PageState { members, ..PageState::default() }).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /account/projects/{id}/members/{member}`
pub(super) async fn change(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path((id, member)): Path<(String, String)>,
    RawForm(sent): RawForm,
) -> Result<Response, HttpError> {
    service.project(&caller, &id).await?;
    let role = MemberForm::parse(&sent).role();
    back(&id, "changed", service::change_role(&service, &caller, &id, &member, role).await)
}

/// `POST /account/projects/{id}/members/{member}/remove`
pub(super) async fn remove(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path((id, member)): Path<(String, String)>,
) -> Result<Response, HttpError> {
    service.project(&caller, &id).await?;
    back(&id, "removed", service::remove_member(&service, &caller, &id, &member).await)
}

/// `POST /account/projects/{id}/leave`
pub(super) async fn leave(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    service::remove_member(&service, &caller, &id, &caller.user_id).await?;
    Ok(see_other(&format!("{PATH}?done=left"), None))
}

/// Renders the members, with forms for the owner.
pub(super) fn section(project: &ProjectView, caller: &Caller, form: MemberForm) -> AnyView {
    let is_owner = project.role == Role::Owner;
    let members = project.members.iter().map(|member| member_view(&project.id, member, caller, is_owner));
    let members = members.collect_view();
    let add = is_owner.then(|| add_form(&project.id, form));
    let content = view! {
        <ul class="cw-account-list">{members}</ul>
        {add}
    };
    account_part("members", "Members", content)
}

fn member_view(project_id: &str, member: &ProjectMember, caller: &Caller, is_owner: bool) -> AnyView {
    let ProjectMember { user_id, name, role, .. } = member.clone();
    let name = name.unwrap_or_else(|| user_id.clone());
    let (may, is_self) = (role_description(role), user_id == caller.user_id);
    let forms = (is_owner && role != Role::Owner).then(|| {
        let path = format!("{}/members/{}", project_path(project_id), query_encoded(&user_id));
        let remove = format!("{path}/remove");
        let (other, act) = match role {
            Role::Editor => (Role::Viewer, "Let only use"),
            Role::Viewer | Role::Owner => (Role::Editor, "Let change"),
        };
        let label = format!("{act}: {name}");
        view! {
            <div class="cw-memory-actions">
                {row_button_with([("role", other.name().to_owned())], path, act, label)}
                {row_button(remove, "Remove", format!("Remove: {name}"))}
            </div>
        }
    });
    view! {
        <li class="cw-account-line">
            <p><strong dir="auto">{name}</strong>{is_self.then_some(" (you)")}" "<span class="cw-account-note">{may}</span></p>
            {forms}
        </li>
    }
    .into_any()
}

/// Returns the description of a role.
fn role_description(role: Role) -> &'static str {
    match role {
        Role::Owner => "owns the project",
        Role::Editor => "may change it",
        Role::Viewer => "may use it",
    }
}

fn add_form(project_id: &str, form: MemberForm) -> AnyView {
    let MemberForm { name, role, refused } = form;
    let is_editor = role == Some(Role::Editor);
    view! {
        <h3>"Add a member"</h3>
        <p class="cw-account-note">
            "Members see the name, the instructions, the files and the members of the project. They do not see your conversations, and you do not see theirs."
        </p>
        {error_message(refused.map(|error| error.message))}
        <form class="cw-account-form" method="post" action=format!("{}/members", project_path(project_id))>
            <label class="cw-account-field">
                <span>"User name"</span>
                <input name="name" value=name required maxlength="64" autocomplete="off" spellcheck="false" dir="auto" />
            </label>
            <label class="cw-account-field">
                <span>"Role"</span>
                <select name="role">
                    <option value="viewer" selected=!is_editor>"May use it"</option>
                    <option value="editor" selected=is_editor>"May change its settings"</option>
                </select>
            </label>
            <button class="cw-button">"Add"</button>
        </form>
    }
    .into_any()
}
