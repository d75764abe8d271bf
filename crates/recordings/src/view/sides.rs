//! The two sides of a step.

use super::{Side, time, words};
use crate::report::{Call, Piece, Step, StepPair, Totals, outcome_text, pieces};
use leptos::prelude::*;
use web::html::number;
use wire::text::shortened;

/// The most characters of a text without differences.
const MAX_TEXT: usize = 1_500;

/// Renders both sides of a step beside each other, with the words that differ.
pub(super) fn sides_view(step: &StepPair, names: (&str, &str)) -> AnyView {
    let side = |own: Option<&Step>, other: Option<&Step>, side: Side, (name, totals): (&str, Totals)| {
        let name = name.to_owned();
        let content = match own {
            None => view! { <p class="cw-account-note">"There is no such step."</p> }.into_any(),
            Some(own) => content_view(own, other, side, totals),
        };
        view! { <div class="cw-replay-side"><h4>{name}</h4>{content}</div> }
    };
    let (before, after) = (step.recorded.as_ref(), step.replayed.as_ref());
    view! {
        <div class="cw-replay-sides">
            {side(before, after, Side::Before, (names.0, step.before))}
            {side(after, before, Side::After, (names.1, step.after))}
        </div>
    }
    .into_any()
}

/// Renders the text and the calls of a step.
pub(super) fn step_content(step: &Step) -> AnyView {
    content_view(step, None, Side::Before, step.totals)
}

fn content_view(own: &Step, other: Option<&Step>, side: Side, totals: Totals) -> AnyView {
    let text = compared(&own.text, other.map(|other| other.text.as_str()), side);
    let calls = own.calls.iter().enumerate();
    let calls: Vec<_> = calls.map(|(at, call)| call_view(call, other.map(|other| (other, at)), side)).collect();
    let used = format!(
        "{} + {} tokens, {}{}",
        number(totals.input_tokens as f64),
        number(totals.output_tokens as f64),
        totals.cost_usd.map(|cost| format!("${cost:.4}, ")).unwrap_or_default(),
        time(totals)
    );
    view! {
        {(!own.text.is_empty()).then(|| view! { <p class="cw-admin-text cw-admin-diff" dir="auto">{text}</p> })}
        {calls}
        <p class="cw-account-note">{used}</p>
    }
    .into_any()
}

/// Renders a call of a tool, compared with the one at a position of the other step, if there is
/// that step. It may lack the call.
fn call_view(call: &Call, other: Option<(&Step, usize)>, side: Side) -> AnyView {
    let shown = |call: &Call| format!("{} {}", call.tool, call.input);
    let (text, other_text) = (shown(call), other.map(|(step, at)| step.calls.get(at).map(shown).unwrap_or_default()));
    let result = outcome_text(call.outcome.as_ref());
    let other_result =
        other.and_then(|(step, at)| step.calls.get(at)).map(|other| outcome_text(other.outcome.as_ref()));
    let differs = other_result.as_ref().is_some_and(|other| *other != result);
    view! {
        <pre class="cw-admin-pre cw-admin-diff" tabindex="0">{compared(&text, other_text.as_deref(), side)}</pre>
        <details class="cw-admin-call" open=differs>
            <summary>{if differs { "Result, which differs" } else { "Result" }}</summary>
            <pre class="cw-admin-diff" tabindex="0">{compared(&result, other_result.as_deref(), side)}</pre>
        </details>
    }
    .into_any()
}

/// Renders a text with the words that the other side does not have. Without the other side, it is
/// plain.
pub(super) fn compared(own: &str, other: Option<&str>, side: Side) -> Vec<AnyView> {
    match other {
        Some(other) if other != own => {
            let pieces = if side == Side::Before { pieces(own, other) } else { pieces(other, own) };
            words(&pieces, side)
        }
        _ => words(&[Piece::Same(shortened(own, MAX_TEXT))], side),
    }
}
