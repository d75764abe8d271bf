//! Converts calls that wait for the user to forms of the protocol (`elicitation/create`), and the answers of clients to decisions.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use wire::api::Answer;
use wire::hidden_characters::{TextKind, text_with_code_points};
use wire::page::FieldType;
use wire::question::{ASK_USER, AnswerDraft, Question, QuestionField};
use wire::{ToolPart, ToolState, arguments_hash};

/// The longest arguments that a form shows, in characters.
const MAX_SHOWN: usize = 4_000;

/// The longest reason of a denial, in characters.
const MAX_REASON: usize = 1_000;

/// The longest text that answers a question or one of its fields, in characters. A longer one is cut.
const MAX_TEXT: usize = 10_000;

/// The values of the field `decision`.
const APPROVE: &str = "approve";
const DENY: &str = "deny";

/// A form that a client shows to its user.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Form {
    /// The text above the fields.
    pub(crate) message: String,
    /// The JSON Schema of the fields.
    pub(crate) schema: Value,
}

/// Identifies a call that waits for the user, with the arguments that were shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenCall {
    pub(crate) tool_call_id: String,
    /// The id of the approval request; empty for a question of the agent.
    pub(crate) approval_id: String,
    /// The hash of the arguments.
    pub(crate) input_hash: String,
}

/// The answer of a client to a form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    /// The user has filled in the form.
    Accepted(Map<String, Value>),
    /// The user has refused.
    Declined,
    /// The user has closed the form, or the client could not show it.
    Cancelled,
}

/// A [`Reply`] as the protocol writes it.
#[derive(Deserialize)]
struct ElicitationResult {
    action: Action,
    content: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

impl Reply {
    /// Reads a result of `elicitation/create`. One that cannot be read counts as cancelled, as does none, after an error of the
    /// client.
    pub(crate) fn read(result: Option<&Value>) -> Self {
        match result.map(ElicitationResult::deserialize) {
            Some(Ok(ElicitationResult { action: Action::Accept, content })) => {
                Self::Accepted(content.unwrap_or_default())
            }
            Some(Ok(ElicitationResult { action: Action::Decline, .. })) => Self::Declined,
            Some(Ok(ElicitationResult { action: Action::Cancel, .. }) | Err(_)) | None => Self::Cancelled,
        }
    }
}

impl OpenCall {
    /// Identifies a call.
    pub(crate) fn of(tool: &ToolPart) -> Self {
        Self {
            tool_call_id: tool.tool_call_id.clone(),
            approval_id: tool.approval.as_ref().map(|approval| approval.id.clone()).unwrap_or_default(),
            input_hash: arguments_hash(tool.asked_arguments().unwrap_or(&Value::Null)),
        }
    }

    /// Returns a key that is unique within the answer. It changes with the arguments, so that a decision never counts for
    /// other arguments than those that were shown.
    pub(crate) fn key(&self) -> String {
        let id = if self.approval_id.is_empty() { &self.tool_call_id } else { &self.approval_id };
        format!("{id}.{}", self.input_hash)
    }
}

/// Returns the form for a call that waits for the user. `None` if the protocol has no such form; the user then answers in
/// the conversation, at `url`.
pub(crate) fn form(tool: &ToolPart, url: &str) -> Option<Form> {
    match tool.state {
        ToolState::ApprovalRequested => Some(approval(tool, url)),
        ToolState::InputAvailable if tool.tool_name == ASK_USER => question(&asked_question(tool)),
        _ => None,
    }
}

/// Returns the decision of a reply. `None` if it decides nothing, and the call waits as before.
pub(crate) fn answer(tool: &ToolPart, reply: &Reply) -> Option<Answer> {
    match tool.state {
        ToolState::ApprovalRequested => decision(tool, reply),
        _ => output(tool, reply),
    }
}

/// Returns the arguments of a request as the user reads them.
fn shown_arguments(tool: &ToolPart) -> String {
    let arguments = serde_json::to_string_pretty(tool.asked_arguments().unwrap_or(&Value::Null));
    text_with_code_points(&arguments.unwrap_or_default(), TextKind::Value).into_owned()
}

/// Returns how many characters of the arguments a form does not show.
fn hidden_length(arguments: &str) -> usize {
    arguments.chars().count().saturating_sub(MAX_SHOWN)
}

fn approval(tool: &ToolPart, url: &str) -> Form {
    let arguments = shown_arguments(tool);
    let hidden = hidden_length(&arguments);
    let shown: String = arguments.chars().take(MAX_SHOWN).collect();
    let mut message = format!("{}\n\nThe arguments:\n{shown}", heading(tool));
    if hidden > 0 {
        message += &format!(
            "\n\n{hidden} more characters of the arguments are not shown, so the call cannot be approved here. Read all of \
             them and approve the call in the conversation: {url}"
        );
    }
    let choices = if hidden > 0 { json!([DENY]) } else { json!([APPROVE, DENY]) };
    let schema = json!({
        "type": "object",
        "properties": {
            "decision": { "type": "string", "title": "Decision", "enum": choices },
            "reason": {
                "type": "string",
                "title": "Reason",
                "description": "Why you deny it, for the agent. You can leave it empty.",
                "maxLength": MAX_REASON,
            },
        },
        "required": ["decision"],
    });
    Form { message, schema }
}

/// Returns the question whether a call may run, with what the user should know.
fn heading(tool: &ToolPart) -> String {
    let mut heading = format!(
        "The agent asks for your approval to run “{}”.",
        text_with_code_points(&tool.asked_name(), TextKind::Value)
    );
    if tool.cut_off().is_some() {
        heading += "\n\nThe call was interrupted while it ran, and may have had its effect already.";
    }
    let terms = tool.approval.as_ref().and_then(|approval| approval.terms.as_ref());
    if let Some(exposed) = terms.and_then(|terms| terms.exposed.as_ref()) {
        heading += &format!("\n\nIn this conversation, the agent has read {}.", exposed.described());
    }
    heading
}

fn decision(tool: &ToolPart, reply: &Reply) -> Option<Answer> {
    let (approved, reason) = match reply {
        Reply::Accepted(content) => match content.get("decision").and_then(Value::as_str) {
            // Only if the form has shown all arguments.
            Some(APPROVE) if hidden_length(&shown_arguments(tool)) == 0 => (true, None),
            Some(DENY) => (false, reason(content)),
            _ => return None,
        },
        Reply::Declined => (false, None),
        Reply::Cancelled => return None,
    };
    let OpenCall { tool_call_id, approval_id, input_hash } = OpenCall::of(tool);
    Some(Answer::Approval {
        tool_call_id,
        approval_id: Some(approval_id),
        approved,
        input_hash: Some(input_hash),
        reason,
        input: None,
        remember: None,
    })
}

fn reason(content: &Map<String, Value>) -> Option<String> {
    let text = content.get("reason")?.as_str()?.trim();
    Some(text.chars().take(MAX_REASON).collect()).filter(|text: &String| !text.is_empty())
}

fn asked_question(tool: &ToolPart) -> Question {
    Question::read(tool.input.as_ref().unwrap_or(&Value::Null))
}

/// Returns a text of the agent, with code points for the hidden characters that no script needs.
fn visible(text: &str) -> String {
    text_with_code_points(text, TextKind::Prose).into_owned()
}

fn question(question: &Question) -> Option<Form> {
    let Question { text, context, options, fields, .. } = question;
    let (mut properties, mut required) = (Map::new(), Vec::new());
    if !options.is_empty() {
        let choice = json!({ "type": "string", "title": "Answer", "enum": choices(options)? });
        properties.insert("option".to_owned(), choice);
    }
    if fields.is_empty() {
        let title = if options.is_empty() { "Answer" } else { "Another answer" };
        properties.insert("text".to_owned(), json!({ "type": "string", "title": title, "maxLength": MAX_TEXT }));
        required.extend(options.is_empty().then_some("text"));
    }
    for field in fields {
        // Two fields of a form cannot have one name.
        if properties.contains_key(&field.key) {
            return None;
        }
        properties.insert(field.key.clone(), field_schema(field)?);
        required.extend(field.required.then_some(field.key.as_str()));
    }
    let texts = [text, context].map(|text| visible(text));
    let texts: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    Some(Form { message: texts.join("\n\n"), schema })
}

/// Returns the options, which are shown as they are and sent back. `None` if one has hidden characters, which clients would not
/// show.
fn choices(options: &[String]) -> Option<&[String]> {
    options.iter().all(|option| visible(option) == *option).then_some(options)
}

fn field_schema(field: &QuestionField) -> Option<Value> {
    let title = visible(&field.label);
    Some(match &field.field_type {
        FieldType::Text => json!({ "type": "string", "title": title, "maxLength": MAX_TEXT }),
        FieldType::Number => json!({ "type": "number", "title": title }),
        FieldType::Boolean => json!({ "type": "boolean", "title": title }),
        FieldType::Choice { options } => json!({ "type": "string", "title": title, "enum": choices(options)? }),
        FieldType::Date => json!({ "type": "string", "title": title, "format": "date" }),
        FieldType::Choices { .. } | FieldType::Any => return None,
    })
}

fn output(tool: &ToolPart, reply: &Reply) -> Option<Answer> {
    // Declining the form decides nothing: the user can still answer the question in the conversation.
    let Reply::Accepted(content) = reply else { return None };
    let question = asked_question(tool);
    let text = |key: &str| content.get(key).and_then(Value::as_str).unwrap_or_default();
    let draft = AnswerDraft {
        option: question.options.iter().position(|option| option == text("option")),
        text: if question.fields.is_empty() { text("text").chars().take(MAX_TEXT).collect() } else { String::new() },
        fields: question.fields.iter().map(|field| raw_value(content.get(&field.key))).collect(),
    };
    let output = question.answer(&draft).ok()?;
    Some(Answer::Output { tool_call_id: tool.tool_call_id.clone(), output })
}

/// Returns a value as the control of a form has it.
fn raw_value(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.chars().take(MAX_TEXT).collect(),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
