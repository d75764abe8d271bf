//! Libraries of documents, about which capabilities ask each other.

use crate::project_files::{ProjectFiles, ProjectMembers};
use chat::Caller;
use contract::RunScope;
use futures::future::BoxFuture;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, OnceLock};
use store::StoreError;
use store::sql::Db;
use wire::UserError;

/// A library that a user may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadableLibrary {
    /// The id.
    pub id: String,
    /// The name that people see.
    pub name: String,
}

/// Lists libraries: the capability with documents does.
pub trait ListLibraries: Send + Sync + 'static {
    /// Returns the libraries that a caller may read, those of the config included and those of projects not.
    ///
    /// # Errors
    /// The database failed.
    fn readable<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<Vec<ReadableLibrary>, UserError>>;
}

/// Finds the libraries that belong to a conversation: the capability with projects does.
pub trait FindLibraries: Send + Sync + 'static {
    /// Returns the ids of the libraries that belong to the conversation of a run. Whoever searches them checks
    /// whether the user of the run may read them.
    ///
    /// # Errors
    /// The database failed.
    fn of_run<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<Vec<String>, StoreError>>;
}

/// The access to libraries. Each part is set by one capability when it starts; cheap to clone.
#[derive(Clone, Default)]
pub struct Libraries {
    list: Arc<OnceLock<Arc<dyn ListLibraries>>>,
    find: Arc<OnceLock<Arc<dyn FindLibraries>>>,
    members: Arc<OnceLock<Arc<dyn ProjectMembers>>>,
    files: Arc<OnceLock<Arc<dyn ProjectFiles>>>,
}

impl Libraries {
    /// Sets what lists libraries. Only the first one counts.
    pub fn provide_list(&self, list: Arc<dyn ListLibraries>) {
        if self.list.set(list).is_err() {
            tracing::warn!("two capabilities list libraries; the first one is used");
        }
    }

    /// Sets what finds the libraries of conversations. Only the first one counts.
    pub fn provide_find(&self, find: Arc<dyn FindLibraries>) {
        if self.find.set(find).is_err() {
            tracing::warn!("two capabilities find libraries of conversations; the first one is used");
        }
    }

    /// Sets the provider of memberships in projects. Only the first one counts.
    pub fn provide_members(&self, members: Arc<dyn ProjectMembers>) {
        if self.members.set(members).is_err() {
            tracing::warn!("two capabilities know members of projects; the first one is used");
        }
    }

    /// Sets the storage of the files of projects. Only the first one counts.
    pub fn provide_files(&self, files: Arc<dyn ProjectFiles>) {
        if self.files.set(files).is_err() {
            tracing::warn!("two capabilities keep files of projects; the first one is used");
        }
    }

    /// Returns the provider of memberships in projects; `None` on a server without projects.
    pub fn members(&self) -> Option<Arc<dyn ProjectMembers>> {
        self.members.get().cloned()
    }

    /// Returns the storage of the files of projects; `None` on a server without documents.
    pub fn files(&self) -> Option<Arc<dyn ProjectFiles>> {
        self.files.get().cloned()
    }

    /// Returns the ids of those of these projects that have files.
    ///
    /// # Errors
    /// As [`ProjectFiles::with_files`].
    pub async fn with_files(&self, project_ids: Vec<String>) -> Result<HashSet<String>, StoreError> {
        match self.files.get() {
            Some(files) if !project_ids.is_empty() => files.with_files(project_ids).await,
            _ => Ok(HashSet::new()),
        }
    }

    /// Deletes the files of a project, in the transaction that deletes the project.
    ///
    /// # Errors
    /// As [`ProjectFiles::forget_project`].
    pub async fn forget_project(&self, db: &mut Db, project_id: &str) -> Result<(), StoreError> {
        match self.files.get() {
            Some(files) => files.forget_project(db, project_id).await,
            None => Ok(()),
        }
    }

    /// Counts the files that a member has added as files of the owner, in the transaction that removes the member.
    ///
    /// # Errors
    /// As [`ProjectFiles::forget_member`].
    pub async fn forget_member(&self, db: &mut Db, project_id: &str, user_id: &str) -> Result<(), StoreError> {
        match self.files.get() {
            Some(files) => files.forget_member(db, project_id, user_id).await,
            None => Ok(()),
        }
    }

    /// Returns the libraries that a caller may read; none on a server without documents.
    ///
    /// # Errors
    /// As [`ListLibraries::readable`].
    pub async fn readable(&self, caller: &Caller) -> Result<Vec<ReadableLibrary>, UserError> {
        match self.list.get() {
            Some(list) => list.readable(caller).await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns the ids of the libraries that belong to the conversation of a run.
    ///
    /// # Errors
    /// As [`FindLibraries::of_run`].
    pub async fn of_run(&self, scope: &RunScope) -> Result<Vec<String>, StoreError> {
        match self.find.get() {
            Some(find) if !scope.conversation_id.is_empty() => find.of_run(scope).await,
            _ => Ok(Vec::new()),
        }
    }
}

/// Formats which parts are set.
impl fmt::Debug for Libraries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (list, find) = (self.list.get().is_some(), self.find.get().is_some());
        let (members, files) = (self.members.get().is_some(), self.files.get().is_some());
        let mut parts = f.debug_struct("Libraries");
        parts.field("lists", &list).field("finds", &find).field("members", &members).field("files", &files).finish()
    }
}
