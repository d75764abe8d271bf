//! The indexes of libraries in memory.
//!
//! An index is read from the chunks when it is first needed, follows the library by its generation, and
//! is dropped when others need the memory. Chunks of a deleted document that are still in it are not
//! shown, because the texts of results are read from the database.

use crate::store::{self, LibraryRow, SearchableRow};
use ::store::{Store, StoreError};
use offload::Pool;
use parking_lot::{Mutex, RwLock};
use retrieval::{ChunkText, Index, Latent, LatentOptions, Slot, Vectors};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;
use tokio::sync::Notify;

/// The stack of a thread that computes.
const STACK: usize = 2 << 20;
/// The most computations that wait.
const QUEUED: usize = 64;
/// How many documents are added under one lock.
const BATCH: usize = 16;
/// How many vectors are read at once.
const VECTORS: u32 = 1_000;
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
    /// Serializes the reading of changes.
    refreshing: tokio::sync::Mutex<()>,
    used_at: AtomicU64,
    is_fitting: AtomicBool,
    has_vectors: Notify,
}

/// The data of a search.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) index: Index,
    /// Only without those of a model.
    pub(crate) semantic: Option<Semantic>,
    /// The vectors of a model.
    pub(crate) model: Option<ModelVectors>,
    /// The documents by version.
    pub(crate) documents: HashMap<String, SearchableRow>,
    generation: i64,
    /// The key of the model whose vectors were asked for, also if they have no room.
    wanted: Option<String>,
}

/// Vectors that were computed from the library itself.
pub(crate) struct Semantic {
    pub(crate) latent: Arc<Latent>,
    pub(crate) vectors: Vectors,
}

/// Vectors that a model has computed.
pub(crate) struct ModelVectors {
    /// The key of the model.
    pub(crate) key: String,
    pub(crate) vectors: Vectors,
    /// How many chunks of a version have their vectors here; those come first.
    counts: HashMap<String, u32>,
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
        let model = self.model.as_ref().map_or(0, |model| model.vectors.bytes() + model.counts.len() * 64);
        self.index.bytes() + semantic + model + self.documents.len() * 512
    }

    fn remove(&mut self, version: &str) {
        if let Some(slots) = self.index.slots_of(version) {
            if let Some(semantic) = &mut self.semantic {
                slots.clone().for_each(|slot| semantic.vectors.remove(slot));
            }
            if let Some(model) = &mut self.model {
                slots.for_each(|slot| model.vectors.remove(slot));
                model.counts.remove(version);
            }
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

    /// Adds vectors of a version by the numbers of its chunks.
    fn add_vectors(&mut self, version: &str, vectors: &[(u32, Vec<f32>)]) {
        let (Some(model), Some(slots)) = (&mut self.model, self.index.slots_of(version)) else { return };
        for (no, vector) in vectors {
            if slots.start + no < slots.end {
                model.vectors.set(slots.start + no, vector);
            }
        }
        if let Some((last, _)) = vectors.last() {
            model.counts.insert(version.to_owned(), last + 1);
        }
    }

    /// Begins to use the vectors of another model, or none. They are left out if they have no room.
    fn use_model(&mut self, wanted: Option<(&str, usize)>, budget: u64) {
        self.wanted = wanted.map(|(key, _)| key.to_owned());
        self.model = None;
        let Some((key, dimensions)) = wanted else { return };
        let vectors = Vectors::new(dimensions, self.index.slots());
        if vectors.bytes_for(self.index.slots()) as u64 > budget {
            let chunks = self.index.slots();
            tracing::warn!(chunks, dimensions, "the vectors of a library do not fit into `knowledge.memoryBytes`");
            return;
        }
        self.semantic = None;
        self.model = Some(ModelVectors { key: key.to_owned(), vectors, counts: HashMap::new() });
    }
}

/// Returns the text of a chunk for a model: what it stands under, and what it says.
pub(crate) fn passage(heading: &str, text: &str) -> String {
    let body = chunk_text(heading, text).body.trim();
    if heading.is_empty() { body.to_owned() } else { format!("{heading}\n{body}") }
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

    /// Returns the index of a library as of now, with the vectors of the model with the key `model`, and
    /// otherwise with vectors of its own.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn get(
        &self,
        library: &LibraryRow,
        model: Option<&str>,
        budget: u64,
    ) -> Result<Arc<LoadedLibrary>, StoreError> {
        let loaded =
            self.loaded.lock().entry(library.id.clone()).or_insert_with(|| Arc::new(LoadedLibrary::new())).clone();
        loaded.used_at.store(self.clock.fetch_add(1, Relaxed) + 1, Relaxed);
        // Another search may have read more than this one knows of.
        let is_current = || {
            loaded.read(|state| match state.generation.cmp(&library.generation) {
                Ordering::Less => false,
                Ordering::Equal => state.wanted.as_deref() == model,
                Ordering::Greater => true,
            })
        };
        if !is_current() {
            let _one = loaded.refreshing.lock().await;
            // Another search may have read the changes.
            if !is_current() {
                let changed = self.refresh(library, &loaded).await?;
                self.read_vectors(library, &loaded, model, changed, budget).await?;
                self.shrink(budget);
            }
        }
        self.fit(&loaded);
        Ok(loaded)
    }

    /// Reads what has changed; returns the versions whose vectors may have changed.
    async fn refresh(&self, library: &LibraryRow, loaded: &Arc<LoadedLibrary>) -> Result<Vec<String>, StoreError> {
        let known = loaded.read(|state| state.generation);
        if known >= library.generation {
            return Ok(Vec::new());
        }
        let (mut changed, count) = store::changed_documents(&self.store, &library.id, known).await?;
        let ids: HashSet<String> = changed.iter().map(|row| row.id.clone()).collect();
        let replaced: Vec<String> = loaded.read(|state| {
            let is_replaced = |row: &&SearchableRow| ids.contains(&row.id);
            state.documents.values().filter(is_replaced).map(|row| row.version_id.clone()).collect()
        });
        let kept = loaded.read(|state| state.documents.len()) - replaced.len();
        if kept + changed.len() != usize::try_from(count).unwrap_or_default() {
            // Documents were deleted, so all are compared.
            changed = store::changed_documents(&self.store, &library.id, -1).await?.0;
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
        let versions = changed.iter().map(|row| row.version_id.clone()).collect();
        self.add(loaded, changed).await?;
        loaded.state.write().generation = library.generation;
        if loaded.read(|state| state.index.is_sparse()) {
            // The next search builds the index anew.
            self.forget(&library.id);
        }
        Ok(versions)
    }

    /// Reads the vectors of a model: of the versions that have changed, or of all if another model was used.
    async fn read_vectors(
        &self,
        library: &LibraryRow,
        loaded: &Arc<LoadedLibrary>,
        model: Option<&str>,
        changed: Vec<String>,
        budget: u64,
    ) -> Result<(), StoreError> {
        let dimensions = library.embedding.as_ref().map_or(0, |(_, dimensions)| *dimensions as usize);
        let versions = if loaded.read(|state| state.wanted.as_deref() == model) {
            changed
        } else {
            loaded.state.write().use_model(model.map(|key| (key, dimensions)), budget);
            loaded.read(|state| state.documents.keys().cloned().collect())
        };
        for version in versions {
            // `None` if there are no vectors to read.
            let known = |state: &State| {
                let model = state.model.as_ref().filter(|_| state.documents.contains_key(&version))?;
                Some((model.key.clone(), model.counts.get(&version).copied().unwrap_or_default()))
            };
            while let Some((key, from)) = loaded.read(known) {
                let vectors = store::vectors_of_version(&self.store, &version, &key, from, VECTORS).await?;
                loaded.state.write().add_vectors(&version, &vectors);
                if vectors.len() < VECTORS as usize {
                    break;
                }
            }
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
            None => state.model.is_none() && state.index.len() >= Latent::LEAST_CHUNKS,
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
                if let Some(latent) = latent.filter(|_| state.model.is_none()) {
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
            // Without them the search continues with keywords.
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
