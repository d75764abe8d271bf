//! Skills of folders: their pages, and the switch with which an administrator takes one from all agents.

use super::instructions::instructions_view;
use super::{PATH, SkillItem, SkillOrigin, apply};
use crate::catalog::CatalogSkill;
use crate::folder::SKILL_FILES;
use crate::path::SkillPath;
use crate::section::Skills;
use crate::store::{self, ChangeOutcome, MAX_SWITCHES};
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router};
use capability::Context;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use web::admin::{ADMINISTRATION, Admin, PageError, from_store_error, page};
use web::html::Heading::Text;
use web::html::{account_part, facts, name as file_name, table, text};
use web::openapi::ApiRouter;
use web::times::now_millis;
use web::{HttpError, SentJson, query_encoded, see_other, valid_json};
use wire::UserError;

pub(super) fn pages() -> Router<Context> {
    Router::new().route("/admin/skills/{name}/folder", get(show).post(switch_from_form))
}

pub(super) fn routes() -> ApiRouter<Context> {
    ApiRouter::new(&ADMINISTRATION).put(
        "/api/admin/skills/{name}/folder",
        switch_from_api,
        "Switch a skill of a folder off or on, for all agents",
    )
}

/// The switch of a skill of a folder.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FolderSkillSwitch {
    /// Whether agents can have it.
    pub(super) enabled: bool,
}

/// Returns a skill of a folder, and whether agents can have it.
pub(super) fn skill(context: &Context, name: &str) -> Result<(Arc<CatalogSkill>, bool), UserError> {
    let config = context.current.config();
    let catalog = config.section::<Skills>().map(|skills| skills.catalog.clone()).unwrap_or_default();
    let found = catalog.folder_skills().find(|(skill, _)| skill.skill.name == name);
    found.map(|(skill, enabled)| (skill.clone(), enabled)).ok_or_else(UserError::not_found)
}

/// Returns a skill of a folder as the console lists it.
pub(super) fn item(skill: &CatalogSkill, enabled: bool) -> SkillItem {
    SkillItem {
        name: skill.skill.name.clone(),
        description: skill.skill.description.clone(),
        origin: SkillOrigin::Folder,
        enabled,
        digest: None,
        findings: 0,
        installed_by: None,
        installed_at: None,
    }
}

/// Switches a skill of a folder off or on.
///
/// # Errors
/// 404 if no folder has it.
pub(super) async fn switch(context: &Context, admin: &Admin, name: &str, enabled: bool) -> Result<(), UserError> {
    skill(context, name)?;
    let what = if enabled { "enable_skill" } else { "disable_skill" };
    let entry = admin.audit_entry(what, "", json!({ "skill": name, "origin": "folder" }));
    let by = (admin.caller.user_id.clone(), now_millis());
    let switched = store::switch(&context.store, name.to_owned(), enabled, by, entry).await;
    if switched.map_err(from_store_error)? == ChangeOutcome::Full {
        let message = format!("At most {MAX_SWITCHES} skills of folders can be switched off.");
        return Err(UserError::invalid("/enabled", message));
    }
    apply(context).await
}

/// `PUT /api/admin/skills/{name}/folder`
async fn switch_from_api(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    sent: SentJson<FolderSkillSwitch>,
) -> Result<Json<SkillItem>, HttpError> {
    let FolderSkillSwitch { enabled } = valid_json(sent)?;
    switch(&context, &admin, &name, enabled).await?;
    let (skill, enabled) = skill(&context, &name)?;
    Ok(Json(item(&skill, enabled)))
}

/// `POST /admin/skills/{name}/folder`
async fn switch_from_form(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    Form(sent): Form<FolderSkillSwitch>,
) -> Result<Response, PageError> {
    switch(&context, &admin, &name, sent.enabled).await?;
    Ok(see_other(&format!("{PATH}/{}/folder", query_encoded(&name)), None))
}

/// `GET /admin/skills/{name}/folder`
async fn show(admin: Admin, State(context): State<Context>, Path(name): Path<String>) -> Result<Response, PageError> {
    let (skill, enabled) = skill(&context, &name)?;
    let files = skill.folder_files().await.unwrap_or_default();
    let file = files.iter().find(|file| SKILL_FILES.contains(&file.as_str())).cloned();
    let instructions = match file {
        Some(file) => skill.read_file(file).await.unwrap_or_else(String::into_bytes),
        None => Vec::new(),
    };
    Ok(page(&admin, PATH, StatusCode::OK, &name, content(&skill, enabled, &instructions, files)))
}

fn content(skill: &CatalogSkill, enabled: bool, instructions: &[u8], files: Vec<SkillPath>) -> AnyView {
    let path = format!("{PATH}/{}", skill.skill.name);
    let about = [
        ("State", text(if enabled { "enabled" } else { "disabled" })),
        ("Description", text(skill.skill.description.clone())),
        ("Source", text("a folder of the config")),
    ];
    let (act, note) = if enabled {
        ("Disable", "Agents that name it, or have all skills, use it. Its files are changed in the folder.")
    } else {
        (
            "Enable",
            "No agent has it. An enabled skill with the same name that was installed takes its place. The switch stays \
             when the files of the folder change.",
        )
    };
    let lines = files.into_iter().map(|file| [file_name(file.as_str())]);
    view! {
        <section class="cw-account-part" aria-label="About">
            {facts(about)}
            <p class="cw-account-note">{note}</p>
            <div class="cw-admin-acts">
                <form method="post" action=format!("{path}/folder")>
                    <input type="hidden" name="enabled" value=(!enabled).to_string() />
                    <button class="cw-button">{act}</button>
                </form>
                <a class="cw-button" href=format!("{path}/export?origin=folder")>"Export"</a>
            </div>
        </section>
        {instructions_view(instructions)}
        {account_part("files", "Files", table([Text("File")], lines, "There are no files."))}
    }
    .into_any()
}
