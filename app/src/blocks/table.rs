//! The block `Table`.

use super::field::default_heading;
use crate::prelude::*;
use crate::properties::Properties;
use crate::texts::{self, Text, t};
use crate::ui::node::{Node, element, reactive_nodes};
use serde_json::Value;
use wire::page::{TableColumn, TableProperties, as_text};

/// The maximum number of rows that are shown.
const MAX_ROWS: usize = 500;

/// A table of values.
#[component]
pub fn Table(
    /// The block's id.
    #[prop(into)]
    id: String,
    /// `title`, `rows`, `columns` and `empty`.
    #[prop(into)]
    properties: Properties,
) -> AnyView {
    let caption_id = format!("table-{id}");
    let titled = caption_id.clone();
    let title = move || {
        let title = properties.get::<TableProperties>().title.filter(|title| !title.is_empty())?;
        Some(view! { <h3 class="cw-table-title" id=titled.clone() dir="auto">{title}</h3> }.into_any())
    };
    let body = reactive_nodes(move || {
        let TableProperties { rows, columns, empty, .. } = properties.get();
        match rows.first() {
            Some(first) if columns.is_empty() => table(&rows, &columns_of(first), &caption_id),
            Some(_) => table(&rows, &columns, &caption_id),
            None => vec![note(empty.unwrap_or_else(|| t(Text::TableEmpty).to_owned()))],
        }
    });
    view! {
        <div class="cw-table-block">
            {title}
            {body}
        </div>
    }
    .into_any()
}

/// Returns a column for each key of a row.
fn columns_of(row: &Value) -> Vec<TableColumn> {
    row.as_object().into_iter().flatten().map(|(key, _)| TableColumn { key: key.clone(), title: None }).collect()
}

fn table(rows: &[Value], columns: &[TableColumn], caption_id: &str) -> Vec<Node> {
    let heading = |column: &TableColumn| column.title.clone().unwrap_or_else(|| default_heading(&column.key));
    let heads = columns.iter().map(|column| element("th").attr("scope", "col").text(heading(column))).collect();
    let row =
        |row: &Value| element("tr").children(columns.iter().map(|column| cell(value_at(row, &column.key))).collect());
    let head = element("thead").children(vec![element("tr").children(heads)]);
    let body = element("tbody").children(rows.iter().take(MAX_ROWS).map(row).collect());
    // Focusable, so that it can be scrolled by keyboard.
    let scroller = element("div").attr("class", "cw-table-scroll").attr("role", "region").attr("tabindex", "0");
    let scroller = scroller.attr("aria-labelledby", caption_id);
    let table = scroller.children(vec![element("table").attr("class", "cw-table").children(vec![head, body])]);
    match rows.len().saturating_sub(MAX_ROWS) {
        0 => vec![table],
        over => vec![table, note(texts::fill_count(Text::AndMore, over))],
    }
}

/// Renders a line below the table or instead of it.
fn note(text: String) -> Node {
    element("p").attr("class", "cw-table-empty").attr("dir", "auto").text(text)
}

fn cell(value: Option<&Value>) -> Node {
    let (text, numeric) = match value {
        Some(Value::Bool(yes)) => (if *yes { t(Text::Yes) } else { t(Text::No) }.to_owned(), false),
        Some(value) => (as_text(value).unwrap_or_default(), value.is_number()),
        None => (String::new(), false),
    };
    let cell = element("td").attr("dir", "auto").text(text);
    if numeric { cell.attr("class", "cw-number") } else { cell }
}

/// Returns the value of a column in a row; `a.b` addresses a nested object.
fn value_at<'v>(row: &'v Value, key: &str) -> Option<&'v Value> {
    row.get(key).or_else(|| key.split('.').try_fold(row, |value, key| value.get(key)))
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use serde_json::json;

    fn html(properties: Value) -> String {
        let properties = properties.as_object().cloned().unwrap_or_default();
        let html =
            Owner::new().with(|| view! { <Table id="t" properties=Properties::from_config(properties) /> }.to_html());
        html.replace("<!>", "")
    }

    #[test]
    fn columns_come_from_the_first_row_or_the_config() {
        let rows = json!([{"name": "Ada", "seats": 3, "plan": {"title": "Pro"}}, {"name": "<b>", "paid": true}]);
        let table = html(json!({"rows": rows}));
        assert!(
            table.contains(r#"<th scope="col">Name</th><th scope="col">Seats</th><th scope="col">Plan</th>"#),
            "{table}"
        );
        assert!(table.contains("&lt;b&gt;") || table.contains("&lt;b>"), "{table}");
        let table = html(json!({"rows": rows, "columns": ["paid", {"key": "plan.title", "title": "Plan"}]}));
        assert!(table.contains(r#"<th scope="col">Paid</th><th scope="col">Plan</th>"#), "{table}");
        assert!(table.contains(">Pro</td>") && table.contains(">Yes</td>"), "{table}");
    }

    #[test]
    fn empty_and_too_long_tables_say_so() {
        assert!(html(json!({"rows": [], "empty": "No tickets."})).contains("No tickets."));
        assert!(html(json!({"rows": "nonsense"})).contains("Nothing here yet."));
        let many: Vec<_> = (0..MAX_ROWS + 3).map(|n| json!({ "n": n })).collect();
        assert!(html(json!({ "rows": many })).contains("and 3 more"));
    }
}
