//! Questions as results of a call (version 2026-07-28): the client calls again with the answers, and sends the state back that it got
//! with the result. The state only names an answer of the caller, and each decision is checked like any other one, so a state that a
//! client makes up gives it no rights.

use super::follow::{Followed, OpenForm};
use super::form::{self, OpenCall, Reply};
use super::{Retry, submit};
use crate::answer::{ConversationLink, not_begun};
use crate::call::{Call, Client, failed};
use capability::Context;
use rmcp::model::{CallToolResponse, InputRequest, InputRequests, InputRequiredResult};
use serde::{Deserialize, Serialize};
use serde_json::json;
use web::times::now_millis;
use wire::api::{Answer, ConversationView};
use wire::{UiMessage, UserError};

/// The longest state, in bytes.
const MAX_STATE: usize = 1_024;

/// The state that a client sends with the answers.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct State {
    conversation_id: String,
    /// The answer that waits.
    message_id: String,
}

impl State {
    fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_STATE { None } else { serde_json::from_str(text).ok() }
    }
}

/// Returns the result that asks the user; `None` if there is nothing to ask.
pub(super) fn input_required(
    open: &[OpenForm],
    conversation_id: &str,
    message_id: &str,
) -> Option<InputRequiredResult> {
    let requests = open.iter().filter_map(|open| Some((open.call.key(), request(open)?)));
    let requests: InputRequests = requests.collect();
    let state = State { conversation_id: conversation_id.to_owned(), message_id: message_id.to_owned() };
    let state = serde_json::to_string(&state).ok()?;
    (!requests.is_empty()).then(|| InputRequiredResult::new(Some(requests), Some(state)))
}

fn request(open: &OpenForm) -> Option<InputRequest> {
    let params = json!({ "mode": "form", "message": open.form.message, "requestedSchema": open.form.schema });
    let request = serde_json::from_value(json!({ "method": "elicitation/create", "params": params }));
    request.inspect_err(|error| tracing::warn!(%error, "a form could not be written")).ok()
}

/// Continues an answer of the agent `agent_id` with the answers of the user, who finds the conversation on the page `page_id`.
pub(crate) async fn resume(
    context: &Context,
    client: &Client,
    agent_id: &str,
    page_id: &str,
    mut call: Call,
    retry: Retry,
) -> CallToolResponse {
    let unknown = || -> CallToolResponse { failed("`requestState` is not one that this tool has given.").into() };
    let Some(State { conversation_id, message_id }) = State::parse(&retry.state) else { return unknown() };
    let view = match context.chat.conversation(&client.caller, &conversation_id).await {
        Ok(view) if view.summary.agent_id == agent_id => view,
        Ok(_) => return unknown(),
        Err(error) => return not_begun(error).into(),
    };
    let link = ConversationLink::new(client, page_id, conversation_id);
    let followed = Followed { context, client, link: &link, message_id: &message_id };
    let passed = match decide(&followed, &view, &retry).await {
        Ok(passed) => passed,
        Err(error) => return not_begun(error).into(),
    };
    match followed.catch_up(&mut call).await {
        Some(ended) => followed.to_end(ended, &mut call, passed).await,
        None => failed(format!("The conversation has gone on without this answer. See {}", link.url)).into(),
    }
}

/// Submits the answers. Returns the keys of the calls that were answered without a decision, which are not asked about again.
async fn decide(followed: &Followed<'_>, view: &ConversationView, retry: &Retry) -> Result<Vec<String>, UserError> {
    let Followed { context, client, message_id, .. } = followed;
    let last = view.messages.last().filter(|last| last.id == **message_id && view.active.is_none());
    let (answers, passed) = last.map(|last| answers(last, retry)).unwrap_or_default();
    if !answers.is_empty() {
        submit(context, &client.caller, view, answers).await?;
    }
    Ok(passed)
}

/// Returns the decisions of the responses, and the keys of the calls whose responses decide nothing.
fn answers(message: &UiMessage, retry: &Retry) -> (Vec<Answer>, Vec<String>) {
    let (mut answers, mut passed) = (Vec::new(), Vec::new());
    for tool in message.tools().filter(|tool| tool.waits_for_user(now_millis())) {
        let key = OpenCall::of(tool).key();
        if let Some(response) = retry.responses.get(&key) {
            match form::answer(tool, &Reply::read(Some(response))) {
                Some(answer) => answers.push(answer),
                None => passed.push(key),
            }
        }
    }
    (answers, passed)
}

#[cfg(test)]
mod tests {
    use super::form::Form;
    use super::*;

    #[test]
    fn requests_have_the_whole_form() {
        let properties = json!({
            "size": { "type": "string", "title": "Size", "enum": ["S", "L"] },
            "name": { "type": "string", "title": "Name", "maxLength": 9 },
            "seats": { "type": "number", "title": "Seats" },
            "gift": { "type": "boolean", "title": "A gift" },
            "day": { "type": "string", "title": "Day", "format": "date" },
        });
        let schema = json!({ "type": "object", "properties": properties, "required": ["name"] });
        let form = Form { message: "Where?".to_owned(), schema: schema.clone() };
        let call = OpenCall { tool_call_id: "t".to_owned(), approval_id: String::new(), input_hash: String::new() };
        let written = request(&OpenForm { call, form, expires_at: None }).unwrap();
        let params = json!({ "mode": "form", "message": "Where?", "requestedSchema": schema });
        let expected = json!({ "method": "elicitation/create", "params": params });
        assert_eq!(serde_json::to_value(written).unwrap(), expected);
    }

    #[test]
    fn state_names_an_answer() {
        let state = State { conversation_id: "c".to_owned(), message_id: "m".to_owned() };
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(text, r#"{"conversationId":"c","messageId":"m"}"#);
        assert_eq!(State::parse(&text), Some(state));
        let long = format!(r#"{{"conversationId":"{}","messageId":"m"}}"#, "c".repeat(MAX_STATE));
        for other in ["", "c", "{}", r#"{"conversationId":"c","messageId":"m","owner":"eve"}"#, &long] {
            assert_eq!(State::parse(other), None, "{other}");
        }
    }
}
