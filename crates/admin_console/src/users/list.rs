//! The list of users, and the form for a new one.

use super::api::NewUserBody;
use super::page::{UserNotice, groups_text, render, sign_in_text, state_text};
use super::{UserAdmin, accounts, roles, sent_field};
use crate::state::ConsoleState;
use auth::password::credential_rules;
use axum::extract::{Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Form, Router};
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use store::{Store, UserFilter, UserRow, UserSort};
use web::admin::filters::{Choice, field, non_empty, select_field};
use web::admin::list::{self, After, Cell, Column, List, ListPage, PageRequest};
use web::admin::{Admin, PageError, from_store_error, page};
use web::html::{error_message, link, number, text};
use web::openapi::ApiRouter;
use web::times::day;
use wire::UserError;

pub(super) fn routes() -> ApiRouter<ConsoleState> {
    let pages =
        Router::new().route(UserList::PATH, get(show).post(add)).route("/admin/users.csv", get(list::file::<UserList>));
    list::api_routes::<UserList>().with_pages(pages)
}

struct UserList;

type UserColumn = Column<UserItem>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
struct UserQuery {
    /// Part of the name.
    text: Option<String>,
    /// Only users with this role.
    role: Option<String>,
    /// `all`, `enabled` or `disabled`.
    #[serde(default)]
    state: UserStateQuery,
    /// `name` or `newest`.
    #[serde(default)]
    sort: UserSortQuery,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum UserStateQuery {
    #[default]
    All,
    Enabled,
    Disabled,
}

impl Choice for UserStateQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::All, "all", "All"), (Self::Enabled, "enabled", "Enabled"), (Self::Disabled, "disabled", "Disabled")];
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum UserSortQuery {
    #[default]
    Name,
    Newest,
}

impl Choice for UserSortQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::Name, "name", "By name"), (Self::Newest, "newest", "Newest first")];
}

/// A user in the list.
#[derive(Serialize, JsonSchema)]
struct UserItem {
    #[serde(flatten)]
    user: UserRow,
    /// The roles that the config names.
    #[serde(skip)]
    config_roles: Arc<[String]>,
}

impl List for UserList {
    type State = ConsoleState;
    type Query = UserQuery;
    type Row = UserItem;

    const PATH: &'static str = "/admin/users";
    const SUMMARY: &'static str = "List users";
    const TITLE: &'static str = "Users";
    const EMPTY: &'static str = "No users match.";
    const NONE_YET: &'static str =
        "There are no users yet. They appear here when they sign up or accept an invitation.";
    const COLUMNS: &'static [UserColumn] = &[
        UserColumn::in_file("id", |row| Cell::text(&row.user.id)),
        UserColumn::new("Name", "name", |row| Cell::text(&row.user.name))
            .shown_as(|row| link(format!("/admin/users/{}", row.user.id), &row.user.name)),
        UserColumn::new("Roles", "roles", |row| Cell::text(row.user.roles.join(" ")))
            .shown_as(|row| roles::roles_text(&row.user.roles, &row.config_roles)),
        UserColumn::new("Groups", "groups", |row| Cell::text(groups_text(&row.user))),
        UserColumn::new("Roles at providers", "groupRoles", |row| Cell::text(row.user.group_roles.join(" "))),
        UserColumn::new("Signs in with", "signsInWith", |row| Cell::text(sign_in_text(&row.user))),
        UserColumn::new("State", "state", |row| Cell::text(state_text(&row.user))),
        UserColumn::new("Last seen (UTC)", "lastSeen", |row| Cell::time(row.user.seen_at)),
        UserColumn::new("Created", "created", |row| Cell::time(row.user.created_at))
            .shown_as(|row| text(day(row.user.created_at))),
        UserColumn::new("Conversations", "conversations", |row| Cell::count(row.user.conversations))
            .aligned_right()
            .shown_as(|row| {
                link(format!("/admin/conversations?owner={}", row.user.id), number(row.user.conversations as f64))
            }),
    ];

    fn store(state: &ConsoleState) -> &Store {
        &state.store
    }

    async fn fetch(
        state: &ConsoleState,
        query: &UserQuery,
        page: &PageRequest,
    ) -> Result<ListPage<UserItem>, UserError> {
        let accounts = accounts(state)?;
        let filter = UserFilter {
            text: credential_rules::name_key(query.text.as_deref().unwrap_or_default()),
            role: non_empty(query.role.as_deref()),
            disabled: match query.state {
                UserStateQuery::All => None,
                UserStateQuery::Enabled => Some(false),
                UserStateQuery::Disabled => Some(true),
            },
            id: None,
        };
        let sort = if query.sort == UserSortQuery::Name { UserSort::Name } else { UserSort::Newest };
        let found = accounts.store.users(filter, sort, page.limit(), page.cursor()?).await.map_err(from_store_error)?;
        let config_roles: Arc<[String]> = roles::config_roles(state).into();
        Ok(page.page(found).map(|user| UserItem { user, config_roles: config_roles.clone() }))
    }

    fn filters(_: &ConsoleState, query: &UserQuery) -> Option<AnyView> {
        Some(
            view! {
                {field("text", "Name", "search", query.text.as_deref())}
                {field("role", "Role", "text", query.role.as_deref())}
                {select_field("state", "State", query.state)}
                {select_field("sort", "Order", query.sort)}
            }
            .into_any(),
        )
    }
}

/// `GET /admin/users`
async fn show(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<UserQuery>,
    Query(after): Query<After>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    let Ok(accounts) = accounts(&state) else { return Ok(unmanaged_page(&admin)) };
    let list = list::view::<UserList>(&state, &query, after, raw.as_deref()).await?;
    let content = view! {
        {list.into_any()}
        {accounts.settings.passwords.then(|| new_user_view(roles::config_roles(&state), None))}
    };
    Ok(page(&admin, UserList::TAB, StatusCode::OK, UserList::TITLE, content))
}

/// `POST /admin/users`. The response is the only page that shows the first password.
async fn add(
    admin: Admin,
    State(state): State<ConsoleState>,
    Form(form): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let sent = NewUserBody {
        name: sent_field(&form, "name").unwrap_or_default().to_owned(),
        roles: roles::parse_role_fields(&form),
        allow_unknown_roles: sent_field(&form, "allowUnknownRoles").is_some(),
    };
    let error = match UserAdmin::new(&state, &admin)?.add(&sent).await {
        Ok((id, password)) => return render(&admin, &state, &id, UserNotice::Password(password)).await,
        Err(error) => error,
    };
    let list = list::view::<UserList>(&state, &UserQuery::default(), After::default(), None).await?;
    let content = view! {
        {list.into_any()}
        {new_user_view(roles::config_roles(&state), Some((sent, error)))}
    };
    Ok(page(&admin, UserList::TAB, StatusCode::UNPROCESSABLE_ENTITY, UserList::TITLE, content))
}

fn new_user_view(named: Vec<String>, refused: Option<(NewUserBody, UserError)>) -> impl IntoView {
    let (name, chosen, text, insist) = match refused {
        Some((sent, error)) => (sent.name, sent.roles, Some(error.message.clone()), roles::is_unknown_role(&error)),
        None => Default::default(),
    };
    view! {
        <section class="cw-account-part" aria-labelledby="new-user">
            <h2 id="new-user">"Add a user"</h2>
            <p class="cw-account-note">
                "The user gets a first password, which is shown once and which they replace when they sign in. Or "
                <a href="/admin/invitations">"invite them"</a>": then they choose name and password themselves. Many at once are "
                <a href="/admin/users/import">"invited from CSV"</a>"."
            </p>
            {error_message(text)}
            <form class="cw-account-form" method="post" action=UserList::PATH>
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
    page(admin, UserList::TAB, StatusCode::OK, UserList::TITLE, content)
}
