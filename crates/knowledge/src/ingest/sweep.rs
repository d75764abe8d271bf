//! Finds what was left behind: documents that no job reads, files that became no document, and libraries
//! without the vectors of the model in use. Deletes old questions.

use super::pictures::READ_PAGES;
use super::{INGEST, embed, enqueue};
use crate::service::Knowledge;
use crate::store;
use jobs::OnPending;
use std::time::Duration;
use web::times::now_millis;

/// The age after which a document without a job counts as lost, for example because an operator has cancelled
/// its job.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// The retention time of a file that became no document.
const UPLOAD: Duration = Duration::from_secs(24 * 60 * 60);
/// The number of libraries for which jobs are enqueued at once.
const LIBRARIES: u32 = 500;

/// Enqueues the jobs of forgotten documents again, and deletes unfinished uploads and old questions.
///
/// # Errors
/// The database failed.
pub(crate) async fn sweep(knowledge: &Knowledge) -> anyhow::Result<()> {
    let (store, now) = (knowledge.store(), now_millis());
    store::purge_uploads(store, now - UPLOAD.as_millis() as i64).await?;
    knowledge.forget_questions().await?;
    let kinds = [INGEST.name(), READ_PAGES.name()];
    let forgotten = store::open_without_job(store, kinds, now - FORGOTTEN.as_millis() as i64).await?;
    for id in forgotten {
        tracing::warn!(document = id, "a document had no job");
        let Some(document) = store::document(store, &id).await? else { continue };
        let Some(library) = store::library(store, &document.library_id).await? else { continue };
        let jobs = knowledge.jobs().clone();
        let write = store.write(move |db| Box::pin(async move { enqueue(&jobs, db, &id, &library.owner).await }));
        write.await?;
    }
    embed_libraries(knowledge).await
}

/// Enqueues the jobs of libraries that lack vectors: their model was changed, or its service was out of
/// reach for long.
async fn embed_libraries(knowledge: &Knowledge) -> anyhow::Result<()> {
    let models = knowledge.models();
    let Some(embedder) = &models.embedder else { return Ok(()) };
    let store = knowledge.store();
    for library in store::libraries_without_vectors(store, embedder.key(), LIBRARIES).await? {
        let jobs = knowledge.jobs().clone();
        let write = store.write(move |db| {
            Box::pin(async move { embed::enqueue(&jobs, db, (&library.id, &library.owner), OnPending::Keep).await })
        });
        write.await?;
    }
    Ok(())
}
