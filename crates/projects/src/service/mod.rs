//! The service that routes, pages and agents use.

mod begin;
mod export;
mod members;

pub(crate) use begin::{NewConversation, begin};
pub(crate) use export::export;
pub(crate) use members::{add_member, change_role, remove_member};

use crate::project::{Problem, ProjectSettings, Role};
use crate::run_instructions::RunInstructionsCache;
use crate::section::{ProjectsSection, joins_projects};
use crate::store::{
    self, CreateOutcome, CreateProject, ListedProject, ProjectFolder, SaveOutcome, SaveProject, StoredProject,
};
use crate::views::{ProjectBody, ProjectMember, ProjectView};
use ::store::{AuditEntry, Store};
use arc_swap::ArcSwapOption;
use auth::audit_row;
use capability::{Context, Libraries};
use chat::Caller;
use config::Config;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use web::admin::{UserNames, from_store_error};
use web::signed_in;
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// The projects of all users; cheap to clone.
#[derive(Clone)]
pub(crate) struct Projects {
    store: Store,
    libraries: Libraries,
    settings: Arc<ArcSwapOption<ActiveConfig>>,
    run_instructions: Arc<RunInstructionsCache>,
}

/// The settings of the config in use.
struct ActiveConfig {
    section: ProjectsSection,
    /// The agents that do not use projects.
    left_out: HashSet<String>,
}

/// The state of the routes.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) projects: Projects,
    pub(crate) context: Context,
}

impl Projects {
    pub(crate) fn new(store: Store, libraries: Libraries) -> Self {
        Self { store, libraries, settings: Arc::default(), run_instructions: Arc::default() }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Returns what is known about libraries and files.
    pub(crate) fn libraries(&self) -> &Libraries {
        &self.libraries
    }

    /// Returns the instructions that runs have received.
    pub(crate) fn run_instructions(&self) -> &RunInstructionsCache {
        &self.run_instructions
    }

    /// Uses a config from now on.
    pub(crate) fn use_config(&self, config: &Config) {
        let in_use = config.section::<ProjectsSection>().map(|section| {
            let left_out = config.agents.values().filter(|agent| !joins_projects(config, agent));
            Arc::new(ActiveConfig { section: *section, left_out: left_out.map(|agent| agent.id.clone()).collect() })
        });
        self.settings.store(in_use);
    }

    /// Returns whether the config in use has projects.
    pub(crate) fn is_on(&self) -> bool {
        self.settings.load().is_some()
    }

    /// Returns whether an agent of the config in use uses projects.
    pub(crate) fn applies_to(&self, agent_id: &str) -> bool {
        self.settings.load().as_ref().is_some_and(|in_use| !in_use.left_out.contains(agent_id))
    }

    /// Returns the section of the config.
    ///
    /// # Errors
    /// 404 without the section `projects`.
    fn section(&self) -> Result<ProjectsSection, UserError> {
        self.settings.load().as_ref().map(|in_use| in_use.section).ok_or_else(UserError::not_found)
    }
}

impl Service {
    pub(crate) fn store(&self) -> &Store {
        &self.context.store
    }

    /// Returns the limits of the config.
    ///
    /// # Errors
    /// 404 without the section `projects`.
    pub(crate) fn section(&self) -> Result<ProjectsSection, UserError> {
        self.projects.section()
    }

    /// Returns the caller, if there are projects here.
    ///
    /// # Errors
    /// 401 for visitors, 404 without the section `projects`.
    pub(crate) fn user<'c>(&self, caller: &'c Caller) -> Result<&'c str, UserError> {
        let user_id = signed_in(caller)?;
        self.projects.section()?;
        Ok(user_id)
    }

    /// Returns the caller's projects by their names.
    ///
    /// # Errors
    /// 401 for visitors, 404 if there are none here.
    pub(crate) async fn list(&self, caller: &Caller) -> Result<Vec<ListedProject>, UserError> {
        store::list(self.store(), self.user(caller)?).await.map_err(from_store_error)
    }

    /// Returns a project of the caller.
    ///
    /// # Errors
    /// 401 for visitors, 404 if they are in no such project.
    pub(crate) async fn project(&self, caller: &Caller, id: &str) -> Result<StoredProject, UserError> {
        let found = store::find(self.store(), self.user(caller)?, id).await.map_err(from_store_error)?;
        found.ok_or_else(UserError::not_found)
    }

    /// Returns a project of the caller with its members.
    ///
    /// # Errors
    /// As [`Service::project`].
    pub(crate) async fn view(&self, caller: &Caller, id: &str) -> Result<ProjectView, UserError> {
        let project = self.project(caller, id).await?;
        let members = store::members(self.store(), &caller.user_id, id).await.map_err(from_store_error)?;
        let names = UserNames::load(self.store(), members.iter().map(|member| member.user_id.as_str())).await?;
        let own_name = |user_id: &str| caller.name.clone().filter(|_| user_id == caller.user_id);
        let members = members.into_iter().map(|member| {
            let name = names.get(&member.user_id).map(str::to_owned).or_else(|| own_name(&member.user_id));
            ProjectMember { user_id: member.user_id, name, role: member.role, joined_at: member.joined_at }
        });
        Ok(ProjectView::new(project, members.collect()))
    }

    /// Returns the project of a folder of the caller.
    ///
    /// # Errors
    /// 401 for visitors, 404 if there are no projects here.
    pub(crate) async fn project_of_folder(&self, caller: &Caller, folder: &str) -> Result<Option<String>, UserError> {
        store::project_of_folder(self.store(), self.user(caller)?, folder).await.map_err(from_store_error)
    }

    /// Creates a project of the caller, and returns its id.
    ///
    /// # Errors
    /// 401 for visitors, 422 for a field that cannot be used.
    pub(crate) async fn create(&self, caller: &Caller, sent: ProjectBody) -> Result<String, UserError> {
        let user_id = self.user(caller)?.to_owned();
        let section = self.section()?;
        let folder = match &sent.folder_id {
            Some(id) => ProjectFolder::Known(id.clone()),
            None => ProjectFolder::New(new_id()),
        };
        let settings = self.checked(caller, sent, &ProjectSettings::default()).await?;
        let id = new_id();
        let audit = audit(&user_id, "create", &id, json!({ "name": settings.name }));
        let (most, now) = (section.per_user, now_millis());
        let create = CreateProject { id: id.clone(), owner: user_id, settings, folder, most, now };
        match store::create(self.store(), create, audit).await.map_err(from_store_error)? {
            CreateOutcome::Created => Ok(id),
            CreateOutcome::Full => {
                let message = format!("You own {most} projects, which is the maximum. Delete one first.");
                Err(UserError::invalid("/name", message))
            }
            CreateOutcome::TooManyFolders => {
                let most = ::store::MAX_FOLDERS;
                let message = format!("You have {most} folders, which is the maximum. Delete one first.");
                Err(UserError::invalid("/name", message))
            }
            CreateOutcome::UnknownFolder => {
                let message = "You have no such folder, or it is a project already.";
                Err(UserError::invalid("/folderId", message))
            }
        }
    }

    /// Changes a project.
    ///
    /// # Errors
    /// 401 for visitors, 404 for an unknown project, 403 if the caller may not change it, 409 if it
    /// was changed meanwhile, 422 for a field that cannot be used.
    pub(crate) async fn save(&self, caller: &Caller, id: &str, sent: ProjectBody) -> Result<(), UserError> {
        let known = self.project(caller, id).await?;
        if known.role < Role::Editor {
            return Err(cannot_change());
        }
        if sent.folder_id.is_some() {
            return Err(UserError::invalid("/folderId", "A project keeps its folder. Leave it out."));
        }
        let after = sent
            .version
            .ok_or_else(|| UserError::invalid("/version", "Send the version that your change is based on."))?;
        let settings = self.checked(caller, sent, &known.settings).await?;
        let about = json!({
            "name": settings.name,
            "instructions": settings.instructions != known.settings.instructions,
            "libraries": settings.libraries,
        });
        let user_id = caller.user_id.clone();
        let audit = audit(&user_id, "change", id, about);
        let save = SaveProject { id: id.to_owned(), user_id, settings, after, now: now_millis() };
        match store::save(self.store(), save, audit).await.map_err(from_store_error)? {
            SaveOutcome::Saved | SaveOutcome::Unchanged => Ok(()),
            SaveOutcome::Unknown => Err(UserError::not_found()),
            SaveOutcome::Forbidden => Err(cannot_change()),
            SaveOutcome::Changed => {
                let message = "The project was changed in the meantime. Load it again and repeat your change.";
                Err(UserError::new(ErrorCode::Conflict, message))
            }
        }
    }

    /// Deletes a project that the caller owns, with its files. Its conversations stay.
    ///
    /// # Errors
    /// 401 for visitors, 404 for an unknown project, 403 if another user owns it.
    pub(crate) async fn delete(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        let known = self.project(caller, id).await?;
        if known.role != Role::Owner {
            return Err(owner_only("delete it"));
        }
        let audit = audit(&caller.user_id, "delete", id, json!({ "name": known.settings.name }));
        if store::delete(self.store(), &self.projects.libraries, &caller.user_id, id, audit)
            .await
            .map_err(from_store_error)?
        {
            Ok(())
        } else {
            Err(UserError::not_found())
        }
    }

    /// Returns the checked settings of a request. Values that the project has already may stay:
    /// libraries that the caller may not read, and an agent or a model that the config has no more.
    /// Libraries are added only by those who may read them.
    async fn checked(
        &self,
        caller: &Caller,
        sent: ProjectBody,
        known: &ProjectSettings,
    ) -> Result<ProjectSettings, UserError> {
        let most = self.section()?.instruction_characters as usize;
        let settings = sent.settings().checked(most).map_err(invalid)?;
        let is_new = |id: &&String| !known.libraries.contains(id);
        if settings.libraries.iter().any(|id| is_new(&id)) {
            let readable = self.projects.libraries.readable(caller).await?;
            let may_add = |id: &&String| readable.iter().any(|library| library.id == **id);
            if let Some(at) = settings.libraries.iter().position(|id| is_new(&id) && !may_add(&id)) {
                let message = "There is no such library, or you may not read it.";
                return Err(UserError::invalid(format!("/libraries/{at}"), message));
            }
        }
        let config = self.context.current.config();
        let is_known = |id: &str, has: &dyn Fn(&str) -> bool| id.is_empty() || has(id);
        if settings.agent_id != known.agent_id && !is_known(&settings.agent_id, &|id| config.agents.contains_key(id)) {
            return Err(UserError::invalid("/agentId", "There is no such agent."));
        }
        if settings.model_id != known.model_id && !is_known(&settings.model_id, &|id| config.models.contains_key(id)) {
            return Err(UserError::invalid("/modelId", "There is no such model."));
        }
        Ok(settings)
    }

    /// Returns the libraries that the caller may read, for a choice.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn readable_libraries(
        &self,
        caller: &Caller,
    ) -> Result<Vec<capability::ReadableLibrary>, UserError> {
        self.projects.libraries.readable(caller).await
    }
}

fn invalid(Problem { field, message }: Problem) -> UserError {
    UserError::invalid(format!("/{field}"), message)
}

pub(crate) fn cannot_change() -> UserError {
    UserError::new(ErrorCode::Forbidden, "You may only use this project. Ask its owner to let you change it.")
}

fn owner_only(what: &str) -> UserError {
    UserError::new(ErrorCode::Forbidden, format!("Only the owner of the project can {what}."))
}

/// Returns a row of the audit log. It names the action, and does not contain the instructions.
pub(crate) fn audit(user_id: &str, action: &str, project_id: &str, mut about: Value) -> AuditEntry {
    about["projectId"] = project_id.into();
    audit_row(user_id, &format!("projects:{action}"), "", about)
}

/// Returns a new id, which begins with the time.
fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
