//! The tables `knowledge_libraries` and `knowledge_library_roles`.

use ::store::sql::{self, Db, Row, Sql};
use ::store::{AuditEntry, Store, StoreError, append_audit};
use std::collections::HashMap;

/// The most libraries in a list.
const MAX_LISTED: i64 = 500;

/// A library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LibraryRow {
    pub(crate) id: String,
    /// Empty for one that the config declares.
    pub(crate) owner: String,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) readers: Vec<String>,
    pub(crate) writers: Vec<String>,
    /// The conversation whose attached files the library has; `None` for every other library.
    pub(crate) conversation_id: Option<String>,
    pub(crate) generation: i64,
    /// The key of the model whose vectors a search uses, and their length.
    pub(crate) embedding: Option<(String, i64)>,
    /// Whether the owner has its entities and relations extracted. False for libraries of the config, whose `graph` is
    /// there.
    pub(crate) has_graph: bool,
    /// Whether it has the files of a project, whose id is its own.
    pub(crate) of_project: bool,
    /// Whether the user for whom it was looked up may add documents as a member of the project; `None` without a
    /// project and for everybody else. The service sets it.
    pub(crate) member: Option<bool>,
    pub(crate) updated_at: i64,
}

/// A library to create.
#[derive(Clone, Debug)]
pub(crate) struct NewLibrary {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) readers: Vec<String>,
    pub(crate) writers: Vec<String>,
    pub(crate) has_graph: bool,
    pub(crate) now: i64,
    /// The most libraries of the owner.
    pub(crate) most: u32,
}

/// The counts of a library.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LibraryCounts {
    pub(crate) queued: i64,
    pub(crate) processing: i64,
    pub(crate) ready: i64,
    pub(crate) failed: i64,
    pub(crate) chunks: i64,
    pub(crate) bytes: i64,
}

impl LibraryCounts {
    pub(crate) fn documents(&self) -> i64 {
        self.queued + self.processing + self.ready + self.failed
    }
}

const INSERT: &str = "
    INSERT INTO knowledge_libraries (id, owner, name, about, has_graph, created_at, updated_at)
    SELECT $1, $2, $3, $4, $5, $6, $6
    WHERE (SELECT count(*) FROM knowledge_libraries
        WHERE owner = $2 AND conversation_id IS NULL AND of_project = 0) < $7";

/// Two messages may be sent to a conversation at once.
const INSERT_ATTACHMENTS: &str = "
    INSERT INTO knowledge_libraries (id, owner, name, conversation_id, created_at, updated_at)
    VALUES ($1, $2, 'Attachments', $3, $4, $4) ON CONFLICT (conversation_id) WHERE conversation_id IS NOT NULL DO NOTHING";

const INSERT_ROLE: &str = "
    INSERT INTO knowledge_library_roles (library_id, role, may_write) VALUES ($1, $2, $3)
    ON CONFLICT (library_id, role) DO UPDATE SET may_write = excluded.may_write";

const UPDATE: &str = "UPDATE knowledge_libraries SET name = $2, about = $3, has_graph = $4, updated_at = $5
    WHERE id = $1";
const CLEAR_ROLES: &str = "DELETE FROM knowledge_library_roles WHERE library_id = $1";

const DECLARE: &str = "
    INSERT INTO knowledge_libraries (id, owner, name, created_at, updated_at) VALUES ($1, '', $2, $3, $3)
    ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE knowledge_libraries.owner = ''";

/// The columns of a library.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, owner, name, about AS description, conversation_id, generation, embedding_model,
                embedding_dimensions, has_graph, of_project, updated_at
             FROM knowledge_libraries ",
            $rest
        )
    };
}

/// Selects a library. The attachments of a conversation that the user has deleted are left out, while the
/// deletion can be undone.
const ONE: &str = select!(
    "WHERE id = $1 AND NOT EXISTS
        (SELECT 1 FROM conversations c WHERE c.id = conversation_id AND c.deleted_at IS NOT NULL)"
);
const OF_CONVERSATION: &str = select!("WHERE conversation_id = $1");

/// Those of a user, those that their roles may read, and those of their projects, in this order, so that the limit
/// leaves out those of projects first.
const LIST: Sql = Sql::pair(
    select!(
        "WHERE conversation_id IS NULL AND (owner = $1 OR id IN (SELECT library_id FROM knowledge_library_roles
         WHERE role IN (SELECT value FROM json_each($2)))
            OR (of_project = 1 AND id IN (SELECT value FROM json_each($4))))
         ORDER BY CASE WHEN of_project = 1 THEN 2 WHEN owner = $1 THEN 0 ELSE 1 END, id LIMIT $3"
    ),
    select!(
        "WHERE conversation_id IS NULL AND (owner = $1
            OR id IN (SELECT library_id FROM knowledge_library_roles WHERE role = ANY($2))
            OR (of_project = 1 AND id = ANY($4)))
         ORDER BY CASE WHEN of_project = 1 THEN 2 WHEN owner = $1 THEN 0 ELSE 1 END, id LIMIT $3"
    ),
);

const ROLES: Sql = Sql::pair(
    "SELECT library_id, role, may_write FROM knowledge_library_roles
     WHERE library_id IN (SELECT value FROM json_each($1)) ORDER BY role",
    "SELECT library_id, role, may_write FROM knowledge_library_roles WHERE library_id = ANY($1) ORDER BY role",
);

const COUNTS: Sql = Sql::pair(
    "SELECT library_id, state, count(*) AS documents, CAST(sum(chunks) AS INTEGER) AS chunks,
        CAST(sum(bytes) AS INTEGER) AS bytes FROM knowledge_documents
     WHERE library_id IN (SELECT value FROM json_each($1)) GROUP BY library_id, state",
    "SELECT library_id, state, count(*) AS documents, CAST(sum(chunks) AS BIGINT) AS chunks,
        CAST(sum(bytes) AS BIGINT) AS bytes FROM knowledge_documents WHERE library_id = ANY($1)
     GROUP BY library_id, state",
);

/// The sum of the files in the libraries of a user and of those that they have added to projects, as `$type`.
macro_rules! used {
    ($type:literal) => {
        concat!(
            "SELECT CAST(
                (SELECT coalesce(sum(d.bytes), 0) FROM knowledge_documents d
                    JOIN knowledge_libraries l ON l.id = d.library_id
                    WHERE l.owner = $1 AND l.conversation_id IS NULL AND l.of_project = 0)
                + (SELECT coalesce(sum(d.bytes), 0) FROM knowledge_documents d
                    JOIN knowledge_libraries l ON l.id = d.library_id
                    WHERE d.added_by = $1 AND l.of_project = 1) AS ",
            $type,
            ")"
        )
    };
}

/// Attached files are not counted: the limit of a user's attachments bounds them.
const USED: Sql = Sql::pair(used!("INTEGER"), used!("BIGINT"));

/// Declared libraries that are not in a list.
const UNDECLARED: Sql = Sql::pair(
    "SELECT id FROM knowledge_libraries WHERE owner = '' AND id NOT IN (SELECT value FROM json_each($1))",
    "SELECT id FROM knowledge_libraries WHERE owner = '' AND NOT id = ANY($1)",
);

/// Creates a library, with its audit row. Returns false if the owner has too many.
pub(crate) async fn insert_library(store: &Store, new: NewLibrary, audit: AuditEntry) -> Result<bool, StoreError> {
    let insert = sql::query(INSERT).bind(&new.id).bind(&new.owner).bind(&new.name).bind(&new.description);
    let insert = insert.bind(new.has_graph).bind(new.now).bind(new.most);
    store
        .write(move |db| {
            Box::pin(async move {
                if insert.execute(&mut *db).await?.rows_affected() == 0 {
                    return Ok(false);
                }
                insert_roles(db, &new.id, &new.readers, &new.writers).await?;
                append_audit(db, vec![audit]).await?;
                Ok(true)
            })
        })
        .await
}

/// Changes the name, the description and the roles of a library.
pub(crate) async fn update_library(
    store: &Store,
    library: LibraryRow,
    audit: AuditEntry,
    now: i64,
) -> Result<(), StoreError> {
    let update = sql::query(UPDATE).bind(&library.id).bind(&library.name).bind(&library.description);
    let update = update.bind(library.has_graph).bind(now);
    let clear = sql::query(CLEAR_ROLES).bind(&library.id);
    store
        .write(move |db| {
            Box::pin(async move {
                update.execute(&mut *db).await?;
                clear.execute(&mut *db).await?;
                insert_roles(db, &library.id, &library.readers, &library.writers).await?;
                append_audit(db, vec![audit]).await
            })
        })
        .await
}

async fn insert_roles(db: &mut Db, id: &str, readers: &[String], writers: &[String]) -> Result<(), StoreError> {
    let readers = readers.iter().map(|role| (role, false));
    for (role, may_write) in readers.chain(writers.iter().map(|role| (role, true))) {
        sql::query(INSERT_ROLE).bind(id).bind(role).bind(may_write).execute(&mut *db).await?;
    }
    Ok(())
}

/// Makes sure that a library of the config has its row.
pub(crate) async fn declare(store: &Store, id: &str, name: &str, now: i64) -> Result<(), StoreError> {
    let insert = sql::query(DECLARE).bind(id).bind(name).bind(now);
    store.write(move |db| Box::pin(async move { Ok(insert.execute(db).await.map(drop)?) })).await
}

/// Returns the ids of libraries of a config that does not declare them any more.
pub(crate) async fn undeclared(store: &Store, declared: Vec<String>) -> Result<Vec<String>, StoreError> {
    let find = sql::query_scalar::<String>(UNDECLARED).bind(declared);
    store.read(move |db| Box::pin(async move { Ok(find.fetch_all(db).await?) })).await
}

/// Returns a library.
pub(crate) async fn library(store: &Store, id: &str) -> Result<Option<LibraryRow>, StoreError> {
    let find = sql::query(ONE).bind(id);
    let read = store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) }));
    let Some(row) = read.await? else { return Ok(None) };
    Ok(with_roles(store, vec![row]).await?.pop())
}

/// Returns the library of what is attached in a conversation.
pub(crate) async fn attachment_library(store: &Store, conversation_id: &str) -> Result<Option<LibraryRow>, StoreError> {
    let find = sql::query(OF_CONVERSATION).bind(conversation_id);
    store.optional_row(find, read).await
}

/// Creates the library of what is attached in a conversation, unless it has one.
pub(crate) async fn insert_attachment_library(
    store: &Store,
    id: &str,
    owner: &str,
    conversation_id: &str,
    now: i64,
) -> Result<(), StoreError> {
    let insert = sql::query(INSERT_ATTACHMENTS).bind(id).bind(owner).bind(conversation_id).bind(now);
    store.write(move |db| Box::pin(async move { Ok(insert.execute(db).await.map(drop)?) })).await
}

/// Returns the libraries of a user, those that one of these roles may read, and those of these projects, in this order.
pub(crate) async fn libraries(
    store: &Store,
    owner: &str,
    roles: Vec<String>,
    projects: Vec<String>,
) -> Result<Vec<LibraryRow>, StoreError> {
    let find = sql::query(LIST).bind(owner).bind(roles).bind(MAX_LISTED).bind(projects);
    let rows = store.read(move |db| Box::pin(async move { Ok(find.fetch_all(db).await?) })).await?;
    with_roles(store, rows).await
}

async fn with_roles(store: &Store, rows: Vec<Row>) -> Result<Vec<LibraryRow>, StoreError> {
    let mut libraries = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let ids: Vec<String> = libraries.iter().map(|library| library.id.clone()).collect();
    let find = sql::query(ROLES).bind(ids);
    let roles = store.read(move |db| Box::pin(async move { Ok(find.fetch_all(db).await?) })).await?;
    for role in &roles {
        let (library_id, name): (&str, String) = (role.try_get("library_id")?, role.try_get("role")?);
        if let Some(library) = libraries.iter_mut().find(|library| library.id == library_id) {
            if role.try_get("may_write")? {
                library.writers.push(name);
            } else {
                library.readers.push(name);
            }
        }
    }
    Ok(libraries)
}

fn read(row: &Row) -> Result<LibraryRow, StoreError> {
    let model: Option<String> = row.try_get("embedding_model")?;
    Ok(LibraryRow {
        id: row.try_get("id")?,
        owner: row.try_get("owner")?,
        name: row.try_get("name")?,
        description: row.try_get("description")?,
        readers: Vec::new(),
        writers: Vec::new(),
        conversation_id: row.try_get("conversation_id")?,
        generation: row.try_get("generation")?,
        embedding: model.zip(row.try_get("embedding_dimensions")?),
        has_graph: row.try_get("has_graph")?,
        of_project: row.try_get("of_project")?,
        member: None,
        updated_at: row.try_get("updated_at")?,
    })
}

/// Returns what is in these libraries.
pub(crate) async fn counts(store: &Store, ids: Vec<String>) -> Result<HashMap<String, LibraryCounts>, StoreError> {
    let find = sql::query(COUNTS).bind(ids);
    let rows = store.read(move |db| Box::pin(async move { Ok(find.fetch_all(db).await?) })).await?;
    let mut all = HashMap::<String, LibraryCounts>::new();
    for row in &rows {
        let counts = all.entry(row.try_get("library_id")?).or_default();
        let documents: i64 = row.try_get("documents")?;
        match row.try_get("state")? {
            "queued" => counts.queued = documents,
            "processing" => counts.processing = documents,
            "ready" => counts.ready = documents,
            _ => counts.failed = documents,
        }
        counts.chunks += row.try_get::<i64>("chunks")?;
        counts.bytes += row.try_get::<i64>("bytes")?;
    }
    Ok(all)
}

/// Returns the bytes of all files that count as those of a user.
pub(crate) async fn used_bytes(store: &Store, owner: &str) -> Result<i64, StoreError> {
    let find = sql::query_scalar(USED).bind(owner);
    store.read(move |db| Box::pin(async move { Ok(find.fetch_one(db).await?) })).await
}

/// Deletes a library with everything in it, with its audit row. Returns false if there is none.
pub(crate) async fn delete_library(store: &Store, id: &str, audit: AuditEntry) -> Result<bool, StoreError> {
    let delete = sql::query("DELETE FROM knowledge_libraries WHERE id = $1").bind(id);
    let delete = store.write(move |db| {
        Box::pin(async move {
            let is_deleted = delete.execute(&mut *db).await?.rows_affected() > 0;
            if is_deleted {
                append_audit(db, vec![audit]).await?;
            }
            Ok(is_deleted)
        })
    });
    delete.await
}
