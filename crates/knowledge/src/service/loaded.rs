//! The indexes of libraries in memory.
//!
//! An index is read from the chunks when it is first needed, follows the library by its generation, and
//! is dropped when others need the memory. What it still has of a deleted document is not shown, because
//! the texts of results are read from the database.

use crate::store::{self, SearchableRow};
use ::store::{Store, StoreError};
use offload::Pool;
use parking_lot::{Mutex, RwLock};
use retrieval::{ChunkText, Index, Latent, LatentOptions, Slot, Vectors};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::Notify;

/// The stack of a thread that computes.
const STACK: usize = 2 << 20;
/// The most computations that wait.
const QUEUED: usize = 64;
/// How many documents are added under one lock.
const BATCH: usize = 16;
/// How long a search waits for the first vectors of a library. Later ones use those of before.
const FIRST_VECTORS: Duration = Duration::from_millis(1_500);

/// The indexes of a server.
pub(crate) struct Indexes {
    store: Store,
    loaded: Mutex<HashMap<String, Arc<LoadedLibrary>>>,
    /// Counts uses, so that those of long ago are known.
    clock: AtomicU64,
    pool: Pool,
}

/// The index of a library.
pub(crate) struct LoadedLibrary {
    state: RwLock<State>,
    /// One reads changes at a time.
    refreshing: tokio::sync::Mutex<()>,
    used_at: AtomicU64,
    is_fitting: AtomicBool,
    has_vectors: Notify,
}

/// What a search needs.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) index: Index,
    pub(crate) semantic: Option<Semantic>,
    /// The documents by version.
    pub(crate) documents: HashMap<String, SearchableRow>,
    generation: i64,
}

/// Vectors that were computed from the library itself.
pub(crate) struct Semantic {
    pub(crate) latent: Arc<Latent>,
    pub(crate) vectors: Vectors,
}

impl Semantic {
    fn new(index: &Index, latent: Arc<Latent>) -> Self {
        let mut vectors = Vectors::new(latent.dimensions(), index.slots());
        (0..index.slots() as Slot).for_each(|slot| vectors.set(slot, &latent.chunk(index, slot)));
        Self { latent, vectors }
    }
}

impl State {
    fn bytes(&self) -> usize {
        let semantic = self.semantic.as_ref().map_or(0, |own| own.latent.bytes() + own.vectors.bytes());
        self.index.bytes() + semantic + self.documents.len() * 512
    }

    fn remove(&mut self, version: &str) {
        if let (Some(semantic), Some(slots)) = (&mut self.semantic, self.index.slots_of(version)) {
            slots.for_each(|slot| semantic.vectors.remove(slot));
        }
        self.index.remove(version);
        self.documents.remove(version);
    }

    fn add(&mut self, row: SearchableRow, chunks: &[(String, String)]) {
        let texts: Vec<_> = chunks.iter().map(|(heading, body)| chunk_text(heading, body)).collect();
        if !self.index.add(&row.version_id, &texts) {
            return;
        }
        if let (Some(semantic), Some(slots)) = (&mut self.semantic, self.index.slots_of(&row.version_id)) {
            for slot in slots {
                semantic.vectors.set(slot, &semantic.latent.chunk(&self.index, slot));
            }
        }
        self.documents.insert(row.version_id.clone(), row);
    }
}

/// Returns the text of a chunk to index. A heading at its beginning is the last one of the path, so it
/// counts there.
fn chunk_text<'t>(heading: &'t str, body: &'t str) -> ChunkText<'t> {
    let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
    let own = first.strip_prefix('#').map(|line| line.trim_start_matches('#').trim());
    let is_shown = own.is_some_and(|own| heading.rsplit(" > ").next() == Some(own));
    ChunkText { heading, body: if is_shown { rest } else { body } }
}

impl LoadedLibrary {
    fn new() -> Self {
        Self {
            state: RwLock::default(),
            refreshing: tokio::sync::Mutex::default(),
            used_at: AtomicU64::default(),
            is_fitting: AtomicBool::default(),
            has_vectors: Notify::new(),
        }
    }

    /// Reads the state, for the time of a search.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&State) -> T) -> T {
        work(&self.state.read())
    }
}

impl Indexes {
    pub(crate) fn new(store: Store) -> Self {
        let pool = Pool::new("knowledge", STACK, QUEUED);
        Self { store, loaded: Mutex::default(), clock: AtomicU64::default(), pool }
    }

    /// Drops the index of a library that was deleted.
    pub(crate) fn forget(&self, library: &str) {
        self.loaded.lock().remove(library);
    }

    /// Returns the index of a library as of now.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn get(
        &self,
        library: &str,
        generation: i64,
        budget: u64,
    ) -> Result<Arc<LoadedLibrary>, StoreError> {
        let loaded =
            self.loaded.lock().entry(library.to_owned()).or_insert_with(|| Arc::new(LoadedLibrary::new())).clone();
        loaded.used_at.store(self.clock.fetch_add(1, Relaxed) + 1, Relaxed);
        if loaded.read(|state| state.generation) < generation {
            let _one = loaded.refreshing.lock().await;
            // Another search may have read the changes.
            if loaded.read(|state| state.generation) < generation {
                self.refresh(library, &loaded, generation).await?;
                self.shrink(budget);
            }
        }
        self.fit(&loaded);
        Ok(loaded)
    }

    /// Reads what has changed.
    async fn refresh(&self, library: &str, loaded: &Arc<LoadedLibrary>, generation: i64) -> Result<(), StoreError> {
        let known = loaded.read(|state| state.generation);
        let (mut changed, count) = store::changed_documents(&self.store, library, known).await?;
        let ids: HashSet<String> = changed.iter().map(|row| row.id.clone()).collect();
        let replaced: Vec<String> = loaded.read(|state| {
            let is_replaced = |row: &&SearchableRow| ids.contains(&row.id);
            state.documents.values().filter(is_replaced).map(|row| row.version_id.clone()).collect()
        });
        let kept = loaded.read(|state| state.documents.len()) - replaced.len();
        if kept + changed.len() != usize::try_from(count).unwrap_or_default() {
            // Documents were deleted, so all are compared.
            changed = store::changed_documents(&self.store, library, -1).await?.0;
            let versions: HashSet<&str> = changed.iter().map(|row| row.version_id.as_str()).collect();
            let mut state = loaded.state.write();
            let gone: Vec<_> =
                state.documents.keys().filter(|version| !versions.contains(version.as_str())).cloned().collect();
            gone.iter().for_each(|version| state.remove(version));
        }
        let current: HashSet<&str> = changed.iter().map(|row| row.version_id.as_str()).collect();
        for version in replaced.iter().filter(|version| !current.contains(version.as_str())) {
            loaded.state.write().remove(version);
        }
        self.add(loaded, changed).await?;
        loaded.state.write().generation = generation;
        if loaded.read(|state| state.index.is_sparse()) {
            // The next search builds the index anew.
            self.forget(library);
        }
        Ok(())
    }

    async fn add(&self, loaded: &Arc<LoadedLibrary>, changed: Vec<SearchableRow>) -> Result<(), StoreError> {
        for rows in changed.chunks(BATCH) {
            let mut texts = Vec::new();
            for row in rows {
                if loaded.read(|state| state.documents.contains_key(&row.version_id)) {
                    // Only what is said about it has changed.
                    loaded.state.write().documents.insert(row.version_id.clone(), row.clone());
                } else {
                    texts.push((row.clone(), store::chunks_of_version(&self.store, &row.version_id).await?));
                }
            }
            let target = loaded.clone();
            let add = move |_: &offload::Abandoned| {
                let mut state = target.state.write();
                texts.into_iter().for_each(|(row, chunks)| state.add(row, &chunks));
            };
            let added = self.pool.run_waiting(add).await;
            added.map_err(|_| StoreError::Unavailable("the index could not be built".to_owned()))?;
        }
        Ok(())
    }

    /// Drops the indexes that were not used for the longest time until the others fit the budget.
    fn shrink(&self, budget: u64) {
        let mut loaded = self.loaded.lock();
        let mut sizes: Vec<_> = loaded
            .iter()
            .map(|(id, one)| (one.used_at.load(Relaxed), one.read(State::bytes) as u64, id.clone()))
            .collect();
        sizes.sort_unstable();
        let mut sum: u64 = sizes.iter().map(|(_, bytes, _)| bytes).sum();
        // The newest one stays, whatever its size.
        sizes.pop();
        for (_, bytes, id) in sizes {
            if sum <= budget {
                break;
            }
            loaded.remove(&id);
            sum -= bytes;
        }
    }

    /// Computes the vectors of a library in the background, if it has none or has grown.
    fn fit(&self, loaded: &Arc<LoadedLibrary>) {
        let is_due = loaded.read(|state| match &state.semantic {
            Some(semantic) => semantic.latent.is_outdated(&state.index),
            None => state.index.len() >= Latent::LEAST_CHUNKS,
        });
        if !is_due || loaded.is_fitting.swap(true, Relaxed) {
            return;
        }
        let (target, pool) = (Arc::downgrade(loaded), self.pool.clone());
        tokio::spawn(async move {
            let work = move |_: &offload::Abandoned| {
                let Some(library) = target.upgrade() else { return };
                let latent = library.read(|state| Latent::fit(&state.index, LatentOptions::default(), &|| false));
                let mut state = library.state.write();
                if let Some(latent) = latent {
                    state.semantic = Some(Semantic::new(&state.index, Arc::new(latent)));
                }
                drop(state);
                library.is_fitting.store(false, Relaxed);
                library.has_vectors.notify_waiters();
            };
            if pool.run(work).await.is_err() {
                tracing::warn!("the vectors of a library could not be computed");
            }
        });
    }

    /// Waits a moment for the first vectors of a library that is large enough for them.
    pub(crate) async fn first_vectors(&self, loaded: &LoadedLibrary) {
        let ready = loaded.has_vectors.notified();
        let is_awaited = loaded.read(|state| state.semantic.is_none()) && loaded.is_fitting.load(Relaxed);
        if is_awaited {
            // Without them the search goes on with keywords.
            let _ = tokio::time::timeout(FIRST_VECTORS, ready).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heading_counts_once() {
        let check = |heading: &str, body: &str, expected: &str| assert_eq!(chunk_text(heading, body).body, expected);
        check("Pumps > Night", "## Night\n\nThey run.", "\nThey run.");
        check("Pumps", "# Pumps", "");
        check("Pumps", "## Night\n\nThey run.", "## Night\n\nThey run.");
        check("Pumps", "They run.", "They run.");
    }
}
