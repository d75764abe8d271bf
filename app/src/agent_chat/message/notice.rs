//! Notices about answers that did not complete and about other errors, each with the action that
//! the user can take.

use super::state::MessageState;
use crate::agent_chat::cards::labels::is_expired;
use crate::agent_chat::chunk_tables::SESSION;
use crate::agent_chat::session::{Phase, Remedy, Session, SessionAction};
use crate::prelude::*;
use crate::texts::{Text, error_text, t};
use crate::ui::icons::{Icon, Shape};
use wire::api::{MessageMetadata, Outcome};
use wire::{EndReason, ToolPart};

/// The notice below an answer that was stopped, interrupted or failed. The newest answer can be
/// continued. A failed earlier one can only be regenerated as another version, because messages
/// follow it.
pub(in crate::agent_chat) fn ending_notice(session: Session, message: &MessageState) -> AnyView {
    let (message, id) = (message.clone(), message.id.clone());
    let is_newest = Memo::new(move |_| session.is_newest(&id));
    // The metadata of the newest answer describe its last run, while another run may be in
    // progress.
    let is_over = Memo::new(move |_| !is_newest.get() || session.phase.get() == Phase::Idle);
    (move || {
        let has_ending = message.metadata.with(|metadata| {
            if is_newest.get() {
                metadata.outcome.is_some_and(Outcome::is_incomplete)
            } else {
                metadata.incomplete_outcome().is_some()
            }
        });
        (is_over.get() && has_ending).then(|| {
            let message = message.clone();
            SESSION.view(move |code| (code.ending)(session, &message, is_newest.get_untracked()))
        })
    })
    .into_any()
}

/// The notice below an answer that did not complete. Its code is in the chunk `session`, which its buttons need.
pub(in crate::agent_chat) fn ending(session: Session, message: &MessageState, is_newest: bool) -> AnyView {
    let metadata = message.metadata.get_untracked();
    let ending = if is_newest { newest_ending } else { older_ending };
    ending(session, message, metadata).into_any()
}

fn newest_ending(session: Session, message: &MessageState, metadata: MessageMetadata) -> Option<AnyView> {
    Some(match metadata.outcome? {
        Outcome::Failed => failure_notice(session, message, metadata),
        Outcome::Interrupted => {
            let text = t(interruption_text(message, metadata.reason)).to_owned();
            notice("cw-notice", Some(Shape::WARNING), text, continue_button(session))
        }
        Outcome::Limit => notice("cw-notice", None, limit_advice(metadata.limit), continue_button(session)),
        Outcome::Stopped => {
            notice("cw-notice cw-notice-quiet", None, stop_text(metadata.reason).to_owned(), continue_button(session))
        }
        Outcome::Done | Outcome::Waiting => return None,
    })
}

fn older_ending(session: Session, message: &MessageState, metadata: MessageMetadata) -> Option<AnyView> {
    if metadata.outcome == Some(Outcome::Failed) {
        return Some(failure_notice(session, message, metadata));
    }
    let text = incomplete_text(&metadata)?.to_owned();
    Some(notice("cw-notice cw-notice-quiet", None, text, ().into_any()))
}

fn failure_notice(session: Session, message: &MessageState, metadata: MessageMetadata) -> AnyView {
    let text = metadata.error.map_or_else(|| t(Text::AnswerFailed).to_owned(), |error| error_text(&error));
    let id = message.id.clone();
    let retry = view! {
        <button type="button" class="cw-button" on:click=move |_| session.dispatch(SessionAction::Regenerate(Some(id.clone())))>
            <Icon of=Shape::RETRY />
            {t(Text::Retry)}
        </button>
    };
    notice("cw-notice cw-notice-danger", Some(Shape::WARNING), text, retry.into_any())
}

fn continue_button(session: Session) -> AnyView {
    view! {
        <button type="button" class="cw-button" on:click=move |_| session.dispatch(SessionAction::Continue)>
            {t(Text::Continue)}
        </button>
    }
    .into_any()
}

/// A short label for an answer that did not complete.
pub(crate) fn outcome_label(broken_off: Outcome) -> Option<&'static str> {
    match broken_off {
        Outcome::Stopped => Some(t(Text::Stopped)),
        Outcome::Limit => Some(t(Text::LimitReached)),
        Outcome::Failed => Some(t(Text::AnswerFailed)),
        Outcome::Interrupted => Some(t(Text::AnswerInterrupted)),
        Outcome::Done | Outcome::Waiting => None,
    }
}

/// Why an answer did not complete, without what can be done about it.
fn incomplete_text(metadata: &MessageMetadata) -> Option<&'static str> {
    match metadata.incomplete_outcome()? {
        Outcome::Limit => Some(limit_text(metadata.limit)),
        Outcome::Stopped => Some(stop_text(metadata.reason)),
        Outcome::Interrupted if is_server_gone(metadata.reason) => Some(t(Text::AnswerServerGone)),
        outcome => outcome_label(outcome),
    }
}

/// A copied text of a message, with a last line that says so if the message is incomplete.
pub(in crate::agent_chat) fn text_with_outcome(text: String, message: &MessageState) -> String {
    match message.metadata.with_untracked(incomplete_text) {
        Some(label) => format!("{}\n\n[{label}]", text.trim_end()),
        None => text,
    }
}

/// Why an answer was interrupted, and what continuing it does.
fn interruption_text(message: &MessageState, reason: Option<EndReason>) -> Text {
    let has = |what: fn(&ToolPart) -> bool| message.tools().iter().any(|tool| tool.with(what));
    match () {
        () if has(ToolPart::repeats_on_continue) => Text::AnswerCutOff,
        () if has(is_expired) => Text::AnswerExpired,
        () if is_server_gone(reason) => Text::AnswerServerGone,
        () => Text::AnswerInterrupted,
    }
}

fn is_server_gone(reason: Option<EndReason>) -> bool {
    matches!(reason, Some(EndReason::ServerGone | EndReason::LeaseLost))
}

/// The limit at which the newest answer ended, and what the user can do.
fn limit_advice(limit: Option<EndReason>) -> String {
    let text = limit_text(limit);
    let advice = match limit {
        Some(EndReason::StopOnToolCall) => return text.to_owned(),
        Some(EndReason::Loop | EndReason::ContentFilter) => t(Text::LimitLoopAdvice),
        _ => t(Text::LimitAdvice),
    };
    format!("{text} {advice}")
}

/// The limit at which an answer ended.
fn limit_text(limit: Option<EndReason>) -> &'static str {
    t(match limit {
        Some(EndReason::Time) => Text::LimitTime,
        Some(EndReason::TotalTokens) => Text::LimitTokens,
        Some(EndReason::ToolCalls) => Text::LimitToolCalls,
        Some(EndReason::CostUsd) => Text::LimitCost,
        Some(EndReason::Loop) => Text::LimitLoop,
        Some(EndReason::MaxSteps) => Text::LimitSteps,
        Some(EndReason::Requests) => Text::LimitRequests,
        Some(EndReason::MaxOutputTokens) => Text::LimitOutput,
        Some(EndReason::ContentFilter) => Text::LimitFilter,
        Some(EndReason::StopOnToolCall) => Text::LimitLastCall,
        _ => Text::LimitReached,
    })
}

/// Returns the notice for an answer that was stopped.
fn stop_text(reason: Option<EndReason>) -> &'static str {
    t(match reason {
        Some(EndReason::StoppedByAdmin) => Text::StoppedByAdmin,
        Some(EndReason::Shutdown) => Text::StoppedByShutdown,
        _ => Text::Stopped,
    })
}

/// The notice about an error between this page and the server, or about the connection being
/// restored.
#[component]
pub(in crate::agent_chat) fn Trouble() -> AnyView {
    let session = expect_context::<Session>();
    (move || {
        if session.offline.get() {
            let text = t(Text::Offline).to_owned();
            return Some(notice(
                "cw-notice cw-notice-quiet cw-notice-warning",
                Some(Shape::WARNING),
                text,
                ().into_any(),
            ));
        }
        if session.phase.get() == Phase::Reconnecting {
            let text = t(Text::Reconnecting).to_owned();
            return Some(notice("cw-notice cw-notice-quiet", Some(Shape::SPINNER), text, ().into_any()));
        }
        let problem = session.problem.get()?;
        let remedy = problem.remedy.map(|remedy| {
            let label = match remedy {
                Remedy::Send => t(Text::TryAgain),
                Remedy::Reload => t(Text::LoadAgain),
                Remedy::New => t(Text::NewConversation),
            };
            view! {
                <button type="button" class="cw-button" on:click=move |_| session.dispatch(SessionAction::Remedy(remedy))>
                    {label}
                </button>
            }
        });
        Some(notice("cw-notice cw-notice-danger", Some(Shape::WARNING), problem.message, remedy.into_any()))
    })
    .into_any()
}

/// A line with an icon and an action.
pub(in crate::agent_chat) fn notice(
    class: &'static str,
    icon: Option<Shape>,
    text: String,
    action: AnyView,
) -> AnyView {
    view! {
        <div class=class>
            {icon.map(|of| view! { <span class="cw-notice-icon" data-spin=(of == Shape::SPINNER).then_some("")><Icon of /></span> })}
            <p dir="auto">{text}</p>
            {action}
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use wire::{Role, UiMessage};

    #[test]
    fn copies_of_incomplete_answers_say_so() {
        let check = |metadata: serde_json::Value, expected: &str| {
            let mut message = UiMessage::new("a", Role::Assistant);
            message.metadata = Some(metadata);
            let copied = Owner::new().with(|| text_with_outcome("37, 38, ".to_owned(), &MessageState::new(&message)));
            assert_eq!(copied, expected);
        };
        check(json!({ "outcome": "stopped" }), "37, 38,\n\n[Stopped.]");
        check(json!({ "outcome": "interrupted" }), "37, 38,\n\n[The answer was interrupted.]");
        check(
            json!({ "outcome": "limit", "limit": "totalTokens", "reason": "totalTokens" }),
            "37, 38,\n\n[The agent reached its token limit for one answer.]",
        );
        check(
            json!({ "outcome": "limit", "limit": "maxOutputTokens" }),
            "37, 38,\n\n[The model reached its length limit for one answer.]",
        );
        check(json!({ "outcome": "limit", "limit": "stopOnToolCall" }), "37, 38, ");
        check(json!({ "outcome": "done" }), "37, 38, ");
        check(json!({}), "37, 38, ");
    }
}
