//! The conversations of all users, with filters, sorting and search.

use super::{ListCursor, MAX_LISTED};
use crate::sql::{self, Db, QueryBuilder, Row, Sql};
use crate::{AuditEntry, Store, StoreError, audit};
use schemars::JsonSchema;
use search_terms::SearchTerms;
use serde::Serialize;

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminConversation {
    /// Its id.
    pub id: String,
    /// The user who owns it.
    pub owner: String,
    /// The owner's name, if they have an account here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_name: Option<String>,
    /// Its title.
    pub title: String,
    /// Its agent.
    pub agent_id: String,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// Unix time, milliseconds.
    pub updated_at: i64,
    /// The sum of input and output tokens.
    pub tokens: f64,
    /// The cost in US dollars, as far as prices are known.
    pub cost_usd: f64,
    /// The number of answers that failed or were interrupted.
    pub failures: i64,
    /// The number of answers that the owner rated up.
    pub liked: i64,
    /// The number of answers that the owner rated down.
    pub disliked: i64,
}

/// A rating of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RatingFilter {
    /// Rated up.
    Up,
    /// Rated down.
    Down,
}

/// A filter for the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConversationFilter {
    /// Words that the title or a message must contain; empty for all.
    pub text: String,
    /// Only those of this user.
    pub owner: Option<String>,
    /// Only those with this agent.
    pub agent_id: Option<String>,
    /// Last changed at this time or later; Unix time, milliseconds.
    pub from: Option<i64>,
    /// Last changed before this time; Unix time, milliseconds.
    pub to: Option<i64>,
    /// Only those with an answer that has this rating.
    pub rating: Option<RatingFilter>,
    /// Only those with an answer that failed.
    pub failed: bool,
    /// The minimum cost in US dollars.
    pub min_cost: Option<f64>,
}

/// The order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConversationSort {
    /// Most recently changed first.
    #[default]
    Newest,
    /// Least recently changed first.
    Oldest,
    /// Most expensive first.
    Cost,
}

const COLUMNS: &str = "
    SELECT c.id, c.owner, c.title, c.agent_id, c.created_at, c.updated_at, c.tokens, c.cost_usd, c.failures, c.liked, c.disliked,
        (SELECT name FROM users WHERE id = c.owner) AS owner_name
    FROM conversations c WHERE c.deleted_at IS NULL";

/// For a word that is everywhere, only the 5,000 newest messages and titles are searched, as in a user's own search.
const FOUND: [Sql; 3] = [
    Sql::pair(
        " AND c.id IN (
        SELECT conversation_id FROM messages WHERE no IN
            (SELECT rowid FROM search WHERE search MATCH ",
        " AND c.id IN (
        SELECT conversation_id FROM messages WHERE no IN
            (SELECT no FROM search WHERE words @@ search_query(",
    ),
    Sql::pair(
        " AND rowid > 0 ORDER BY rowid DESC LIMIT 5000)
        UNION ALL
        SELECT conversation_id FROM titles WHERE no IN
            (SELECT -rowid FROM search WHERE search MATCH ",
        ") AND no > 0 ORDER BY no DESC LIMIT 5000)
        UNION ALL
        SELECT conversation_id FROM titles WHERE no IN
            (SELECT -no FROM search WHERE words @@ search_query(",
    ),
    Sql::pair(" AND rowid < 0 ORDER BY rowid LIMIT 5000))", ") AND no < 0 ORDER BY no LIMIT 5000))"),
];

/// The number of matches from which a word counts as being everywhere.
const MOST_FOUND: i64 = 5000;

/// Count the messages and titles that contain a word, up to the limit of the search.
const ALONE: [&str; 2] = [
    "SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH $1 AND rowid > 0 ORDER BY rowid DESC LIMIT 5000)",
    "SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH $1 AND rowid < 0 ORDER BY rowid LIMIT 5000)",
];

const ONE: &str = " AND c.id = ";

impl Store {
    /// Returns conversations of all users, at most `limit` (and [`MAX_LISTED`]) after `after`, each with its cursor.
    ///
    /// # Errors
    /// The database failed, or the cursor is not one of this list.
    pub async fn all_conversations(
        &self,
        filter: ConversationFilter,
        sort: ConversationSort,
        limit: u32,
        after: Option<ListCursor>,
    ) -> Result<Vec<(AdminConversation, ListCursor)>, StoreError> {
        self.read(move |db| {
            Box::pin(async move {
                let words = text_filter(db, &filter.text).await?;
                let query = listed(words, filter, sort, limit.min(MAX_LISTED), after)?;
                query.build().fetch_all(db).await?.iter().map(|found| placed(found, sort)).collect()
            })
        })
        .await
    }

    /// Returns a conversation of any user; `None` when it is unknown or deleted.
    ///
    /// # Errors
    /// The database failed.
    pub async fn any_conversation(&self, id: &str) -> Result<Option<AdminConversation>, StoreError> {
        let mut query = QueryBuilder::new(COLUMNS);
        query.push(ONE).push_bind(id.to_owned());
        self.optional_row(query.build(), row).await
    }

    /// Writes an administrator's action to the audit log.
    ///
    /// # Errors
    /// The database failed; the action must not be carried out then.
    pub async fn record_audit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        self.write(move |db| Box::pin(async move { audit::append_audit(db, vec![entry]).await })).await
    }
}

/// The search condition.
enum TextFilter {
    /// Matches everything.
    Any,
    /// Matches nothing, because the text has no word.
    None,
    /// The full-text queries for messages and for titles.
    These([String; 2]),
}

/// Converts a search text to full-text queries. The last word also matches as a prefix. SQLite reads all occurrences of
/// all words with that prefix, so a last word that alone has too many matches is searched as a whole word only.
async fn text_filter(db: &mut Db, text: &str) -> Result<TextFilter, StoreError> {
    if text.trim().is_empty() {
        return Ok(TextFilter::Any);
    }
    let Some(terms) = SearchTerms::parse(text) else { return Ok(TextFilter::None) };
    if db.is_postgres() {
        return Ok(TextFilter::These([terms.tsquery(), terms.tsquery()]));
    }
    let mut words = [terms.fts5(), terms.fts5()];
    for (words, count) in words.iter_mut().zip(ALONE) {
        let whole = terms.fts5_whole();
        let alone: i64 = sql::query_scalar(count).bind(whole.clone()).fetch_one(&mut *db).await?;
        if alone >= MOST_FOUND {
            *words = whole;
        }
    }
    Ok(TextFilter::These(words))
}

fn listed(
    words: TextFilter,
    filter: ConversationFilter,
    sort: ConversationSort,
    limit: u32,
    after: Option<ListCursor>,
) -> Result<QueryBuilder, StoreError> {
    let mut query = QueryBuilder::new(COLUMNS);
    match words {
        TextFilter::Any => {}
        TextFilter::None => drop(query.push(" AND false")),
        TextFilter::These([in_messages, in_titles]) => {
            let [begin, middle, end] = FOUND;
            query.push(begin).push_bind(in_messages).push(middle).push_bind(in_titles).push(end);
        }
    }
    if let Some(owner) = filter.owner {
        query.push(" AND c.owner = ").push_bind(owner);
    }
    if let Some(agent_id) = filter.agent_id {
        query.push(" AND c.agent_id = ").push_bind(agent_id);
    }
    if let Some(from) = filter.from {
        query.push(" AND c.updated_at >= ").push_bind(from);
    }
    if let Some(to) = filter.to {
        query.push(" AND c.updated_at < ").push_bind(to);
    }
    match filter.rating {
        Some(RatingFilter::Up) => query.push(" AND c.liked > 0"),
        Some(RatingFilter::Down) => query.push(" AND c.disliked > 0"),
        None => &mut query,
    };
    if filter.failed {
        query.push(" AND c.failures > 0");
    }
    if let Some(cost) = filter.min_cost {
        query.push(" AND c.cost_usd >= ").push_bind(cost);
    }
    if let Some(place) = after {
        match sort {
            ConversationSort::Newest => query.push(" AND (c.updated_at, c.id) < (").push_bind(place.number::<i64>()?),
            ConversationSort::Oldest => query.push(" AND (c.updated_at, c.id) > (").push_bind(place.number::<i64>()?),
            ConversationSort::Cost => query.push(" AND (c.cost_usd, c.id) < (").push_bind(place.number::<f64>()?),
        };
        query.push(", ").push_bind(place.id).push(")");
    }
    query.push(match sort {
        ConversationSort::Newest => " ORDER BY c.updated_at DESC, c.id DESC LIMIT ",
        ConversationSort::Oldest => " ORDER BY c.updated_at, c.id LIMIT ",
        ConversationSort::Cost => " ORDER BY c.cost_usd DESC, c.id DESC LIMIT ",
    });
    query.push_bind(limit);
    Ok(query)
}

fn placed(found: &Row, sort: ConversationSort) -> Result<(AdminConversation, ListCursor), StoreError> {
    let conversation = row(found)?;
    let key = match sort {
        ConversationSort::Newest | ConversationSort::Oldest => conversation.updated_at.to_string(),
        ConversationSort::Cost => conversation.cost_usd.to_string(),
    };
    let place = ListCursor { key, id: conversation.id.clone() };
    Ok((conversation, place))
}

fn row(row: &Row) -> Result<AdminConversation, StoreError> {
    Ok(AdminConversation {
        id: row.try_get("id")?,
        owner: row.try_get("owner")?,
        owner_name: row.try_get("owner_name")?,
        title: row.try_get("title")?,
        agent_id: row.try_get("agent_id")?,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
        tokens: row.try_get("tokens")?,
        cost_usd: row.try_get("cost_usd")?,
        failures: row.try_get("failures")?,
        liked: row.try_get("liked")?,
        disliked: row.try_get("disliked")?,
    })
}
