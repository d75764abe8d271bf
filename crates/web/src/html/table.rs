//! Tables and lists of facts. On a narrow screen a row becomes a card, in which `data-label` labels
//! each value.

use leptos::prelude::*;
use wire::hidden_characters::{TextKind, text_with_code_points};

/// The heading of a column.
#[derive(Clone, Copy)]
pub enum Heading {
    /// A text.
    Text(&'static str),
    /// A right-aligned number.
    Number(&'static str),
}

/// Renders a table; the first cell of each row is its header. Without rows, `none` is shown
/// instead.
pub fn table<const N: usize>(
    columns: [Heading; N],
    lines: impl IntoIterator<Item = [AnyView; N]>,
    none: &'static str,
) -> AnyView {
    table_of(&columns, lines.into_iter().map(Vec::from), none)
}

/// Renders a table with columns that are known at run time, as [`table`].
pub fn table_of(columns: &[Heading], lines: impl IntoIterator<Item = Vec<AnyView>>, none: &'static str) -> AnyView {
    let lines: Vec<_> = lines.into_iter().map(|cells| row_view(columns, cells)).collect();
    if lines.is_empty() {
        return view! { <p class="cw-account-note">{none}</p> }.into_any();
    }
    let head = |column: &Heading| match *column {
        Heading::Text(name) => view! { <th scope="col">{name}</th> }.into_any(),
        Heading::Number(name) => view! { <th scope="col" class="cw-admin-number">{name}</th> }.into_any(),
    };
    view! {
        <table class="cw-admin-table">
            <thead>
                <tr>{columns.iter().map(head).collect_view()}</tr>
            </thead>
            <tbody>{lines}</tbody>
        </table>
    }
    .into_any()
}

fn row_view(columns: &[Heading], cells: Vec<AnyView>) -> AnyView {
    let cell = |(i, (cell, column)): (usize, (AnyView, &Heading))| match *column {
        _ if i == 0 => view! { <th scope="row">{cell}</th> }.into_any(),
        Heading::Text(name) => view! { <td data-label=name>{cell}</td> }.into_any(),
        Heading::Number(name) => view! { <td class="cw-admin-number" data-label=name>{cell}</td> }.into_any(),
    };
    view! { <tr>{cells.into_iter().zip(columns).enumerate().map(cell).collect_view()}</tr> }.into_any()
}

/// Renders a text cell; a dash for an empty text.
pub fn text(text: impl Into<String>) -> AnyView {
    let text = text.into();
    if text.is_empty() { "–".into_any() } else { text.into_any() }
}

/// Renders a cell with a name that may be long, such as `update_page_state`: it may break after its
/// separators, so that it does not break within a word.
pub fn name(name: &str) -> AnyView {
    if name.is_empty() {
        return text("");
    }
    let name = text_with_code_points(name, TextKind::Value);
    let parts = name.split_inclusive(['_', '-', '.', ':', '/']);
    parts.map(|part| view! { {part.to_owned()}<wbr /> }).collect_view().into_any()
}

/// Returns the end of an id, as the text of links to objects without a name: ids differ most at their ends.
pub fn short_id(id: &str) -> String {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id).to_owned()
}

/// Renders a cell with a link.
pub fn link(path: impl Into<String>, text: impl Into<String>) -> AnyView {
    view! { <a href=path.into()>{text.into()}</a> }.into_any()
}

/// Renders a list of names and values.
pub fn facts(facts: impl IntoIterator<Item = (&'static str, AnyView)>) -> impl IntoView {
    let fact = |(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> };
    view! { <dl class="cw-admin-facts">{facts.into_iter().map(fact).collect_view()}</dl> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_break_after_separators() {
        let html = name("admin:export_audit").to_html().replace("<!>", "");
        assert_eq!(html, "admin:<wbr>export_<wbr>audit<wbr>");
        assert_eq!(name("look\u{200b}").to_html().replace("<!>", ""), "look[U+200B]<wbr>");
        assert_eq!(name("").to_html(), "–");
    }

    #[test]
    fn ids_are_shown_by_their_ends() {
        let check = |id: &str, expected: &str| assert_eq!(short_id(id), expected);
        check("01a2b3c4-0000-7000-8000-0123456789ab", "456789ab");
        check("short", "short");
        // The last eight bytes of this id begin within a character.
        check("äbcdefgh", "äbcdefgh");
    }

    #[test]
    fn tables_show_rows_or_the_empty_text() {
        let shown = |lines: Vec<[AnyView; 2]>| {
            table([Heading::Text("Name"), Heading::Number("Tokens")], lines, "No rows match.").to_html()
        };
        let html = shown(vec![[link("/x?a=1&b=2", "<b>"), 7.into_any()]]);
        for expected in [
            r#"<th scope="col" class="cw-admin-number">Tokens</th>"#,
            r#"<th scope="row"><a href="/x?a=1&amp;b=2">&lt;b&gt;</a></th>"#,
            r#"<td data-label="Tokens" class="cw-admin-number">7</td>"#,
        ] {
            assert!(html.contains(expected), "{html}");
        }
        let html = shown(Vec::new());
        assert!(html.contains("No rows match.") && !html.contains("<table"), "{html}");
    }
}
