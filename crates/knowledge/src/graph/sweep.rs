//! Finds documents from which is still to be extracted, and libraries from which nothing is extracted any more.

use super::job::{EXTRACT, enqueue};
use crate::service::Knowledge;
use crate::store;
use crate::store::graph::{self, PendingExtraction};
use ::store::StoreError;

/// For how many documents of a library, or of all users, jobs are enqueued at once.
const DOCUMENTS: u32 = 500;
/// How many libraries are looked at.
const LIBRARIES: u32 = 10_000;

/// Enqueues jobs for documents that wait for their extraction, and deletes what was extracted from libraries
/// whose `graph` was switched off.
///
/// # Errors
/// The database failed.
pub(crate) async fn sweep(knowledge: &Knowledge) -> anyhow::Result<()> {
    if !knowledge.has_config() {
        return Ok(());
    }
    let store = knowledge.store();
    for (library, _) in knowledge.declared() {
        if let Some(settings) = &library.graph {
            enqueue_pending(knowledge, &library.id.0, &settings.key(), EXTRACT.name()).await?;
        }
    }
    if let Some(settings) = knowledge.settings().user_graph {
        let pending = graph::pending_of_users(store, &settings.key(), EXTRACT.name(), DOCUMENTS).await?;
        enqueue_all(knowledge, pending).await?;
    }
    for id in graph::libraries_with_graph(store, LIBRARIES).await? {
        let library = store::library(store, &id).await?;
        if library.is_some_and(|library| knowledge.graph_settings(&library).is_none()) {
            graph::clear_graph(store, &id).await?;
        }
    }
    Ok(())
}

/// Enqueues jobs for documents of a library that wait for their extraction with these settings; jobs that wait are
/// tried at once. What is left follows with the next sweep.
///
/// # Errors
/// The database failed.
pub(crate) async fn enqueue_library(knowledge: &Knowledge, library_id: &str, settings: &str) -> Result<(), StoreError> {
    // No job has this kind, so documents whose job waits are among them.
    enqueue_pending(knowledge, library_id, settings, "").await
}

/// As [`enqueue_library`], except for documents that have a job of this kind.
async fn enqueue_pending(
    knowledge: &Knowledge,
    library_id: &str,
    settings: &str,
    kind: &'static str,
) -> Result<(), StoreError> {
    let pending = graph::pending_extractions(knowledge.store(), library_id, settings, kind, DOCUMENTS).await?;
    enqueue_all(knowledge, pending).await
}

async fn enqueue_all(knowledge: &Knowledge, pending: Vec<PendingExtraction>) -> Result<(), StoreError> {
    if pending.is_empty() {
        return Ok(());
    }
    let jobs = knowledge.jobs().clone();
    let write = knowledge.store().write(move |db| {
        Box::pin(async move {
            for PendingExtraction { document_id, owner } in pending {
                enqueue(&jobs, db, &document_id, &owner).await?;
            }
            Ok(())
        })
    });
    write.await
}
