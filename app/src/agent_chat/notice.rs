//! How the newest answer ended, when it did not end well, and what went wrong otherwise; each with what can be done.

use super::session::{Act, Phase, Remedy, Session};
use super::words::is_expired;
use crate::erase::{Erase, Erased, handler, optional};
use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::texts::{Text, said, t};
use wire::ToolPart;
use wire::api::{LimitName, Outcome};

/// Below an answer that was stopped, cut off or failed.
#[component]
pub(super) fn Ending() -> Erased {
    let session = expect_context::<Session>();
    let retry = move || {
        view! {
            <button type="button" class="cw-button" on:click=handler(move |_| session.regenerate(None))>
                <Icon of=Shape::Retry />
                {t(Text::Retry)}
            </button>
        }
    };
    let go_on = move || {
        view! {
            <button type="button" class="cw-button" on:click=handler(move |_| session.go_on())>
                {t(Text::Continue)}
            </button>
        }
    };
    optional(move || {
        let ending = session.ending()?;
        let view = match ending.outcome? {
            Outcome::Failed => {
                let text = ending.error.map_or_else(|| t(Text::AnswerFailed).to_owned(), |error| said(&error));
                notice("cw-notice cw-notice-danger", Some(Shape::Warning), text, retry().erase())
            }
            Outcome::Interrupted => {
                let text = t(interrupted(session)).to_owned();
                notice("cw-notice", Some(Shape::Warning), text, go_on().erase())
            }
            Outcome::Limit => notice("cw-notice", None, limit_text(ending.limit).to_owned(), go_on().erase()),
            Outcome::Stopped => notice("cw-notice cw-notice-quiet", None, t(Text::Stopped).to_owned(), ().erase()),
            Outcome::Done | Outcome::Waiting => return None,
        };
        Some(view)
    })
}

/// Why an answer was interrupted, and what going on with it means.
fn interrupted(session: Session) -> Text {
    let has = |what: fn(&ToolPart) -> bool| {
        let answer = session.messages.with(|messages| messages.last().cloned());
        answer.is_some_and(|answer| answer.tools().iter().any(|tool| tool.with(what)))
    };
    match () {
        () if has(ToolPart::runs_again) => Text::AnswerCutOff,
        () if has(is_expired) => Text::AnswerExpired,
        () => Text::AnswerInterrupted,
    }
}

/// Why an answer ends before its end.
fn limit_text(limit: Option<LimitName>) -> &'static str {
    match limit {
        Some(LimitName::Time) => t(Text::LimitTime),
        Some(LimitName::TotalTokens) => t(Text::LimitTokens),
        Some(LimitName::ToolCalls) => t(Text::LimitToolCalls),
        Some(LimitName::CostUsd) => t(Text::LimitCost),
        Some(LimitName::Loop) => t(Text::LimitLoop),
        Some(LimitName::MaxSteps | LimitName::Requests | LimitName::StopOnToolCall) | None => t(Text::LimitReached),
    }
}

/// What went wrong between this page and the server, and that the connection is being restored.
#[component]
pub(super) fn Trouble() -> Erased {
    let session = expect_context::<Session>();
    optional(move || {
        if session.offline.get() {
            let text = t(Text::Offline).to_owned();
            return Some(notice("cw-notice cw-notice-quiet cw-notice-warning", Some(Shape::Warning), text, ().erase()));
        }
        if session.phase.get() == Phase::Reconnecting {
            let text = t(Text::Reconnecting).to_owned();
            return Some(notice("cw-notice cw-notice-quiet", Some(Shape::Spinner), text, ().erase()));
        }
        let problem = session.problem.get()?;
        let remedy = problem.remedy.map(|remedy| {
            let label = match remedy {
                Remedy::Send => t(Text::TryAgain),
                Remedy::Reload => t(Text::LoadAgain),
            };
            view! {
                <button type="button" class="cw-button" on:click=handler(move |_| session.act(Act::Remedy(remedy)))>
                    {label}
                </button>
            }
        });
        Some(notice("cw-notice cw-notice-danger", Some(Shape::Warning), problem.message, remedy.erase()))
    })
}

/// A line with an icon, and what can be done.
pub(super) fn notice(class: &'static str, icon: Option<Shape>, text: String, action: Erased) -> Erased {
    view! {
        <div class=class>
            {icon.map(|of| view! { <span class="cw-notice-icon" data-spin=(of == Shape::Spinner).then_some("")><Icon of /></span> })}
            <p dir="auto">{text}</p>
            {action}
        </div>
    }
    .erase()
}
