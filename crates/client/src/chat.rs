//! The chat with an agent.

use crate::answers::answered;
use crate::{Answer, Client, Error, Reply, accepted};
use reqwest::{Method, StatusCode};
use serde_json::{Map, Value, json};
use uuid::Uuid;
use wire::{Role, TextPart, UiMessage, UiPart};

/// The chat with an agent, on a page; a cheap handle.
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

    /// What the agent sees of the program, as it would see a page's state.
    #[must_use]
    pub fn with_shared_state(mut self, state: Map<String, Value>) -> Self {
        self.shared_state = state;
        self
    }

    /// Asks in a new conversation.
    ///
    /// # Errors
    /// See [`Error`]; so for the others.
    pub async fn ask(&self, text: &str) -> Result<Reply, Error> {
        self.ask_in(&new_id(), text).await
    }

    /// Asks in a conversation. Its id is the program's to choose (letters, digits, `-`, `_`); a new one begins a conversation.
    pub async fn ask_in(&self, conversation_id: &str, text: &str) -> Result<Reply, Error> {
        let mut message = UiMessage::new(new_id(), Role::User);
        message.parts.push(UiPart::Text(TextPart { text: text.to_owned(), ..TextPart::default() }));
        self.send(conversation_id, &message).await
    }

    /// Sends a message of the user's. Sent again with the same id it is the same message: whoever is not sure whether it has arrived may
    /// send it again.
    pub async fn send(&self, conversation_id: &str, message: &UiMessage) -> Result<Reply, Error> {
        let body = json!({
            "trigger": "submit-message",
            "messages": [message],
            "sharedState": self.shared_state,
        });
        let (path, query) = (["api", "agent", &self.page_id, &self.agent_id], [("conversationId", conversation_id)]);
        let response = accepted(self.client.request(Method::POST, &path, &query).json(&body)).await?;
        Ok(Reply::new(self.clone(), conversation_id, response, None))
    }

    /// Answers calls that wait: decisions, and results of tools that the program runs itself. Once none waits any more, the reply goes on.
    pub async fn answer(&self, conversation_id: &str, answers: &[Answer]) -> Result<Reply, Error> {
        let conversation = self.client.conversation(conversation_id).await?;
        let message = answered(&conversation, answers)?;
        self.send(conversation_id, &message).await
    }

    /// Reads the answer that is being written, from its start or after a [cursor](Reply::cursor); none when none is.
    pub async fn watch(&self, conversation_id: &str, cursor: Option<&str>) -> Result<Option<Reply>, Error> {
        let path = ["api", "agent", &self.page_id, &self.agent_id, conversation_id, "stream"];
        let request = self.client.request(Method::GET, &path, &[]);
        let response = accepted(match cursor {
            Some(cursor) => request.header("last-event-id", cursor),
            None => request,
        })
        .await?;
        let is_over = response.status() == StatusCode::NO_CONTENT;
        Ok((!is_over).then(|| Reply::new(self.clone(), conversation_id, response, cursor)))
    }

    /// Ends the answer that is being written; what was written stays.
    pub async fn stop(&self, conversation_id: &str) -> Result<(), Error> {
        let path = ["api", "agent", &self.page_id, &self.agent_id, conversation_id, "stop"];
        accepted(self.client.request(Method::POST, &path, &[])).await.map(drop)
    }
}

fn new_id() -> String {
    Uuid::now_v7().simple().to_string()
}
