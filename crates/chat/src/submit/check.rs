//! The limits of a submission.

use crate::SubmissionLimits;
use crate::files::attachments;
use crate::ids::check_id;
use crate::submit::content::sanitized;
use wire::api::{Answer, SendRequest, Submission};
use wire::{ErrorCode, Role, UiMessage, UiPart, UserError};

/// The maximum size of a browser tool's output in bytes of JSON.
const MAX_OUTPUT_BYTES: usize = 256 * 1024;
/// The maximum number of switches.
const MAX_SWITCHES: usize = 50;
/// The maximum length of a switch's key in bytes.
const MAX_SWITCH_KEY: usize = 64;

/// Checks the limits of a submission.
pub(crate) fn check(request: &SendRequest, bounds: &SubmissionLimits) -> Result<(), UserError> {
    check_id("/conversationId", &request.conversation_id)?;
    let is_switch = |(key, value): (&String, &serde_json::Value)| key.len() <= MAX_SWITCH_KEY && value.is_boolean();
    if request.switches.len() > MAX_SWITCHES || !request.switches.iter().all(is_switch) {
        return Err(UserError::invalid("/switches", "A switch is `true` or `false`."));
    }
    match &request.submission {
        Submission::Message { message, .. } => check_message(message, bounds.text_bytes),
        Submission::Answers { answers } => check_answers(answers),
        Submission::Regenerate { .. } | Submission::Continue => Ok(()),
    }
}

fn check_message(message: &UiMessage, most: usize) -> Result<(), UserError> {
    check_id("/message/id", &message.id)?;
    if message.role != Role::User {
        return Err(UserError::invalid("/message/role", "Only the user's own messages can be sent."));
    }
    if sanitized(message).parts.is_empty() || (message.text().trim().is_empty() && !has_file(message)) {
        return Err(UserError::invalid("/message/parts", "The message is empty."));
    }
    if message.parts.iter().filter(|part| matches!(part, UiPart::File(_))).count() > attachments::MAX_FILES {
        let message = format!("A message has at most {} files.", attachments::MAX_FILES);
        return Err(UserError::invalid("/message/parts", message));
    }
    if message.text().len() > most {
        let message = format!("The message is too long: {} KB at most.", most / 1024);
        return Err(UserError::new(ErrorCode::TooLarge, message));
    }
    Ok(())
}

fn has_file(message: &UiMessage) -> bool {
    message.parts.iter().any(|part| matches!(part, UiPart::File(_)))
}

/// Checks the size of answers.
pub(super) fn check_answers(answers: &[Answer]) -> Result<(), UserError> {
    let size = |answer: &Answer| match answer {
        Answer::Approval { reason, input, .. } => {
            reason.as_ref().map_or(0, String::len) + input.as_ref().map_or(0, |input| input.to_string().len())
        }
        Answer::Started { by, .. } => by.len(),
        Answer::Output { output, .. } => output.to_string().len(),
        Answer::Error { error_text, .. } => error_text.len(),
    };
    for (at, answer) in answers.iter().enumerate() {
        if let Answer::Started { by, .. } = answer {
            check_id(&format!("/answers/{at}/by"), by)?;
        }
    }
    if answers.iter().map(size).sum::<usize>() > MAX_OUTPUT_BYTES {
        Err(UserError::new(
            ErrorCode::TooLarge,
            format!("The answer is too long: {} KB at most.", MAX_OUTPUT_BYTES / 1024),
        ))
    } else {
        Ok(())
    }
}
