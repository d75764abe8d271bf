//! The commands.

use super::message::TOO_MANY_CHATS;
use super::{Turn, TurnEnd};
use crate::messenger::{COMMANDS, Messenger};
use crate::person::Person;
use crate::store::{self, ChatRow, Link};
use ::jobs::JobError;
use std::fmt::Write;
use web::times::now_millis;

/// Returns the command of a text and what follows it: `/models fast` is (`models`, `fast`).
pub(crate) fn command(text: &str) -> Option<(&str, &str)> {
    let text = text.trim().strip_prefix('/')?;
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    let is_name = !name.is_empty() && name.chars().all(|sign| sign.is_ascii_lowercase() || sign == '_');
    is_name.then(|| (name, rest.trim()))
}

impl Turn<'_> {
    /// Runs a command.
    pub(super) async fn run_command(
        &mut self,
        person: &Person,
        link: &Link,
        name: &str,
        rest: &str,
    ) -> Result<TurnEnd, JobError> {
        let text = match name {
            "new" => self.begin_new(person).await?,
            "stop" => self.stop(person).await?,
            "status" => self.status(person, link).await?,
            "models" => self.models(person, rest).await?,
            "memory" => self.memory(person, rest).await?,
            _ => help(self.messenger()),
        };
        self.send_text(&text).await
    }

    /// Returns the state of the user's chat.
    pub(super) async fn chat(&self, person: &Person) -> Result<Option<ChatRow>, JobError> {
        let (channel_id, owner) = (&self.channel.id.0, &person.caller.user_id);
        Ok(store::chat(&self.context.store, channel_id, &self.chat_id, owner).await?)
    }

    /// Stores the state of the user's chat.
    pub(super) async fn set_chat(&self, person: &Person, chat: ChatRow) -> Result<(), JobError> {
        let (channel_id, chat_id) = (self.channel.id.0.clone(), self.chat_id.clone());
        let owner = person.caller.user_id.clone();
        let set =
            self.job.write(move |db| Box::pin(store::set_chat(db, channel_id, chat_id, owner, chat, now_millis())));
        Ok(set.await?)
    }

    async fn begin_new(&self, person: &Person) -> Result<String, JobError> {
        if let Some(chat) = self.chat(person).await? {
            self.set_chat(person, ChatRow { conversation_id: None, ..chat }).await?;
        }
        Ok("Your next message begins a new conversation.".to_owned())
    }

    async fn stop(&self, person: &Person) -> Result<String, JobError> {
        let conversation = self.chat(person).await?.and_then(|chat| chat.conversation_id);
        let Some(id) = conversation else { return Ok("No answer is being written.".to_owned()) };
        Ok(match self.context.chat.stop(&person.caller, &id).await {
            Ok(()) => "Stopped.".to_owned(),
            Err(error) => error.message,
        })
    }

    async fn status(&self, person: &Person, link: &Link) -> Result<String, JobError> {
        let name = person.caller.name.as_deref().or(link.user_name.as_deref()).unwrap_or(&person.caller.user_id);
        let mut text = format!("You write as {}, to the agent {}.", plain(name), plain(&self.channel.agent_id.0));
        let chat = self.chat(person).await?.unwrap_or_default();
        let view = match &chat.conversation_id {
            Some(id) => self.context.chat.conversation(&person.caller, id).await.ok(),
            None => None,
        };
        // Writing to a string cannot fail.
        let _ = match view {
            Some(view) => {
                let state = match (view.active.is_some(), view.summary.waiting) {
                    (true, _) => "an answer is being written",
                    (_, true) => "it waits for your decision or answer",
                    _ => "it waits for your next message",
                };
                write!(text, "\n\nThe conversation is “{}”: {state}.", plain(&view.summary.title))
            }
            None => write!(text, "\n\nYour next message begins a conversation."),
        };
        if let Some(model) = chat.model.filter(|model| self.model_ids().contains(model)) {
            let _ = write!(text, "\n\nThe model is {}.", plain(&model));
        }
        Ok(text)
    }

    /// Returns the ids of the models among which users of the agent choose.
    pub(super) fn model_ids(&self) -> Vec<String> {
        let agent = self.config.agents.get(&self.channel.agent_id.0);
        agent.and_then(|agent| agent.models.as_ref()).map(|models| models.ids.clone()).unwrap_or_default()
    }

    async fn models(&self, person: &Person, wanted: &str) -> Result<String, JobError> {
        let ids = self.model_ids();
        if ids.is_empty() {
            return Ok("This agent has one model.".to_owned());
        }
        let chat = self.chat(person).await?;
        if !wanted.is_empty() {
            let Some(id) = ids.iter().find(|id| id.eq_ignore_ascii_case(wanted)) else {
                return Ok(format!("There is no such model. {} lists them.", self.messenger().command("models")));
            };
            if chat.is_none() && !self.make_room(person).await? {
                return Ok(TOO_MANY_CHATS.to_owned());
            }
            let chat = chat.unwrap_or_default();
            self.set_chat(person, ChatRow { model: Some(id.clone()), ..chat }).await?;
            return Ok(format!("From now on, {} writes the answers in this chat.", plain(id)));
        }
        let line = |id: &String| {
            let mark = if chat.as_ref().and_then(|chat| chat.model.as_ref()) == Some(id) { " (chosen)" } else { "" };
            format!("- `{}`{mark}\n", id.replace('`', ""))
        };
        let (lines, command) = (ids.iter().map(line).collect::<String>(), self.messenger().command("models"));
        Ok(format!("This agent has these models:\n\n{lines}\nChoose one with {command} NAME."))
    }
}

fn help(messenger: Messenger) -> String {
    let line = |(name, about): &(&str, &str)| format!("- {}: {about}\n", messenger.command(name));
    let lines: String = COMMANDS.iter().map(line).collect();
    format!("Write what you want to know, or what I should do. {}\n\nCommands:\n\n{lines}", messenger.group_help())
}

/// Escapes what Markdown would read as markup.
pub(super) fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for sign in text.chars() {
        if sign.is_ascii_punctuation() {
            escaped.push('\\');
        }
        escaped.push(if sign.is_control() { ' ' } else { sign });
    }
    escaped
}

/// Escapes what Markdown would read as markup, and keeps line breaks.
pub(crate) fn plain_paragraphs(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_recognized() {
        let check = |text: &str, expected: Option<(&str, &str)>| assert_eq!(command(text), expected, "{text:?}");
        check("/new", Some(("new", "")));
        check(" /models@HelpBot  fast model ", Some(("models", "fast model")));
        check("/start abc", Some(("start", "abc")));
        check("/", None);
        check("/home/ada", None);
        check("/Etc", None);
        check("new", None);
    }
}
