//! Entities and relations of libraries: what is extracted, how far that is, and questions about them.

use super::{Access, Knowledge, failed};
use crate::audit;
use crate::graph::{enqueue_library, name_key};
use crate::section::{GraphSettings, KnowledgeOptions};
use crate::store::graph::{self, Direction, EntityFilter, EntityRow, ExtractionCounts, MentionRow, Reach, RelationRow};
use crate::store::{self, ChunkRow, LibraryRow};
use ::store::{StoreError, append_audit};
use chat::Viewer;
use contract::RunScope;
use serde_json::json;
use std::collections::HashMap;
use std::time::Duration;
use wire::{ErrorCode, UserError};

/// The deepest exploration.
pub(crate) const MAX_DEPTH: u32 = 4;
/// The most entities, or relations, of an answer.
pub(crate) const MAX_ITEMS: u32 = 100;
/// The most entities that an exploration looks at.
const MAX_REACHED: u32 = 500;
/// The most mentions that are told of an entity.
const MAX_MENTIONS: u32 = 20;
/// The longest name, type or file name in a question, in characters.
const MAX_TEXT: usize = 200;
/// The time limit of a query.
const PATIENCE: Duration = Duration::from_secs(5);

/// The start and the filter of an exploration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exploration {
    /// The id of an entity, or one of its names.
    pub(crate) entity: String,
    /// The type of the entity; empty for any.
    pub(crate) kind: String,
    /// The type of the relations; empty for all.
    pub(crate) relation: String,
    pub(crate) direction: Direction,
    pub(crate) depth: u32,
    /// The most relations.
    pub(crate) limit: u32,
}

/// The result of an exploration.
#[derive(Clone, Debug)]
pub(crate) struct Explored {
    pub(crate) entity: EntityRow,
    /// The names of the entity in the documents.
    pub(crate) names: Vec<String>,
    pub(crate) mentions: Vec<MentionRow>,
    /// The other entities that have the name.
    pub(crate) others: Vec<EntityRow>,
    /// The entities that were reached, with their distance, the nearest first.
    pub(crate) reached: Vec<(EntityRow, u32)>,
    pub(crate) relations: Vec<RelationRow>,
}

impl Knowledge {
    /// Returns what is extracted from a library; `None` for nothing.
    pub(crate) fn graph_settings(&self, library: &LibraryRow) -> Option<GraphSettings> {
        let is_switched_on = library.has_graph && library.conversation_id.is_none();
        self.graph_settings_of(&library.id, library.owner.is_empty(), is_switched_on)
    }

    /// As [`Knowledge::graph_settings`], by what decides it: whether the config declares the library, or its owner has
    /// switched the extraction on.
    pub(crate) fn graph_settings_of(&self, id: &str, is_declared: bool, is_switched_on: bool) -> Option<GraphSettings> {
        if is_declared {
            self.declared_graph(id)
        } else if is_switched_on {
            self.settings().user_graph
        } else {
            None
        }
    }

    /// Returns whether entities are extracted from a library; `None` if the config does not offer it.
    pub(crate) fn graph_switch(&self, library: &LibraryRow) -> Option<bool> {
        if library.owner.is_empty() {
            self.declared_graph(&library.id).map(|_| true)
        } else {
            self.settings().user_graph.map(|_| library.has_graph)
        }
    }

    /// Checks that the owner of a library may switch the extraction on.
    pub(super) fn check_graph_switch(&self, is_on: bool) -> Result<(), UserError> {
        if is_on && self.settings().user_graph.is_none() {
            Err(UserError::invalid("/graph", "The config has no `knowledge.userGraph`."))
        } else {
            Ok(())
        }
    }

    /// Returns a library with what is extracted from it.
    ///
    /// # Errors
    /// 404 and 403 as for [`Knowledge::library`], 409 if nothing is extracted from it.
    pub(crate) async fn library_with_graph(
        &self,
        viewer: &Viewer,
        id: &str,
    ) -> Result<(LibraryRow, GraphSettings), UserError> {
        let library = self.library(viewer, id, Access::Read).await?;
        match self.graph_settings(&library) {
            Some(settings) => Ok((library, settings)),
            None => Err(UserError::new(ErrorCode::Conflict, "No entities are extracted from this library.")),
        }
    }

    /// Returns how far the extraction from a library is.
    ///
    /// # Errors
    /// As [`Knowledge::library_with_graph`].
    pub(crate) async fn extraction_counts(
        &self,
        viewer: &Viewer,
        id: &str,
    ) -> Result<(ExtractionCounts, GraphSettings, bool), UserError> {
        let (library, settings) = self.library_with_graph(viewer, id).await?;
        let counts = graph::extraction_counts(self.store(), id, &settings.key()).await.map_err(failed)?;
        let may_redo = self.may_redo(viewer, &library);
        Ok((counts, settings, may_redo))
    }

    /// Returns whether a viewer may have everything extracted anew, which costs as much as the first time: the
    /// owner of a library, and administrators who may read a library of the config.
    fn may_redo(&self, viewer: &Viewer, library: &LibraryRow) -> bool {
        if library.owner.is_empty() { viewer.is_admin() } else { self.access(viewer, library) == Some(Access::Manage) }
    }

    /// Extracts everything from a library anew.
    ///
    /// # Errors
    /// As [`Knowledge::library_with_graph`]; 403 for whoever may not.
    pub(crate) async fn redo_graph(&self, viewer: &Viewer, id: &str) -> Result<(), UserError> {
        let (library, settings) = self.library_with_graph(viewer, id).await?;
        if !self.may_redo(viewer, &library) {
            let message = "Only the owner of the library may do this; an administrator, if the config declares it.";
            return Err(UserError::new(ErrorCode::Forbidden, message));
        }
        let audit = audit::library(&viewer.user_id, "extract", &library.id, json!({ "name": library.name }));
        let library_id = library.id.clone();
        let write = self.store().write(move |db| {
            Box::pin(async move {
                graph::redo(db, &library_id).await?;
                append_audit(db, vec![audit]).await
            })
        });
        write.await.map_err(failed)?;
        enqueue_library(self, &library.id, &settings.key()).await.map_err(failed)
    }

    /// Returns the libraries with entities that an agent searches in a turn. Libraries that the user may not
    /// read are left out here, before any relation is followed.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn searched_graphs(
        &self,
        scope: &RunScope,
        options: &KnowledgeOptions,
    ) -> Result<Vec<String>, UserError> {
        let searched = self.searched(scope, options).await?;
        let with_graph = searched.into_iter().filter(|library| self.graph_settings(library).is_some());
        Ok(with_graph.map(|library| library.id).collect())
    }

    /// Returns entities of libraries that the caller has checked. `filter.name` is a part of a name as people
    /// write it.
    ///
    /// # Errors
    /// 422 for an invalid filter, 503 if it takes too long.
    pub(crate) async fn entities(&self, mut filter: EntityFilter) -> Result<Vec<EntityRow>, UserError> {
        let texts = [&filter.name, &filter.kind, &filter.relation, &filter.file_name];
        check_texts(&texts.map(String::as_str))?;
        filter.name = name_key(&filter.name);
        within(graph::entities(self.store(), filter)).await
    }

    /// Returns the relations from entities and to them.
    ///
    /// # Errors
    /// 503 if it takes too long.
    pub(crate) async fn relations_of(
        &self,
        entities: Vec<String>,
        relation: &str,
        limit: u32,
    ) -> Result<Vec<RelationRow>, UserError> {
        within(graph::relations_of(self.store(), entities, relation, limit)).await
    }

    /// Explores libraries that the caller has checked.
    ///
    /// # Errors
    /// 404 if there is no such entity in them, 422 for an invalid question, 503 if it takes too long.
    pub(crate) async fn explore(
        &self,
        libraries: Vec<String>,
        exploration: Exploration,
    ) -> Result<Explored, UserError> {
        let Exploration { entity, kind, relation, direction, depth, limit } = exploration;
        check_texts(&[&entity, &kind, &relation])?;
        if !(1..=MAX_DEPTH).contains(&depth) {
            return Err(UserError::invalid("/depth", format!("The depth is 1 to {MAX_DEPTH}.")));
        }
        if !(1..=MAX_ITEMS).contains(&limit) {
            return Err(UserError::invalid("/limit", format!("The limit is 1 to {MAX_ITEMS}.")));
        }
        let explore = async {
            let store = self.store();
            let mut found = graph::entities_by_id(store, vec![entity.clone()], libraries.clone()).await?;
            if found.is_empty() {
                found = graph::entities_named(store, libraries.clone(), &name_key(&entity), &kind, 5).await?;
            }
            let mut found = found.into_iter();
            let Some(start) = found.next() else { return Ok(None) };
            let reach =
                Reach { entity_id: start.id.clone(), depth, direction, kind: relation.clone(), most: MAX_REACHED };
            let distances: HashMap<_, _> = graph::reached(store, reach).await?.into_iter().collect();
            let relations = graph::relations_among(store, &distances, &relation, limit).await?;
            // Those that the relations name.
            let mut ids: Vec<String> =
                relations.iter().flat_map(|one| [one.from_id.clone(), one.to_id.clone()]).collect();
            ids.sort_unstable();
            ids.dedup();
            ids.retain(|id| *id != start.id);
            let named = graph::entities_by_id(store, ids, libraries).await?;
            let mut reached: Vec<_> = named
                .into_iter()
                .map(|entity| {
                    let distance = distances.get(&entity.id).copied().unwrap_or(depth);
                    (entity, distance)
                })
                .collect();
            reached.sort_by(|(one, near), (other, far)| (near, &one.name_key).cmp(&(far, &other.name_key)));
            Ok(Some(Explored {
                names: graph::names(store, &start.id).await?,
                mentions: graph::mentions(store, &start.id, MAX_MENTIONS).await?,
                others: found.collect(),
                entity: start,
                reached,
                relations,
            }))
        };
        within(explore).await?.ok_or_else(UserError::not_found)
    }

    /// Returns the chunks of mentions, by their version and number. Chunks that do not exist any more are left out.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn mentioning_chunks<'m>(
        &self,
        mentions: impl Iterator<Item = &'m MentionRow>,
    ) -> Result<HashMap<(String, u32), ChunkRow>, StoreError> {
        let mut wanted = HashMap::<&str, Vec<u32>>::new();
        for mention in mentions {
            wanted.entry(&mention.version_id).or_default().push(mention.chunk);
        }
        let mut chunks = HashMap::new();
        for (version_id, numbers) in wanted {
            for chunk in store::found_chunks(self.store(), version_id, numbers).await? {
                chunks.insert((chunk.version_id.clone(), chunk.no), chunk);
            }
        }
        Ok(chunks)
    }

    /// Returns what is extracted from a library of the config.
    fn declared_graph(&self, id: &str) -> Option<GraphSettings> {
        let config = self.0.config.load();
        config.as_ref()?.section::<crate::section::Libraries>()?.get(id)?.graph.clone()
    }
}

/// Bounds the time of a question.
async fn within<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, UserError> {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(found) => found.map_err(failed),
        Err(_) => {
            let message = "This takes too long. Ask for less: a smaller depth, or one type of relations.";
            Err(UserError::new(ErrorCode::Unavailable, message))
        }
    }
}

fn check_texts(texts: &[&str]) -> Result<(), UserError> {
    if texts.iter().any(|text| text.chars().count() > MAX_TEXT) {
        Err(UserError::new(ErrorCode::Invalid, format!("Names have at most {MAX_TEXT} characters.")))
    } else {
        Ok(())
    }
}
