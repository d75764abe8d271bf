//! Responses to commands and pressed buttons. Discord waits three seconds for one.

use super::client::{DiscordBot, body};
use super::incoming::Response;
use super::types::{CallbackResponse, SentMessage};
use crate::markdown::Rendered;
use crate::messenger::{ApiError, Button};
use http::Method;
use serde_json::{Value, json};

/// The type of a response that is a message (`CHANNEL_MESSAGE_WITH_SOURCE`).
const MESSAGE: u64 = 4;
/// The type of a response that only acknowledges a pressed button (`DEFERRED_UPDATE_MESSAGE`). The message with the
/// button is edited when the decision is submitted.
const ACKNOWLEDGED: u64 = 6;
/// The flag of a message that only the person sees.
const EPHEMERAL: u64 = 1 << 6;
/// The options of the bot's commands, by the names of the commands: the name and the description of the
/// option.
const OPTIONS: [(&str, &str, &str); 3] = [
    ("models", "name", "The model for the next answers"),
    ("memory", "what", "forget NUMBER, off or on"),
    ("link", "code", "The code from the website"),
];

impl DiscordBot {
    /// Sets the commands that the app offers, with those to link: in servers and in direct messages with the bot.
    pub(crate) async fn set_commands(&self, application_id: &str, commands: &[(&str, &str)]) -> Result<(), ApiError> {
        let command = |(name, about): &(&str, &str)| {
            let option = OPTIONS.iter().find(|(command, ..)| command == name).map(|(_, option, about)| {
                json!({ "type": 3, "name": option, "description": about, "required": *name == "link" })
            });
            let options: Vec<Value> = option.into_iter().collect();
            json!({ "name": name, "description": about, "type": 1, "contexts": [0, 1], "options": options })
        };
        let link = ("link", "Link yourself to your account");
        let listed: Vec<Value> = commands.iter().chain([&link]).map(command).collect();
        let path = format!("applications/{application_id}/commands");
        self.request(Method::PUT, &path, Some(listed.into())).await.map(drop)
    }

    /// Acknowledges a pressed button: otherwise the app shows that the bot has not answered.
    pub(crate) async fn receive_press(&self, response: &Response) -> Result<(), ApiError> {
        let body = json!({ "type": ACKNOWLEDGED });
        self.request(Method::POST, &callback(response), Some(body)).await.map(drop)
    }

    /// Answers a command with a message that will be changed. Returns its id. It is the same if the command was
    /// answered before; `None` if it is too late for an answer.
    pub(crate) async fn begin_response(
        &self,
        response: &Response,
        message: &Rendered,
    ) -> Result<Option<String>, ApiError> {
        let sent = json!({ "type": MESSAGE, "data": body(message, &[]) });
        let path = format!("{}?with_response=true", callback(response));
        match self.call::<CallbackResponse>(Method::POST, &path, Some(sent)).await {
            Ok(sent) => Ok(sent.interaction.response_message_id),
            Err(error) if error.is_temporary() => Err(error),
            Err(_) => {
                let Response { application_id, token, .. } = response;
                let path = format!("webhooks/{application_id}/{token}/messages/@original");
                let known = self.call::<SentMessage>(Method::GET, &path, None).await;
                Ok(known.ok().map(|message| message.id))
            }
        }
    }

    /// Answers a command at once. If it is hidden, only the person sees it.
    pub(crate) async fn respond(
        &self,
        response: &Response,
        message: &Rendered,
        buttons: &[Vec<Button>],
        is_hidden: bool,
    ) -> Result<(), ApiError> {
        let mut data = body(message, buttons);
        if is_hidden {
            data["flags"] = (super::client::SUPPRESS_EMBEDS | EPHEMERAL).into();
        }
        self.request(Method::POST, &callback(response), Some(json!({ "type": MESSAGE, "data": data }))).await.map(drop)
    }

    /// Shows a text only to the person who has pressed a button. `press_id` is `APPLICATION/TOKEN`.
    pub(crate) async fn acknowledge(&self, press_id: &str, text: &str) -> Result<(), ApiError> {
        let mut data = body(&Rendered::plain(text), &[]);
        data["flags"] = (super::client::SUPPRESS_EMBEDS | EPHEMERAL).into();
        self.request(Method::POST, &format!("webhooks/{press_id}"), Some(data)).await.map(drop)
    }
}

fn callback(response: &Response) -> String {
    format!("interactions/{}/{}/callback", response.id, response.token)
}
