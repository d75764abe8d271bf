//! Finds the entities that can be reached from one over relations.

use ::store::sql::{self, Sql};
use ::store::{Store, StoreError};
use serde::{Deserialize, Serialize};

/// The direction in which relations are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RelationDirection")]
pub(crate) enum Direction {
    /// In both.
    #[default]
    Both,
    /// From the entity.
    Out,
    /// To the entity.
    In,
}

impl Direction {
    /// Returns the name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::Out => "out",
            Self::In => "in",
        }
    }
}

/// A search for reachable entities.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    /// The entity at the start.
    pub(crate) entity_id: String,
    /// The maximum number of relations that lead to an entity.
    pub(crate) depth: u32,
    pub(crate) direction: Direction,
    /// The type of the relations; empty for all.
    pub(crate) kind: String,
    /// The most entities, the nearest first.
    pub(crate) most: u32,
}

/// Rows are made breadth first, so the limit of the rows cuts what is farthest. In PostgreSQL only as many are
/// made as the query around it takes.
const REACHED: Sql = Sql::pair(
    "WITH RECURSIVE reached (id, depth) AS (
        SELECT id, 0 FROM knowledge_entities WHERE id = $1
        UNION SELECT r.to_id, reached.depth + 1 FROM reached JOIN knowledge_relations r ON r.from_id = reached.id
            WHERE reached.depth < $2 AND $3 <> 'in' AND ($4 = '' OR r.kind = $4)
        UNION SELECT r.from_id, reached.depth + 1 FROM reached JOIN knowledge_relations r ON r.to_id = reached.id
            WHERE reached.depth < $2 AND $3 <> 'out' AND ($4 = '' OR r.kind = $4)
        LIMIT 5000)
     SELECT id, min(depth) AS depth FROM reached GROUP BY id ORDER BY 2, 1 LIMIT $5",
    "WITH RECURSIVE reached (id, depth) AS (
        SELECT id, 0::bigint FROM knowledge_entities WHERE id = $1
        UNION SELECT next.id, reached.depth + 1 FROM reached CROSS JOIN LATERAL (
            SELECT r.to_id AS id FROM knowledge_relations r
                WHERE r.from_id = reached.id AND $3 <> 'in' AND ($4 = '' OR r.kind = $4)
            UNION ALL SELECT r.from_id FROM knowledge_relations r
                WHERE r.to_id = reached.id AND $3 <> 'out' AND ($4 = '' OR r.kind = $4)) next
            WHERE reached.depth < $2)
     SELECT id, min(depth) AS depth FROM (SELECT id, depth FROM reached LIMIT 5000) nearest
     GROUP BY id ORDER BY 2, 1 LIMIT $5",
);

/// Returns the ids of the entities that are reached, with their distance, the nearest first. All are of the library
/// of the first one, since relations join entities of one library.
pub(crate) async fn reached(store: &Store, reach: Reach) -> Result<Vec<(String, u32)>, StoreError> {
    let find = sql::query(REACHED).bind(reach.entity_id).bind(reach.depth).bind(reach.direction.name());
    let find = find.bind(reach.kind).bind(reach.most);
    let read = |row: &sql::Row| -> Result<_, StoreError> {
        Ok((row.try_get("id")?, u32::try_from(row.try_get::<i64>("depth")?).unwrap_or(u32::MAX)))
    };
    store.rows(find, read).await
}
