//! The files of projects. One capability keeps them as documents of a library, which has the id of the project;
//! another one knows who is in a project.

use bytes::Bytes;
use chat::Caller;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use std::collections::HashSet;
use std::fmt;
use store::StoreError;
use store::sql::Db;
use wire::UserError;

/// The membership of a user in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The id of the project.
    pub project_id: String,
    /// The name of the project.
    pub name: String,
    /// The user who owns the project.
    pub owner: String,
    /// Whether the user may add and delete files.
    pub may_write: bool,
}

/// Knows who is in a project: the capability with projects does.
pub trait ProjectMembers: Send + Sync + 'static {
    /// Returns the membership of a user in a project, with a single `SELECT`. `None` if they are not in it, or the
    /// config has no projects.
    ///
    /// # Errors
    /// The database failed.
    fn membership<'a>(
        &'a self,
        db: &'a mut Db,
        user_id: &'a str,
        project_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<Membership>, StoreError>>;

    /// Returns all memberships of a user, with a single `SELECT`.
    ///
    /// # Errors
    /// The database failed.
    fn memberships<'a>(
        &'a self,
        db: &'a mut Db,
        user_id: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Membership>, StoreError>>;
}

/// Whether a file can be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// It waits to be read.
    Waiting,
    /// It is being read.
    Reading,
    /// It can be searched.
    Ready,
    /// It could not be read, for this reason.
    Failed(String),
}

/// A file of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFile {
    /// The id of the document.
    pub id: String,
    /// The name.
    pub name: String,
    /// Whether it can be searched.
    pub state: FileState,
}

/// A file to add to a project.
pub struct NewProjectFile<'a> {
    /// The name.
    pub name: String,
    /// The media type, as the sender says it.
    pub media_type: Option<String>,
    /// The bytes as they arrive.
    pub content: BoxStream<'a, Result<Bytes, UserError>>,
}

/// Formats what is known before the bytes arrive.
impl fmt::Debug for NewProjectFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewProjectFile").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Keeps the files of projects: the capability with documents does. It asks [`ProjectMembers`] for the rights.
pub trait ProjectFiles: Send + Sync + 'static {
    /// Returns the newest files of a project, at most `most`.
    ///
    /// # Errors
    /// The database failed.
    fn list<'a>(
        &'a self,
        caller: &'a Caller,
        project_id: &'a str,
        most: u32,
    ) -> BoxFuture<'a, Result<Vec<ProjectFile>, UserError>>;

    /// Adds a file to a project. It counts as the caller's.
    ///
    /// # Errors
    /// 404 if the caller is not in the project, 403 if they may only read its files, 413 if a limit would be passed,
    /// 422 for an empty file.
    fn add<'a>(
        &'a self,
        caller: &'a Caller,
        project_id: &'a str,
        file: NewProjectFile<'a>,
    ) -> BoxFuture<'a, Result<(), UserError>>;

    /// Deletes a file of a project.
    ///
    /// # Errors
    /// 404 if there is no such file for the caller, 403 if they may only read it.
    fn delete<'a>(
        &'a self,
        caller: &'a Caller,
        project_id: &'a str,
        file_id: &'a str,
    ) -> BoxFuture<'a, Result<(), UserError>>;

    /// Returns the ids of those of these projects that have files.
    ///
    /// # Errors
    /// The database failed.
    fn with_files(&self, project_ids: Vec<String>) -> BoxFuture<'_, Result<HashSet<String>, StoreError>>;

    /// Deletes all files of a project, in the transaction that deletes the project.
    ///
    /// # Errors
    /// The database failed.
    fn forget_project<'a>(&'a self, db: &'a mut Db, project_id: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Counts the files that a member has added as files of the owner, in the transaction that removes the member.
    ///
    /// # Errors
    /// The database failed.
    fn forget_member<'a>(
        &'a self,
        db: &'a mut Db,
        project_id: &'a str,
        user_id: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
}
