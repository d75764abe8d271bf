//! The libraries with the files of projects. Their ids are those of the projects.

use ::store::StoreError;
use ::store::sql::{self, Db};
use capability::Membership;

/// Two members may add the first files at once. The generation begins with the time: the owner may have deleted an earlier
/// library with this id, which servers still have in memory with a smaller generation.
const INSERT: &str = "
    INSERT INTO knowledge_libraries (id, owner, name, of_project, generation, created_at, updated_at)
    VALUES ($1, $2, $3, 1, $4, $4, $4) ON CONFLICT (id) DO NOTHING";

const DELETE: &str = "DELETE FROM knowledge_libraries WHERE id = $1 AND of_project = 1";

const REASSIGN_OF_PROJECT: &str = "
    UPDATE knowledge_documents SET added_by = (SELECT owner FROM knowledge_libraries WHERE id = $1)
    WHERE library_id = $1 AND added_by = $2";

/// Makes documents of a deleted user in the libraries of projects those of the owners.
pub(super) const REASSIGN_OF_ALL: &str = "
    UPDATE knowledge_documents
    SET added_by = (SELECT l.owner FROM knowledge_libraries l WHERE l.id = knowledge_documents.library_id)
    WHERE added_by = $1 AND library_id IN (SELECT l.id FROM knowledge_libraries l WHERE l.of_project = 1)";

/// Creates the library of a project. Returns false if there is one.
pub(crate) async fn insert_project_library(db: &mut Db, project: &Membership, now: i64) -> Result<bool, StoreError> {
    let insert = sql::query(INSERT).bind(&project.project_id).bind(&project.owner).bind(&project.name).bind(now);
    Ok(insert.execute(db).await?.rows_affected() > 0)
}

/// Deletes the library of a project with everything in it.
pub(crate) async fn delete_project_library(db: &mut Db, project_id: &str) -> Result<(), StoreError> {
    sql::query(DELETE).bind(project_id).execute(db).await?;
    Ok(())
}

/// Makes documents of a user in the library of a project those of its owner.
pub(crate) async fn forget_member(db: &mut Db, project_id: &str, user_id: &str) -> Result<(), StoreError> {
    sql::query(REASSIGN_OF_PROJECT).bind(project_id).bind(user_id).execute(db).await?;
    Ok(())
}
