//! Finds documents from which is still to be extracted, and libraries from which nothing is extracted any more.

use super::job::{EXTRACT, enqueue};
use crate::service::Knowledge;
use crate::store::graph::{self, LibraryWithGraph, PendingExtraction};
use ::store::StoreError;

/// The number of documents of a library, or of all users, for which jobs are enqueued at once.
const DOCUMENTS: u32 = 500;
/// The number of libraries of a batch.
const LIBRARIES: u32 = 500;

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
            let (id, kind) = (&library.id.0, EXTRACT.name());
            let pending = graph::pending_without_job(store, id, &settings.key(), kind, DOCUMENTS).await?;
            enqueue_all(knowledge, pending).await?;
        }
    }
    if let Some(settings) = knowledge.settings().user_graph {
        let pending = graph::pending_of_users(store, &settings.key(), EXTRACT.name(), DOCUMENTS).await?;
        enqueue_all(knowledge, pending).await?;
    }
    clear_switched_off(knowledge).await
}

/// Deletes what was extracted from libraries from which nothing is to be extracted any more.
async fn clear_switched_off(knowledge: &Knowledge) -> anyhow::Result<()> {
    let (store, mut after) = (knowledge.store(), String::new());
    loop {
        let libraries = graph::libraries_with_graph(store, &after, LIBRARIES).await?;
        let Some(last) = libraries.last() else { return Ok(()) };
        after.clone_from(&last.id);
        for LibraryWithGraph { id, is_declared, is_switched_on } in libraries {
            if knowledge.graph_settings_of(&id, is_declared, is_switched_on).is_some() {
                continue;
            }
            // Clearing the ones before it takes time, in which its owner may have switched the extraction on again.
            let library = crate::store::library(store, &id).await?;
            if library.is_some_and(|library| knowledge.graph_settings(&library).is_none()) {
                graph::clear_graph(store, &id).await?;
            }
        }
    }
}

/// Enqueues jobs for documents of a library that wait for their extraction with these settings; jobs that wait are
/// tried at once. Those beyond the bound follow with the next sweep.
///
/// # Errors
/// The database failed.
pub(crate) async fn enqueue_library(knowledge: &Knowledge, library_id: &str, settings: &str) -> Result<(), StoreError> {
    let pending = graph::pending_extractions(knowledge.store(), library_id, settings, DOCUMENTS).await?;
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
