//! The lines in which two versions differ.

use super::diff::{Change, Line, diff, hunks};
use super::toolbar::version_label;
use super::viewer::Viewer;
use crate::prelude::*;
use crate::texts::{Text, fill, group_digits, t};
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use crate::ui::node::{Node, element, reactive_nodes};
use leptos::ev::Event;
use wire::file::FileVersion;

/// The most lines that are in the document.
const MAX_SHOWN: usize = 3_000;
/// The most bytes of a line that are shown.
const MAX_LINE: usize = 2_000;
/// The most bytes of a text that is compared.
const MAX_COMPARED: usize = 4 << 20;

/// The comparison of the shown version with another one.
pub(super) fn changes_view(viewer: Viewer) -> AnyView {
    let texts = move || {
        // While one of them is loaded, the text of another version may be there.
        let shown = viewer.shown.get()?.version;
        let other = viewer.other()?.version;
        let (_, new) = viewer.text.get().filter(|(version, _)| *version == shown)?;
        let (_, old) = viewer.compared_text.get().filter(|(version, _)| *version == other)?;
        Some((old, new))
    };
    let nodes = reactive_nodes(move || {
        let Some((old, new)) = texts() else {
            let is_only = viewer.shown.with(Option::is_some) && viewer.other().is_none();
            return if is_only { vec![note(t(Text::DiffOnlyVersion))] } else { Vec::new() };
        };
        comparison(&old, &new)
    });
    let chosen = move |event: Event| viewer.compared.set(event_target_value(&event).parse().ok());
    let options = reactive_nodes(move || {
        let (shown, other) = (viewer.shown.get().map(|shown| shown.version), viewer.other().map(|other| other.version));
        viewer.versions.with(|all| {
            let others = all.iter().enumerate().filter(|(_, version)| Some(version.version) != shown);
            let option = |(at, version): (usize, &FileVersion)| {
                let option = element("option").attr("value", version.version.to_string());
                let option = if Some(version.version) == other { option.attr("selected", "") } else { option };
                option.text(version_label(version, at == 0))
            };
            others.map(option).collect()
        })
    });
    let value = move || viewer.other().map(|other| other.version.to_string());
    view! {
        <label class="cw-artifact-compared" hidden=move || viewer.other().is_none()>
            <span>{t(Text::DiffCompared)}</span>
            <select class="cw-artifact-select" prop:value=move || value().unwrap_or_default() on:change=chosen>
                {options}
            </select>
        </label>
        <div class="cw-artifact-changes" tabindex="0" role="region" aria-label=t(Text::ArtifactChanges)>
            {nodes}
        </div>
    }
    .into_any()
}

fn note(text: &'static str) -> Node {
    element("p").attr("class", "cw-artifact-note").text(text)
}

fn comparison(old: &str, new: &str) -> Vec<Node> {
    if old == new {
        return vec![note(t(Text::DiffSame))];
    }
    if old.len().max(new.len()) > MAX_COMPARED {
        return vec![note(t(Text::DiffTooLarge))];
    }
    let lines = diff(old, new);
    let count = |change| group_digits(lines.iter().filter(|line| line.change == change).count() as u64);
    let groups = hunks(&lines);
    if groups.is_empty() {
        return vec![note(t(Text::DiffEndings))];
    }
    let counts = fill(Text::DiffLines, &[&count(Change::Added), &count(Change::Removed)]);
    let (mut left, mut bodies) = (MAX_SHOWN, Vec::new());
    for group in groups {
        let shown = &group[..group.len().min(left)];
        left -= shown.len();
        if !shown.is_empty() {
            bodies.push(element("tbody").children(shown.iter().map(row).collect()));
        }
    }
    let title = |text| element("th").attr("scope", "col").text(t(text));
    let heads = [Text::DiffOldLine, Text::DiffNewLine, Text::DiffText].map(title);
    let head = element("tr").children(heads.into());
    let head = element("thead").attr("class", "cw-visually-hidden").children(vec![head]);
    let table = std::iter::once(head).chain(bodies).collect();
    let mut nodes = vec![
        element("p").attr("class", "cw-artifact-note").attr("role", "status").text(counts),
        element("table").attr("class", "cw-diff").attr("dir", "ltr").children(table),
    ];
    if left == 0 {
        nodes.push(note(t(Text::ArtifactRest)));
    }
    nodes
}

fn row(line: &Line<'_>) -> Node {
    let (change, tag, sign) = match line.change {
        Change::Same => ("same", "span", " "),
        Change::Removed => ("removed", "del", "−"),
        Change::Added => ("added", "ins", "+"),
    };
    let number = |number: Option<usize>| {
        element("td").attr("class", "cw-diff-number").text(number.map(|number| number.to_string()).unwrap_or_default())
    };
    let text = &line.text[..line.text.floor_char_boundary(MAX_LINE)];
    let mut shown = vec![element("span").attr("class", "cw-diff-sign").text(sign)];
    shown.push(element(tag).children(visible_nodes(text, TextKind::Code)));
    if text.len() < line.text.len() {
        shown.push(element("span").text("…"));
    }
    let text = element("td").attr("class", "cw-diff-text").children(shown);
    element("tr").attr("data-change", change).children(vec![number(line.old), number(line.new), text])
}
