//! Two recordings side by side, as HTML without scripts: a timeline, and each step with its
//! differences.

mod sides;
mod timeline;

use crate::format::Recording;
use crate::report::{Comparison, Finding, Kind, Piece, Step, StepPair, Totals, pieces, steps};
use leptos::prelude::*;
use sides::sides_view;
use web::html::{number, text};

/// The number of a comparison on its page, which makes the ids of its elements unique.
pub type ComparisonNumber = usize;

/// Renders a comparison. `names` are those of the two sides.
pub fn comparison_view(comparison: &Comparison, names: (&str, &str), place: ComparisonNumber) -> AnyView {
    let steps = comparison.steps.iter().enumerate();
    let steps = steps.map(|(at, step)| step_view(step, comparison.first_divergence == Some(at), names, (place, at)));
    let steps: Vec<_> = steps.collect();
    let run: Vec<_> = comparison.run.iter().map(finding_view).collect();
    view! {
        <p class="cw-replay-verdict">{verdict(comparison, place)}</p>
        {timeline::timeline_view(comparison, names, place)}
        {totals_table(comparison.before, comparison.after, names)}
        {(!run.is_empty()).then(|| view! { <div class="cw-replay-findings">{run}</div> })}
        <ol class="cw-replay-steps">{steps}</ol>
    }
    .into_any()
}

/// Renders the steps of one recording.
pub fn recording_view(recording: &Recording) -> AnyView {
    let step = |step: Step| {
        let agent = step.agent.clone();
        view! {
            <li class="cw-replay-step">
                <h3>{format!("Step {} ", step.number)}<span class="cw-admin-id">{agent}</span></h3>
                {sides::step_content(&step)}
            </li>
        }
    };
    let steps: Vec<_> = steps(recording).into_iter().map(step).collect();
    view! { <ol class="cw-replay-steps">{steps}</ol> }.into_any()
}

/// Renders a text with the words that another text does not have. `is_first` says whether the text
/// is the one before the other. Without the other one, the text is plain.
pub fn text_difference(text: &str, other: Option<&str>, is_first: bool) -> AnyView {
    sides::compared(text, other, if is_first { Side::Before } else { Side::After }).into_any()
}

fn anchor((place, at): (ComparisonNumber, usize)) -> String {
    format!("step-{place}-{}", at + 1)
}

/// Returns the result of the comparison, with a link to the first divergence.
fn verdict(comparison: &Comparison, place: ComparisonNumber) -> AnyView {
    let first = comparison.first_divergence.and_then(|at| Some((at, comparison.steps.get(at)?)));
    match first {
        Some((at, step)) => {
            let link = format!("#{}", anchor((place, at)));
            let kinds = kinds(step);
            view! {
                "They first differ in "<a href=link>{format!("step {} of {}", step.number, step.agent)}</a>
                {format!(": {kinds}.")}
            }
            .into_any()
        }
        None if comparison.findings().any(|finding| finding.kind.is_divergence()) => {
            "The steps are the same, and the end differs.".into_any()
        }
        None if comparison.findings().next().is_none() => "Both are the same.".into_any(),
        None => "The agent does the same; its input or its usage differs.".into_any(),
    }
}

/// Returns the kinds of divergences in a step.
fn kinds(step: &StepPair) -> String {
    let mut kinds: Vec<_> = step.findings.iter().filter(|finding| finding.kind.is_divergence()).collect();
    kinds.dedup_by_key(|finding| finding.kind);
    kinds.iter().map(|finding| kind_name(finding.kind)).collect::<Vec<_>>().join(", ")
}

/// Returns the name of a kind of difference, for people.
fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Model => "the model",
        Kind::Prompt => "the prompt",
        Kind::Schema => "the declaration of a tool",
        Kind::Settings => "the settings",
        Kind::Messages => "what the model reads",
        Kind::Tools => "the calls of tools",
        Kind::Text => "the text",
        Kind::Results => "the result of a tool",
        Kind::Ending => "how it ends",
        Kind::Steps => "a step that only one has",
        Kind::Miss => "something that the recording does not have",
        Kind::Tokens => "more tokens",
        Kind::Cost => "a higher cost",
    }
}

/// Renders a step: its mark, the two sides, and the other differences.
fn step_view(step: &StepPair, is_first: bool, names: (&str, &str), place: (ComparisonNumber, usize)) -> AnyView {
    let (mark, class) = match (is_first, step.findings.is_empty()) {
        (true, _) => ("First divergence", "cw-replay-mark cw-replay-first"),
        (false, true) => ("Same", "cw-replay-mark"),
        (false, false) => ("Differs", "cw-replay-mark cw-replay-changed"),
    };
    // The sides show the others.
    let is_beside = |kind| matches!(kind, Kind::Text | Kind::Tools | Kind::Results | Kind::Steps);
    let other = step.findings.iter().filter(|finding| !is_beside(finding.kind));
    let other: Vec<_> = other.map(finding_view).collect();
    let agent = step.agent.clone();
    view! {
        <li class="cw-replay-step" id=anchor(place)>
            <h3>{format!("Step {} ", step.number)}<span class="cw-admin-id">{agent}</span>" "<span class=class>{mark}</span></h3>
            {sides_view(step, names)}
            {(!other.is_empty()).then(|| view! { <div class="cw-replay-findings">{other}</div> })}
        </li>
    }
    .into_any()
}

/// Renders a difference with the words that differ.
fn finding_view(finding: &Finding) -> AnyView {
    let unstable = if finding.unstable { " (also differs without the change)" } else { "" };
    let what = format!("{}{unstable}", heading(finding));
    let difference = (finding.kind != Kind::Miss).then(|| {
        let pieces = pieces(&readable(&finding.before), &readable(&finding.after));
        view! { <pre class="cw-admin-pre cw-admin-diff" tabindex="0">{words(&pieces, Side::Both)}</pre> }
    });
    view! {
        <div class="cw-replay-finding">
            <p>{what}</p>
            {difference}
        </div>
    }
    .into_any()
}

/// Returns the heading of a difference.
fn heading(finding: &Finding) -> String {
    let what = &finding.what;
    match finding.kind {
        Kind::Model | Kind::Prompt | Kind::Settings => format!("{} differs", capital(what)),
        Kind::Schema | Kind::Ending => capital(what),
        Kind::Messages => format!("Input of the model: {what}"),
        Kind::Miss => format!("Not in the recording: {what}"),
        Kind::Tokens => "More tokens".to_owned(),
        Kind::Cost => "A higher cost".to_owned(),
        Kind::Tools | Kind::Text | Kind::Results | Kind::Steps => {
            format!("{}: {what}", capital(kind_name(finding.kind)))
        }
    }
}

/// Returns a text with a capital at its beginning.
fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// Returns a JSON object in lines, and any other text as it is.
fn readable(text: &str) -> String {
    let object = text.starts_with('{').then(|| serde_json::from_str::<serde_json::Value>(text).ok()).flatten();
    object.and_then(|object| serde_json::to_string_pretty(&object).ok()).unwrap_or_else(|| text.to_owned())
}

/// The side of a difference whose words are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
    Both,
}

/// Renders the words of a difference.
fn words(pieces: &[Piece], side: Side) -> Vec<AnyView> {
    let piece = |piece: &Piece| match piece {
        Piece::Same(text) => Some(text.clone().into_any()),
        Piece::Removed(text) if side != Side::After => Some(view! { <del>{text.clone()}</del> }.into_any()),
        Piece::Added(text) if side != Side::Before => Some(view! { <ins>{text.clone()}</ins> }.into_any()),
        Piece::Removed(_) | Piece::Added(_) => None,
    };
    pieces.iter().filter_map(piece).collect()
}

fn totals_table(before: Totals, after: Totals, names: (&str, &str)) -> AnyView {
    let cost = |totals: Totals| totals.cost_usd.map_or_else(String::new, |cost| format!("${cost:.4}"));
    let rows = [
        ("Tokens read", number(before.input_tokens as f64), number(after.input_tokens as f64)),
        ("Tokens written", number(before.output_tokens as f64), number(after.output_tokens as f64)),
        ("Cost", cost(before), cost(after)),
        ("Time of the models", time(before), time(after)),
    ];
    // The headings are the names of the sides, which `web::html::table` cannot have.
    let (first, second) = (names.0.to_owned(), names.1.to_owned());
    let row = |(name, before, after): (&'static str, String, String)| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td class="cw-admin-number" data-label=first.clone()>{text(before)}</td>
                <td class="cw-admin-number" data-label=second.clone()>{text(after)}</td>
            </tr>
        }
    };
    let rows: Vec<_> = rows.into_iter().map(row).collect();
    view! {
        <div class="cw-replay-totals">
            <table class="cw-admin-table">
                <thead>
                    <tr>
                        <th scope="col">"Used"</th>
                        <th scope="col" class="cw-admin-number">{first}</th>
                        <th scope="col" class="cw-admin-number">{second}</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// Formats the time of a step.
fn time(totals: Totals) -> String {
    format!("{:.2} s", totals.ms as f64 / 1_000.0)
}
