//! A table with many rows, of which only those in view are in the document.

use super::csv::{Csv, MAX_COLUMNS};
use super::viewer::Viewer;
use crate::prelude::*;
use crate::texts::{Text, fill, group_digits, t};
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use crate::ui::node::{Node, element, reactive_nodes};
use crate::ui::numbers::css_pixels;
use leptos::ev::Event;
use leptos::html;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::HtmlElement;
use std::sync::Arc;

/// The height of a row in pixels, as in the style sheet.
const ROW: usize = 32;
/// How many rows are in the document, and by how many the window moves.
const WINDOW: usize = 80;
const STEP: usize = 20;

/// The shown version as a table.
pub(super) fn csv_table(viewer: Viewer, separator: char) -> AnyView {
    let csv = RwSignal::new(None::<Arc<Csv>>);
    Effect::new(move |_| csv.set(viewer.text.get().map(|(_, text)| Arc::new(Csv::new(text, separator)))));
    let rows_of = move || csv.with(|csv| csv.as_ref().map_or(0, |csv| csv.len()));
    let scroller = NodeRef::<html::Div>::new();
    let first = RwSignal::new(0_usize);
    let scrolled = move |_: Event| {
        let Some(scroller) = scroller.get_untracked() else { return };
        let top = usize::try_from(scroller.scroll_top()).unwrap_or_default() / ROW;
        let wanted = top.saturating_sub(STEP) / STEP * STEP;
        if first.get_untracked() != wanted {
            first.set(wanted);
        }
    };
    Effect::new(move |_| {
        csv.track();
        first.set(0);
        if let Some(scroller) = scroller.get() {
            scroller.set_scroll_top(0);
        }
    });
    let (room, table) = (NodeRef::<html::Div>::new(), NodeRef::<html::Table>::new());
    // The policy of the page forbids style attributes, and allows to set properties.
    Effect::new(move |_| {
        let rows = rows_of();
        if let (Some(room), Some(table)) = (room.get(), table.get()) {
            set(&room, "height", &css_pixels(((rows + 1) * ROW) as f64));
            set(&table, "top", &css_pixels((first.get().min(rows) * ROW) as f64));
        }
    });
    let rows =
        reactive_nodes(move || csv.with(|csv| csv.as_ref().map(|csv| body(csv, first.get())).unwrap_or_default()));
    let head = reactive_nodes(move || csv.with(|csv| csv.as_ref().map(|csv| vec![head(csv)]).unwrap_or_default()));
    // So that the columns stay as wide as they are while other rows come into view.
    Effect::new(move |_| {
        if let (Some(csv), Some(table)) = (csv.get(), table.get()) {
            request_animation_frame(move || set_widths(&table, &csv.widths));
        }
    });
    let rest = move || {
        let is_cut = csv.with(|csv| csv.as_ref().is_some_and(|csv| csv.is_cut || csv.head.len() == MAX_COLUMNS));
        is_cut.then(|| view! { <p class="cw-artifact-note">{t(Text::ArtifactRest)}</p> })
    };
    view! {
        <p class="cw-artifact-note">{move || fill(Text::ArtifactRows, &[&group_digits(rows_of() as u64)])}</p>
        {rest}
        <div class="cw-artifact-rows" node_ref=scroller tabindex="0" role="region" aria-label=t(Text::ArtifactPreview) on:scroll=scrolled>
            <div class="cw-artifact-room" node_ref=room>
                <table node_ref=table aria-rowcount=move || Some((rows_of() + 1).to_string())>
                    <thead>{head}</thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </div>
    }
    .into_any()
}

fn head(csv: &Csv) -> Node {
    let cells = csv.head.iter().map(|field| {
        let cell = element("th").attr("scope", "col").attr("dir", "auto");
        cell.children(visible_nodes(field, TextKind::Value))
    });
    element("tr").attr("aria-rowindex", "1").children(cells.collect())
}

/// Returns the rows of the window that begins at a row.
fn body(csv: &Csv, first: usize) -> Vec<Node> {
    let row = |index: usize| {
        let mut fields = csv.row(index);
        fields.resize(csv.widths.len(), String::new());
        let cells = fields.iter().map(|field| {
            let cell = element("td").attr("dir", "auto");
            if is_number(field) { cell.attr("data-number", "") } else { cell }
                .children(visible_nodes(field, TextKind::Value))
        });
        let row = element("tr").attr("data-key", index.to_string()).attr("aria-rowindex", (index + 2).to_string());
        row.children(cells.collect())
    };
    (first..csv.len().min(first + WINDOW)).map(row).collect()
}

/// Whether a field is a number, which is aligned at its end.
fn is_number(field: &str) -> bool {
    let digits = field.trim_start_matches(['-', '+']);
    digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.chars().all(|char| char.is_ascii_digit() || matches!(char, '.' | ',' | '%'))
}

fn set_widths(table: &HtmlElement, widths: &[usize]) {
    let Ok(cells) = table.query_selector_all("th") else { return };
    for (index, width) in (0..).zip(widths) {
        if let Some(cell) = cells.item(index).and_then(|cell| cell.dyn_into::<HtmlElement>().ok()) {
            set(&cell, "min-width", &[&(width + 2).to_string(), "ch"].concat());
        }
    }
}

fn set(element: &HtmlElement, name: &str, value: &str) {
    // Cannot fail: the names are valid.
    let _ = element.style().set_property(name, value);
}
