//! A chat with an agent.

use crate::answers::fill_answers;
use crate::{Answer, Client, Error, Reply, send_checked};
use reqwest::{Method, StatusCode};
use serde_json::{Map, Value, json};
use uuid::Uuid;
use wire::{Role, TextPart, UiMessage, UiPart};

/// A chat with an agent on a page; a cheap handle.
#[derive(Clone, Debug)]
pub struct Chat {
    client: Client,
    page_id: String,
    agent_id: String,
    shared_state: Map<String, Value>,
}

impl Chat {
    pub(crate) fn new(client: Client, page_id: &str, agent_id: &str) -> Self {
        Self { client, page_id: page_id.to_owned(), agent_id: agent_id.to_owned(), shared_state: Map::new() }
    }

    /// Sets the state that the agent sees, as it would see a page's shared state.
    #[must_use]
    pub fn with_shared_state(mut self, state: Map<String, Value>) -> Self {
        self.shared_state = state;
        self
    }

    /// Sends a text in a new conversation.
    ///
    /// # Errors
    /// See [`Error`]; the same for the other methods.
    pub async fn ask(&self, text: &str) -> Result<Reply, Error> {
        self.ask_in(&new_id(), text).await
    }

    /// Sends a text in a conversation. The caller chooses the id (letters, digits, `-`, `_`); an
    /// unknown id creates a conversation.
    pub async fn ask_in(&self, conversation_id: &str, text: &str) -> Result<Reply, Error> {
        let mut message = UiMessage::new(new_id(), Role::User);
        message.parts.push(UiPart::Text(TextPart { text: text.to_owned(), ..TextPart::default() }));
        self.send(conversation_id, &message).await
    }

    /// Sends a user message. The message id is the idempotency key: if it is unclear whether a
    /// message arrived, it can be sent again.
    pub async fn send(&self, conversation_id: &str, message: &UiMessage) -> Result<Reply, Error> {
        let body = json!({
            "trigger": "submit-message",
            "messages": [message],
            "sharedState": self.shared_state,
        });
        let (path, query) = (["api", "agent", &self.page_id, &self.agent_id], [("conversationId", conversation_id)]);
        let response = send_checked(self.client.request(Method::POST, &path, &query).json(&body)).await?;
        Ok(Reply::new(self.clone(), conversation_id, response, None))
    }

    /// Answers pending calls with decisions, or with results of tools that the caller runs. The
    /// reply continues once no call is pending.
    pub async fn answer(&self, conversation_id: &str, answers: &[Answer]) -> Result<Reply, Error> {
        let conversation = self.client.conversation(conversation_id).await?;
        let message = fill_answers(&conversation, answers)?;
        self.send(conversation_id, &message).await
    }

    /// Reads the answer in progress, from its start or after a [cursor](Reply::cursor); `None` if
    /// there is none.
    pub async fn watch(&self, conversation_id: &str, cursor: Option<&str>) -> Result<Option<Reply>, Error> {
        let path = ["api", "agent", &self.page_id, &self.agent_id, conversation_id, "stream"];
        let request = self.client.request(Method::GET, &path, &[]);
        let response = send_checked(match cursor {
            Some(cursor) => request.header("last-event-id", cursor),
            None => request,
        })
        .await?;
        let is_over = response.status() == StatusCode::NO_CONTENT;
        Ok((!is_over).then(|| Reply::new(self.clone(), conversation_id, response, cursor)))
    }

    /// Stops the answer in progress; what was written stays.
    pub async fn stop(&self, conversation_id: &str) -> Result<(), Error> {
        let path = ["api", "agent", &self.page_id, &self.agent_id, conversation_id, "stop"];
        send_checked(self.client.request(Method::POST, &path, &[])).await.map(drop)
    }
}

fn new_id() -> String {
    Uuid::now_v7().simple().to_string()
}
