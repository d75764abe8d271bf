//! The author of the text in a message with the role `user`. Pages, programs and other people send such
//! messages in a user's name, but agents may remember about a user only texts that the user has written.

use serde_json::{Map, Value};
use wire::UiMessage;
use wire::api::Submission;

/// The key of a message's metadata that has the name of the origin. A client may set it, too.
pub const TEXT_ORIGIN: &str = "textOrigin";

/// The author of the text in a message with the role `user`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextOrigin {
    /// The user.
    User,
    /// The page: a suggestion that the user has chosen, or a text that an action of the page sends.
    Page,
    /// Somebody else, whose message the user has forwarded.
    Forwarded,
    /// A program: another agent, a script with an API key, an experiment.
    Program,
}

impl TextOrigin {
    /// The name in the metadata.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Page => "page",
            Self::Forwarded => "forwarded",
            Self::Program => "program",
        }
    }

    /// Returns the origin of a message's text. Without a recorded one it is the user. An unknown name
    /// counts as a program, so that a mistake does not make a text the user's own words.
    pub fn from_message(message: &UiMessage) -> Self {
        match message.metadata.as_ref().and_then(|metadata| metadata.get(TEXT_ORIGIN)) {
            None | Some(Value::Null) => Self::User,
            Some(name) => [Self::User, Self::Page, Self::Forwarded]
                .into_iter()
                .find(|origin| name.as_str() == Some(origin.name()))
                .unwrap_or(Self::Program),
        }
    }

    /// Records the origin in a message, whatever it says itself.
    #[must_use]
    pub fn mark(self, mut message: UiMessage) -> UiMessage {
        let mut metadata = match message.metadata.take() {
            Some(Value::Object(metadata)) => metadata,
            _ => Map::new(),
        };
        metadata.insert(TEXT_ORIGIN.to_owned(), self.name().into());
        message.metadata = Some(Value::Object(metadata));
        message
    }

    /// Records the origin in a message that does not name one.
    #[must_use]
    pub fn mark_unnamed(self, message: UiMessage) -> UiMessage {
        let named = message.metadata.as_ref().and_then(|metadata| metadata.get(TEXT_ORIGIN));
        let is_named = named.is_some_and(|name| !name.is_null());
        if is_named { message } else { self.mark(message) }
    }

    /// Records the origin in a submission with a new message that does not name one.
    #[must_use]
    pub fn mark_submission(self, submission: Submission) -> Submission {
        match submission {
            Submission::Message { message, replaces, history } if self != Self::User => {
                Submission::Message { message: self.mark_unnamed(message), replaces, history }
            }
            submission => submission,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(metadata: Value) -> UiMessage {
        UiMessage { metadata: Some(metadata), ..UiMessage::user("m", "Hi") }
    }

    #[test]
    fn only_a_message_that_nobody_else_claims_is_the_users() {
        let check = |metadata: Value, expected| {
            assert_eq!(TextOrigin::from_message(&message(metadata.clone())), expected, "{metadata}");
        };
        assert_eq!(TextOrigin::from_message(&UiMessage::user("m", "Hi")), TextOrigin::User);
        check(json!({ "topic": "refund" }), TextOrigin::User);
        check(json!({ "textOrigin": null }), TextOrigin::User);
        check(json!({ "textOrigin": "user" }), TextOrigin::User);
        check(json!({ "textOrigin": "page" }), TextOrigin::Page);
        check(json!({ "textOrigin": "forwarded" }), TextOrigin::Forwarded);
        check(json!({ "textOrigin": "program" }), TextOrigin::Program);
        check(json!({ "textOrigin": "User" }), TextOrigin::Program);
        check(json!({ "textOrigin": 1 }), TextOrigin::Program);
    }

    #[test]
    fn origins_are_stored_beside_the_clients_metadata() {
        let marked = TextOrigin::Program.mark(message(json!({ "topic": "refund", "textOrigin": "user" })));
        assert_eq!(marked.metadata, Some(json!({ "topic": "refund", "textOrigin": "program" })));
        let named = TextOrigin::Program.mark_unnamed(message(json!({ "textOrigin": "user" })));
        assert_eq!(TextOrigin::from_message(&named), TextOrigin::User);
        let empty = TextOrigin::Program.mark_unnamed(message(json!({ "textOrigin": null })));
        assert_eq!(TextOrigin::from_message(&empty), TextOrigin::Program);
        let unnamed = TextOrigin::Program.mark_unnamed(UiMessage::user("m", "Hi"));
        let stored = crate::submit::metadata::stored(&unnamed).unwrap();
        assert_eq!(stored["textOrigin"], "program");
    }
}
