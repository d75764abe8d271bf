//! Full-text search in titles and messages. Triggers of the schema maintain the index; here it is
//! only read. SQLite uses FTS5, PostgreSQL a `tsvector` of the same words: without case and
//! diacritics, separated by everything that is neither a letter nor a digit.

use crate::history::conversations::{refine_waiting, summary, summary_columns};
use crate::sql::{self, Db, Row, Sql};
use crate::{Store, StoreError};
use search_terms::SearchTerms;
use wire::api::Outcome;
use wire::organize::SearchHit;

/// The maximum number of results: a page of 50, and one more that tells whether there is a next page.
pub const MAX_HITS: u32 = 51;

/// A cursor in the results: the conversation after which the next page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchCursor {
    /// Unix time, milliseconds.
    pub updated_at: i64,
    /// The tie-breaker for equal times.
    pub id: String,
}

/// The marks before and after a match. Normal text does not contain them; where it does, the
/// highlighting is slightly wrong, which is harmless.
const BEGIN: char = '\u{2}';
const END: char = '\u{3}';

/// Finds the newest matching message of each conversation, otherwise its title. For a word that is everywhere, only the
/// 5,000 newest messages are searched, so that the cost does not grow with the amount of text.
macro_rules! search {
    ($newest:literal, $passage:literal) => {
        concat!(
            "WITH hits (no) AS MATERIALIZED (",
            $newest,
            "),
    found (id, no) AS (
        SELECT m.conversation_id, h.no FROM hits h JOIN messages m ON m.no = h.no
        UNION ALL
        SELECT t.conversation_id, h.no FROM hits h JOIN titles t ON t.no = -h.no
    ),
    page AS (
        SELECT c.id, c.updated_at, max(f.no) AS no FROM found f JOIN conversations c ON c.id = f.id
        WHERE c.owner = $1 AND c.deleted_at IS NULL AND (c.updated_at, c.id) < ($3, $4)
        GROUP BY c.id ORDER BY c.updated_at DESC, c.id DESC LIMIT $5
    )
    SELECT ",
            summary_columns!(),
            ", m.id AS message_id,
        (SELECT w.status FROM runs w WHERE w.conversation_id = c.id AND w.message_id = m.id
            ORDER BY w.epoch DESC LIMIT 1) AS status, ",
            $passage,
            " AS passage
    FROM page p JOIN conversations c ON c.id = p.id
        LEFT JOIN runs r ON r.conversation_id = c.id AND r.status = 'running'
        LEFT JOIN messages m ON m.no = p.no
    ORDER BY c.updated_at DESC, c.id DESC"
        )
    };
}

/// SQLite extracts the passage itself; for PostgreSQL, [`search_terms::passage`] extracts it from the whole text.
const SEARCH: Sql = Sql::pair(
    search!(
        "SELECT * FROM (SELECT rowid FROM search WHERE search MATCH $2 AND rowid > 0 ORDER BY rowid DESC LIMIT 5000)
         UNION ALL
         SELECT * FROM (SELECT rowid FROM search WHERE search MATCH $2 AND rowid < 0 ORDER BY rowid LIMIT 5000)",
        "(SELECT snippet(search, 1, char(2), char(3), '…', 16) FROM search WHERE search MATCH $2 AND rowid = p.no)"
    ),
    search!(
        "(SELECT no FROM search WHERE owner = $1 AND words @@ search_query($2) AND no > 0 ORDER BY no DESC LIMIT 5000)
         UNION ALL
         (SELECT no FROM search WHERE owner = $1 AND words @@ search_query($2) AND no < 0 ORDER BY no LIMIT 5000)",
        "CASE WHEN p.no > 0 THEN message_text(m.body) ELSE c.title END"
    ),
);

impl Store {
    /// Searches the owner's conversations for those whose title or a message has all words of
    /// `text`; the last word also matches as a prefix. Newest first, at most `limit` (and
    /// [`MAX_HITS`]) after `after`. A text without a word finds nothing.
    ///
    /// # Errors
    /// The database failed.
    pub async fn search(
        &self,
        owner: &str,
        text: &str,
        limit: u32,
        after: Option<SearchCursor>,
    ) -> Result<Vec<SearchHit>, StoreError> {
        let Some(terms) = SearchTerms::parse(text) else { return Ok(Vec::new()) };
        let (owner, limit) = (owner.to_owned(), limit.min(MAX_HITS));
        self.read(move |db| Box::pin(select(db, owner, terms, limit, after))).await
    }
}

async fn select(
    db: &mut Db,
    owner: String,
    terms: SearchTerms,
    limit: u32,
    after: Option<SearchCursor>,
) -> Result<Vec<SearchHit>, StoreError> {
    let (updated_at, id) = after.map_or((i64::MAX, String::new()), |after| (after.updated_at, after.id));
    let is_postgres = db.is_postgres();
    let expression = if is_postgres { terms.tsquery() } else { terms.fts5_for_owner(&owner) };
    let query = sql::query(SEARCH).bind(owner).bind(expression).bind(updated_at).bind(id).bind(limit);
    let rows = query.fetch_all(db).await?;
    let mut all = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut found = found(row, is_postgres.then_some(&terms))?;
        refine_waiting(db, &mut found.conversation).await?;
        all.push(found);
    }
    Ok(all)
}

/// Returns the outcome of an incomplete answer, from the status of its newest run; `None` for complete answers.
fn incomplete_outcome(status: &str) -> Option<Outcome> {
    // An active run has no outcome.
    serde_json::from_value::<Outcome>(status.into()).ok().filter(|outcome| outcome.is_incomplete())
}

/// Reads a result. If `whole` is given, the row has the whole text, and the passage with these terms is extracted.
fn found(row: &Row, whole: Option<&SearchTerms>) -> Result<SearchHit, StoreError> {
    let text: &str = row.try_get::<Option<&str>>("passage")?.unwrap_or_default();
    let passage = match whole {
        Some(terms) => search_terms::passage(text, terms),
        None => text.split([BEGIN, END]).map(str::to_owned).collect(),
    };
    let outcome = row.try_get::<Option<&str>>("status")?.and_then(incomplete_outcome);
    Ok(SearchHit { conversation: summary(row)?, message_id: row.try_get("message_id")?, outcome, passage })
}
