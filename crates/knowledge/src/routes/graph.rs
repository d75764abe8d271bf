//! The entities and relations of a library.

use crate::service::{Exploration, Explored, Knowledge, MAX_ITEMS, failed};
use crate::store::ChunkRow;
use crate::store::graph::{Direction, EntityFilter, EntityRow, MentionRow, RelationRow};
use axum::extract::{Path, State};
use axum::{Extension, Json};
use chat::{Caller, Viewer};
use documents::Place;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use web::openapi::Accepted;
use web::{HttpError, SentQuery, valid_query};
use wire::UserError;

/// How many entities, or relations, are listed by default.
const DEFAULT_LIMIT: u32 = 50;

/// How far the extraction from a library is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GraphStatus {
    /// The types of entities that are extracted.
    entity_types: Vec<String>,
    /// The types of relations that are extracted.
    relation_types: Vec<String>,
    /// The number of documents that can be found.
    documents: i64,
    /// The number of those from which everything is extracted.
    done: i64,
    /// The number of those from which nothing could be extracted.
    failed: i64,
    /// Why one of them failed or waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The number of entities.
    entities: i64,
    /// The number of relations.
    relations: i64,
    /// How much of what the model has returned was left out, mostly because its quote is not in the text.
    dropped: i64,
    /// Whether the caller may start the extraction again.
    may_redo: bool,
}

/// The filter of a list of entities.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EntitiesQuery {
    /// A part of a name.
    #[serde(default)]
    name: String,
    /// The type of the entities.
    #[serde(default, rename = "type")]
    kind: String,
    /// The type of a relation that they have.
    #[serde(default)]
    relation: String,
    /// The name of a file that mentions them; `*` stands for any characters.
    #[serde(default)]
    file_name: String,
    /// The most entities, at most 100.
    #[serde(default = "default_limit")]
    limit: u32,
    /// The `cursor` of the answer before.
    #[serde(default)]
    cursor: Option<String>,
}

fn default_limit() -> u32 {
    DEFAULT_LIMIT
}

/// Entities by their names in alphabetical order.
#[derive(Serialize, JsonSchema)]
pub(super) struct EntityItems {
    items: Vec<EntityItem>,
    /// The `cursor` of the next request; absent if these are the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// An entity.
#[derive(Serialize, JsonSchema)]
struct EntityItem {
    /// Its id.
    id: String,
    /// Its type.
    #[serde(rename = "type")]
    kind: String,
    /// Its name.
    name: String,
    /// The number of passages that mention it.
    mentions: i64,
    /// The number of its relations.
    relations: i64,
}

/// The start and the filter of an exploration.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ExploreQuery {
    /// The id of an entity, or one of its names.
    #[serde(default)]
    entity: String,
    /// The type of the entity, if several have the name.
    #[serde(default, rename = "type")]
    kind: String,
    /// The type of the relations that are followed.
    #[serde(default)]
    relation: String,
    /// The direction in which relations are followed.
    #[serde(default)]
    direction: Direction,
    /// How many relations lead away from the entity at most, 1 to 4.
    #[serde(default = "default_depth")]
    depth: u32,
    /// The most relations, at most 100.
    #[serde(default = "default_limit")]
    limit: u32,
}

fn default_depth() -> u32 {
    1
}

/// An entity with what is connected with it.
#[derive(Serialize, JsonSchema)]
pub(super) struct EntityExploration {
    entity: EntityItem,
    /// The names of the entity in the documents.
    names: Vec<String>,
    /// Passages that mention it.
    mentions: Vec<EntityPassage>,
    /// The other entities that are connected with it, the nearest first.
    entities: Vec<ReachedEntity>,
    /// The relations between them.
    relations: Vec<EntityRelation>,
}

/// An entity that was reached.
#[derive(Serialize, JsonSchema)]
struct ReachedEntity {
    #[serde(flatten)]
    entity: EntityItem,
    /// How many relations lead to it.
    distance: u32,
}

/// A relation between two entities.
#[derive(Serialize, JsonSchema)]
struct EntityRelation {
    /// The entity at its start.
    from: RelationEnd,
    /// Its type.
    relation: String,
    /// The entity at its end.
    to: RelationEnd,
    /// The number of passages that state it.
    passages: i64,
    /// The first one of them.
    evidence: EntityPassage,
}

/// An entity at an end of a relation.
#[derive(Serialize, JsonSchema)]
struct RelationEnd {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    name: String,
}

/// A passage with the words that say something.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EntityPassage {
    /// The id of the chunk, which stands for this text for ever.
    chunk_id: String,
    /// The document.
    document_id: String,
    /// The name of the file.
    file_name: String,
    /// The location of the text in the file.
    place: Place,
    /// The words.
    quote: String,
}

impl From<EntityRow> for EntityItem {
    fn from(row: EntityRow) -> Self {
        let EntityRow { id, kind, name, mentions, relations, .. } = row;
        Self { id, kind, name, mentions, relations }
    }
}

/// The chunks of what is shown.
type Chunks = HashMap<(String, u32), ChunkRow>;

/// Returns the passage of a mention; `None` if it is not found any more.
fn passage(mention: MentionRow, chunks: &Chunks) -> Option<EntityPassage> {
    let chunk = chunks.get(&(mention.version_id, mention.chunk))?;
    Some(EntityPassage {
        chunk_id: chunk.id(),
        document_id: chunk.document_id.clone(),
        file_name: chunk.file_name.clone(),
        place: chunk.place.clone(),
        quote: mention.quote,
    })
}

fn relation(row: RelationRow, chunks: &Chunks) -> Option<EntityRelation> {
    let RelationRow { from_id, from, from_kind, kind, to_id, to, to_kind, evidence, count } = row;
    Some(EntityRelation {
        from: RelationEnd { id: from_id, kind: from_kind, name: from },
        relation: kind,
        to: RelationEnd { id: to_id, kind: to_kind, name: to },
        passages: count,
        evidence: passage(evidence, chunks)?,
    })
}

pub(super) async fn status(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<GraphStatus>, HttpError> {
    let (counts, settings, may_redo) = knowledge.extraction_counts(&Viewer::from(&caller), &id).await?;
    let entity_types = settings.entities.iter().map(|entity| entity.kind.0.clone()).collect();
    Ok(Json(GraphStatus {
        entity_types,
        relation_types: settings.relation_names().into_iter().map(str::to_owned).collect(),
        documents: counts.documents,
        done: counts.done,
        failed: counts.failed,
        error: counts.error,
        entities: counts.entities,
        relations: counts.relations,
        dropped: counts.dropped,
        may_redo,
    }))
}

pub(super) async fn entities(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: SentQuery<EntitiesQuery>,
) -> Result<Json<EntityItems>, HttpError> {
    let EntitiesQuery { name, kind, relation, file_name, limit, cursor } = valid_query(query)?;
    let (library, _) = knowledge.library_with_graph(&Viewer::from(&caller), &id).await?;
    if !(1..=MAX_ITEMS).contains(&limit) {
        return Err(UserError::invalid("/limit", format!("The limit is 1 to {MAX_ITEMS}.")).into());
    }
    let after = match &cursor {
        Some(cursor) => {
            let (id, key) = cursor.split_once(' ').ok_or_else(|| HttpError::malformed("`cursor` is not a cursor."))?;
            (key.to_owned(), id.to_owned())
        }
        None => Default::default(),
    };
    // One entity more than requested shows whether there is a next page.
    let filter = EntityFilter { libraries: vec![library.id], name, kind, relation, file_name, after, most: limit + 1 };
    let mut found = knowledge.entities(filter).await?;
    let has_more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let cursor = found.last().filter(|_| has_more).map(|last| format!("{} {}", last.id, last.name_key));
    Ok(Json(EntityItems { items: found.into_iter().map(EntityItem::from).collect(), cursor }))
}

pub(super) async fn explore(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: SentQuery<ExploreQuery>,
) -> Result<Json<EntityExploration>, HttpError> {
    let ExploreQuery { entity, kind, relation: followed, direction, depth, limit } = valid_query(query)?;
    let (library, _) = knowledge.library_with_graph(&Viewer::from(&caller), &id).await?;
    let exploration = Exploration { entity, kind, relation: followed, direction, depth, limit };
    let explored = knowledge.explore(vec![library.id], exploration).await?;
    let Explored { entity, names, mentions, reached, relations, .. } = explored;
    let shown = mentions.iter().chain(relations.iter().map(|relation| &relation.evidence));
    let chunks = knowledge.mentioning_chunks(shown).await.map_err(failed)?;
    let reached = reached.into_iter().map(|(entity, distance)| ReachedEntity { entity: entity.into(), distance });
    Ok(Json(EntityExploration {
        entity: entity.into(),
        names,
        mentions: mentions.into_iter().filter_map(|mention| passage(mention, &chunks)).collect(),
        entities: reached.collect(),
        relations: relations.into_iter().filter_map(|row| relation(row, &chunks)).collect(),
    }))
}

pub(super) async fn redo(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Accepted, HttpError> {
    knowledge.redo_graph(&Viewer::from(&caller), &id).await?;
    Ok(Accepted)
}
