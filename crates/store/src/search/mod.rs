//! Search in titles and messages. The index is kept by triggers of the schema; here it is only read.

use crate::conversations::{summary, summary_columns};
use crate::{Store, StoreError};
use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};
use wire::order::Found;

/// Conversations found at once: a page of 50, and one more that tells whether there is a next page.
pub const MAX_FOUND: u32 = 51;

/// Words of a search that count.
const MAX_WORDS: usize = 16;

/// Characters of a word that count.
const MAX_WORD: usize = 64;

/// Where to go on: the conversation after which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchCursor {
    /// Unix time, milliseconds.
    pub updated_at: i64,
    /// Decides between equal times.
    pub id: String,
}

/// What stands before and after a word that was found. No text that people write has them; where one does, it is marked a little
/// wrong, and that is all.
const BEGIN: char = '\u{2}';
const END: char = '\u{3}';

/// Of each conversation the newest message that fits, else the title. Of a word that is everywhere the 5,000 newest messages count: a
/// search costs the same however much was said.
const SEARCH: &str = concat!(
    "WITH hits (no) AS MATERIALIZED (
        SELECT * FROM (SELECT rowid FROM search WHERE search MATCH $2 AND rowid > 0 ORDER BY rowid DESC LIMIT 5000)
        UNION ALL
        SELECT * FROM (SELECT rowid FROM search WHERE search MATCH $2 AND rowid < 0 ORDER BY rowid LIMIT 5000)
    ),
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
        (SELECT snippet(search, 1, char(2), char(3), '…', 16) FROM search WHERE search MATCH $2 AND rowid = p.no) AS passage
    FROM page p JOIN conversations c ON c.id = p.id
        LEFT JOIN runs r ON r.conversation_id = c.id AND r.status = 'running'
        LEFT JOIN messages m ON m.no = p.no
    ORDER BY c.updated_at DESC, c.id DESC"
);

impl Store {
    /// The owner's conversations whose title or a message has all words of `text`, the last word also as the beginning of one; newest
    /// first, at most `limit` (and [`MAX_FOUND`]) of them after `after`. A text without a word finds nothing.
    ///
    /// # Errors
    /// The database failed.
    pub async fn search(
        &self,
        owner: &str,
        text: &str,
        limit: u32,
        after: Option<SearchCursor>,
    ) -> Result<Vec<Found>, StoreError> {
        let Some(expression) = expression(owner, text) else { return Ok(Vec::new()) };
        let (owner, limit) = (owner.to_owned(), limit.min(MAX_FOUND));
        self.read(move |db| Box::pin(select(db, owner, expression, limit, after))).await
    }
}

async fn select(
    db: &mut SqliteConnection,
    owner: String,
    expression: String,
    limit: u32,
    after: Option<SearchCursor>,
) -> Result<Vec<Found>, StoreError> {
    let (updated_at, id) = after.map_or((i64::MAX, String::new()), |after| (after.updated_at, after.id));
    let query = sqlx::query(SEARCH).bind(owner).bind(expression).bind(updated_at).bind(id).bind(limit);
    query.fetch_all(db).await?.iter().map(found).collect()
}

fn found(row: &SqliteRow) -> Result<Found, StoreError> {
    let passage: Option<&str> = row.try_get("passage")?;
    Ok(Found {
        conversation: summary(row)?,
        message_id: row.try_get("message_id")?,
        passage: passage.unwrap_or_default().split([BEGIN, END]).map(str::to_owned).collect(),
    })
}

/// The text as an expression of FTS5: every word is quoted, so nothing in it is an operator (A33). A word without a letter or a digit is
/// none for the index either, and would fit nothing.
fn expression(owner: &str, text: &str) -> Option<String> {
    use std::fmt::Write;
    let words = anyones(text)?;
    let mut expression = String::from("owner : \"o");
    for byte in owner.bytes() {
        // Writing to a string cannot fail.
        let _ = write!(expression, "{byte:02X}");
    }
    let _ = write!(expression, "\" AND {words}");
    Some(expression)
}

/// The same in everybody's conversations, for administrators.
pub(crate) fn anyones(text: &str) -> Option<String> {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<_> = words.filter(|word| word.chars().any(char::is_alphanumeric)).take(MAX_WORDS).collect();
    if words.is_empty() {
        return None;
    }
    let quoted = |word: &&str| {
        let word: String = word.chars().take(MAX_WORD).collect();
        format!("text : \"{}\"", word.replace('"', "\"\""))
    };
    Some(words.iter().map(quoted).collect::<Vec<_>>().join(" AND ") + " *")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_quoted() {
        let check = |text: &str, expected: Option<&str>| {
            let expected = expected.map(|words| format!("owner : \"o616461\" AND {words}"));
            assert_eq!(expression("ada", text), expected, "{text:?}");
        };
        check("", None);
        check(" \" * - \u{0} ()", None);
        check("refund", Some("text : \"refund\" *"));
        check("a OR b", Some("text : \"a\" AND text : \"OR\" AND text : \"b\" *"));
        check("say \"hi\" NEAR(x*", Some("text : \"say\" AND text : \"\"\"hi\"\"\" AND text : \"NEAR(x*\" *"));
        check("nul\u{0}byte", Some("text : \"nul\" AND text : \"byte\" *"));
    }
}
