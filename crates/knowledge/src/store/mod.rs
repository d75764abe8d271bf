//! The tables. Functions take ids whose rights the service has checked.

mod changes;
mod chunks;
mod documents;
pub(crate) mod graph;
mod libraries;
mod project_libraries;
mod questions;
mod read_pages;
mod reading;
mod vectors;
mod versions;

pub(crate) use changes::{DocumentFilter, cancel, documents_since, documents_with_text, listed_documents};
pub(crate) use chunks::{
    ChunkRow, NewPart, PartRow, chunks, chunks_of_version, citation_numbers, clear_text, found_chunks, insert_chunks,
    insert_parts, is_cited, part_of_chunk, parts,
};
pub(crate) use documents::{
    DocumentRow, DocumentState, NewDocument, SearchableRow, add_document, by_file_name, by_identity, changed_documents,
    delete_document, document, documents, set_metadata,
};
pub(crate) use libraries::{
    LibraryCounts, LibraryRow, NewLibrary, attachment_library, counts, declare, delete_library,
    insert_attachment_library, insert_library, libraries, library, undeclared, update_library, used_bytes,
};
pub(crate) use project_libraries::{delete_project_library, forget_member, insert_project_library};
pub(crate) use questions::{NewQuestion, QuestionRow, add_question, has_account, purge_questions, questions};
pub(crate) use read_pages::{ReadPage, insert_read_pages, pages_of_version};
pub(crate) use reading::{
    Finished, OpenVersion, Progress, fail, finish, has_job, open_version, open_without_job, progress, requeue,
};
pub(crate) use vectors::{
    EmbeddingProgress, NewVectors, chunks_without_vectors, delete_other_vectors, documents_without_vectors,
    embedding_progress, insert_vectors, libraries_without_vectors, serve_model, vectors_of_version,
};
pub(crate) use versions::{
    PIECE, SMALL, add_piece, check_stored, delete_version, insert_small_version, insert_version, pieces, purge_uploads,
    whole_file,
};

use ::store::{CapabilityTables, Migration, SqliteBaseline, StoreError, Table};

/// The tables. The libraries of a user are deleted with them, and everything in a library with it. The documents that
/// they have added to projects of others stay.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "knowledge",
    migrations: &[
        Migration {
            name: "knowledge",
            sqlite: include_str!("../../migrations/sqlite/0001_knowledge.sql"),
            postgres: include_str!("../../migrations/postgres/0001_knowledge.sql"),
        },
        Migration {
            name: "vectors",
            sqlite: include_str!("../../migrations/sqlite/0002_vectors.sql"),
            postgres: include_str!("../../migrations/postgres/0002_vectors.sql"),
        },
        Migration {
            name: "changes",
            sqlite: include_str!("../../migrations/sqlite/0003_changes.sql"),
            postgres: include_str!("../../migrations/postgres/0003_changes.sql"),
        },
        Migration {
            name: "cited_documents",
            sqlite: include_str!("../../migrations/sqlite/0004_cited_documents.sql"),
            postgres: include_str!("../../migrations/postgres/0004_cited_documents.sql"),
        },
        Migration {
            name: "attachments",
            sqlite: include_str!("../../migrations/sqlite/0005_attachments.sql"),
            postgres: include_str!("../../migrations/postgres/0005_attachments.sql"),
        },
        Migration {
            name: "graph",
            sqlite: include_str!("../../migrations/sqlite/0006_graph.sql"),
            postgres: include_str!("../../migrations/postgres/0006_graph.sql"),
        },
        Migration {
            name: "warnings",
            sqlite: include_str!("../../migrations/sqlite/0007_warnings.sql"),
            postgres: include_str!("../../migrations/postgres/0007_warnings.sql"),
        },
        Migration {
            name: "read_pages",
            sqlite: include_str!("../../migrations/sqlite/0008_read_pages.sql"),
            postgres: include_str!("../../migrations/postgres/0008_read_pages.sql"),
        },
        Migration {
            name: "projects",
            sqlite: include_str!("../../migrations/sqlite/0009_projects.sql"),
            postgres: include_str!("../../migrations/postgres/0009_projects.sql"),
        },
        Migration {
            name: "questions",
            sqlite: include_str!("../../migrations/sqlite/0010_questions.sql"),
            postgres: include_str!("../../migrations/postgres/0010_questions.sql"),
        },
    ],
    tables: &[
        Table { name: "knowledge_libraries", key: "id", owner: Some("owner") },
        Table { name: "knowledge_library_roles", key: "library_id, role", owner: None },
        Table { name: "knowledge_documents", key: "id", owner: None },
        Table { name: "knowledge_versions", key: "id", owner: None },
        Table { name: "knowledge_pieces", key: "version_id, no", owner: None },
        Table { name: "knowledge_parts", key: "version_id, no", owner: None },
        Table { name: "knowledge_chunks", key: "version_id, no", owner: None },
        Table { name: "knowledge_read_pages", key: "version_id, page", owner: None },
        Table { name: "knowledge_vectors", key: "version_id, model, no", owner: None },
        Table { name: "knowledge_entities", key: "id", owner: None },
        Table { name: "knowledge_mentions", key: "version_id, chunk, entity_id, name_key", owner: None },
        Table { name: "knowledge_relations", key: "version_id, chunk, from_id, kind, to_id", owner: None },
        Table { name: "knowledge_extractions", key: "document_id", owner: None },
        Table { name: "knowledge_questions", key: "id", owner: Some("owner") },
        Table { name: "knowledge_citations", key: "conversation_id, chunk_id", owner: None },
    ],
    user_deletion: &[project_libraries::REASSIGN_OF_ALL],
    sqlite_baseline: Some(SqliteBaseline {
        version: 10,
        statements: include_str!("../../migrations/sqlite_baseline.sql"),
    }),
};

/// The error of a row that cannot be read.
fn damaged() -> StoreError {
    StoreError::Invalid("a row of a library is damaged")
}

/// Converts a size to the signed integers of the databases.
fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
