//! The list of groups, and the form for a new one.

use super::GroupAdmin;
use super::api::NewGroupBody;
use crate::state::ConsoleState;
use crate::users::{accounts, config_roles, is_unknown_role, parse_role_fields, role_fields, roles_text, sent_field};
use axum::extract::{Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Form, Router};
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use store::{Group, Store};
use web::admin::filters::{field, non_empty};
use web::admin::list::{self, After, Cell, Column, List, ListPage, PageRequest};
use web::admin::{Admin, PageError, from_store_error, page};
use web::html::{error_message, link};
use web::openapi::ApiRouter;
use web::{see_other, status_of};
use wire::UserError;

pub(super) fn routes() -> ApiRouter<ConsoleState> {
    let pages = Router::new()
        .route(GroupList::PATH, get(show).post(add))
        .route("/admin/groups.csv", get(list::file::<GroupList>));
    list::api_routes::<GroupList>().with_pages(pages)
}

/// The list of groups.
pub(super) struct GroupList;

type GroupColumn = Column<GroupItem>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct GroupQuery {
    /// Part of the name or the description.
    text: Option<String>,
    /// Only groups that give this role.
    role: Option<String>,
}

/// A group in the list.
#[derive(Serialize, JsonSchema)]
pub(super) struct GroupItem {
    #[serde(flatten)]
    group: Group,
    /// The roles that the config names.
    #[serde(skip)]
    config_roles: Arc<[String]>,
}

impl List for GroupList {
    type State = ConsoleState;
    type Query = GroupQuery;
    type Row = GroupItem;

    const PATH: &'static str = "/admin/groups";
    const SUMMARY: &'static str = "List groups";
    const TITLE: &'static str = "Groups";
    const EMPTY: &'static str = "No groups match.";
    const NONE_YET: &'static str =
        "There are no groups yet. A group gives roles to its members. Add the first one below.";
    const COLUMNS: &'static [GroupColumn] = &[
        GroupColumn::in_file("id", |row| Cell::text(&row.group.id)),
        GroupColumn::new("Name", "name", |row| Cell::text(&row.group.name))
            .shown_as(|row| link(format!("{}/{}", Self::PATH, row.group.id), &row.group.name)),
        GroupColumn::new("For", "description", |row| Cell::text(&row.group.description)),
        GroupColumn::new("Roles", "roles", |row| Cell::text(row.group.roles.join(" ")))
            .shown_as(|row| roles_text(&row.group.roles, &row.config_roles)),
        GroupColumn::new("Members set by", "source", |row| Cell::text(source(&row.group))),
        GroupColumn::new("Members", "members", |row| Cell::count(row.group.members)).aligned_right(),
    ];

    fn store(state: &ConsoleState) -> &Store {
        &state.store
    }

    async fn fetch(
        state: &ConsoleState,
        query: &GroupQuery,
        page: &PageRequest,
    ) -> Result<ListPage<GroupItem>, UserError> {
        accounts(state)?;
        let mut groups = state.store.groups().await.map_err(from_store_error)?;
        if let Some(text) = non_empty(query.text.as_deref()).map(|text| text.to_lowercase()) {
            groups.retain(|group| [&group.name, &group.description].iter().any(|of| of.to_lowercase().contains(&text)));
        }
        if let Some(role) = non_empty(query.role.as_deref()) {
            groups.retain(|group| group.roles.contains(&role));
        }
        let config_roles: Arc<[String]> = config_roles(state).into();
        Ok(page.page_in(groups)?.map(|group| GroupItem { group, config_roles: config_roles.clone() }))
    }

    fn filters(_: &ConsoleState, query: &GroupQuery) -> Option<AnyView> {
        Some(
            view! {
                {field("text", "Name or description", "search", query.text.as_deref())}
                {field("role", "Role", "text", query.role.as_deref())}
            }
            .into_any(),
        )
    }
}

/// Returns who sets the members of a group.
pub(super) fn source(group: &Group) -> &'static str {
    if group.provisioned { "directory" } else { "administrators" }
}

/// `GET /admin/groups`
async fn show(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<GroupQuery>,
    Query(after): Query<After>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    if accounts(&state).is_err() {
        let content = view! {
            <p class="cw-account-note">"This server does not manage users, and so it has no groups of them."</p>
        };
        return Ok(page(&admin, GroupList::PATH, StatusCode::OK, GroupList::TITLE, content));
    }
    let list = list::view::<GroupList>(&state, &query, after, raw.as_deref()).await?;
    let content = view! {
        {list.into_any()}
        {new_group_view(config_roles(&state), NewGroupBody::default(), None)}
    };
    Ok(page(&admin, GroupList::PATH, StatusCode::OK, GroupList::TITLE, content))
}

/// `POST /admin/groups`
async fn add(
    admin: Admin,
    State(state): State<ConsoleState>,
    Form(form): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let sent = NewGroupBody {
        name: sent_field(&form, "name").unwrap_or_default().to_owned(),
        description: sent_field(&form, "description").unwrap_or_default().to_owned(),
        roles: parse_role_fields(&form),
        members: Vec::new(),
        allow_unknown_roles: sent_field(&form, "allowUnknownRoles").is_some(),
    };
    let error = match GroupAdmin::new(&state, &admin)?.add(&sent).await {
        Ok(id) => return Ok(see_other(&format!("{}/{id}", GroupList::PATH), None)),
        Err(error) => error,
    };
    let status = status_of(&error);
    let content = new_group_view(config_roles(&state), sent, Some(error));
    Ok(page(&admin, GroupList::PATH, status, GroupList::TITLE, content))
}

fn new_group_view(named: Vec<String>, sent: NewGroupBody, refused: Option<UserError>) -> impl IntoView {
    let insist = refused.as_ref().is_some_and(is_unknown_role);
    view! {
        <section class="cw-account-part" aria-labelledby="new-group">
            <h2 id="new-group">"Add a group"</h2>
            <p class="cw-account-note">
                "Its members have the roles of the group in addition to their own. You choose the members on the page of the group."
            </p>
            {error_message(refused.map(|error| error.message))}
            <form class="cw-account-form" method="post" action=GroupList::PATH>
                {text_fields(sent.name, sent.description, false)}
                {role_fields(named, &sent.roles, insist)}
                <button class="cw-button">"Add group"</button>
            </form>
        </section>
    }
}

/// Renders the fields for the name and the description.
pub(super) fn text_fields(name: String, description: String, is_fixed: bool) -> impl IntoView {
    view! {
        <label class="cw-account-field">
            <span>"Group name"</span>
            <input name="name" value=name required readonly=is_fixed maxlength="200" autocomplete="off" />
        </label>
        <label class="cw-account-field">
            <span>"Description"</span>
            <input name="description" value=description maxlength="500" autocomplete="off" />
        </label>
    }
}
