//! The page and the API with which administrators switch memory off for all. They see the number of
//! facts, but not the facts.

use crate::service::Memory;
use crate::store::{self, Totals};
use axum::Router;
use axum::extract::{Json, State};
use axum::http::StatusCode;
use axum::response::{NoContent, Response};
use axum::routing::{get, post};
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use web::admin::{ADMINISTRATION, Admin, MenuEntry, MenuGroup, PageError, Section, from_store_error, page};
use web::html::{facts, text};
use web::openapi::ApiRouter;
use web::{HttpError, SentJson, see_other, valid_json};
use wire::UserError;

/// The page.
const PATH: &str = "/admin/memory";
const TITLE: &str = "Memory";

/// Returns the section of the console.
pub(crate) fn section(memory: Memory) -> Section {
    let pages =
        Router::new().route(PATH, get(show)).route("/admin/memory/on", post(on)).route("/admin/memory/off", post(off));
    let routes = ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/memory", overview, "Get the number of facts that agents remember about users")
        .put("/api/admin/memory", switch, "Switch memory on or off for all users")
        .with_pages(pages);
    Section {
        menu: vec![MenuEntry { group: MenuGroup::People, path: PATH, title: TITLE }],
        actions: vec!["admin:switch_memory".to_owned()],
        routes: routes.map(|router| router.with_state(memory)),
    }
}

/// The number of facts that agents remember about users.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MemoryOverview {
    /// Whether administrators have left memory on.
    enabled: bool,
    /// Whether the config has it on.
    enabled_by_config: bool,
    /// The number of users with facts.
    users: i64,
    /// The number of facts.
    facts: i64,
    /// The number of users who have switched it off.
    switched_off: i64,
}

/// The body that switches memory on or off.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SwitchBody {
    /// Whether facts about users may be stored and read.
    enabled: bool,
}

async fn load(memory: &Memory) -> Result<MemoryOverview, UserError> {
    let is_on = memory.store().read(|db| Box::pin(store::is_on_for_all(db))).await.map_err(from_store_error)?;
    let Totals { users, facts, switched_off } = store::totals(memory.store()).await.map_err(from_store_error)?;
    Ok(MemoryOverview { enabled: is_on, enabled_by_config: memory.settings().enabled, users, facts, switched_off })
}

async fn set(memory: &Memory, admin: &Admin, is_on: bool) -> Result<(), UserError> {
    let audit = admin.audit_entry("switch_memory", "", json!({ "enabled": is_on }));
    store::set_on_for_all(memory.store(), is_on, audit).await.map_err(from_store_error)
}

/// `GET /api/admin/memory`
async fn overview(_: Admin, State(memory): State<Memory>) -> Result<Json<MemoryOverview>, HttpError> {
    Ok(Json(load(&memory).await?))
}

/// `PUT /api/admin/memory`
async fn switch(
    admin: Admin,
    State(memory): State<Memory>,
    body: SentJson<SwitchBody>,
) -> Result<NoContent, HttpError> {
    let SwitchBody { enabled } = valid_json(body)?;
    set(&memory, &admin, enabled).await?;
    Ok(NoContent)
}

/// `POST /admin/memory/on`
async fn on(admin: Admin, State(memory): State<Memory>) -> Result<Response, PageError> {
    set(&memory, &admin, true).await?;
    Ok(see_other(PATH, None))
}

/// `POST /admin/memory/off`
async fn off(admin: Admin, State(memory): State<Memory>) -> Result<Response, PageError> {
    set(&memory, &admin, false).await?;
    Ok(see_other(PATH, None))
}

/// `GET /admin/memory`
async fn show(admin: Admin, State(memory): State<Memory>) -> Result<Response, PageError> {
    let overview = load(&memory).await?;
    let state = match (overview.enabled_by_config, overview.enabled) {
        (false, _) => "Off by the config",
        (true, true) => "On",
        (true, false) => "Off for all users",
    };
    let (action, label, note) = if overview.enabled {
        (
            "/admin/memory/off",
            "Switch memory off for all users",
            "While it is off, agents store no new facts and do not get the stored ones. Those are kept, and users can still see and delete them.",
        )
    } else {
        ("/admin/memory/on", "Switch memory on", "When it is on again, agents get the stored facts and store new ones.")
    };
    let content = view! {
        <section class="cw-account-part" aria-label=TITLE>
            {facts([
                ("State", text(state)),
                ("Users with facts", text(overview.users.to_string())),
                ("Facts", text(overview.facts.to_string())),
                ("Users who have switched it off", text(overview.switched_off.to_string())),
            ])}
            <p>"Only the user can see and change the facts about them."</p>
            <p>{note}</p>
            <form method="post" action=action>
                <button type="submit" class="cw-button">{label}</button>
            </form>
        </section>
    };
    Ok(page(&admin, PATH, StatusCode::OK, TITLE, content))
}
