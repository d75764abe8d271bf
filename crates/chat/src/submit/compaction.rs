//! `/compact`: the user has the conversation summarised. The command is a message of the user, and the
//! summary is in the answer to it. So the same rules apply as for any answer: it can be stopped and tried
//! again, it counts for quotas, and it survives a reload and the end of a server.

use crate::errors::Result;
use crate::{AgentRequest, Caller, Chat, Inner, SendResponse};
use agent::{Compaction, ContextSettings};
use wire::api::{SendRequest, Submission};
use wire::message::TextPart;
use wire::{Role, UiMessage, UiPart, UserError};

/// The text of the command, which may be followed by what matters.
const COMMAND: &str = "/compact";
/// The longest text about what matters, in characters.
const MAX_FOCUS: usize = 2_000;

impl Chat {
    /// Summarises a conversation on the caller's demand, as a message with the command does. `request`
    /// is what would be sent to the agent, with a new message; its text is replaced by the command.
    ///
    /// # Errors
    /// As [`Chat::send`]; 404 for a conversation that does not exist, and 422 if there is nothing to
    /// summarise, or the agent's config does not allow it.
    pub async fn compact(
        &self,
        caller: &Caller,
        mut request: SendRequest,
        focus: Option<&str>,
    ) -> Result<SendResponse, UserError> {
        self.inner.check_compaction(caller, &request).await?;
        let text = focus.map_or_else(|| COMMAND.to_owned(), |focus| format!("{COMMAND} {focus}"));
        if let Submission::Message { message, .. } = &mut request.submission {
            message.parts = vec![UiPart::Text(TextPart { text, ..TextPart::default() })];
        }
        self.send(caller, request).await
    }
}

impl Inner {
    /// Refuses a demand that would be an ordinary message, or begin a conversation.
    async fn check_compaction(&self, caller: &Caller, request: &SendRequest) -> Result<()> {
        let agent = self.agents.agent(&AgentRequest::new(caller, request)).await?;
        let known = self.store.conversation(&caller.user_id, &request.conversation_id).await?;
        known.ok_or_else(UserError::not_found)?;
        if agent.settings.context.summarizes_on_demand() { Ok(()) } else { Err(switched_off().into()) }
    }
}

/// Returns what the user demands with the newest message of a history, if that is the command and the
/// agent's settings allow it.
///
/// # Errors
/// The text after the command is too long.
pub(super) fn demanded(history: &[UiMessage], settings: &ContextSettings) -> Result<Option<Compaction>, UserError> {
    let Some(focus) = history.last().and_then(command).filter(|_| settings.summarizes_on_demand()) else {
        return Ok(None);
    };
    if focus.chars().count() > MAX_FOCUS {
        let message = format!("Say in at most {MAX_FOCUS} characters what matters.");
        return Err(UserError::invalid("/focus", message));
    }
    Ok(Some(Compaction { focus: (!focus.is_empty()).then(|| focus.to_owned()) }))
}

/// Returns what stands after the command, if a message is nothing but the command.
fn command(message: &UiMessage) -> Option<&str> {
    let [UiPart::Text(text)] = &message.parts[..] else { return None };
    let rest = text.text.trim().strip_prefix(COMMAND).filter(|_| message.role == Role::User)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim())
}

/// All messages are in the summary already, or there are none.
pub(super) fn nothing_to_summarize() -> UserError {
    UserError::invalid("/submission", "There is nothing to summarize: no messages have been added since the last time.")
}

/// The agent's config does not allow summaries.
pub(super) fn switched_off() -> UserError {
    UserError::invalid("/submission", "Summaries are switched off for this agent.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent::SummarySettings;

    #[test]
    fn command_is_a_message_of_its_own() {
        let check = |text: &str, expected: Option<Option<&str>>| {
            let found = demanded(&[UiMessage::user("u", text)], &ContextSettings::default()).unwrap();
            assert_eq!(found.as_ref().map(|found| found.focus.as_deref()), expected, "{text}");
        };
        check("/compact", Some(None));
        check("  /compact \n", Some(None));
        check("/compact keep the order numbers", Some(Some("keep the order numbers")));
        check("/compact\nkeep\nall", Some(Some("keep\nall")));
        check("/compacted", None);
        check("Use /compact", None);
        check("", None);
    }

    #[test]
    fn command_of_others_is_none() {
        let settings = ContextSettings::default();
        assert_eq!(demanded(&[], &settings).unwrap(), None);
        let says = UiMessage { role: Role::Assistant, ..UiMessage::user("a", "/compact") };
        assert_eq!(demanded(&[says], &settings).unwrap(), None);
        let own = [UiMessage::user("u", "/compact")];
        let summary = SummarySettings { enabled: false, ..SummarySettings::default() };
        assert_eq!(demanded(&own, &ContextSettings { summary, ..ContextSettings::default() }).unwrap(), None);
        assert_eq!(demanded(&own, &ContextSettings { enabled: false, ..ContextSettings::default() }).unwrap(), None);
        let long = UiMessage::user("u", format!("/compact {}", "ä".repeat(MAX_FOCUS + 1)));
        assert_eq!(demanded(&[long], &settings).unwrap_err().path.as_deref(), Some("/focus"));
    }
}
