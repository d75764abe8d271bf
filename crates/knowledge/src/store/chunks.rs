//! The tables `knowledge_parts`, `knowledge_chunks` and `knowledge_citations`.

use super::damaged;
use ::store::sql::{self, Db, Row, Sql};
use ::store::{Store, StoreError};
use documents::Place;

/// A part of a text, or a chunk, to store.
#[derive(Clone, Debug)]
pub(crate) struct NewPart {
    pub(crate) no: u32,
    pub(crate) place: String,
    pub(crate) heading: String,
    pub(crate) text: String,
}

/// A part of a text, or a chunk.
#[derive(Clone, Debug)]
pub(crate) struct PartRow {
    pub(crate) no: i64,
    pub(crate) place: Place,
    pub(crate) heading: String,
    pub(crate) text: String,
}

/// A chunk with its document.
#[derive(Clone, Debug)]
pub(crate) struct ChunkRow {
    pub(crate) version_id: String,
    pub(crate) no: u32,
    pub(crate) document_id: String,
    pub(crate) file_name: String,
    pub(crate) media_type: String,
    pub(crate) place: Place,
    pub(crate) heading: String,
    pub(crate) text: String,
}

impl ChunkRow {
    /// Returns the id, which stands for this text for ever.
    pub(crate) fn id(&self) -> String {
        format!("{}.{}", self.version_id, self.no)
    }
}

const INSERT_PART: &str =
    "INSERT INTO knowledge_parts (version_id, no, place, heading, content) VALUES ($1, $2, $3, $4, $5)";
const INSERT_CHUNK: &str =
    "INSERT INTO knowledge_chunks (version_id, no, place, heading, content) VALUES ($1, $2, $3, $4, $5)";

/// Deletes the rows of an attempt that was killed.
const CLEAR: [&str; 2] =
    ["DELETE FROM knowledge_parts WHERE version_id = $1", "DELETE FROM knowledge_chunks WHERE version_id = $1"];

const OF_VERSION: &str = "SELECT heading, content AS text FROM knowledge_chunks WHERE version_id = $1 ORDER BY no";

const PARTS: &str = "
    SELECT no, place, heading, content AS text FROM knowledge_parts WHERE version_id = $1 AND no >= $2 ORDER BY no LIMIT $3";

const CHUNKS: &str = "
    SELECT no, place, heading, content AS text FROM knowledge_chunks WHERE version_id = $1 AND no >= $2 ORDER BY no LIMIT $3";

/// Chunks that are found: of the versions that count.
const FOUND: Sql = Sql::pair(
    "SELECT c.version_id, c.no, d.id, d.file_name, d.media_type, c.place, c.heading, c.content AS text FROM knowledge_chunks c
     JOIN knowledge_versions v ON v.id = c.version_id
     JOIN knowledge_documents d ON d.id = v.document_id AND d.version_id = c.version_id
     WHERE c.version_id = $1 AND c.no IN (SELECT CAST(value AS INTEGER) FROM json_each($2))",
    "SELECT c.version_id, c.no, d.id, d.file_name, d.media_type, c.place, c.heading, c.content AS text FROM knowledge_chunks c
     JOIN knowledge_versions v ON v.id = c.version_id
     JOIN knowledge_documents d ON d.id = v.document_id AND d.version_id = c.version_id
     WHERE c.version_id = $1 AND c.no::text = ANY($2)",
);

const NUMBER: &str = "SELECT number FROM knowledge_citations WHERE conversation_id = $1 AND chunk_id = $2";
const NEW_NUMBER: &str = "
    INSERT INTO knowledge_citations (conversation_id, chunk_id, document_id, number)
    VALUES ($1, $2, $3, (SELECT coalesce(max(number), 0) + 1 FROM knowledge_citations WHERE conversation_id = $1))";
const CITED: &str = "SELECT count(*) FROM knowledge_citations WHERE conversation_id = $1 AND document_id = $2";

const PLACES: &str = "SELECT no, place FROM knowledge_parts WHERE version_id = $1 ORDER BY no";
const PLACE_OF_CHUNK: &str = "SELECT place FROM knowledge_chunks WHERE version_id = $1 AND no = $2";

/// Stores parts.
pub(crate) async fn insert_parts(db: &mut Db, version_id: &str, parts: Vec<NewPart>) -> Result<(), StoreError> {
    insert(db, INSERT_PART, version_id, parts).await
}

/// Stores chunks.
pub(crate) async fn insert_chunks(db: &mut Db, version_id: &str, chunks: Vec<NewPart>) -> Result<(), StoreError> {
    insert(db, INSERT_CHUNK, version_id, chunks).await
}

async fn insert(db: &mut Db, statement: &'static str, version: &str, rows: Vec<NewPart>) -> Result<(), StoreError> {
    for NewPart { no, place, heading, text } in rows {
        let insert = sql::query(statement).bind(version).bind(no).bind(place).bind(heading).bind(text);
        insert.execute(&mut *db).await?;
    }
    Ok(())
}

/// Deletes the text and the chunks of a version.
pub(crate) async fn clear_text(db: &mut Db, version_id: &str) -> Result<(), StoreError> {
    for statement in CLEAR {
        sql::query(statement).bind(version_id).execute(&mut *db).await?;
    }
    Ok(())
}

/// Returns the headings and the texts of the chunks of a version, in order.
pub(crate) async fn chunks_of_version(store: &Store, version_id: &str) -> Result<Vec<(String, String)>, StoreError> {
    let find = sql::query(OF_VERSION).bind(version_id);
    let read = |row: &Row| -> Result<_, StoreError> { Ok((row.try_get("heading")?, row.try_get("text")?)) };
    store.rows(find, read).await
}

/// Returns parts of a version, from the one with this number on, at most `most`.
pub(crate) async fn parts(store: &Store, version_id: &str, from: u32, most: u32) -> Result<Vec<PartRow>, StoreError> {
    read_parts(store, PARTS, version_id, from, most).await
}

/// Returns chunks of a version, from the one with this number on, at most `most`.
pub(crate) async fn chunks(store: &Store, version_id: &str, from: u32, most: u32) -> Result<Vec<PartRow>, StoreError> {
    read_parts(store, CHUNKS, version_id, from, most).await
}

async fn read_parts(
    store: &Store,
    statement: &'static str,
    version_id: &str,
    from: u32,
    most: u32,
) -> Result<Vec<PartRow>, StoreError> {
    let find = sql::query(statement).bind(version_id).bind(from).bind(most);
    let read = |row: &Row| -> Result<_, StoreError> {
        let place = serde_json::from_str(row.try_get("place")?).map_err(|_| damaged())?;
        Ok(PartRow { no: row.try_get("no")?, place, heading: row.try_get("heading")?, text: row.try_get("text")? })
    };
    store.rows(find, read).await
}

/// Returns those of these chunks of a version that are still found.
pub(crate) async fn found_chunks(
    store: &Store,
    version_id: &str,
    numbers: Vec<u32>,
) -> Result<Vec<ChunkRow>, StoreError> {
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let find = sql::query(FOUND).bind(version_id).bind(numbers);
    let read = |row: &Row| -> Result<_, StoreError> {
        Ok(ChunkRow {
            version_id: row.try_get("version_id")?,
            no: u32::try_from(row.try_get::<i64>("no")?).map_err(|_| damaged())?,
            document_id: row.try_get("id")?,
            file_name: row.try_get("file_name")?,
            media_type: row.try_get("media_type")?,
            place: serde_json::from_str(row.try_get("place")?).map_err(|_| damaged())?,
            heading: row.try_get("heading")?,
            text: row.try_get("text")?,
        })
    };
    store.rows(find, read).await
}

/// Returns the number of the part in which a chunk of a version begins, from 0; `None` if there is no such chunk.
pub(crate) async fn part_of_chunk(store: &Store, version_id: &str, no: u32) -> Result<Option<u32>, StoreError> {
    let (places, chunk) = (sql::query(PLACES).bind(version_id), sql::query(PLACE_OF_CHUNK).bind(version_id).bind(no));
    let place = |row: &Row| serde_json::from_str::<Place>(row.try_get("place")?).map_err(|_| damaged());
    let read = store.read(move |db| {
        Box::pin(async move {
            let Some(chunk) = chunk.fetch_optional(&mut *db).await? else { return Ok(None) };
            let chunk = place(&chunk)?;
            for row in places.fetch_all(&mut *db).await? {
                if chunk.begins_in(&place(&row)?) {
                    return Ok(u32::try_from(row.try_get::<i64>("no")?).ok());
                }
            }
            Ok(Some(0))
        })
    });
    read.await
}

/// Returns whether a document was shown to the agent of a conversation.
pub(crate) async fn is_cited(store: &Store, conversation_id: &str, document_id: &str) -> Result<bool, StoreError> {
    let count = sql::query_scalar::<i64>(CITED).bind(conversation_id).bind(document_id);
    Ok(store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await? > 0)
}

/// Returns the numbers of chunks in a conversation, which are given with their documents; those that have none get
/// the next ones.
pub(crate) async fn citation_numbers(
    store: &Store,
    conversation_id: &str,
    chunks: Vec<(String, String)>,
) -> Result<Vec<i64>, StoreError> {
    let conversation_id = conversation_id.to_owned();
    store
        .write(move |db| {
            Box::pin(async move {
                let mut numbers = Vec::new();
                for (chunk_id, document_id) in chunks {
                    let find = || sql::query_scalar::<i64>(NUMBER).bind(&conversation_id).bind(&chunk_id);
                    let known = find().fetch_optional(&mut *db).await?;
                    if known.is_none() {
                        let insert = sql::query(NEW_NUMBER).bind(&conversation_id).bind(&chunk_id).bind(&document_id);
                        insert.execute(&mut *db).await?;
                    }
                    numbers.push(match known {
                        Some(number) => number,
                        None => find().fetch_one(&mut *db).await?,
                    });
                }
                Ok(numbers)
            })
        })
        .await
}
