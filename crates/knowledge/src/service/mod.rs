//! The operations of callers on libraries and documents, with their rights.

mod access;
mod attachments;
mod choice;
mod declared;
mod edit;
mod follow;
mod graph;
mod loaded;
mod marks;
mod projects;
mod questions;
mod quotes;
mod rank;
mod search;
mod upload;
mod user_documents;

pub(crate) use access::Access;
pub(crate) use edit::LibraryChange;
pub(crate) use follow::{Changes, Cursor};
pub(crate) use graph::{Exploration, Explored, MAX_DEPTH, MAX_ITEMS};
pub(crate) use loaded::{Indexes, passage};
pub(crate) use marks::Marker;
pub(crate) use search::{Filter, Found, SearchMode, SearchOutcome, SearchRequest};
pub(crate) use upload::{AddedFile, NewFile, UploadOptions, read_metadata};

use crate::models::Models;
use crate::section::{KnowledgeSettings, Libraries};
use crate::store::{self, DocumentRow, LibraryRow, NewLibrary};
use crate::{audit, ingest};
use ::store::{Store, append_audit};
use arc_swap::{ArcSwap, ArcSwapOption};
use chat::{Caller, Chat, RoutineMeters, Viewer};
use config::Config;
use contract::ModelUse;
use jobs::Jobs;
use parking_lot::Mutex;
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use tokio::sync::Semaphore;
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// The most searches that compute at the same time.
const PARALLEL_SEARCHES: usize = 4;
/// The most uploads that are received at the same time. Each holds a piece in memory.
const PARALLEL_UPLOADS: usize = 32;

/// The libraries of a server; cheap to clone.
#[derive(Clone)]
pub(crate) struct Knowledge(Arc<Inner>);

struct Inner {
    store: Store,
    jobs: Jobs,
    config: ArcSwapOption<Config>,
    models: ArcSwap<Models>,
    meters: RoutineMeters,
    indexes: Indexes,
    searches: Semaphore,
    uploads: Semaphore,
    followers: Semaphore,
    question_writes: Semaphore,
    /// Why folders of libraries cannot be followed, by the ids of the libraries.
    folder_problems: Mutex<HashMap<String, String>>,
    /// Finds the libraries that conversations have of their own.
    libraries: OnceLock<capability::Libraries>,
}

/// The body that creates a library.
#[derive(Clone, Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LibraryRequest {
    /// The name that people see.
    pub(crate) name: String,
    /// The description of the library.
    #[serde(default)]
    pub(crate) description: Option<String>,
    /// The roles whose users may read it. Without any, only the caller may.
    #[serde(default)]
    pub(crate) readers: Vec<String>,
    /// The roles whose users may add and delete documents, too.
    #[serde(default)]
    pub(crate) writers: Vec<String>,
    /// Whether entities, such as people, and relations between them are extracted from its documents, as far as
    /// the config offers it. The usage of the model is the caller's.
    #[serde(default)]
    pub(crate) graph: bool,
}

impl Knowledge {
    /// The libraries of a database.
    pub(crate) fn new(store: Store, jobs: Jobs) -> Self {
        Self(Arc::new(Inner {
            indexes: Indexes::new(store.clone()),
            store,
            jobs,
            config: ArcSwapOption::empty(),
            models: ArcSwap::default(),
            meters: RoutineMeters::default(),
            searches: Semaphore::new(PARALLEL_SEARCHES),
            uploads: Semaphore::new(PARALLEL_UPLOADS),
            followers: Semaphore::new(follow::MAX_FOLLOWERS),
            question_writes: Semaphore::new(questions::PARALLEL_WRITES),
            folder_problems: Mutex::default(),
            libraries: OnceLock::new(),
        }))
    }

    /// Uses a config from now on.
    pub(crate) fn use_config(&self, config: &Arc<Config>) {
        self.0.config.store(Some(config.clone()));
        self.use_models(Models::new(config, &self.settings(), &self.models()));
    }

    /// Uses models from now on.
    pub(crate) fn use_models(&self, models: Models) {
        self.0.models.store(Arc::new(models));
    }

    /// Returns the models in use.
    pub(crate) fn models(&self) -> Arc<Models> {
        self.0.models.load_full()
    }

    /// Keeps why the folder of a library cannot be followed, until it can.
    pub(crate) fn set_folder_problem(&self, library_id: &str, problem: Option<String>) {
        let mut problems = self.0.folder_problems.lock();
        match problem {
            Some(problem) => drop(problems.insert(library_id.to_owned(), problem)),
            None => drop(problems.remove(library_id)),
        }
    }

    /// Returns why the folder of a library cannot be followed, if the viewer is an administrator.
    pub(crate) fn folder_problem(&self, viewer: &Viewer, library: &LibraryRow) -> Option<String> {
        let is_admin = viewer.is_authenticated && viewer.roles().iter().any(|role| role == ::store::ADMIN);
        let problems = self.0.folder_problems.lock();
        problems.get(&library.id).filter(|_| is_admin && library.owner.is_empty()).cloned()
    }

    /// Sets what knows which libraries conversations have of their own. Only the first call has an effect.
    pub(crate) fn use_libraries(&self, libraries: capability::Libraries) {
        let _ = self.0.libraries.set(libraries);
    }

    /// Sets where the usage of models outside of runs is recorded.
    pub(crate) fn use_chat(&self, chat: &Chat) {
        self.0.meters.set_chat(chat);
    }

    /// Returns the meter of a user's search.
    pub(crate) fn search_meter(&self, caller: &Caller) -> ModelUse {
        self.0.meters.meter(caller, "library:search")
    }

    /// Returns the meter of what a library needs, which its owner has caused.
    pub(crate) fn library_meter(&self, library_id: &str, owner: &str) -> ModelUse {
        self.0.meters.meter(&Self::library_caller(library_id, owner), format!("library:{library_id}"))
    }

    /// Returns the caller whose usage and quotas count for what a library needs.
    pub(crate) fn library_caller(library_id: &str, owner: &str) -> Caller {
        let user_id = if owner.is_empty() { format!("library:{library_id}") } else { owner.to_owned() };
        Caller::visitor(user_id)
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn jobs(&self) -> &Jobs {
        &self.0.jobs
    }

    /// Returns the settings of the config in use.
    pub(crate) fn settings(&self) -> KnowledgeSettings {
        let config = self.0.config.load();
        config.as_ref().and_then(|config| config.section::<KnowledgeSettings>()).cloned().unwrap_or_default()
    }

    /// Creates a library.
    ///
    /// # Errors
    /// 401 for visitors, 422 for an invalid name, 429 for too many libraries.
    pub(crate) async fn create(&self, viewer: &Viewer, request: LibraryRequest) -> Result<LibraryRow, UserError> {
        if !viewer.is_authenticated {
            return Err(UserError::unauthenticated());
        }
        let LibraryRequest { name, description, readers, writers, graph } = request;
        let name = edit::checked_name(&name)?;
        self.check_graph_switch(graph)?;
        edit::check_details(description.as_deref(), &readers, &writers)?;
        let id = crate::new_id();
        let most = self.settings().user_libraries;
        let (owner, now) = (viewer.user_id.clone(), now_millis());
        let about = json!({ "name": name, "readers": readers, "writers": writers, "graph": graph });
        let audit = audit::library(&owner, "create", &id, about);
        let new =
            NewLibrary { id: id.clone(), owner, name, description, readers, writers, has_graph: graph, now, most };
        if !store::insert_library(self.store(), new, audit).await.map_err(failed)? {
            let message = format!("You have {most} libraries, which is the limit. Delete one first.");
            return Err(UserError::new(ErrorCode::RateLimited, message));
        }
        self.library(viewer, &id, Access::Read).await
    }

    /// Returns a library.
    ///
    /// # Errors
    /// 404 if the viewer may not read it, 403 if they may read it but not do what is asked.
    pub(crate) async fn library(&self, viewer: &Viewer, id: &str, access: Access) -> Result<LibraryRow, UserError> {
        let library = self.row(id).await?.ok_or_else(UserError::not_found)?;
        let library = self.with_membership(viewer, library).await?;
        self.check(viewer, &library, access)?;
        Ok(library)
    }

    /// Returns what a viewer may do with a library; `None` for nothing.
    pub(crate) fn access(&self, viewer: &Viewer, library: &LibraryRow) -> Option<Access> {
        if library.owner.is_empty() {
            let config = self.0.config.load();
            let declared = config.as_ref().and_then(|config| config.section::<Libraries>()?.get(&library.id));
            declared.and_then(|declared| declared.access(viewer))
        } else {
            library.access(viewer)
        }
    }

    fn check(&self, viewer: &Viewer, library: &LibraryRow, access: Access) -> Result<(), UserError> {
        match self.access(viewer, library) {
            Some(allowed) if allowed >= access => Ok(()),
            Some(_) => Err(read_only()),
            None => Err(UserError::not_found()),
        }
    }

    /// Returns the libraries that a viewer may read.
    pub(crate) async fn libraries(&self, viewer: &Viewer) -> Result<Vec<LibraryRow>, UserError> {
        let memberships = self.memberships(viewer).await?;
        let projects = memberships.keys().cloned().collect();
        let found = store::libraries(self.store(), &viewer.user_id, viewer.roles().to_vec(), projects);
        let found = found.await.map_err(failed)?.into_iter();
        let mut all: Vec<_> = found
            .map(|library| {
                let membership = memberships.get(&library.id);
                projects::as_member(library, membership)
            })
            .collect();
        for (declared, _) in self.declared() {
            if let Some(library) = self.row(&declared.id.0).await? {
                all.push(library);
            }
        }
        all.retain(|library| self.check(viewer, library, Access::Read).is_ok());
        Ok(all)
    }

    /// Deletes a library with everything in it.
    ///
    /// # Errors
    /// 404 and 403 as for [`Knowledge::library`]; 403 for one that the config declares.
    pub(crate) async fn delete(&self, viewer: &Viewer, id: &str) -> Result<(), UserError> {
        let library = self.library(viewer, id, Access::Manage).await?;
        let audit = audit::library(&viewer.user_id, "delete", &library.id, json!({ "name": library.name }));
        store::delete_library(self.store(), &library.id, audit).await.map_err(failed)?;
        self.0.indexes.forget(&library.id);
        Ok(())
    }

    /// Returns a document of a library that the viewer may use.
    ///
    /// # Errors
    /// 404 and 403 as for [`Knowledge::library`].
    pub(crate) async fn document(&self, viewer: &Viewer, id: &str, access: Access) -> Result<DocumentRow, UserError> {
        let document = store::document(self.store(), id).await.map_err(failed)?.ok_or_else(UserError::not_found)?;
        self.library(viewer, &document.library_id, access).await?;
        Ok(document)
    }

    /// Returns a document to somebody who reads it: of a library that they may read, or cited to them in a
    /// conversation.
    ///
    /// # Errors
    /// 404 for every other document.
    pub(crate) async fn readable_document(
        &self,
        caller: &Caller,
        conversation_id: Option<&str>,
        id: &str,
    ) -> Result<DocumentRow, UserError> {
        let own = self.document(&Viewer::from(caller), id, Access::Read).await;
        let is_refused = own.as_ref().is_err_and(|error| error.code == ErrorCode::NotFound);
        let Some(conversation_id) = conversation_id.filter(|_| is_refused) else { return own };
        let document = store::document(self.store(), id).await.map_err(failed)?.ok_or_else(UserError::not_found)?;
        if self.is_cited_to(caller, conversation_id, &document).await? { Ok(document) } else { own }
    }

    /// Returns whether a document was shown to the agent of a conversation of the caller, who may still use the
    /// agent, while the agent may still read the document for them. Visitors read in this way what agents cite to
    /// them: by themselves they may read no library.
    async fn is_cited_to(
        &self,
        caller: &Caller,
        conversation_id: &str,
        document: &DocumentRow,
    ) -> Result<bool, UserError> {
        let conversation = self.store().conversation(&caller.user_id, conversation_id).await.map_err(failed)?;
        let Some(conversation) = conversation else { return Ok(false) };
        let agent = self.options_of_agent(caller, &conversation.summary.agent_id);
        if !agent.is_some_and(|options| options.names(&document.library_id)) {
            return Ok(false);
        }
        let viewer = Viewer::from(caller).through_agent(true);
        if self.library(&viewer, &document.library_id, Access::Read).await.is_err() {
            return Ok(false);
        }
        store::is_cited(self.store(), conversation_id, &document.id).await.map_err(failed)
    }

    /// Deletes a document. It is not found any more when the future resolves, also if it is being read.
    ///
    /// # Errors
    /// 404 and 403 as for [`Knowledge::library`].
    pub(crate) async fn delete_document(&self, viewer: &Viewer, id: &str) -> Result<(), UserError> {
        let document = self.document(viewer, id, Access::Write).await?;
        let DocumentRow { library_id, file_name, .. } = &document;
        let audit = audit::document(&viewer.user_id, "delete", library_id, id, file_name);
        let delete = store::delete_document(self.store(), (id, library_id), Some(audit), now_millis());
        delete.await.map_err(failed)?;
        Ok(())
    }

    /// Reads a document again that could not be read.
    ///
    /// # Errors
    /// 404 and 403 as for [`Knowledge::library`]; 409 if it has not failed.
    pub(crate) async fn retry(&self, viewer: &Viewer, id: &str) -> Result<DocumentRow, UserError> {
        let document = self.document(viewer, id, Access::Write).await?;
        let (jobs, owner) =
            (self.jobs().clone(), self.library(viewer, &document.library_id, Access::Write).await?.owner);
        let audit = audit::document(&viewer.user_id, "retry", &document.library_id, id, &document.file_name);
        let id = id.to_owned();
        let write = self.store().write(move |db| {
            Box::pin(async move {
                let is_queued = store::requeue(db, &id, now_millis()).await?;
                if is_queued {
                    ingest::enqueue(&jobs, db, &id, &owner).await?;
                    append_audit(db, vec![audit]).await?;
                }
                Ok(is_queued)
            })
        });
        if !write.await.map_err(failed)? {
            return Err(UserError::new(ErrorCode::Conflict, "The document has not failed."));
        }
        self.document(viewer, &document.id, Access::Read).await
    }
}

/// The error of a change by a user who may only read the library.
fn read_only() -> UserError {
    UserError::new(ErrorCode::Forbidden, "You may only read this library.")
}

/// Converts an error of the database.
pub(crate) fn failed(error: ::store::StoreError) -> UserError {
    web::admin::from_store_error(error)
}
