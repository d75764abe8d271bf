//! The tools `graph_query` and `graph_explore`.

use super::{ANNOTATIONS, EXPLORE, QUERY, database, numbers, result, told};
use crate::section::KnowledgeOptions;
use crate::service::{Exploration, Explored, Knowledge, MAX_DEPTH};
use crate::store::ChunkRow;
use crate::store::graph::{Direction, EntityFilter, EntityRow, MentionRow, RelationRow};
use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use wire::ErrorCode;

/// The number of entities, or relations, that a call returns by default, and at most.
const DEFAULT_LIMIT: u32 = 20;
const MAX_LIMIT: u32 = 50;
/// The depth of an exploration by default.
const DEFAULT_DEPTH: u32 = 2;
/// The most passages of an answer, and about the most text of them in bytes, so that they do not fill the model's
/// context.
const MAX_PASSAGES: usize = 20;
const MAX_TEXT: usize = 32 * 1024;
/// The message for the model if there are no libraries with entities.
const NO_GRAPH: &str = "No entities are extracted from the documents that the user may read.";

/// Finds entities and their relations.
pub(super) struct QueryTool {
    spec: ToolSpec,
    knowledge: Knowledge,
    options: Arc<KnowledgeOptions>,
}

/// Follows relations from an entity.
pub(super) struct ExploreTool {
    spec: ToolSpec,
    knowledge: Knowledge,
    options: Arc<KnowledgeOptions>,
}

/// The arguments of `graph_query`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct QueryArguments {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    relation: String,
    file_name: String,
    limit: u32,
}

impl Default for QueryArguments {
    fn default() -> Self {
        let empty = String::new;
        Self { name: empty(), kind: empty(), relation: empty(), file_name: empty(), limit: DEFAULT_LIMIT }
    }
}

/// The arguments of `graph_explore`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExploreArguments {
    entity: String,
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    relation: String,
    #[serde(default)]
    direction: Direction,
    #[serde(default = "default_depth")]
    depth: u32,
    #[serde(default = "default_limit")]
    limit: u32,
}

fn default_depth() -> u32 {
    DEFAULT_DEPTH
}

fn default_limit() -> u32 {
    DEFAULT_LIMIT
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "maxLength": 200, "description": description })
}

fn limit(of: &str) -> Value {
    let description = format!("The most {of}. Default: {DEFAULT_LIMIT}.");
    json!({ "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "description": description })
}

impl QueryTool {
    pub(super) fn new(knowledge: Knowledge, options: Arc<KnowledgeOptions>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": text("A name, or a part of one. Default: any."),
                "type": text("The type of the entities. Default: any."),
                "relation": text("The type of a relation that they have. Default: any."),
                "fileName": text("Only what files with this name mention; * stands for any characters."),
                "limit": limit("entities"),
            },
            "additionalProperties": false,
        });
        let description = "Finds entities that the documents mention, such as people or teams, by name and type, with the relations between them. Each relation has the words that state it and the id to cite.";
        let spec = ToolSpec { annotations: ANNOTATIONS, ..ToolSpec::new(QUERY, description, schema) };
        Self { spec, knowledge, options }
    }

    async fn query(&self, input: Value, context: &ToolContext) -> Result<Value, ToolError> {
        let QueryArguments { name, kind, relation, file_name, limit } =
            serde_json::from_value(input).map_err(|error| ToolError::new(error.to_string()))?;
        let libraries = self.knowledge.searched_graphs(&context.scope, &self.options).await.map_err(told)?;
        if libraries.is_empty() {
            return Err(ToolError::new(NO_GRAPH));
        }
        let most = limit.clamp(1, MAX_LIMIT);
        let after = Default::default();
        let filter = EntityFilter { libraries, name, kind, relation: relation.clone(), file_name, after, most };
        let found = self.knowledge.entities(filter).await.map_err(told)?;
        let ids = found.iter().map(|entity| entity.id.clone()).collect();
        let relations = self.knowledge.relations_of(ids, &relation, most).await.map_err(told)?;
        let mut answer = cited(&self.knowledge, context, &relations, &[]).await?;
        answer["entities"] = found.iter().map(entity).collect();
        if found.is_empty() {
            answer["note"] = "No entity fits. Ask for another name, or search the documents.".into();
        }
        Ok(answer)
    }
}

impl ExploreTool {
    pub(super) fn new(knowledge: Knowledge, options: Arc<KnowledgeOptions>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "entity": text("A name of the entity, or its id."),
                "type": text("The type of the entity, if several have the name."),
                "relation": text("The type of the relations that are followed. Default: all."),
                "direction": { "type": "string", "enum": ["both", "out", "in"], "description": "Whether relations are followed from the entity (`out`), to it (`in`), or both ways (default)." },
                "depth": { "type": "integer", "minimum": 1, "maximum": MAX_DEPTH, "description": "How many relations lead away from the entity at most. Default: 2." },
                "limit": limit("relations"),
            },
            "required": ["entity"],
            "additionalProperties": false,
        });
        let description = "Follows relations from an entity that the documents mention: who or what is connected with it, also over others. Each relation has the words that state it and the id to cite.";
        let spec = ToolSpec { annotations: ANNOTATIONS, ..ToolSpec::new(EXPLORE, description, schema) };
        Self { spec, knowledge, options }
    }

    async fn explore(&self, input: Value, context: &ToolContext) -> Result<Value, ToolError> {
        let ExploreArguments { entity: name, kind, relation, direction, depth, limit } =
            serde_json::from_value(input).map_err(|error| ToolError::new(error.to_string()))?;
        let libraries = self.knowledge.searched_graphs(&context.scope, &self.options).await.map_err(told)?;
        if libraries.is_empty() {
            return Err(ToolError::new(NO_GRAPH));
        }
        let limit = limit.clamp(1, MAX_LIMIT);
        let exploration = Exploration { entity: name, kind, relation, direction, depth, limit };
        let explored = self.knowledge.explore(libraries, exploration).await.map_err(|error| match error.code {
            ErrorCode::NotFound => {
                ToolError::new("There is no such entity. `graph_query` finds entities by a part of a name.")
            }
            _ => told(error),
        })?;
        let Explored { entity: start, names, mentions, others, reached, relations } = explored;
        let mut answer = cited(&self.knowledge, context, &relations, &mentions[..mentions.len().min(1)]).await?;
        answer["entity"] = entity(&start);
        answer["entity"]["names"] = names.into();
        let reached = reached.iter().map(|(reached, distance)| {
            let mut reached = entity(reached);
            reached["distance"] = (*distance).into();
            reached
        });
        answer["entities"] = reached.collect();
        if !others.is_empty() {
            answer["othersWithThisName"] = others.iter().map(entity).collect();
        }
        Ok(answer)
    }
}

fn entity(entity: &EntityRow) -> Value {
    json!({ "id": entity.id, "type": entity.kind, "name": entity.name, "mentions": entity.mentions })
}

/// Returns relations with the passages that state them, each with its id to cite. `mentions` are passages beside
/// them.
async fn cited(
    knowledge: &Knowledge,
    context: &ToolContext,
    relations: &[RelationRow],
    mentions: &[MentionRow],
) -> Result<Value, ToolError> {
    let stated: Vec<&MentionRow> = relations.iter().map(|relation| &relation.evidence).chain(mentions).collect();
    let chunks = knowledge.mentioning_chunks(stated.iter().copied()).await.map_err(database)?;
    let mut shown = Vec::<ChunkRow>::new();
    let mut room = MAX_TEXT;
    for mention in stated {
        let Some(chunk) = chunks.get(&place(mention)) else { continue };
        let is_shown = shown.iter().any(|other| other.version_id == chunk.version_id && other.no == chunk.no);
        if !is_shown && shown.len() < MAX_PASSAGES && chunk.text.len() <= room {
            room -= chunk.text.len();
            shown.push(chunk.clone());
        }
    }
    let numbers = numbers(knowledge, &context.scope, &shown).await.map_err(database)?;
    let ids: HashMap<_, _> =
        shown.iter().zip(&numbers).map(|(chunk, number)| ((chunk.version_id.clone(), chunk.no), *number)).collect();
    // A relation whose passage is not shown cannot be cited, so it is left out.
    let relations: Vec<_> = relations
        .iter()
        .filter_map(|relation| {
            let number = ids.get(&place(&relation.evidence))?;
            Some(json!({
                "from": relation.from,
                "relation": relation.kind,
                "to": relation.to,
                "quote": relation.evidence.quote,
                "source": format!("S{number}"),
                "passages": relation.count,
            }))
        })
        .collect();
    let results: Vec<_> = shown.iter().zip(numbers).map(|(chunk, number)| result(number, chunk, None)).collect();
    Ok(json!({ "relations": relations, "results": results }))
}

fn place(mention: &MentionRow) -> (String, u32) {
    (mention.version_id.clone(), mention.chunk)
}

impl Tool for QueryTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move { self.query(input, &context).await })
    }
}

impl Tool for ExploreTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move { self.explore(input, &context).await })
    }
}
