//! Says who is in a project, for the rights to its files.

use crate::project::Role;
use crate::service::Projects;
use crate::store::{self, StoredProject};
use ::store::StoreError;
use ::store::sql::Db;
use capability::{Membership, ProjectMembers};
use futures::future::BoxFuture;

impl ProjectMembers for Projects {
    fn membership<'a>(
        &'a self,
        db: &'a mut Db,
        user_id: &'a str,
        project_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<Membership>, StoreError>> {
        Box::pin(async move {
            if !self.is_on() {
                return Ok(None);
            }
            let found = store::find_in(db, user_id, project_id).await?;
            Ok(found.map(|StoredProject { id, owner, settings, role, .. }| Membership {
                project_id: id,
                name: settings.name,
                owner,
                may_write: role >= Role::Editor,
            }))
        })
    }

    fn memberships<'a>(
        &'a self,
        db: &'a mut Db,
        user_id: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Membership>, StoreError>> {
        Box::pin(async move { if self.is_on() { store::memberships(db, user_id).await } else { Ok(Vec::new()) } })
    }
}
