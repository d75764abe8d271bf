//! The common views of the pages: lines of a config with their problems, and differences.

use crate::diff::DiffLine;
use config::{ChangeKind, ConfigChange, Diagnostic, Severity};
use leptos::prelude::*;

/// The most lines of a file that are shown.
const MAX_LINES: usize = 2_000;
/// The most changed entries that are listed.
const MAX_CHANGES: usize = 50;

/// Renders lines with their numbers, and below a line what is wrong with it.
pub(super) fn lines_view(name: &str, lines: &[String], problems: &[&Diagnostic]) -> AnyView {
    let width = lines.len().to_string().len();
    let margin = " ".repeat(width);
    let problem_view = |problem: &&Diagnostic| {
        let excerpt = problem.excerpt.as_ref();
        let marker = " ".repeat((problem.column as usize).saturating_sub(1));
        let marker = format!("{marker}{}", "^".repeat(excerpt.map_or(1, |excerpt| excerpt.width)));
        let help = problem.help.as_ref().map(|help| format!("\n{margin}   = help: {help}"));
        let text = format!(
            "{margin} | {marker}\n{margin}   {}: {}{}",
            problem.severity,
            problem.message,
            help.unwrap_or_default()
        );
        view! { <strong>{text}</strong>"\n" }
    };
    let line_view = |(index, line): (usize, &String)| {
        let number = index + 1;
        let here = problems.iter().filter(|problem| problem.line as usize == number).map(problem_view);
        view! {
            {format!("{number:>width$} | {line}\n")}
            {here.collect_view()}
        }
    };
    let hidden = lines.len().saturating_sub(MAX_LINES);
    view! {
        <pre class="cw-admin-pre cw-admin-exact" tabindex="0" aria-label=name.to_owned()>
            {lines.iter().enumerate().take(MAX_LINES).map(line_view).collect_view()}
            {(hidden > 0).then(|| format!("… and {hidden} more lines\n"))}
        </pre>
    }
    .into_any()
}

/// Renders each problem with its place.
pub(super) fn problem_list(problems: &[Diagnostic]) -> AnyView {
    let one = |problem: &Diagnostic| {
        let place = match (problem.line, problem.file.as_str()) {
            (0, crate::check::NAME) => "Everywhere".to_owned(),
            (0, file) => file.to_owned(),
            (line, crate::check::NAME) => format!("Line {line}, column {}", problem.column),
            (line, file) => format!("{file}, line {line}, column {}", problem.column),
        };
        let help = problem.help.clone().map(|help| format!(" – {help}"));
        view! { <li><strong>{place}</strong>{format!(": {}: {}", problem.severity, problem.message)}{help}</li> }
    };
    view! { <ul class="cw-admin-problems">{problems.iter().map(one).collect_view()}</ul> }.into_any()
}

/// Renders what the checker has found, and whether the changes can be published; nothing if it has found nothing.
pub(super) fn problems_view(problems: &[Diagnostic]) -> Option<AnyView> {
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    let (class, role, title) = match errors {
        0 => ("cw-account-note", "status", "The changes can be published, but look at this:".to_owned()),
        1 => ("cw-account-problem", "alert", "The changes have an error, so they cannot be published:".to_owned()),
        errors => {
            ("cw-account-problem", "alert", format!("The changes have {errors} errors, so they cannot be published:"))
        }
    };
    (!problems.is_empty()).then(|| {
        view! {
            <div class=class role=role id="problems">
                <p>{title}</p>
                {problem_list(problems)}
            </div>
        }
        .into_any()
    })
}

/// Renders a difference. A sign before each line says how it has changed, so color is not needed to read it. `label` is
/// the id of its heading.
pub(super) fn diff_view(lines: Vec<DiffLine>, label: &'static str) -> AnyView {
    if lines.is_empty() {
        return view! { <p class="cw-account-note">"There is no difference."</p> }.into_any();
    }
    let pieces = |sign: &'static str, pieces: Vec<(bool, String)>| {
        let piece = |(differs, text): (bool, String)| {
            if differs { view! { <strong>{text}</strong> }.into_any() } else { text.into_any() }
        };
        (sign, pieces.into_iter().map(piece).collect_view())
    };
    let line = |line: DiffLine| match line {
        DiffLine::Same(text) => format!("  {text}\n").into_any(),
        DiffLine::Gap => "  …\n".into_any(),
        DiffLine::Added(line) => view! { <ins>{pieces("+ ", line)}</ins>"\n" }.into_any(),
        DiffLine::Removed(line) => view! { <del>{pieces("- ", line)}</del>"\n" }.into_any(),
    };
    view! {
        <pre class="cw-admin-pre cw-admin-exact cw-admin-diff" tabindex="0" aria-labelledby=label>
            {lines.into_iter().map(line).collect_view()}
        </pre>
    }
    .into_any()
}

/// Renders the entries of the config that change.
pub(super) fn changes_view(changes: &[ConfigChange]) -> AnyView {
    let one = |change: &ConfigChange| {
        let how = match change.kind {
            ChangeKind::Added => "added",
            ChangeKind::Changed => "changed",
            ChangeKind::Removed => "removed",
        };
        view! { <li><span class="cw-admin-id">{change.path.clone()}</span>" "{how}</li> }
    };
    let hidden = changes.len().saturating_sub(MAX_CHANGES);
    match changes {
        [] => view! { <p class="cw-account-note">"No entry of the config changes."</p> }.into_any(),
        _ => view! {
            <ul class="cw-admin-changes">{changes.iter().take(MAX_CHANGES).map(one).collect_view()}</ul>
            {(hidden > 0).then(|| view! { <p class="cw-account-note">{format!("… and {hidden} more.")}</p> })}
        }
        .into_any(),
    }
}

/// Renders a button that sends one number.
pub(super) fn button(action: String, title: &'static str, class: &'static str, field: (&'static str, i64)) -> AnyView {
    let (name, value) = field;
    view! {
        <form class="cw-admin-acts" method="post" action=action>
            <input type="hidden" name=name value=value.to_string() />
            <button class=class>{title}</button>
        </form>
    }
    .into_any()
}
