//! The routes `/api/skills`, as DeerFlow's gateway has them: users read which skills their agents have,
//! administrators see and change all of them.

use super::upload::Archive;
use super::{InstallOptions, SkillChange, SkillItem, SkillOrigin, find, folders, items};
use crate::capability::skills;
use crate::catalog::CatalogSkill;
use crate::console;
use auth::password::KeyScope;
use auth::rights::{AccessDecision, check_rule};
use axum::extract::{Path, State};
use axum::{Extension, Json};
use capability::{Caller, Context};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use web::admin::{ADMINISTRATION, Admin, ShowsAdministration};
use web::openapi::{Access, ApiRouter, Created, Tag};
use web::{HttpError, SentJson, SentQuery, valid_json, valid_query};
use wire::{ErrorCode, UserError};

/// The group in the OpenAPI document.
const SKILLS: Tag = Tag {
    name: "skills",
    description: "The skills of the agents that the caller may use; for administrators all skills, also disabled ones, with an API key only if it has the scope `admin`, too. Scope `agents`.",
    access: Access::Users { scope: Some(KeyScope::Agents) },
};

/// The error for enabling a skill without saying which files are meant.
const NEEDS_DIGEST: &str = "To enable a skill, send the `digest` of the files that you have looked at.";

/// Returns the routes.
pub(crate) fn routes(context: Context) -> ApiRouter {
    let reading = ApiRouter::new(&SKILLS)
        .get("/api/skills", list, "List the skills that the caller's agents have")
        .get("/api/skills/{name}", show, "Get a skill");
    let changing = ApiRouter::new(&ADMINISTRATION).put("/api/skills/{name}", change, "Enable or disable a skill");
    reading.merge(changing).map(|router| router.with_state(context))
}

/// Returns the route to which archives are sent.
pub(super) fn upload_routes() -> ApiRouter<Context> {
    ApiRouter::new(&ADMINISTRATION).post("/api/skills/install", install, "Install a skill from an archive")
}

/// A skill.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct SkillView {
    /// The name.
    name: String,
    /// Its description: what it does and when it is used.
    description: String,
    /// Where it comes from.
    category: SkillCategory,
    /// Whether agents can have it.
    enabled: bool,
    /// The hash of all its files. For administrators, of an installed skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
}

/// Where a skill comes from.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SkillCategory {
    /// A folder of the config.
    Public,
    /// An archive that an administrator has installed.
    Custom,
}

/// Skills.
#[derive(Serialize, JsonSchema)]
struct SkillViews {
    skills: Vec<SkillView>,
}

/// The change of a skill.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SkillSwitch {
    /// Whether agents can have it.
    enabled: bool,
    /// The hash of the files that the administrator has looked at; 409 if the skill has others by now. Needed to
    /// enable an installed skill; one of a folder has none.
    digest: Option<String>,
}

/// An installed skill.
#[derive(Serialize, JsonSchema)]
struct SkillInstalled {
    /// Always `true`.
    success: bool,
    /// Its name.
    skill_name: String,
    /// The message, which says what to do next.
    message: String,
}

impl From<SkillItem> for SkillView {
    fn from(item: SkillItem) -> Self {
        let category = match item.origin {
            SkillOrigin::Folder => SkillCategory::Public,
            SkillOrigin::Installed => SkillCategory::Custom,
        };
        let SkillItem { name, description, enabled, digest, .. } = item;
        Self { name, description, category, enabled, digest }
    }
}

/// Returns the skills that a caller may know of, by their names.
async fn visible(
    context: &Context,
    caller: &Caller,
    ShowsAdministration(shows_all): ShowsAdministration,
) -> Result<Vec<SkillView>, UserError> {
    if shows_all {
        return Ok(items(context).await?.into_iter().map(SkillView::from).collect());
    }
    let config = context.current.config();
    let may_use = |agent: &&config::Agent| {
        caller.check_agent(&agent.id).is_ok() && check_rule(caller, &agent.auth) == AccessDecision::Allowed
    };
    let of_agents = config.agents.values().filter(may_use).flat_map(|agent| skills(&config, agent));
    let view = |skill: Arc<CatalogSkill>| {
        let category = if skill.is_of_folder() { SkillCategory::Public } else { SkillCategory::Custom };
        let (name, description) = (skill.skill.name.clone(), skill.skill.description.clone());
        (name.clone(), SkillView { name, description, category, enabled: true, digest: None })
    };
    Ok(of_agents.map(view).collect::<BTreeMap<_, _>>().into_values().collect())
}

/// `GET /api/skills`
async fn list(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    shows: ShowsAdministration,
) -> Result<Json<SkillViews>, HttpError> {
    Ok(Json(SkillViews { skills: visible(&context, &caller, shows).await? }))
}

async fn named(
    context: &Context,
    caller: &Caller,
    shows: ShowsAdministration,
    name: &str,
) -> Result<Json<SkillView>, HttpError> {
    let skill = visible(context, caller, shows).await?.into_iter().find(|skill| skill.name == name);
    Ok(Json(skill.ok_or_else(UserError::not_found)?))
}

/// `GET /api/skills/{name}`
async fn show(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    shows: ShowsAdministration,
    Path(name): Path<String>,
) -> Result<Json<SkillView>, HttpError> {
    named(&context, &caller, shows, &name).await
}

/// `PUT /api/skills/{name}`
async fn change(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    sent: SentJson<SkillSwitch>,
) -> Result<Json<SkillView>, HttpError> {
    let SkillSwitch { enabled, digest } = valid_json(sent)?;
    match (find(&context, &name).await, digest) {
        (Ok(_), Some(digest)) => console::change(&context, &admin, &name, SkillChange { enabled, digest }).await?,
        (Ok(_), None) if enabled => return Err(UserError::invalid("/digest", NEEDS_DIGEST).into()),
        (Ok(found), None) => {
            let change = SkillChange { enabled, digest: found.digest };
            console::change(&context, &admin, &name, change).await?;
        }
        (Err(error), _) if error.code != ErrorCode::NotFound => return Err(error.into()),
        (Err(_), _) => folders::switch(&context, &admin, &name, enabled).await?,
    }
    named(&context, &admin.caller, ShowsAdministration(true), &name).await
}

/// `POST /api/skills/install`
async fn install(
    admin: Admin,
    State(context): State<Context>,
    query: SentQuery<InstallOptions>,
    archive: Archive,
) -> Result<Created<SkillInstalled>, HttpError> {
    let skill_name = console::install(&context, &admin, archive.0, valid_query(query)?).await?;
    let message = "The skill is installed and disabled. Look at its files and findings, and enable it.".to_owned();
    Ok(Created(SkillInstalled { success: true, skill_name, message }))
}
