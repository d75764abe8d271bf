//! The files of projects. The library of a project has its id, and is created with the first file. The capability with
//! projects says who may read and change it.

use super::{Access, Knowledge, NewFile, UploadOptions, failed, read_only};
use crate::audit;
use crate::store::{self, DocumentFilter, DocumentRow, DocumentState, LibraryRow};
use ::store::sql::Db;
use ::store::{StoreError, append_audit};
use capability::{FileState, Membership, NewProjectFile, ProjectFile, ProjectFiles, ProjectMembers};
use chat::{Caller, Viewer};
use futures::future::BoxFuture;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// Returns a library as a member of its project sees it, with the current name of the project.
pub(super) fn as_member(library: LibraryRow, membership: Option<&Membership>) -> LibraryRow {
    match membership.filter(|_| library.of_project) {
        Some(membership) => LibraryRow { member: Some(membership.may_write), name: membership.name.clone(), ..library },
        None => library,
    }
}

impl Knowledge {
    /// Returns a library with what the viewer may do as a member of its project, if it has the files of one.
    pub(super) async fn with_membership(&self, viewer: &Viewer, library: LibraryRow) -> Result<LibraryRow, UserError> {
        let Some(members) = self.members_for(viewer).filter(|_| library.of_project) else { return Ok(library) };
        let (user_id, project_id) = (viewer.user_id.clone(), library.id.clone());
        let find =
            self.store().read(move |db| Box::pin(async move { members.membership(db, &user_id, &project_id).await }));
        Ok(as_member(library, find.await.map_err(failed)?.as_ref()))
    }

    /// Returns the memberships of a viewer, by the ids of the projects.
    pub(super) async fn memberships(&self, viewer: &Viewer) -> Result<HashMap<String, Membership>, UserError> {
        let Some(members) = self.members_for(viewer) else { return Ok(HashMap::new()) };
        let user_id = viewer.user_id.clone();
        let find = self.store().read(move |db| Box::pin(async move { members.memberships(db, &user_id).await }));
        let found = find.await.map_err(failed)?.into_iter();
        Ok(found.map(|membership| (membership.project_id.clone(), membership)).collect())
    }

    /// Returns the provider of memberships in projects; `None` for visitors, who are in no project.
    fn members_for(&self, viewer: &Viewer) -> Option<Arc<dyn ProjectMembers>> {
        let libraries = self.0.libraries.get().filter(|_| viewer.is_authenticated)?;
        libraries.members()
    }

    /// Returns a library to which a viewer may add documents. The library of a project is created now if there is
    /// none yet.
    ///
    /// # Errors
    /// As [`Knowledge::library`].
    pub(crate) async fn library_for_upload(&self, viewer: &Viewer, id: &str) -> Result<LibraryRow, UserError> {
        let unknown = match self.library(viewer, id, Access::Write).await {
            Err(error) if error.code == ErrorCode::NotFound => error,
            known => return known,
        };
        let Some(members) = self.members_for(viewer) else { return Err(unknown) };
        let (user_id, project_id) = (viewer.user_id.clone(), id.to_owned());
        let create = self.store().write(move |db| {
            Box::pin(async move {
                let Some(membership) = members.membership(db, &user_id, &project_id).await? else { return Ok(None) };
                if membership.may_write && store::insert_project_library(db, &membership, now_millis()).await? {
                    let about = json!({ "name": membership.name, "projectId": project_id });
                    append_audit(db, vec![audit::library(&user_id, "create", &project_id, about)]).await?;
                }
                Ok(Some(membership.may_write))
            })
        });
        match create.await.map_err(failed)? {
            Some(true) => self.library(viewer, id, Access::Write).await,
            Some(false) => Err(read_only()),
            None => Err(unknown),
        }
    }
}

impl ProjectFiles for Knowledge {
    fn list<'a>(
        &'a self,
        caller: &'a Caller,
        project_id: &'a str,
        most: u32,
    ) -> BoxFuture<'a, Result<Vec<ProjectFile>, UserError>> {
        Box::pin(async move {
            match self.library(&Viewer::from(caller), project_id, Access::Read).await {
                Ok(_) => {}
                Err(error) if error.code == ErrorCode::NotFound => return Ok(Vec::new()),
                Err(error) => return Err(error),
            }
            let filter = DocumentFilter { newest_first: true, ..DocumentFilter::default() };
            let listed = store::listed_documents(self.store(), project_id, filter, most).await.map_err(failed)?;
            Ok(listed.into_iter().map(project_file).collect())
        })
    }

    fn add<'a>(
        &'a self,
        caller: &'a Caller,
        project_id: &'a str,
        file: NewProjectFile<'a>,
    ) -> BoxFuture<'a, Result<(), UserError>> {
        Box::pin(async move {
            let viewer = Viewer::from(caller);
            self.library_for_upload(&viewer, project_id).await?;
            let NewProjectFile { name, media_type, content } = file;
            let file = NewFile { name, media_type, identity: None, stamp: None };
            self.upload(&viewer, project_id, file, UploadOptions::default(), content).await?;
            Ok(())
        })
    }

    fn delete<'a>(
        &'a self,
        caller: &'a Caller,
        project_id: &'a str,
        file_id: &'a str,
    ) -> BoxFuture<'a, Result<(), UserError>> {
        Box::pin(async move {
            let viewer = Viewer::from(caller);
            if self.document(&viewer, file_id, Access::Read).await?.library_id != project_id {
                return Err(UserError::not_found());
            }
            self.delete_document(&viewer, file_id).await
        })
    }

    fn with_files(&self, project_ids: Vec<String>) -> BoxFuture<'_, Result<HashSet<String>, StoreError>> {
        Box::pin(async move { Ok(store::counts(self.store(), project_ids).await?.into_keys().collect()) })
    }

    fn forget_project<'a>(&'a self, db: &'a mut Db, project_id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            store::delete_project_library(db, project_id).await?;
            self.0.indexes.forget(project_id);
            Ok(())
        })
    }

    fn forget_member<'a>(
        &'a self,
        db: &'a mut Db,
        project_id: &'a str,
        user_id: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(store::forget_member(db, project_id, user_id))
    }
}

fn project_file(document: DocumentRow) -> ProjectFile {
    let DocumentRow { id, file_name, state, error, .. } = document;
    let state = match state {
        DocumentState::Queued => FileState::Waiting,
        DocumentState::Processing => FileState::Reading,
        DocumentState::Ready => FileState::Ready,
        DocumentState::Failed => FileState::Failed(error.map_or_else(String::new, |(_, message)| message)),
    };
    ProjectFile { id, name: file_name, state }
}
