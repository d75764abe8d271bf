//! Interrupts: the calls and questions that an answer waits for, and the frontend's answers to them.

use crate::event::Interrupt;
use crate::input::{ResumeEntry, ResumeStatus};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use web::times::rfc3339;
use wire::api::{Answer, ApprovalScope};
use wire::question::{ASK_USER, Question};
use wire::{ToolPart, ToolState, UiMessage, UserError};

/// The result for the model of a question that the user did not answer.
const NOT_ANSWERED: &str = "The user did not answer.";

/// The answer to an approval request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Decision {
    approved: bool,
    reason: Option<String>,
    edited_args: Option<Map<String, Value>>,
    remember: Option<ApprovalScope>,
}

/// Returns the interrupts of a message: the calls and questions that it waits for.
pub(crate) fn of_message(message: &UiMessage) -> Vec<Interrupt> {
    message.tools().filter_map(interrupt).collect()
}

fn interrupt(tool: &ToolPart) -> Option<Interrupt> {
    match (tool.state, &tool.approval) {
        (ToolState::ApprovalRequested, Some(approval)) => {
            let terms = approval.terms.as_deref();
            let expires_at = terms.and_then(|terms| terms.expires_at).map(rfc3339);
            let may_remember = terms.is_some_and(|terms| terms.may_remember == Some(true));
            Some(Interrupt {
                id: approval.id.clone(),
                reason: "tool_call",
                message: format!("May the agent call `{}`?", tool.tool_name),
                tool_call_id: tool.tool_call_id.clone(),
                response_schema: decision_schema(tool, may_remember),
                expires_at,
                metadata: json!({ "toolName": tool.tool_name, "arguments": tool.asked_arguments() }),
            })
        }
        (ToolState::InputAvailable, None) if tool.tool_name == ASK_USER => {
            let input = tool.input.as_ref().unwrap_or(&Value::Null);
            Some(Interrupt {
                id: tool.tool_call_id.clone(),
                reason: "input_required",
                message: Question::read(input).text,
                tool_call_id: tool.tool_call_id.clone(),
                response_schema: answer_schema(),
                expires_at: None,
                metadata: json!({ "toolName": tool.tool_name, "arguments": input }),
            })
        }
        _ => None,
    }
}

/// Returns the schema of a decision.
fn decision_schema(tool: &ToolPart, may_remember: bool) -> Value {
    let mut properties = json!({
        "approved": { "type": "boolean" },
        "reason": { "type": "string", "description": "A comment for the agent." },
    });
    // The calls of sub-agents and interrupted ones are approved as they are.
    if tool.output.is_none() && tool.cut_off().is_none() {
        let description = match tool.visible_parameters() {
            Some(names) => format!("Replaces these arguments: {}.", names.join(", ")),
            None => "Replaces all arguments.".to_owned(),
        };
        properties["editedArgs"] = json!({ "type": "object", "description": description });
    }
    if may_remember {
        properties["remember"] =
            json!({ "enum": ["conversation", "always"], "description": "Also approves further calls of the tool." });
    }
    json!({ "type": "object", "properties": properties, "required": ["approved"] })
}

fn answer_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "option": { "type": "string", "description": "One of the options of the question." },
            "text": { "type": "string" },
            "fields": { "type": "object", "description": "The values of the form of the question, by their keys." },
        },
    })
}

/// Returns the answers to what a message waits for.
///
/// # Errors
/// 422 for an entry that answers nothing that is open, or not in its form.
pub(crate) fn answers(resume: &[ResumeEntry], message: Option<&UiMessage>) -> Result<Vec<Answer>, UserError> {
    let open = message.map(of_message).unwrap_or_default();
    let answer = |(at, entry): (usize, &ResumeEntry)| {
        let found = open.iter().find(|open| open.id == entry.interrupt_id);
        let interrupt = found.ok_or_else(|| {
            let message = "Nothing waits for this answer (any more). Load the thread again to see its current state.";
            UserError::invalid(format!("/resume/{at}/interruptId"), message)
        })?;
        let invalid = |message: &str| UserError::invalid(format!("/resume/{at}/payload"), message);
        let tool_call_id = interrupt.tool_call_id.clone();
        let is_cancelled = entry.status == ResumeStatus::Cancelled;
        if interrupt.reason == "tool_call" {
            let decision = if is_cancelled {
                Decision { approved: false, reason: None, edited_args: None, remember: None }
            } else {
                decision(&entry.payload).ok_or_else(|| {
                    invalid("A decision is `{approved: true}` or `{approved: false}`; see `responseSchema`.")
                })?
            };
            return Ok(Answer::Approval {
                tool_call_id,
                approval_id: Some(interrupt.id.clone()),
                approved: decision.approved,
                input_hash: None,
                reason: decision.reason,
                input: decision.edited_args.map(Value::Object),
                remember: decision.remember,
            });
        }
        match &entry.payload {
            _ if is_cancelled => Ok(Answer::Error { tool_call_id, error_text: NOT_ANSWERED.to_owned() }),
            Value::String(text) => Ok(Answer::Output { tool_call_id, output: json!({ "text": text }) }),
            Value::Object(_) => Ok(Answer::Output { tool_call_id, output: entry.payload.clone() }),
            _ => Err(invalid("An answer is a text, or an object; see `responseSchema`.")),
        }
    };
    resume.iter().enumerate().map(answer).collect()
}

fn decision(payload: &Value) -> Option<Decision> {
    match payload {
        Value::Bool(approved) => {
            Some(Decision { approved: *approved, reason: None, edited_args: None, remember: None })
        }
        payload => Decision::deserialize(payload).ok(),
    }
}
