//! The places of a request. The errors of `chat` name those of a submission, which a frontend does not know.

use crate::history;
use crate::input::Message;
use wire::UserError;
use wire::api::Answer;

/// Places in a submission, each with its place in the request.
#[derive(Debug, Default)]
pub(crate) struct Places(Vec<(String, String)>);

impl Places {
    pub(crate) fn add(&mut self, submitted: impl Into<String>, place: String) {
        self.0.push((submitted.into(), place));
    }

    /// Adds the places of answers. Returns the answers.
    pub(crate) fn separate(&mut self, placed: Vec<(String, Answer)>) -> Vec<Answer> {
        let mut answers = Vec::new();
        for (at, (place, answer)) in placed.into_iter().enumerate() {
            self.add(format!("/answers/{at}"), place);
            answers.push(answer);
        }
        answers
    }

    /// Returns an error of a submission with the place in the request. `messages` are those of the request.
    pub(crate) fn locate(&self, error: UserError, messages: &[Message]) -> UserError {
        let path = error.path.as_deref().map(|path| {
            let known = self.0.iter().find(|(submitted, _)| is_within(path, submitted));
            let known = known.map(|(_, place)| place.clone()).or_else(|| history::place(path, messages));
            known.unwrap_or_else(|| path.to_owned())
        });
        UserError { path, ..error }
    }
}

fn is_within(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_name_places_of_the_request() {
        let messages: Vec<Message> = serde_json::from_value(json!([
            { "role": "system", "content": "Help." },
            { "role": "user", "id": "u", "content": "Hi" },
            { "role": "assistant", "id": "a", "content": "Hm", "toolCalls": [{ "id": "c", "function": { "name": "f" } }] },
        ]))
        .unwrap();
        let mut places = Places::default();
        places.add("/message/id", "/messages/4/id".to_owned());
        places.add("/message", "/messages/3/content".to_owned());
        places.add("/answers/1", "/resume/1".to_owned());
        let check = |path: &str, expected: &str| {
            let error = places.locate(UserError::invalid(path, "No."), &messages);
            assert_eq!(error.path.as_deref(), Some(expected), "{path}");
        };
        check("/message/id", "/messages/4/id");
        check("/message/parts", "/messages/3/content");
        check("/answers/1/input", "/resume/1");
        check("/answers/10", "/answers/10");
        check("/history", "/messages");
        check("/history/0/id", "/messages/1/id");
        check("/history/0/parts", "/messages/1/content");
        check("/history/1/parts", "/messages/2/toolCalls");
        check("/history/1/parts/1/toolCallId", "/messages/2/toolCalls/0");
        check("/tools/0/name", "/tools/0/name");
    }
}
