//! The questions of an answer that waits: approvals of calls and questions to the user. The agent asks in the message of the task's
//! status, and the client answers with a message that names the task.

use crate::error::RpcError;
use a2a_types::{Part, PartContent};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use web::times::rfc3339;
use wire::api::{Answer, ApprovalScope};
use wire::hidden_characters::{TextKind, escaped_json, text_with_code_points};
use wire::question::{ASK_USER, Question};
use wire::{ToolPart, ToolState, UiMessage};

/// Words that approve a call if one of them is the whole text of an answer.
const YES: [&str; 5] = ["yes", "ok", "okay", "approve", "approved"];

/// Something that an answer waits for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    /// The id by which it is answered: that of the approval request, or of the call of `ask-user`.
    pub(crate) id: String,
    tool_call_id: String,
    kind: Kind,
    /// The question, for people.
    text: String,
    /// The question, for programs.
    data: Value,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Approval,
    Question { options: Vec<String> },
}

/// The answer to a request, as a data part.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Decision {
    approved: bool,
    reason: Option<String>,
    edited_args: Option<Map<String, Value>>,
    remember: Option<ApprovalScope>,
}

/// A request that was answered, with the answer.
pub(crate) struct Exchange {
    pub(crate) request: Request,
    /// The answers of the user; empty if there are none.
    pub(crate) answer: Vec<Part>,
}

impl Request {
    fn approval(id: &str, tool: &ToolPart) -> Self {
        let arguments = tool.asked_arguments();
        let (name, asked) = (
            text_with_code_points(&tool.tool_name, TextKind::Value),
            escaped_json(&arguments.unwrap_or(&Value::Null).to_string()),
        );
        let text = format!("May the agent call `{name}`? The arguments: {asked}");
        let terms = tool.approval.as_ref().and_then(|approval| approval.terms.as_deref());
        let mut data = json!({
            "id": id,
            "kind": "approval",
            "toolName": tool.tool_name,
            "arguments": arguments,
            "mayRemember": terms.is_some_and(|terms| terms.may_remember == Some(true)),
        });
        // The calls of sub-agents and interrupted ones are approved as they are.
        if tool.output.is_none() && tool.cut_off().is_none() {
            data["editable"] = tool.visible_parameters().map_or_else(|| true.into(), |names| json!(names));
        }
        if let Some(until) = terms.and_then(|terms| terms.expires_at) {
            data["expiresAt"] = rfc3339(until).into();
        }
        Self { id: id.to_owned(), tool_call_id: tool.tool_call_id.clone(), kind: Kind::Approval, text, data }
    }

    fn question(tool_call_id: &str, input: &Value) -> Self {
        let Question { text, options, .. } = Question::read(input);
        let data = json!({ "id": tool_call_id, "kind": "question", "question": input });
        let text = if options.is_empty() { text } else { format!("{text} ({})", options.join(" / ")) };
        Self {
            id: tool_call_id.to_owned(),
            tool_call_id: tool_call_id.to_owned(),
            kind: Kind::Question { options },
            text,
            data,
        }
    }

    #[cfg(feature = "fuzz")]
    pub(crate) fn approval_for_fuzzing(id: &str) -> Self {
        Self::approval(id, &ToolPart::new(id, "send"))
    }

    #[cfg(feature = "fuzz")]
    pub(crate) fn question_for_fuzzing(id: &str, input: Value) -> Self {
        Self::question(id, &input)
    }

    /// Returns the request as parts of a message: for people, and for programs.
    pub(crate) fn parts(&self) -> [Part; 2] {
        [Part::text(&self.text), Part::data(self.data.clone())]
    }

    /// Returns the answer that a data part gives.
    fn answer(&self, value: &Value, field: &str) -> Result<Answer, RpcError> {
        let tool_call_id = self.tool_call_id.clone();
        match &self.kind {
            Kind::Question { .. } => {
                let mut output = value.as_object().cloned().unwrap_or_default();
                output.shift_remove("id");
                if !["option", "text", "fields"].iter().any(|key| output.contains_key(*key)) {
                    let message = "An answer to a question has `option`, `text` or `fields`.";
                    return Err(RpcError::invalid(field, message));
                }
                Ok(Answer::Output { tool_call_id, output: output.into() })
            }
            Kind::Approval => {
                let Ok(decision) = Decision::deserialize(value) else {
                    let message = "A decision has `approved: true` or `approved: false`.";
                    return Err(RpcError::invalid(field, message));
                };
                Ok(self.decide(decision))
            }
        }
    }

    /// Returns the answer that a text gives.
    fn answer_text(&self, text: &str) -> Answer {
        let tool_call_id = self.tool_call_id.clone();
        match &self.kind {
            Kind::Question { options } => {
                let key = if options.iter().any(|option| option == text) { "option" } else { "text" };
                Answer::Output { tool_call_id, output: json!({ key: text }) }
            }
            Kind::Approval => {
                let word = text.trim_end_matches(['.', '!']).to_ascii_lowercase();
                let approved = YES.contains(&word.as_str());
                let reason = (!approved).then(|| text.to_owned());
                self.decide(Decision { approved, reason, edited_args: None, remember: None })
            }
        }
    }

    fn decide(&self, decision: Decision) -> Answer {
        Answer::Approval {
            tool_call_id: self.tool_call_id.clone(),
            approval_id: Some(self.id.clone()),
            approved: decision.approved,
            input_hash: None,
            reason: decision.reason,
            input: decision.edited_args.map(Value::Object),
            remember: decision.remember,
        }
    }
}

/// Returns what a message waits for.
pub(crate) fn open(message: &UiMessage) -> Vec<Request> {
    message.tools().filter_map(open_request).collect()
}

fn open_request(tool: &ToolPart) -> Option<Request> {
    match (tool.state, &tool.approval) {
        (ToolState::ApprovalRequested, Some(approval)) => Some(Request::approval(&approval.id, tool)),
        (ToolState::InputAvailable, None) if tool.tool_name == ASK_USER => {
            Some(Request::question(&tool.tool_call_id, tool.input.as_ref().unwrap_or(&Value::Null)))
        }
        _ => None,
    }
}

/// Returns what a message has asked the user, with the answers.
pub(crate) fn answered(message: &UiMessage) -> Vec<Exchange> {
    message.tools().filter_map(exchange).collect()
}

fn exchange(tool: &ToolPart) -> Option<Exchange> {
    match &tool.approval {
        Some(approval) => {
            let approved = approval.approved?;
            // The user has not decided.
            let answer = if approval.expired == Some(true) || tool.is_passed_over() {
                Vec::new()
            } else {
                let mut decision = json!({ "id": approval.id, "approved": approved });
                decision
                    .as_object_mut()?
                    .extend(approval.reason.clone().map(|text| ("reason".to_owned(), text.into())));
                vec![Part::data(decision)]
            };
            Some(Exchange { request: Request::approval(&approval.id, tool), answer })
        }
        None if tool.tool_name == ASK_USER && tool.is_final() => {
            let input = tool.input.as_ref().unwrap_or(&Value::Null);
            let answer = tool.output.as_ref().map(answer_parts).unwrap_or_default();
            Some(Exchange { request: Request::question(&tool.tool_call_id, input), answer })
        }
        None => None,
    }
}

/// Returns the answer to a question as parts of a message: for people, and for programs.
fn answer_parts(output: &Value) -> Vec<Part> {
    let said = ["option", "text"].iter().filter_map(|key| output.get(key)?.as_str().filter(|said| !said.is_empty()));
    said.map(Part::text).chain([Part::data(output.clone())]).collect()
}

/// Returns the answers that a message gives to what is open, each with the id of its request.
///
/// # Errors
/// A part answers nothing that is open, or not in its form.
pub(crate) fn answers(parts: &[Part], open: &[Request]) -> Result<Vec<(String, Answer)>, RpcError> {
    let mut found: Vec<(String, Answer)> = Vec::new();
    let mut texts = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let field = format!("message.parts[{at}]");
        match &part.content {
            PartContent::Text(text) => texts.push(text.trim()),
            PartContent::Data(value) => {
                let request = named(value, open, &field)?;
                if found.iter().any(|(id, _)| *id == request.id) {
                    return Err(RpcError::invalid(field, "Another part of the message answers this already."));
                }
                found.push((request.id.clone(), request.answer(value, &field)?));
            }
            PartContent::Raw(_) | PartContent::Url(_) => {
                let message = "The agent waits for an answer of text or data, not of files.";
                return Err(RpcError::unsupported_content(&field, message));
            }
        }
    }
    let text = texts.join("\n");
    match (open, found.is_empty(), text.is_empty()) {
        // A text beside decisions is only for people.
        (_, false, _) => Ok(found),
        (_, true, true) => Err(RpcError::invalid("message.parts", "The message is empty.")),
        ([only], true, false) => Ok(vec![(only.id.clone(), only.answer_text(&text))]),
        (_, true, false) => {
            let message = "The agent waits for several answers. Send a data part for each, with its `id`.";
            Err(RpcError::invalid("message.parts", message))
        }
    }
}

/// Returns the request that a data part answers.
fn named<'r>(value: &Value, open: &'r [Request], field: &str) -> Result<&'r Request, RpcError> {
    let found = match (value.get("id"), open) {
        (Some(id), _) => open.iter().find(|request| id == request.id.as_str()),
        (None, [only]) if value.is_object() => Some(only),
        (None, _) => None,
    };
    found.ok_or_else(|| {
        let message = "This answers nothing that the agent waits for: `id` is that of a request in the message of the task's status.";
        RpcError::invalid(field, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    fn message(parts: Value) -> UiMessage {
        serde_json::from_value(json!({ "id": "m", "role": "assistant", "parts": parts })).unwrap()
    }

    fn waiting() -> UiMessage {
        let approval = json!({ "id": "ap" });
        let question = json!({ "kind": "missing_info", "question": "Which?", "options": ["a", "b"] });
        message(json!([
            { "type": "tool-send", "toolCallId": "c1", "state": "approval-requested", "input": { "to": "Ada" }, "approval": approval },
            { "type": "tool-ask-user", "toolCallId": "c2", "state": "input-available", "input": question },
        ]))
    }

    #[test]
    fn hidden_characters_of_arguments_are_shown() {
        let approval = json!({ "id": "ap" });
        let asked = open(&message(json!([
            { "type": "tool-send", "toolCallId": "c", "state": "approval-requested", "input": { "to": "\u{202e}knab" }, "approval": approval },
        ])));
        assert_eq!(asked[0].text, r#"May the agent call `send`? The arguments: {"to":"\u202eknab"}"#);
        assert_eq!(asked[0].data["arguments"]["to"], "\u{202e}knab", "programs get the value as it is");
    }

    #[test]
    fn messages_answer_what_is_open() {
        let both = open(&waiting());
        let check = |parts: Value, open: &[Request]| {
            let parts: Vec<Part> = serde_json::from_value(parts).unwrap();
            match answers(&parts, open) {
                Ok(answers) => serde_json::to_string(&answers).unwrap(),
                Err(error) => format!("{} {}", error.code, error.message),
            }
        };
        let all = [
            check(json!([{ "text": "Yes." }]), &both[..1]),
            check(json!([{ "text": "not to her" }]), &both[..1]),
            check(json!([{ "text": "b" }]), &both[1..]),
            check(json!([{ "text": "neither" }]), &both[1..]),
            check(json!([{ "data": { "approved": true, "editedArgs": { "to": "Eve" } } }]), &both[..1]),
            check(
                json!([{ "data": { "id": "c2", "option": "a" } }, { "data": { "id": "ap", "approved": false } }]),
                &both,
            ),
            check(json!([{ "text": "yes" }]), &both),
            check(json!([{ "data": { "id": "other", "approved": true } }]), &both),
            check(
                json!([{ "data": { "id": "ap", "approved": true } }, { "data": { "id": "ap", "approved": true } }]),
                &both,
            ),
            check(json!([{ "data": { "approve": true } }]), &both[..1]),
            check(json!([{ "data": { "answer": "a" } }]), &both[1..]),
            check(json!([{ "raw": "" }]), &both[1..]),
            check(json!([{ "text": " " }]), &both[..1]),
        ];
        assert_snapshot!(all.join("\n"), @r#"
        [["ap",{"kind":"approval","toolCallId":"c1","approvalId":"ap","approved":true}]]
        [["ap",{"kind":"approval","toolCallId":"c1","approvalId":"ap","approved":false,"reason":"not to her"}]]
        [["c2",{"kind":"output","toolCallId":"c2","output":{"option":"b"}}]]
        [["c2",{"kind":"output","toolCallId":"c2","output":{"text":"neither"}}]]
        [["ap",{"kind":"approval","toolCallId":"c1","approvalId":"ap","approved":true,"input":{"to":"Eve"}}]]
        [["c2",{"kind":"output","toolCallId":"c2","output":{"option":"a"}}],["ap",{"kind":"approval","toolCallId":"c1","approvalId":"ap","approved":false}]]
        -32602 The agent waits for several answers. Send a data part for each, with its `id`.
        -32602 This answers nothing that the agent waits for: `id` is that of a request in the message of the task's status.
        -32602 Another part of the message answers this already.
        -32602 A decision has `approved: true` or `approved: false`.
        -32602 An answer to a question has `option`, `text` or `fields`.
        -32005 The agent waits for an answer of text or data, not of files.
        -32602 The message is empty.
        "#);
    }

    #[test]
    fn requests_and_their_answers_are_shown() {
        let shown = |requests: &mut dyn Iterator<Item = Request>| {
            requests.map(|request| serde_json::to_string(&request.parts()).unwrap()).collect::<Vec<_>>().join("\n")
        };
        assert_snapshot!(shown(&mut open(&waiting()).into_iter()), @r#"
        [{"text":"May the agent call `send`? The arguments: {\"to\":\"Ada\"}"},{"data":{"id":"ap","kind":"approval","toolName":"send","arguments":{"to":"Ada"},"mayRemember":false,"editable":true}}]
        [{"text":"Which? (a / b)"},{"data":{"id":"c2","kind":"question","question":{"kind":"missing_info","question":"Which?","options":["a","b"]}}}]
        "#);
        let done = message(json!([
            { "type": "tool-send", "toolCallId": "c1", "state": "output-denied", "input": {}, "approval": { "id": "ap", "approved": false, "reason": "no" } },
            { "type": "tool-send", "toolCallId": "c3", "state": "output-denied", "input": {}, "approval": { "id": "ex", "approved": false, "expired": true } },
            { "type": "tool-ask-user", "toolCallId": "c2", "state": "output-available", "input": { "question": "Which?" }, "output": { "option": "b" } },
        ]));
        let exchanges: Vec<_> = answered(&done).iter().map(|one| serde_json::to_string(&one.answer).unwrap()).collect();
        assert_snapshot!(exchanges.join("\n"), @r#"
        [{"data":{"id":"ap","approved":false,"reason":"no"}}]
        []
        [{"text":"b"},{"data":{"option":"b"}}]
        "#);
    }
}
