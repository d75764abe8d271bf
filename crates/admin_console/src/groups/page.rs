//! The page of a group, and the actions on it.

use super::api::GroupChangeBody;
use super::list::{GroupList, source, text_fields};
use super::{GroupAdmin, MEMBERS_LISTED};
use crate::state::ConsoleState;
use crate::users::{config_roles, is_unknown_role, parse_role_fields, role_fields, roles_text, sent_field};
use auth::password::credential_rules::name_key;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Form, Router};
use leptos::prelude::*;
use serde::Deserialize;
use store::{Group, GroupMember};
use web::admin::list::List;
use web::admin::{Admin, PageError, delete_section, from_store_error, page};
use web::html::{error_message, link, row_button_with, success_message, text};
use web::{query_encoded, see_other, status_of};
use wire::{ErrorCode, UserError};

pub(super) fn routes() -> Router<ConsoleState> {
    Router::new().route("/admin/groups/{id}", get(show)).route("/admin/groups/{id}/{act}", post(apply_action))
}

/// The query of the page: set after a change, and where the members begin.
#[derive(Default, Deserialize)]
struct GroupPageQuery {
    done: Option<String>,
    #[serde(default)]
    after: String,
}

/// An action on a group.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum GroupAction {
    Save,
    AddMember,
    RemoveMember,
    Provision,
    Release,
    Delete,
}

/// Why a form was refused, and the roles that were entered in it.
#[derive(Default)]
struct Refused {
    error: Option<UserError>,
    roles: Option<Vec<String>>,
}

/// `GET /admin/groups/{id}`
async fn show(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    Query(query): Query<GroupPageQuery>,
) -> Result<Response, PageError> {
    render(&admin, &state, &id, query, Refused::default()).await
}

/// `POST /admin/groups/{id}/{act}`
async fn apply_action(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path((id, act)): Path<(String, GroupAction)>,
    Form(form): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let groups = GroupAdmin::new(&state, &admin)?;
    let field = |name: &str| sent_field(&form, name).map(str::to_owned);
    let mut entered = None;
    let changed = match act {
        GroupAction::Save => {
            entered = Some(parse_role_fields(&form));
            let body = GroupChangeBody {
                name: field("name"),
                description: field("description"),
                roles: entered.clone(),
                allow_unknown_roles: field("allowUnknownRoles").is_some(),
                ..GroupChangeBody::default()
            };
            groups.change(&id, &body).await
        }
        GroupAction::AddMember => match user_named(&state, &field("user").unwrap_or_default()).await {
            Ok(user_id) => {
                groups.change(&id, &GroupChangeBody { add_members: vec![user_id], ..GroupChangeBody::default() }).await
            }
            Err(error) => Err(error),
        },
        GroupAction::RemoveMember => {
            let remove_members = vec![field("user").unwrap_or_default()];
            groups.change(&id, &GroupChangeBody { remove_members, ..GroupChangeBody::default() }).await
        }
        GroupAction::Provision | GroupAction::Release => {
            let provisioned = Some(matches!(act, GroupAction::Provision));
            groups.change(&id, &GroupChangeBody { provisioned, ..GroupChangeBody::default() }).await
        }
        GroupAction::Delete => match groups.delete(&id).await {
            Ok(()) => return Ok(see_other(GroupList::PATH, None)),
            Err(error) => Err(error),
        },
    };
    match changed {
        Ok(()) => Ok(see_other(&format!("{}/{id}?done=1", GroupList::PATH), None)),
        Err(error) if error.code == ErrorCode::NotFound => Err(error.into()),
        Err(error) => {
            let refused = Refused { error: Some(error), roles: entered };
            render(&admin, &state, &id, GroupPageQuery::default(), refused).await
        }
    }
}

/// Returns the id of the user with a name, or with an id.
async fn user_named(state: &ConsoleState, name: &str) -> Result<String, UserError> {
    let name = name.trim();
    let found = match state.store.user_by_name(&name_key(name)).await.map_err(from_store_error)? {
        Some(found) => Some(found),
        None => state.store.user_by_id(name).await.map_err(from_store_error)?,
    };
    found.map(|(user, _)| user.id).ok_or_else(|| UserError::invalid("/user", "There is no user with this name."))
}

async fn render(
    admin: &Admin,
    state: &ConsoleState,
    id: &str,
    query: GroupPageQuery,
    refused: Refused,
) -> Result<Response, PageError> {
    let groups = GroupAdmin::new(state, admin)?;
    let group = groups.get(id).await?;
    let (members, next) = groups.members(id, &query.after).await?;
    let named = config_roles(state);
    let insist = refused.error.as_ref().is_some_and(is_unknown_role);
    let status = refused.error.as_ref().map_or(StatusCode::OK, status_of);
    let roles = role_fields(named.clone(), &refused.roles.unwrap_or_else(|| group.roles.clone()), insist);
    let facts = [
        ("Roles", roles_text(&group.roles, &named)),
        ("Members", text(group.members.to_string())),
        ("Members set by", text(source(&group))),
    ];
    let title = group.name.clone();
    let content = view! {
        {error_message(refused.error.map(|error| error.message))}
        {success_message(query.done.is_some().then_some("Done."))}
        <section class="cw-account-part" aria-label="About">
            {web::html::facts(facts)}
            <p class="cw-admin-links">
                <a href=GroupList::PATH>"All groups"</a>
            </p>
        </section>
        {members_view(&group, members, next, &admin.caller.user_id)}
        {change_view(&group, roles)}
    };
    Ok(page(admin, GroupList::PATH, status, &title, content))
}

fn members_view(group: &Group, members: Vec<GroupMember>, next: Option<String>, own_id: &str) -> impl IntoView + use<> {
    let (path, can_change) = (format!("{}/{}", GroupList::PATH, group.id), !group.provisioned);
    let (remove, add) = (format!("{path}/remove-member"), format!("{path}/add-member"));
    let is_empty = members.is_empty();
    let own_id = own_id.to_owned();
    let line = move |member: GroupMember| {
        let button = (can_change && member.id != own_id).then(|| {
            let name = format!("Remove {} from the group", member.name);
            row_button_with([("user", member.id.clone())], remove.clone(), "Remove", name)
        });
        view! {
            <li class="cw-account-line">
                <div>{link(format!("/admin/users/{}", member.id), &member.name)}</div>
                {button}
            </li>
        }
    };
    let more = next.map(|next| {
        let path = format!("{path}?after={}", query_encoded(&next));
        view! { <p class="cw-admin-links"><a href=path>{format!("Next {MEMBERS_LISTED} members")}</a></p> }
    });
    view! {
        <section class="cw-account-part" aria-labelledby="members">
            <h2 id="members">"Members"</h2>
            {is_empty.then(|| view! { <p class="cw-account-note">"Nobody is in this group."</p> })}
            <ul class="cw-account-list">{members.into_iter().map(line).collect_view()}</ul>
            {more}
            {if can_change {
                view! {
                    <form class="cw-account-form" method="post" action=add>
                        <label class="cw-account-field">
                            <span>"User name"</span>
                            <input name="user" required maxlength="64" autocomplete="off" autocapitalize="none" spellcheck="false" />
                        </label>
                        <button class="cw-button">"Add member"</button>
                    </form>
                }.into_any()
            } else {
                view! {
                    <p class="cw-account-note">"A directory sets the name and the members of this group, over SCIM."</p>
                }.into_any()
            }}
        </section>
    }
}

fn change_view<R: IntoView>(group: &Group, roles: R) -> impl IntoView + use<R> {
    let path = format!("{}/{}", GroupList::PATH, group.id);
    let to = |act: &str| format!("{path}/{act}");
    let (switch, switch_name, note) = if group.provisioned {
        ("release", "Set the members here", "Then the directory no longer finds this group.")
    } else {
        let note = "Then a directory that finds this group by its name over SCIM sets its members.";
        ("provision", "Let the directory set the members", note)
    };
    view! {
        <section class="cw-account-part" aria-labelledby="change">
            <h2 id="change">"Change"</h2>
            <form class="cw-account-form" method="post" action=to("save")>
                {text_fields(group.name.clone(), group.description.clone(), group.provisioned)}
                {roles}
                <button class="cw-button">"Save group"</button>
            </form>
            <p class="cw-account-note">{note}</p>
            <form class="cw-admin-acts" method="post" action=to(switch)><button class="cw-button">{switch_name}</button></form>
        </section>
        {delete_section(&path, "Its members lose the roles of the group, and stay users.", "Delete group")}
    }
}
