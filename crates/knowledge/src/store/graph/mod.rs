//! The tables `knowledge_entities`, `knowledge_mentions`, `knowledge_relations` and `knowledge_extractions`.
//!
//! Whatever writes locks the row of the library first, as whatever deletes documents does. So an entity is
//! never deleted for want of mentions while another transaction adds one.

mod progress;
mod reach;
mod read;
mod write;

pub(crate) use progress::{
    ExtractionCounts, ExtractionState, LibraryWithGraph, PendingExtraction, clear_graph, extraction, extraction_counts,
    libraries_with_graph, pending_extractions, pending_of_users, pending_without_job, redo,
};
pub(crate) use reach::{Direction, Reach, reached};
pub(crate) use read::{
    EntityFilter, EntityRow, MentionRow, RelationRow, entities, entities_by_id, entities_named, mentions, names,
    relations_among, relations_of,
};
pub(crate) use write::{
    Extraction, NewBatch, NewEntity, NewRelation, add_batch, begin, fail, forget_version, kept_of_version, postpone,
};
