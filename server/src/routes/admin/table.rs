//! What is shown in lines under columns, and facts with their names. On a narrow screen a line becomes a card, where each value says by its
//! `data-label` what it is.

use leptos::prelude::*;

/// A column by its name.
#[derive(Clone, Copy)]
pub(super) enum Column {
    Text(&'static str),
    /// Digits stand below digits.
    Number(&'static str),
}

/// Lines under their columns, the first cell of each being its name; `none` is said where there are no lines.
pub(super) fn table<const N: usize>(
    columns: [Column; N],
    lines: impl IntoIterator<Item = [AnyView; N]>,
    none: &'static str,
) -> AnyView {
    whole(&columns, lines.into_iter().map(|cells| line(&columns, cells.into())).collect(), none)
}

fn whole(columns: &[Column], lines: Vec<AnyView>, none: &'static str) -> AnyView {
    if lines.is_empty() {
        return view! { <p class="cw-account-note">{none}</p> }.into_any();
    }
    let head = |column: &Column| match *column {
        Column::Text(name) => view! { <th scope="col">{name}</th> }.into_any(),
        Column::Number(name) => view! { <th scope="col" class="cw-admin-number">{name}</th> }.into_any(),
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

fn line(columns: &[Column], cells: Vec<AnyView>) -> AnyView {
    let cell = |(i, (cell, column)): (usize, (AnyView, &Column))| match *column {
        _ if i == 0 => view! { <th scope="row">{cell}</th> }.into_any(),
        Column::Text(name) => view! { <td data-label=name>{cell}</td> }.into_any(),
        Column::Number(name) => view! { <td class="cw-admin-number" data-label=name>{cell}</td> }.into_any(),
    };
    view! { <tr>{cells.into_iter().zip(columns).enumerate().map(cell).collect_view()}</tr> }.into_any()
}

/// A text as a cell, or a dash where there is none.
pub(super) fn text(text: impl Into<String>) -> AnyView {
    let text = text.into();
    if text.is_empty() { "–".into_any() } else { text.into_any() }
}

/// A cell that leads to what it names.
pub(super) fn link(path: impl Into<String>, text: impl Into<String>) -> AnyView {
    view! { <a href=path.into()>{text.into()}</a> }.into_any()
}

/// What is known of one thing.
pub(super) fn facts(facts: impl IntoIterator<Item = (&'static str, AnyView)>) -> impl IntoView {
    let fact = |(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> };
    view! { <dl class="cw-admin-facts">{facts.into_iter().map(fact).collect_view()}</dl> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_none() {
        let shown = |lines: Vec<[AnyView; 2]>| {
            table([Column::Text("Name"), Column::Number("Tokens")], lines, "Nothing fits.").to_html()
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
        assert!(html.contains("Nothing fits.") && !html.contains("<table"), "{html}");
    }
}
