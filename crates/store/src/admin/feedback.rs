//! The ratings of answers by all users.

use super::{ListCursor, MAX_LISTED, RatingFilter, UsageFilter};
use crate::sql::{QueryBuilder, Row};
use crate::{Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;

/// A rating of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackRow {
    /// The conversation.
    pub conversation_id: String,
    /// Its title.
    pub title: String,
    /// Its agent.
    pub agent_id: String,
    /// The rated message.
    pub message_id: String,
    /// The user who rated it.
    pub owner: String,
    /// The user's name, if they have an account here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_name: Option<String>,
    /// `up` or `down`.
    pub rating: String,
    /// The reason that the user gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Unix time, milliseconds.
    pub updated_at: i64,
}

/// How users have rated answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Ratings {
    /// How many as good.
    pub up: i64,
    /// How many as bad.
    pub down: i64,
}

/// The ratings of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DayRatings {
    /// Days since 1970, UTC.
    pub day: i64,
    /// Its ratings.
    #[serde(flatten)]
    pub ratings: Ratings,
}

/// The order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeedbackSort {
    /// Newest rating first.
    #[default]
    Newest,
    /// Oldest rating first.
    Oldest,
}

const COLUMNS: &str = "
    SELECT f.conversation_id, c.title, c.agent_id, f.message_id, f.owner, f.rating, f.reason, f.updated_at,
        (SELECT name FROM users WHERE id = f.owner) AS owner_name
    FROM feedback f JOIN conversations c ON c.id = f.conversation_id WHERE c.deleted_at IS NULL";

const MS_PER_DAY: i64 = 86_400_000;

impl Store {
    /// Returns the ratings by the day on which they were given or last changed; days without one are left out. Those
    /// of deleted conversations do not count.
    ///
    /// # Errors
    /// The database failed.
    pub async fn ratings_by_day(&self, filter: &UsageFilter) -> Result<Vec<DayRatings>, StoreError> {
        let mut query = QueryBuilder::new("SELECT f.updated_at / ");
        query.push_bind(MS_PER_DAY);
        query.push(
            " AS day, count(CASE WHEN f.rating = 'up' THEN 1 END) AS up, count(CASE WHEN f.rating = 'down' THEN 1 END) AS down
            FROM feedback f JOIN conversations c ON c.id = f.conversation_id
            WHERE c.deleted_at IS NULL AND f.updated_at >= ",
        );
        query.push_bind(filter.first_day * MS_PER_DAY).push(" AND f.updated_at < ");
        query.push_bind((filter.last_day + 1) * MS_PER_DAY);
        if let Some(agent) = filter.agent_id.clone() {
            query.push(" AND c.agent_id = ").push_bind(agent);
        }
        if let Some(user) = filter.user_id.clone() {
            query.push(" AND f.owner = ").push_bind(user);
        }
        if let Some(group) = filter.group_id.clone() {
            query.push(" AND f.owner IN (SELECT user_id FROM user_group_members WHERE group_id = ");
            query.push_bind(group).push(")");
        }
        query.push(" GROUP BY 1 ORDER BY 1");
        let read = |row: &Row| {
            let ratings = Ratings { up: row.try_get("up")?, down: row.try_get("down")? };
            Ok(DayRatings { day: row.try_get("day")?, ratings })
        };
        self.rows(query.build(), read).await
    }

    /// Returns ratings, at most `limit` (and [`MAX_LISTED`]) after `after`, each with its cursor.
    ///
    /// # Errors
    /// The database failed, or the cursor is not one of this list.
    pub async fn all_feedback(
        &self,
        judged: Option<RatingFilter>,
        sort: FeedbackSort,
        limit: u32,
        after: Option<ListCursor>,
    ) -> Result<Vec<(FeedbackRow, ListCursor)>, StoreError> {
        let mut query = QueryBuilder::new(COLUMNS);
        if let Some(judged) = judged {
            let rating = if judged == RatingFilter::Up { "up" } else { "down" };
            query.push(" AND f.rating = ").push_bind(rating);
        }
        if let Some(place) = after {
            // Ids contain no space.
            let (conversation_id, message_id) = place.id.split_once(' ').unwrap_or_default();
            query.push(" AND (f.updated_at, f.conversation_id, f.message_id)");
            query.push(if sort == FeedbackSort::Newest { " < (" } else { " > (" }).push_bind(place.number::<i64>()?);
            query.push(", ").push_bind(conversation_id.to_owned());
            query.push(", ").push_bind(message_id.to_owned()).push(")");
        }
        query.push(match sort {
            FeedbackSort::Newest => " ORDER BY f.updated_at DESC, f.conversation_id DESC, f.message_id DESC LIMIT ",
            FeedbackSort::Oldest => " ORDER BY f.updated_at, f.conversation_id, f.message_id LIMIT ",
        });
        query.push_bind(limit.min(MAX_LISTED));
        self.rows(query.build(), row).await
    }
}

fn row(row: &Row) -> Result<(FeedbackRow, ListCursor), StoreError> {
    let found = FeedbackRow {
        conversation_id: row.try_get("conversation_id")?,
        title: row.try_get("title")?,
        agent_id: row.try_get("agent_id")?,
        message_id: row.try_get("message_id")?,
        owner: row.try_get("owner")?,
        owner_name: row.try_get("owner_name")?,
        rating: row.try_get("rating")?,
        reason: row.try_get("reason")?,
        updated_at: row.try_get("updated_at")?,
    };
    let id = format!("{} {}", found.conversation_id, found.message_id);
    let place = ListCursor { key: found.updated_at.to_string(), id };
    Ok((found, place))
}
