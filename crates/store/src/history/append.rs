//! Messages that the server adds to a conversation without a run.

use crate::history::{body, messages};
use crate::sql::{self, Db};
use crate::{Store, StoreError};
use futures::future::BoxFuture;
use wire::UiMessage;

/// A message to add at the end of the active branch.
#[derive(Clone, Debug, PartialEq)]
pub struct AppendMessage {
    /// The conversation.
    pub conversation_id: String,
    /// The message. Its id tells repetitions apart.
    pub message: UiMessage,
    /// Unix time, milliseconds.
    pub now: i64,
}

const HEAD: &str = "SELECT head FROM conversations WHERE id = $1";

const EXISTS: &str = "SELECT EXISTS (SELECT 1 FROM messages WHERE conversation_id = $1 AND id = $2)";

/// The conversation counts as unread.
const SET_HEAD: &str = "
    UPDATE conversations SET head = $2, updated_at = CASE WHEN updated_at > $3 THEN updated_at ELSE $3 END
    WHERE id = $1";

/// Writes in the transaction of another one.
pub type AlsoWrite = Box<dyn for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<(), StoreError>> + Send>;

impl Store {
    /// Adds a message at the end of the active branch while no run is active, and writes `also` in the
    /// same transaction. A message that the conversation has already is not added again.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while a run is active, [`StoreError::NotFound`] for an unknown or deleted
    /// conversation or one of another user.
    pub async fn append_message(&self, owner: &str, append: AppendMessage, also: AlsoWrite) -> Result<(), StoreError> {
        let (owner, body) = (owner.to_owned(), body::encode(&append.message)?);
        self.write(move |db| {
            Box::pin(async move {
                insert(db, &owner, append, body).await?;
                also(db).await
            })
        })
        .await
    }
}

async fn insert(db: &mut Db, owner: &str, append: AppendMessage, body: String) -> Result<(), StoreError> {
    let AppendMessage { conversation_id: id, message, now } = append;
    messages::check_idle(db, owner, &id).await?;
    let is_known: Option<bool> = sql::query_scalar(EXISTS).bind(&id).bind(&message.id).fetch_optional(&mut *db).await?;
    if is_known == Some(true) {
        return Ok(());
    }
    let head: Option<String> = sql::query_scalar(HEAD).bind(&id).fetch_optional(&mut *db).await?;
    let insert = sql::query(messages::INSERT).bind(&id).bind(&message.id).bind(head.filter(|head| !head.is_empty()));
    let insert = insert.bind(body::role_name(message.role)).bind(now).bind(body);
    insert.execute(&mut *db).await?;
    sql::query(SET_HEAD).bind(&id).bind(&message.id).bind(now).execute(db).await?;
    Ok(())
}
