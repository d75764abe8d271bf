//! Stores the results of an extraction, batch by batch.

use ::store::sql::{self, Db, Sql};
use ::store::{Store, StoreError};

/// The extraction from a version of a document.
#[derive(Clone, Debug)]
pub(crate) struct Extraction {
    pub(crate) library_id: String,
    pub(crate) document_id: String,
    pub(crate) version_id: String,
    /// The key of what is extracted with which model.
    pub(crate) settings: String,
}

/// The checked results of a model for some chunks.
#[derive(Clone, Debug)]
pub(crate) struct NewBatch {
    /// The first of the chunks, and the one after the last.
    pub(crate) from: u32,
    pub(crate) next: u32,
    /// Whether this is the last batch.
    pub(crate) is_last: bool,
    pub(crate) entities: Vec<NewEntity>,
    pub(crate) relations: Vec<NewRelation>,
    /// How much was not kept.
    pub(crate) dropped: u32,
    /// The most entities of the library.
    pub(crate) max_entities: u32,
}

/// An entity that a chunk mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewEntity {
    pub(crate) kind: String,
    /// The names in this chunk, each with the form in which names are compared; the main one is first.
    pub(crate) names: Vec<(String, String)>,
    pub(crate) chunk: u32,
    pub(crate) quote: String,
}

/// A relation that a chunk states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewRelation {
    pub(crate) kind: String,
    /// The ends, by their places among the entities.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) chunk: u32,
    pub(crate) quote: String,
}

/// SQLite has one writer at a time.
const LOCK: Sql = Sql::pair(
    "SELECT 1 FROM knowledge_libraries WHERE id = $1",
    "SELECT 1::bigint FROM knowledge_libraries WHERE id = $1 FOR UPDATE",
);

const BEGIN: &str = "
    INSERT INTO knowledge_extractions (document_id, version_id, settings, state, next_chunk, dropped, updated_at)
    SELECT d.id, d.version_id, $3, 'open', 0, 0, $4 FROM knowledge_documents d WHERE d.id = $1 AND d.version_id = $2
    ON CONFLICT (document_id) DO UPDATE SET version_id = excluded.version_id, settings = excluded.settings,
        state = 'open', next_chunk = 0, dropped = 0, error = NULL, updated_at = excluded.updated_at";

const IS_NEXT: &str = "
    SELECT 1 FROM knowledge_extractions e JOIN knowledge_documents d ON d.id = e.document_id
        AND d.version_id = e.version_id
    WHERE e.document_id = $1 AND e.version_id = $2 AND e.settings = $3 AND e.state = 'open' AND e.next_chunk = $4";

const ADVANCE: &str = "
    UPDATE knowledge_extractions SET next_chunk = $2, state = $3, dropped = dropped + $4, error = NULL, updated_at = $5
    WHERE document_id = $1";

const NOTE: &str = "
    UPDATE knowledge_extractions SET state = $4, error = $5, updated_at = $6
    WHERE document_id = $1 AND version_id = $2 AND settings = $3 AND state = 'open'";

const COUNT: &str = "SELECT count(*) FROM knowledge_entities WHERE library_id = $1";

/// The entities of a type that have a name, or that any document mentions by it.
const SAME: &str = "
    SELECT id FROM knowledge_entities WHERE library_id = $1 AND kind = $2 AND name_key = $3
    UNION SELECT e.id FROM knowledge_mentions m JOIN knowledge_entities e ON e.id = m.entity_id
        WHERE m.name_key = $3 AND e.library_id = $1 AND e.kind = $2
    ORDER BY 1 LIMIT 2";

const ADD_ENTITY: &str = "
    INSERT INTO knowledge_entities (id, library_id, kind, name, name_key, created_at) VALUES ($1, $2, $3, $4, $5, $6)";

const ADD_MENTION: &str = "
    INSERT INTO knowledge_mentions (version_id, chunk, entity_id, name_key, name, quote) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT DO NOTHING";

const ADD_RELATION: &str = "
    INSERT INTO knowledge_relations (version_id, chunk, from_id, kind, to_id, quote) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT DO NOTHING";

/// Forgets what a version states. Each relation has mentions of its ends in the same version, so an entity that is
/// deleted with its last mention has no relations left.
const FORGET: [&str; 3] = [
    "DELETE FROM knowledge_relations WHERE version_id = $1",
    "DELETE FROM knowledge_entities WHERE id IN (SELECT entity_id FROM knowledge_mentions WHERE version_id = $1)
        AND NOT EXISTS (SELECT 1 FROM knowledge_mentions m
            WHERE m.entity_id = knowledge_entities.id AND m.version_id <> $1)",
    "DELETE FROM knowledge_mentions WHERE version_id = $1",
];

const KEPT: &str = "
    SELECT (SELECT count(*) FROM knowledge_mentions WHERE version_id = $1)
        + (SELECT count(*) FROM knowledge_relations WHERE version_id = $1)";

/// Deletes what was extracted from a version, and the entities that no other one mentions.
pub(crate) async fn forget_version(db: &mut Db, version_id: &str) -> Result<(), StoreError> {
    for statement in FORGET {
        sql::query(statement).bind(version_id).execute(&mut *db).await?;
    }
    Ok(())
}

/// Locks a library until the end of the transaction.
pub(super) async fn lock(db: &mut Db, library_id: &str) -> Result<(), StoreError> {
    sql::query(LOCK).bind(library_id).fetch_optional(db).await?;
    Ok(())
}

/// Begins an extraction anew: deletes what an earlier one has stored. Returns false if the version is not the
/// one that is found any more.
pub(crate) async fn begin(db: &mut Db, extraction: &Extraction, now: i64) -> Result<bool, StoreError> {
    lock(db, &extraction.library_id).await?;
    let begin = sql::query(BEGIN).bind(&extraction.document_id).bind(&extraction.version_id);
    let is_begun = begin.bind(&extraction.settings).bind(now).execute(&mut *db).await?.rows_affected() > 0;
    if is_begun {
        forget_version(db, &extraction.version_id).await?;
    }
    Ok(is_begun)
}

/// Stores a batch. Returns false if the extraction is not at its first chunk any more, which then has no effect.
pub(crate) async fn add_batch(
    db: &mut Db,
    extraction: &Extraction,
    batch: NewBatch,
    now: i64,
) -> Result<bool, StoreError> {
    lock(db, &extraction.library_id).await?;
    let is_next = sql::query(IS_NEXT).bind(&extraction.document_id).bind(&extraction.version_id);
    let is_next = is_next.bind(&extraction.settings).bind(batch.from);
    if is_next.fetch_optional(&mut *db).await?.is_none() {
        return Ok(false);
    }
    let count = sql::query_scalar::<i64>(COUNT).bind(&extraction.library_id).fetch_one(&mut *db).await?;
    let mut room = i64::from(batch.max_entities) - count;
    let mut dropped = batch.dropped;
    let mut ids = Vec::new();
    for entity in &batch.entities {
        let id = add_entity(db, extraction, entity, &mut room, now).await?;
        dropped += u32::from(id.is_none());
        ids.push(id);
    }
    for NewRelation { kind, from, to, chunk, quote } in batch.relations {
        let ends = ids.get(from).cloned().flatten().zip(ids.get(to).cloned().flatten());
        // Two names may turn out to be those of one entity.
        let Some((from, to)) = ends.filter(|(from, to)| from != to) else {
            dropped += 1;
            continue;
        };
        let add = sql::query(ADD_RELATION).bind(&extraction.version_id).bind(chunk).bind(from).bind(kind);
        add.bind(to).bind(quote).execute(&mut *db).await?;
    }
    let state = if batch.is_last { "done" } else { "open" };
    let advance = sql::query(ADVANCE).bind(&extraction.document_id).bind(batch.next).bind(state);
    advance.bind(dropped).bind(now).execute(db).await?;
    Ok(true)
}

/// Stores that a chunk mentions an entity; returns the id of the entity. `None` if the library may have no more.
async fn add_entity(
    db: &mut Db,
    extraction: &Extraction,
    entity: &NewEntity,
    room: &mut i64,
    now: i64,
) -> Result<Option<String>, StoreError> {
    let Some((key, name)) = entity.names.first() else { return Ok(None) };
    let id = match known_entity(db, extraction, entity).await? {
        Some(id) => id,
        None if *room <= 0 => return Ok(None),
        None => {
            let id = crate::new_id();
            let add = sql::query(ADD_ENTITY).bind(&id).bind(&extraction.library_id).bind(&entity.kind);
            add.bind(name).bind(key).bind(now).execute(&mut *db).await?;
            *room -= 1;
            id
        }
    };
    for (key, name) in &entity.names {
        let add = sql::query(ADD_MENTION).bind(&extraction.version_id).bind(entity.chunk).bind(&id);
        add.bind(key).bind(name).bind(&entity.quote).execute(&mut *db).await?;
    }
    Ok(Some(id))
}

/// Returns the entity of the library that has the main name, or otherwise the only one with one of the others.
/// Another name that several entities share does not tell which of them is meant.
async fn known_entity(db: &mut Db, extraction: &Extraction, entity: &NewEntity) -> Result<Option<String>, StoreError> {
    for (number, (key, _)) in entity.names.iter().enumerate() {
        let same = sql::query_scalar::<String>(SAME).bind(&extraction.library_id).bind(&entity.kind).bind(key);
        let mut same = same.fetch_all(&mut *db).await?;
        if same.len() == 1 || number == 0 && !same.is_empty() {
            return Ok(Some(same.swap_remove(0)));
        }
    }
    Ok(None)
}

/// Stores why an extraction has ended without a result.
pub(crate) async fn fail(db: &mut Db, extraction: &Extraction, cause: &str, now: i64) -> Result<(), StoreError> {
    note(db, extraction, "failed", cause, now).await
}

/// Stores why an extraction waits.
pub(crate) async fn postpone(db: &mut Db, extraction: &Extraction, cause: &str, now: i64) -> Result<(), StoreError> {
    note(db, extraction, "open", cause, now).await
}

async fn note(
    db: &mut Db,
    extraction: &Extraction,
    state: &'static str,
    cause: &str,
    now: i64,
) -> Result<(), StoreError> {
    let note = sql::query(NOTE).bind(&extraction.document_id).bind(&extraction.version_id);
    note.bind(&extraction.settings).bind(state).bind(cause).bind(now).execute(db).await?;
    Ok(())
}

/// Returns how many mentions and relations of a version are stored.
pub(crate) async fn kept_of_version(store: &Store, version_id: &str) -> Result<i64, StoreError> {
    let count = sql::query_scalar(KEPT).bind(version_id);
    store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await
}
