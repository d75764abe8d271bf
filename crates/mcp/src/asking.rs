//! Questions of a server to the user, while one of its tools runs: elicitation
//! (<https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation>).

use crate::{MAX_QUESTION, MAX_SCHEMA, clean};
use contract::ToolContext;
use futures::future::BoxFuture;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, MetaObject};
use serde_json::{Map, Value};
use url::Url;

/// The key in an answer's `_meta` with the reason for which the user was not asked.
const REASON: &str = "chatwright/reason";
/// The maximum size of a form's title, label or description in bytes.
const MAX_LABEL: usize = 300;
/// The maximum number of fields and options of a form.
const MAX_FIELDS: usize = 32;

/// Asks the user of a call.
pub trait AskUser: Send + Sync + 'static {
    /// Asks the user and waits for the answer. The caller drops the future when the call ends.
    fn ask(&self, question: ServerQuestion, context: ToolContext) -> BoxFuture<'static, UserAnswer>;
}

/// A question of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerQuestion {
    /// The name of the server.
    pub server: String,
    /// The text of the server.
    pub message: String,
    /// The action that the user is asked for.
    pub request: QuestionRequest,
}

/// A request of a server to the user.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionRequest {
    /// Fill in a form.
    Form {
        /// The JSON Schema of the values: an object of texts, numbers, booleans and choices.
        schema: Value,
    },
    /// Open a page of the server.
    Open {
        /// The address, with `https`.
        url: Url,
    },
    /// Open a page of this site. Servers cannot ask for it.
    OwnPage {
        /// The path, with a query.
        path: String,
    },
}

/// The outcome of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum UserAnswer {
    /// The user has filled in the form, or has agreed to open the page.
    Accepted(Map<String, Value>),
    /// The user has declined.
    Declined,
    /// The user was not asked, or has not answered, for this reason.
    Cancelled(&'static str),
}

/// Reads a question, within limits.
///
/// # Errors
/// The reason for which the user is not asked.
pub(crate) fn read_question(server: &str, params: ElicitRequestParams) -> Result<ServerQuestion, &'static str> {
    let question = |message: &str, request| ServerQuestion {
        server: server.to_owned(),
        message: clean(message, MAX_QUESTION),
        request,
    };
    match params {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            let mut schema = serde_json::to_value(requested_schema).map_err(|_| "the form cannot be read")?;
            if schema.to_string().len() > MAX_SCHEMA || is_too_long(&schema) {
                return Err("the form is too large");
            }
            clean_labels(&mut schema);
            Ok(question(&message, QuestionRequest::Form { schema }))
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            let url = Url::parse(&url).map_err(|_| "the address is not valid")?;
            if url.scheme() != "https" {
                return Err("only addresses with https are opened");
            }
            // A user name in front of the host could pass for the host.
            if !url.username().is_empty() || url.password().is_some() {
                return Err("the address has a user name");
            }
            Ok(question(&message, QuestionRequest::Open { url }))
        }
        _ => Err("the question is of an unknown kind"),
    }
}

/// Returns the answer for the server.
pub(crate) fn answer(answer: UserAnswer, is_form: bool) -> ElicitResult {
    match answer {
        UserAnswer::Accepted(values) if is_form => {
            ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(values))
        }
        UserAnswer::Accepted(_) => ElicitResult::new(ElicitationAction::Accept),
        UserAnswer::Declined => ElicitResult::new(ElicitationAction::Decline),
        UserAnswer::Cancelled(reason) => {
            let mut meta = MetaObject::new();
            meta.0.insert(REASON.to_owned(), reason.into());
            ElicitResult::new(ElicitationAction::Cancel).with_meta(meta)
        }
    }
}

/// Returns whether a list or an object in the schema has more entries than a form may have.
fn is_too_long(schema: &Value) -> bool {
    match schema {
        Value::Array(values) => values.len() > MAX_FIELDS || values.iter().any(is_too_long),
        Value::Object(fields) => fields.len() > MAX_FIELDS || fields.values().any(is_too_long),
        _ => false,
    }
}

/// Sanitizes what the user reads of a form. Values that go back to the server stay as they are.
fn clean_labels(schema: &mut Value) {
    match schema {
        Value::Array(values) => values.iter_mut().for_each(clean_labels),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if ["title", "description"].contains(&key.as_str()) => {
                        *text = clean(text, MAX_LABEL);
                    }
                    value => clean_labels(value),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(params: Value) -> Result<ServerQuestion, &'static str> {
        read_question("files", serde_json::from_value(params).unwrap())
    }

    #[test]
    fn forms_are_limited_and_sanitized() {
        let check = |properties: Value, expected: Result<Value, &str>| {
            let schema = json!({ "type": "object", "properties": properties.clone() });
            let read = read(json!({ "message": "Who\u{202e}?", "requestedSchema": schema }));
            let seen = read.map(|question| {
                assert_eq!((question.server.as_str(), question.message.as_str()), ("files", "Who?"));
                let QuestionRequest::Form { schema } = question.request else { panic!("{properties}") };
                schema["properties"].clone()
            });
            assert_eq!(seen, expected, "{properties}");
        };
        let name = json!({ "name": { "type": "string", "title": "Na\u{200b}me", "default": "a\u{200b}" } });
        check(name, Ok(json!({ "name": { "type": "string", "title": "Name", "default": "a\u{200b}" } })));
        let colours = json!({ "c": { "type": "string", "enum": ["red", "b\u{200b}"] } });
        check(colours.clone(), Ok(colours));
        let many: Map<_, _> = (0..40).map(|at| (format!("f{at}"), json!({ "type": "boolean" }))).collect();
        check(Value::Object(many), Err("the form is too large"));
        check(json!({ "c": { "type": "string", "enum": vec!["a"; 40] } }), Err("the form is too large"));
        let long = json!({ "c": { "type": "string", "default": "x".repeat(MAX_SCHEMA) } });
        check(long, Err("the form is too large"));
    }

    #[test]
    fn only_plain_https_addresses_are_opened() {
        let check = |url: &str, expected: Result<&str, &str>| {
            let read = read(json!({ "mode": "url", "message": "Sign in.", "url": url, "elicitationId": "1" }));
            let seen = read.map(|question| match question.request {
                QuestionRequest::Open { url } => url.to_string(),
                other => panic!("{url} {other:?}"),
            });
            assert_eq!(seen.as_deref().map_err(|reason| *reason), expected, "{url}");
        };
        check("https://example.com/a?b=c", Ok("https://example.com/a?b=c"));
        check("https://b\u{fc}cher.example/", Ok("https://xn--bcher-kva.example/"));
        check("http://example.com/", Err("only addresses with https are opened"));
        check("javascript:alert(1)", Err("only addresses with https are opened"));
        check("https://bank.example@evil.example/", Err("the address has a user name"));
        check("sign in", Err("the address is not valid"));
    }

    #[test]
    fn answers_say_why_the_user_was_not_asked() {
        let check = |given: UserAnswer, is_form: bool, expected: Value| {
            assert_eq!(serde_json::to_value(answer(given.clone(), is_form)).unwrap(), expected, "{given:?}");
        };
        let values = || Map::from_iter([("a".to_owned(), json!(1))]);
        check(UserAnswer::Accepted(values()), true, json!({ "action": "accept", "content": { "a": 1 } }));
        check(UserAnswer::Accepted(values()), false, json!({ "action": "accept" }));
        check(UserAnswer::Declined, true, json!({ "action": "decline" }));
        let reason = json!({ "action": "cancel", "_meta": { REASON: "nobody is there" } });
        check(UserAnswer::Cancelled("nobody is there"), true, reason);
    }
}
