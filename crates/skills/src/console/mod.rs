//! The pages and the API with which administrators install, look at, enable and delete skills.

mod api;
mod export;
mod folders;
mod instructions;
mod list;
mod pack;
mod pages;
mod routes;
mod upload;

pub(crate) use routes::routes;

use crate::install;
use crate::scan::Finding;
use crate::section::Skills;
use crate::store::{self, ChangeOutcome, InstalledFile, InstalledSkill, MAX_INSTALLED};
use capability::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use web::admin::{ADMINISTRATION, Admin, MenuEntry, MenuGroup, Section, from_store_error};
use web::openapi::ApiRouter;
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// The path of the list.
pub(crate) const PATH: &str = "/admin/skills";
/// The title of the list.
const TITLE: &str = "Skills";

/// Returns the section of the console.
pub(crate) fn section(context: Context) -> Section {
    let routes = web::admin::list::routes::<list::SkillList>().merge(api::routes()).merge(export::routes());
    let routes = routes.merge(folders::routes()).with_pages(pages::routes().merge(folders::pages()));
    let actions = ["install_skill", "enable_skill", "disable_skill", "delete_skill", "export_skills"];
    Section {
        menu: vec![MenuEntry { group: MenuGroup::Agents, path: PATH, title: TITLE }],
        actions: actions.map(|action| format!("admin:{action}")).to_vec(),
        routes: routes.map(|router| router.with_state(context)),
    }
}

/// Returns the routes to which archives are sent, which are larger than other requests.
pub(crate) fn upload_routes(context: Context) -> ApiRouter {
    let routes = ApiRouter::new(&ADMINISTRATION).post("/api/admin/skills", upload::install, "Install a skill");
    routes.merge(routes::upload_routes()).with_pages(upload::pages()).map(|router| router.with_state(context))
}

/// The origin of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum SkillOrigin {
    /// A folder of the config.
    Folder,
    /// An archive that an administrator has installed.
    Installed,
}

/// A skill as the console shows it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SkillItem {
    /// The name.
    name: String,
    /// The description.
    description: String,
    /// Its origin.
    origin: SkillOrigin,
    /// Whether agents can have it.
    enabled: bool,
    /// The hash of all its files. Absent for a skill of a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// The number of findings of the scan.
    findings: usize,
    /// The administrator who has installed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    installed_by: Option<String>,
    /// Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    installed_at: Option<i64>,
}

/// An installed skill with its files.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SkillDetail {
    /// The name.
    name: String,
    /// The description.
    description: String,
    /// Whether agents can have it.
    enabled: bool,
    /// The hash of all its files: of the lines `SHA256  PATH`.
    digest: String,
    /// The hash of the archive that was installed.
    archive_sha256: String,
    /// The size of all files.
    bytes: i64,
    /// Findings of the scan.
    findings: Vec<Finding>,
    /// The files by their paths.
    files: Vec<SkillFile>,
    /// The administrator who has installed it.
    installed_by: String,
    /// Unix time, milliseconds.
    installed_at: i64,
    /// The administrator who has enabled or disabled it, or installed it if nobody has.
    changed_by: String,
    /// Unix time, milliseconds.
    changed_at: i64,
}

/// A file of a skill.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct SkillFile {
    /// The path.
    path: String,
    /// The SHA-256 hash.
    sha256: String,
    /// The size.
    bytes: i64,
}

/// The change of a skill.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SkillChange {
    /// Whether agents can have it.
    enabled: bool,
    /// The hash of the files that the administrator has looked at; 409 if the skill has others by now.
    digest: String,
}

/// How an archive is installed.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InstallOptions {
    /// Whether it takes the place of the installed skill with the same name.
    #[serde(default)]
    replace: bool,
    /// The SHA-256 hash that the archive must have, as 64 hexadecimal digits.
    #[serde(default)]
    sha256: Option<String>,
}

impl From<InstalledSkill> for SkillItem {
    fn from(skill: InstalledSkill) -> Self {
        Self {
            name: skill.name,
            description: skill.description,
            origin: SkillOrigin::Installed,
            enabled: skill.enabled,
            digest: Some(skill.digest),
            findings: skill.findings.len(),
            installed_by: Some(skill.installed_by),
            installed_at: Some(skill.installed_at),
        }
    }
}

/// Returns all skills: those of the folders of the config, and the installed ones.
async fn items(context: &Context) -> Result<Vec<SkillItem>, UserError> {
    let installed = store::list(&context.store).await.map_err(from_store_error)?;
    let config = context.current.config();
    let catalog = config.section::<Skills>().map(|skills| skills.catalog.clone()).unwrap_or_default();
    let folder_skills = catalog.folder_skills().map(|(skill, enabled)| folders::item(skill, enabled));
    let mut items: Vec<_> = folder_skills.chain(installed.into_iter().map(SkillItem::from)).collect();
    items.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(items)
}

async fn find(context: &Context, name: &str) -> Result<InstalledSkill, UserError> {
    let skills = store::list(&context.store).await.map_err(from_store_error)?;
    skills.into_iter().find(|skill| skill.name == name).ok_or_else(UserError::not_found)
}

async fn detail(context: &Context, name: &str) -> Result<SkillDetail, UserError> {
    let skill = find(context, name).await?;
    let files = store::files(&context.store, name).await.map_err(from_store_error)?;
    let file = |InstalledFile { path, sha256, bytes }| SkillFile { path, sha256, bytes };
    Ok(SkillDetail {
        name: skill.name,
        description: skill.description,
        enabled: skill.enabled,
        digest: skill.digest,
        archive_sha256: skill.archive_sha256,
        bytes: skill.bytes,
        findings: skill.findings,
        files: files.into_iter().map(file).collect(),
        installed_by: skill.installed_by,
        installed_at: skill.installed_at,
        changed_by: skill.changed_by,
        changed_at: skill.changed_at,
    })
}

/// Installs a skill, and returns its name.
///
/// # Errors
/// 409 for a name that is installed, 422 with all reasons for a skill that is refused.
async fn install(
    context: &Context,
    admin: &Admin,
    archive: Vec<u8>,
    options: InstallOptions,
) -> Result<String, UserError> {
    let prepared = tokio::task::spawn_blocking(move || install::prepare(&archive)).await;
    let new = prepared
        .map_err(|_| UserError::invalid("/", "The archive cannot be read."))?
        .map_err(|problems| UserError::invalid("/", problems.join("\n")))?;
    if let Some(expected) = options.sha256.filter(|expected| !expected.trim().is_empty())
        && !expected.trim().eq_ignore_ascii_case(&new.archive_sha256)
    {
        let message = format!("The archive has another hash: {}", new.archive_sha256);
        return Err(UserError::invalid("/sha256", message));
    }
    let name = new.skill.name.clone();
    let about = json!({ "skill": name, "digest": new.digest, "archiveSha256": new.archive_sha256, "findings": new.findings.len() });
    let entry = admin.audit_entry("install_skill", "", about);
    let by = (admin.caller.user_id.clone(), now_millis());
    let outcome = store::install(&context.store, new, options.replace, by, entry).await.map_err(from_store_error)?;
    match outcome {
        ChangeOutcome::Done | ChangeOutcome::Unknown => {}
        ChangeOutcome::Conflict => {
            let message = format!("The skill `{name}` is installed already. Choose to replace it, or delete it first.");
            return Err(UserError::new(ErrorCode::Conflict, message));
        }
        ChangeOutcome::Full => {
            return Err(UserError::invalid(
                "/",
                format!("There are already {MAX_INSTALLED} skills. Delete one first."),
            ));
        }
    }
    apply(context).await?;
    Ok(name)
}

/// Enables or disables a skill.
///
/// # Errors
/// 404 for an unknown skill, 409 if it has other files than those of the hash.
async fn change(context: &Context, admin: &Admin, name: &str, sent: SkillChange) -> Result<(), UserError> {
    let SkillChange { enabled, digest } = sent;
    let what = if enabled { "enable_skill" } else { "disable_skill" };
    let entry = admin.audit_entry(what, "", about(name, &digest));
    let by = (admin.caller.user_id.clone(), now_millis());
    let changed = store::set_enabled(&context.store, (name.to_owned(), digest), enabled, by, entry).await;
    match changed.map_err(from_store_error)? {
        ChangeOutcome::Done | ChangeOutcome::Full => apply(context).await,
        ChangeOutcome::Unknown => Err(UserError::not_found()),
        ChangeOutcome::Conflict => {
            let message = "The skill has other files by now. Load the page again and look at them.";
            Err(UserError::new(ErrorCode::Conflict, message))
        }
    }
}

/// Deletes a skill. Conversations keep what the agent has read of it.
async fn delete(context: &Context, admin: &Admin, name: &str) -> Result<(), UserError> {
    let skill = find(context, name).await?;
    let entry = admin.audit_entry("delete_skill", "", about(name, &skill.digest));
    match store::delete(&context.store, name.to_owned(), entry).await.map_err(from_store_error)? {
        ChangeOutcome::Done => apply(context).await,
        _ => Err(UserError::not_found()),
    }
}

fn about(name: &str, digest: &str) -> Value {
    json!({ "skill": name, "digest": digest })
}

/// Gives agents the skills as they are now.
async fn apply(context: &Context) -> Result<(), UserError> {
    context.current.refresh_additions().await.map_err(|error| {
        tracing::error!(%error, "a skill was changed, but the config cannot be rebuilt");
        let message = "The change was saved, but is not in effect yet: the config cannot be rebuilt right now.";
        UserError::new(ErrorCode::Unavailable, message)
    })
}
