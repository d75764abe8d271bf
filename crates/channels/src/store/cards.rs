//! Table `channel_cards`: approval requests and questions that were sent.

use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};

/// A request to send.
#[derive(Clone, Debug)]
pub(crate) struct NewCard {
    pub(crate) id: String,
    pub(crate) channel_id: String,
    pub(crate) chat_id: String,
    pub(crate) owner: String,
    pub(crate) conversation_id: String,
    pub(crate) tool_call_id: String,
    /// Empty for a question.
    pub(crate) approval_id: String,
    pub(crate) input_hash: String,
}

/// A request that was sent, or is being sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Card {
    pub(crate) id: String,
    pub(crate) channel_id: String,
    pub(crate) chat_id: String,
    pub(crate) owner: String,
    pub(crate) conversation_id: String,
    pub(crate) tool_call_id: String,
    pub(crate) approval_id: String,
    pub(crate) input_hash: String,
    pub(crate) message_id: Option<String>,
    /// When it was made; Unix time, milliseconds.
    pub(crate) created_at: i64,
}

macro_rules! columns {
    () => {
        "id, channel_id, chat_id, owner, conversation_id, tool_call_id, approval_id, input_hash, message_id, created_at"
    };
}

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT ", columns!(), " FROM channel_cards WHERE channel_id = $1 AND chat_id = $2 AND ", $rest)
    };
}

const BY_ID: &str = select!("id = $3");

const BY_MESSAGE: &str = select!("message_id = $3");

/// The newest question. Nothing says whether it is answered.
const QUESTION: &str = select!("owner = $3 AND approval_id = '' ORDER BY created_at DESC, id DESC LIMIT 1");

/// The newest cards that were shown.
const SHOWN: &str = select!("owner = $3 AND message_id IS NOT NULL ORDER BY created_at DESC, id DESC LIMIT 100");

/// The cards of a conversation that were shown and are not closed.
const OPEN: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM channel_cards WHERE owner = $1 AND conversation_id = $2 AND message_id IS NOT NULL AND closed_at IS NULL
     ORDER BY created_at DESC, id DESC LIMIT 100"
);

const ADD: &str = concat!(
    "INSERT INTO channel_cards
        (id, channel_id, chat_id, owner, conversation_id, tool_call_id, approval_id, input_hash, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (channel_id, chat_id, owner, conversation_id, tool_call_id, approval_id)
    DO UPDATE SET input_hash = excluded.input_hash
    RETURNING ",
    columns!()
);

const SET_MESSAGE: &str = "UPDATE channel_cards SET message_id = $2 WHERE id = $1";

const SET_CLOSED: &str = "UPDATE channel_cards SET closed_at = $2 WHERE id = $1";

fn read(row: &Row) -> Result<Card, StoreError> {
    Ok(Card {
        id: row.try_get("id")?,
        channel_id: row.try_get("channel_id")?,
        chat_id: row.try_get("chat_id")?,
        owner: row.try_get("owner")?,
        conversation_id: row.try_get("conversation_id")?,
        tool_call_id: row.try_get("tool_call_id")?,
        approval_id: row.try_get("approval_id")?,
        input_hash: row.try_get("input_hash")?,
        message_id: row.try_get("message_id")?,
        created_at: row.try_get("created_at")?,
    })
}

/// Adds a card. Returns it, or the one that is there for the same request.
pub(crate) async fn add_card(db: &mut Db, new: NewCard, now: i64) -> Result<Card, StoreError> {
    let add = sql::query(ADD).bind(new.id).bind(new.channel_id).bind(new.chat_id).bind(new.owner);
    let add = add.bind(new.conversation_id).bind(new.tool_call_id).bind(new.approval_id).bind(new.input_hash);
    read(&add.bind(now).fetch_one(db).await?)
}

/// Records the message that shows a card.
pub(crate) async fn set_card_message(db: &mut Db, id: String, message_id: String) -> Result<(), StoreError> {
    Ok(sql::query(SET_MESSAGE).bind(id).bind(message_id).execute(db).await.map(drop)?)
}

/// Records that the message of a card has no buttons any more.
pub(crate) async fn set_card_closed(db: &mut Db, id: String, now: i64) -> Result<(), StoreError> {
    Ok(sql::query(SET_CLOSED).bind(id).bind(now).execute(db).await.map(drop)?)
}

/// Returns a card of a chat.
pub(crate) async fn card(store: &Store, channel_id: &str, chat_id: &str, id: &str) -> Result<Option<Card>, StoreError> {
    one(store, BY_ID, channel_id, chat_id, id).await
}

/// Returns the card that a message of a chat shows.
pub(crate) async fn card_of_message(
    store: &Store,
    channel_id: &str,
    chat_id: &str,
    message_id: &str,
) -> Result<Option<Card>, StoreError> {
    one(store, BY_MESSAGE, channel_id, chat_id, message_id).await
}

/// Returns the newest question that a user was asked in a chat; it may be answered.
pub(crate) async fn newest_question(
    store: &Store,
    channel_id: &str,
    chat_id: &str,
    owner: &str,
) -> Result<Option<Card>, StoreError> {
    one(store, QUESTION, channel_id, chat_id, owner).await
}

/// Returns the cards of a user in a chat, the newest first, also answered ones.
pub(crate) async fn shown_cards(
    store: &Store,
    channel_id: &str,
    chat_id: &str,
    owner: &str,
) -> Result<Vec<Card>, StoreError> {
    let list = sql::query(SHOWN).bind(channel_id.to_owned()).bind(chat_id.to_owned()).bind(owner.to_owned());
    store.rows(list, read).await
}

/// Returns the cards of a conversation, in all chats, that were not closed. Their calls may be decided.
pub(crate) async fn open_cards(store: &Store, owner: &str, conversation_id: &str) -> Result<Vec<Card>, StoreError> {
    store.rows(sql::query(OPEN).bind(owner.to_owned()).bind(conversation_id.to_owned()), read).await
}

async fn one(
    store: &Store,
    find: &'static str,
    channel_id: &str,
    chat_id: &str,
    value: &str,
) -> Result<Option<Card>, StoreError> {
    let find = sql::query(find).bind(channel_id.to_owned()).bind(chat_id.to_owned()).bind(value.to_owned());
    store.optional_row(find, read).await
}
