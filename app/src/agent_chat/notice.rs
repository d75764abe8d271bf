//! How an answer ended that did not come to its end, and what went wrong otherwise; each with what
//! can be done.

use super::message_state::MessageState;
use super::session::{Act, Phase, Remedy, Session};
use super::words::is_expired;
use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::texts::{Text, said, t};
use wire::api::{MessageMetadata, Outcome};
use wire::{EndReason, ToolPart};

/// Below an answer that was stopped, cut off or failed, however long ago. The newest one can be
/// gone on with. An older one can only be given again, as another version: what follows it was said
/// after what is there.
pub(super) fn ending(session: Session, message: &MessageState) -> AnyView {
    let (message, id) = (message.clone(), message.id.clone());
    let is_newest = Memo::new(move |_| session.is_newest(&id));
    // What is known of the newest answer is of its last run, and another one may be writing.
    let is_over = Memo::new(move |_| !is_newest.get() || session.phase.get() == Phase::Idle);
    (move || {
        let metadata = message.metadata.get();
        if !is_over.get() || !is_newest.get() && metadata.broken_off().is_none() {
            return None;
        }
        match is_newest.get() {
            true => newest(session, &message, metadata),
            false => older(session, &message, metadata),
        }
    })
    .into_any()
}

fn newest(session: Session, message: &MessageState, metadata: MessageMetadata) -> Option<AnyView> {
    Some(match metadata.outcome? {
        Outcome::Failed => failed(session, message, metadata),
        Outcome::Interrupted => {
            let text = t(interrupted(message, metadata.reason)).to_owned();
            notice("cw-notice", Some(Shape::Warning), text, go_on(session))
        }
        Outcome::Limit => notice("cw-notice", None, limit_text(metadata.limit).to_owned(), go_on(session)),
        Outcome::Stopped => {
            notice("cw-notice cw-notice-quiet", None, stop_text(metadata.reason).to_owned(), go_on(session))
        }
        Outcome::Done | Outcome::Waiting => return None,
    })
}

fn older(session: Session, message: &MessageState, metadata: MessageMetadata) -> Option<AnyView> {
    let text = match metadata.outcome? {
        Outcome::Failed => return Some(failed(session, message, metadata)),
        outcome => mark(outcome)?,
    };
    Some(notice("cw-notice cw-notice-quiet", None, text.to_owned(), ().into_any()))
}

fn failed(session: Session, message: &MessageState, metadata: MessageMetadata) -> AnyView {
    let text = metadata.error.map_or_else(|| t(Text::AnswerFailed).to_owned(), |error| said(&error));
    let id = message.id.clone();
    let retry = view! {
        <button type="button" class="cw-button" on:click=move |_| session.regenerate(Some(id.clone()))>
            <Icon of=Shape::Retry />
            {t(Text::Retry)}
        </button>
    };
    notice("cw-notice cw-notice-danger", Some(Shape::Warning), text, retry.into_any())
}

fn go_on(session: Session) -> AnyView {
    view! {
        <button type="button" class="cw-button" on:click=move |_| session.go_on()>
            {t(Text::Continue)}
        </button>
    }
    .into_any()
}

/// What is said of an answer that did not come to its end, in a few words.
pub(crate) fn mark(broken_off: Outcome) -> Option<&'static str> {
    match broken_off {
        Outcome::Stopped => Some(t(Text::Stopped)),
        Outcome::Limit => Some(t(Text::LimitReached)),
        Outcome::Failed => Some(t(Text::AnswerFailed)),
        Outcome::Interrupted => Some(t(Text::AnswerInterrupted)),
        Outcome::Done | Outcome::Waiting => None,
    }
}

/// Why an answer was interrupted, and what going on with it means.
fn interrupted(message: &MessageState, reason: Option<EndReason>) -> Text {
    let has = |what: fn(&ToolPart) -> bool| message.tools().iter().any(|tool| tool.with(what));
    match () {
        () if has(ToolPart::runs_again) => Text::AnswerCutOff,
        () if has(is_expired) => Text::AnswerExpired,
        () if matches!(reason, Some(EndReason::ServerGone | EndReason::LeaseLost)) => Text::AnswerServerGone,
        () => Text::AnswerInterrupted,
    }
}

/// Why an answer ends before its end.
fn limit_text(limit: Option<EndReason>) -> &'static str {
    t(match limit {
        Some(EndReason::Time) => Text::LimitTime,
        Some(EndReason::TotalTokens) => Text::LimitTokens,
        Some(EndReason::ToolCalls) => Text::LimitToolCalls,
        Some(EndReason::CostUsd) => Text::LimitCost,
        Some(EndReason::Loop) => Text::LimitLoop,
        Some(EndReason::MaxSteps) => Text::LimitSteps,
        Some(EndReason::Requests) => Text::LimitRequests,
        Some(EndReason::StopOnToolCall) => Text::LimitLastCall,
        _ => Text::LimitReached,
    })
}

/// Who stopped an answer.
fn stop_text(reason: Option<EndReason>) -> &'static str {
    t(match reason {
        Some(EndReason::StoppedByAdmin) => Text::StoppedByAdmin,
        Some(EndReason::Shutdown) => Text::StoppedByShutdown,
        _ => Text::Stopped,
    })
}

/// What went wrong between this page and the server, and that the connection is being restored.
#[component]
pub(super) fn Trouble() -> AnyView {
    let session = expect_context::<Session>();
    (move || {
        if session.offline.get() {
            let text = t(Text::Offline).to_owned();
            return Some(notice(
                "cw-notice cw-notice-quiet cw-notice-warning",
                Some(Shape::Warning),
                text,
                ().into_any(),
            ));
        }
        if session.phase.get() == Phase::Reconnecting {
            let text = t(Text::Reconnecting).to_owned();
            return Some(notice("cw-notice cw-notice-quiet", Some(Shape::Spinner), text, ().into_any()));
        }
        let problem = session.problem.get()?;
        let remedy = problem.remedy.map(|remedy| {
            let label = match remedy {
                Remedy::Send => t(Text::TryAgain),
                Remedy::Reload => t(Text::LoadAgain),
                Remedy::New => t(Text::NewConversation),
            };
            view! {
                <button type="button" class="cw-button" on:click=move |_| session.act(Act::Remedy(remedy))>
                    {label}
                </button>
            }
        });
        Some(notice("cw-notice cw-notice-danger", Some(Shape::Warning), problem.message, remedy.into_any()))
    })
    .into_any()
}

/// A line with an icon, and what can be done.
pub(super) fn notice(class: &'static str, icon: Option<Shape>, text: String, action: AnyView) -> AnyView {
    view! {
        <div class=class>
            {icon.map(|of| view! { <span class="cw-notice-icon" data-spin=(of == Shape::Spinner).then_some("")><Icon of /></span> })}
            <p dir="auto">{text}</p>
            {action}
        </div>
    }
    .into_any()
}
