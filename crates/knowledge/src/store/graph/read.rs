//! Entities, and the relations between them.

use crate::store::damaged;
use ::store::sql::{self, Row, Sql};
use ::store::{Store, StoreError};
use std::collections::HashMap;

/// The most names of an entity that are told.
const MAX_NAMES: i64 = 10;

/// The filter of a list of entities.
#[derive(Clone, Debug, Default)]
pub(crate) struct EntityFilter {
    pub(crate) libraries: Vec<String>,
    /// A part of one of their names, in the form in which names are compared; empty for all.
    pub(crate) name: String,
    /// Their type; empty for all.
    pub(crate) kind: String,
    /// The type of a relation that they have; empty for all.
    pub(crate) relation: String,
    /// The name of a file that mentions them, in which `*` stands for any characters; empty for all.
    pub(crate) file_name: String,
    /// The key of the name and the id of the last one of the page before.
    pub(crate) after: (String, String),
    pub(crate) most: u32,
}

/// An entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntityRow {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) name_key: String,
    /// The number of chunks that mention it.
    pub(crate) mentions: i64,
    /// The number of relations from it and to it.
    pub(crate) relations: i64,
}

/// A chunk that mentions an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MentionRow {
    pub(crate) version_id: String,
    pub(crate) chunk: u32,
    pub(crate) quote: String,
}

/// A relation, with the first chunk that states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RelationRow {
    pub(crate) from_id: String,
    pub(crate) from: String,
    pub(crate) from_kind: String,
    pub(crate) kind: String,
    pub(crate) to_id: String,
    pub(crate) to: String,
    pub(crate) to_kind: String,
    pub(crate) evidence: MentionRow,
    /// How many chunks state it.
    pub(crate) count: i64,
}

/// The columns of an entity with its numbers.
macro_rules! entities {
    ($($rest:literal),+) => {
        concat!(
            "SELECT e.id, e.kind, e.name, e.name_key,
                (SELECT count(*) FROM (SELECT DISTINCT version_id, chunk FROM knowledge_mentions
                    WHERE entity_id = e.id) AS chunks) AS mentions,
                (SELECT count(*) FROM (SELECT DISTINCT from_id, kind, to_id FROM knowledge_relations
                    WHERE from_id = e.id OR to_id = e.id) AS edges) AS relations
             FROM knowledge_entities e WHERE ",
            $($rest),+
        )
    };
}

/// Patterns are bound for `LIKE`.
macro_rules! list {
    ($libraries:literal) => {
        entities!(
            "e.library_id ",
            $libraries,
            " AND ($2 = '' OR e.name_key LIKE $2 ESCAPE '\\' OR EXISTS (SELECT 1 FROM knowledge_mentions m
                WHERE m.entity_id = e.id AND m.name_key LIKE $2 ESCAPE '\\'))
             AND ($3 = '' OR e.kind = $3)
             AND ($4 = '' OR EXISTS (SELECT 1 FROM knowledge_relations r WHERE r.from_id = e.id AND r.kind = $4)
                OR EXISTS (SELECT 1 FROM knowledge_relations r WHERE r.to_id = e.id AND r.kind = $4))
             AND ($5 = '' OR EXISTS (SELECT 1 FROM knowledge_mentions m JOIN knowledge_versions v ON v.id = m.version_id
                JOIN knowledge_documents d ON d.id = v.document_id
                WHERE m.entity_id = e.id AND lower(d.file_name) LIKE $5 ESCAPE '\\'))
             AND (e.name_key, e.id) > ($6, $7)
             ORDER BY e.name_key, e.id LIMIT $8"
        )
    };
}

const LIST: Sql = Sql::pair(list!("IN (SELECT value FROM json_each($1))"), list!("= ANY($1)"));
const BY_ID: Sql = Sql::pair(
    entities!("e.id IN (SELECT value FROM json_each($1)) AND e.library_id IN (SELECT value FROM json_each($2))"),
    entities!("e.id = ANY($1) AND e.library_id = ANY($2)"),
);

/// Those that have exactly this name, the most mentioned first.
macro_rules! named {
    ($libraries:literal) => {
        entities!(
            "e.library_id ",
            $libraries,
            " AND (e.name_key = $2 OR EXISTS (SELECT 1 FROM knowledge_mentions m
                WHERE m.entity_id = e.id AND m.name_key = $2))
             AND ($3 = '' OR e.kind = $3) ORDER BY mentions DESC, e.id LIMIT $4"
        )
    };
}

const NAMED: Sql = Sql::pair(named!("IN (SELECT value FROM json_each($1))"), named!("= ANY($1)"));

const NAMES: &str = "
    SELECT name, count(*) AS uses FROM knowledge_mentions WHERE entity_id = $1
    GROUP BY name ORDER BY uses DESC, name LIMIT $2";

const MENTIONS: &str = "
    SELECT version_id, chunk, min(quote) AS quote FROM knowledge_mentions WHERE entity_id = $1
    GROUP BY version_id, chunk ORDER BY version_id, chunk LIMIT $2";

/// Relations with their first evidence.
macro_rules! relations {
    ($which:literal) => {
        concat!(
            "SELECT x.from_id, f.name AS from_name, f.kind AS from_kind, x.kind, x.to_id, t.name AS to_name,
                t.kind AS to_kind, x.version_id, x.chunk, x.quote, x.uses
             FROM (SELECT r.from_id, r.kind, r.to_id, r.version_id, r.chunk, r.quote,
                    row_number() OVER (PARTITION BY r.from_id, r.kind, r.to_id ORDER BY r.version_id, r.chunk) AS place,
                    count(*) OVER (PARTITION BY r.from_id, r.kind, r.to_id) AS uses
                FROM knowledge_relations r WHERE ",
            $which,
            " AND ($2 = '' OR r.kind = $2)) x
             JOIN knowledge_entities f ON f.id = x.from_id JOIN knowledge_entities t ON t.id = x.to_id
             WHERE x.place = 1 ORDER BY x.uses DESC, f.name_key, x.kind, t.name_key, x.from_id, x.to_id LIMIT $3"
        )
    };
}

const RELATIONS_OF: Sql = Sql::pair(
    relations!("(r.from_id IN (SELECT value FROM json_each($1)) OR r.to_id IN (SELECT value FROM json_each($1)))"),
    relations!("(r.from_id = ANY($1) OR r.to_id = ANY($1))"),
);
const RELATIONS_AMONG: Sql = Sql::pair(
    relations!("r.from_id IN (SELECT value FROM json_each($1)) AND r.to_id IN (SELECT value FROM json_each($1))"),
    relations!("r.from_id = ANY($1) AND r.to_id = ANY($1)"),
);

fn read(row: &Row) -> Result<EntityRow, StoreError> {
    Ok(EntityRow {
        id: row.try_get("id")?,
        kind: row.try_get("kind")?,
        name: row.try_get("name")?,
        name_key: row.try_get("name_key")?,
        mentions: row.try_get("mentions")?,
        relations: row.try_get("relations")?,
    })
}

fn read_mention(row: &Row) -> Result<MentionRow, StoreError> {
    Ok(MentionRow {
        version_id: row.try_get("version_id")?,
        chunk: u32::try_from(row.try_get::<i64>("chunk")?).map_err(|_| damaged())?,
        quote: row.try_get("quote")?,
    })
}

/// Escapes the characters that are special in `LIKE`. With `has_stars`, `*` stands for any characters.
fn pattern(text: &str, has_stars: bool) -> String {
    let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    if has_stars { escaped.replace('*', "%") } else { escaped }
}

/// Returns entities by their names in alphabetical order.
pub(crate) async fn entities(store: &Store, filter: EntityFilter) -> Result<Vec<EntityRow>, StoreError> {
    let name = if filter.name.is_empty() { String::new() } else { format!("%{}%", pattern(&filter.name, false)) };
    let (key, id) = filter.after;
    let find = sql::query(LIST).bind(filter.libraries).bind(name).bind(filter.kind).bind(filter.relation);
    let find = find.bind(pattern(&filter.file_name.to_ascii_lowercase(), true)).bind(key).bind(id).bind(filter.most);
    rows(store, find).await
}

/// Returns those of these entities that belong to one of the libraries.
pub(crate) async fn entities_by_id(
    store: &Store,
    ids: Vec<String>,
    libraries: Vec<String>,
) -> Result<Vec<EntityRow>, StoreError> {
    rows(store, sql::query(BY_ID).bind(ids).bind(libraries)).await
}

/// Returns the entities that have exactly a name, the most mentioned first.
pub(crate) async fn entities_named(
    store: &Store,
    libraries: Vec<String>,
    name_key: &str,
    kind: &str,
    most: u32,
) -> Result<Vec<EntityRow>, StoreError> {
    rows(store, sql::query(NAMED).bind(libraries).bind(name_key).bind(kind).bind(most)).await
}

async fn rows(store: &Store, find: sql::Query) -> Result<Vec<EntityRow>, StoreError> {
    store.rows(find, read).await
}

/// Returns the names of an entity in the documents, the most frequent first.
pub(crate) async fn names(store: &Store, entity_id: &str) -> Result<Vec<String>, StoreError> {
    let find = sql::query_scalar(NAMES).bind(entity_id).bind(MAX_NAMES);
    store.read(move |db| Box::pin(async move { Ok(find.fetch_all(db).await?) })).await
}

/// Returns chunks that mention an entity, each once.
pub(crate) async fn mentions(store: &Store, entity_id: &str, most: u32) -> Result<Vec<MentionRow>, StoreError> {
    let find = sql::query(MENTIONS).bind(entity_id).bind(most);
    store.rows(find, read_mention).await
}

/// Returns the relations from these entities and to them, those with the most evidence first.
pub(crate) async fn relations_of(
    store: &Store,
    entities: Vec<String>,
    kind: &str,
    most: u32,
) -> Result<Vec<RelationRow>, StoreError> {
    relation_rows(store, sql::query(RELATIONS_OF).bind(entities).bind(kind).bind(most)).await
}

/// Returns the relations among entities with their distances, the nearest first, then those with the most evidence.
pub(crate) async fn relations_among(
    store: &Store,
    entities: &HashMap<String, u32>,
    kind: &str,
    most: u32,
) -> Result<Vec<RelationRow>, StoreError> {
    let ids: Vec<String> = entities.keys().cloned().collect();
    // More than are wanted, so that the nearest are among them.
    let find = sql::query(RELATIONS_AMONG).bind(ids).bind(kind).bind(most.saturating_mul(20));
    let mut found = relation_rows(store, find).await?;
    let distance = |id: &String| entities.get(id).copied().unwrap_or(u32::MAX);
    found.sort_by_key(|relation| {
        let ends = [distance(&relation.from_id), distance(&relation.to_id)];
        (ends[0].min(ends[1]), ends[0].max(ends[1]))
    });
    found.truncate(most as usize);
    Ok(found)
}

async fn relation_rows(store: &Store, find: sql::Query) -> Result<Vec<RelationRow>, StoreError> {
    let read = |row: &Row| -> Result<_, StoreError> {
        Ok(RelationRow {
            from_id: row.try_get("from_id")?,
            from: row.try_get("from_name")?,
            from_kind: row.try_get("from_kind")?,
            kind: row.try_get("kind")?,
            to_id: row.try_get("to_id")?,
            to: row.try_get("to_name")?,
            to_kind: row.try_get("to_kind")?,
            evidence: read_mention(row)?,
            count: row.try_get("uses")?,
        })
    };
    store.rows(find, read).await
}
