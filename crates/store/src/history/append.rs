//! Messages that the server adds to a conversation without a run.

use crate::history::{body, messages};
use crate::sql::{self, Db};
use crate::{NewMessage, Store, StoreError};
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

/// Messages of the user, with what the server answers by itself, to add at the end of the active branch.
#[derive(Clone, Debug, PartialEq)]
pub struct AddMessages {
    /// The conversation; created if it does not exist.
    pub conversation_id: String,
    /// The page of a new conversation.
    pub page_id: String,
    /// The agent of a new conversation.
    pub agent_id: String,
    /// The title of a new conversation.
    pub title: String,
    /// The messages, parents first. The last one becomes the head of the active branch.
    pub insert: Vec<NewMessage>,
    /// Unix time, milliseconds.
    pub now: i64,
}

const CREATE: &str = "
    INSERT INTO conversations (id, owner, page_id, agent_id, title, head, epoch, created_at, updated_at, read_at)
    VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $7, $7) ON CONFLICT (id) DO NOTHING";

/// A user who sends a message has read the conversation. The first message of a prepared conversation gives it its
/// title.
const ADVANCE: &str = "
    UPDATE conversations
    SET head = $2,
        title = CASE WHEN epoch = 0 AND head = '' AND named_by_user = 0 AND $4 <> '' THEN $4 ELSE title END,
        updated_at = CASE WHEN updated_at > $3 THEN updated_at ELSE $3 END,
        read_at = CASE WHEN updated_at > $3 THEN updated_at ELSE $3 END
    WHERE id = $1";

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

    /// Adds messages of the user at the end of the active branch while no run is active, and writes `also`
    /// in the same transaction. Their ids are new.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while a run is active, [`StoreError::NotFound`] for a deleted conversation or
    /// one of another user, and the error of `also`.
    pub async fn add_messages(&self, owner: &str, add: AddMessages, also: AlsoWrite) -> Result<(), StoreError> {
        let bodies = add.insert.iter().map(|new| body::encode(&new.message)).collect::<Result<Vec<_>, _>>()?;
        let owner = owner.to_owned();
        self.write(move |db| {
            Box::pin(async move {
                add_to(db, &owner, add, bodies, false).await?;
                also(db).await
            })
        })
        .await
    }

    /// Adds messages below any message of a conversation, which becomes the active branch unless a run is
    /// active, and writes `also` in the same transaction. Their ids are new.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for a deleted conversation or one of another user, and the error of `also`.
    pub async fn add_branch(&self, owner: &str, add: AddMessages, also: AlsoWrite) -> Result<(), StoreError> {
        let bodies = add.insert.iter().map(|new| body::encode(&new.message)).collect::<Result<Vec<_>, _>>()?;
        let owner = owner.to_owned();
        self.write(move |db| {
            Box::pin(async move {
                add_to(db, &owner, add, bodies, true).await?;
                also(db).await
            })
        })
        .await
    }
}

async fn add_to(
    db: &mut Db,
    owner: &str,
    add: AddMessages,
    bodies: Vec<String>,
    is_busy_allowed: bool,
) -> Result<(), StoreError> {
    let AddMessages { conversation_id: id, page_id, agent_id, title, insert, now } = add;
    let head = insert.last().map(|last| last.message.id.clone()).unwrap_or_default();
    let create = sql::query(CREATE).bind(&id).bind(owner).bind(page_id).bind(agent_id).bind(&title).bind(&head);
    let is_new = create.bind(now).execute(&mut *db).await?.rows_affected() > 0;
    if !is_new {
        match messages::check_idle(db, owner, &id).await {
            // The branch that is being written stays the active one.
            Err(StoreError::Busy) if is_busy_allowed => {}
            checked => {
                checked?;
                sql::query(ADVANCE).bind(&id).bind(head).bind(now).bind(title).execute(&mut *db).await?;
            }
        }
    }
    for (new, body) in insert.into_iter().zip(bodies) {
        let NewMessage { parent_id, message } = new;
        let insert = sql::query(messages::INSERT).bind(&id).bind(message.id).bind(parent_id);
        insert.bind(body::role_name(message.role)).bind(now).bind(body).execute(&mut *db).await?;
    }
    Ok(())
}

/// Does the same as [`Store::append_message`] within the writer's transaction. `body` is the encoded message.
pub(crate) async fn insert(db: &mut Db, owner: &str, append: AppendMessage, body: String) -> Result<(), StoreError> {
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
