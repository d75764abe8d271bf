//! The block `Table`.

use super::field::heading;
use crate::node::{Node, drawn, element};
use crate::prelude::*;
use crate::properties::Properties;
use crate::texts::{self, Text, t};
use serde_json::Value;
use wire::page::TableColumn;
use wire::page::properties::as_text;

/// The most rows that are shown.
const MAX_ROWS: usize = 500;

/// Rows of values.
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
        let title = properties.text("title").filter(|title| !title.is_empty())?;
        Some(view! { <h3 class="cw-table-title" id=titled.clone() dir="auto">{title}</h3> }.into_any())
    };
    let body = drawn(move || match properties.value("rows") {
        Value::Array(rows) if !rows.is_empty() => table(&rows, &columns(properties, &rows), &caption_id),
        _ => vec![aside(properties.text("empty").unwrap_or_else(|| t(Text::TableEmpty).to_owned()))],
    });
    view! {
        <div class="cw-table-block">
            {title}
            {body}
        </div>
    }
    .into_any()
}

/// The columns: those of the config, or every key of the first row.
fn columns(properties: Properties, rows: &[Value]) -> Vec<TableColumn> {
    let column =
        |key: String, title: Option<String>| TableColumn { title: title.unwrap_or_else(|| heading(&key)), key };
    match properties.value("columns") {
        Value::Array(columns) => {
            let read = |own: &Value| match own {
                Value::Object(own) => Some(column(as_text(own.get("key")?)?, own.get("title").and_then(as_text))),
                other => Some(column(as_text(other)?, None)),
            };
            columns.iter().filter_map(read).collect()
        }
        _ => rows[0].as_object().into_iter().flatten().map(|(key, _)| column(key.clone(), None)).collect(),
    }
}

fn table(rows: &[Value], columns: &[TableColumn], caption_id: &str) -> Vec<Node> {
    let heads = columns.iter().map(|column| element("th").with("scope", "col").text(column.title.as_str())).collect();
    let row = |row: &Value| element("tr").around(columns.iter().map(|column| cell(at(row, &column.key))).collect());
    let head = element("thead").around(vec![element("tr").around(heads)]);
    let body = element("tbody").around(rows.iter().take(MAX_ROWS).map(row).collect());
    // It takes the focus, so that the keyboard can scroll it.
    let scroller = element("div").with("class", "cw-table-scroll").with("role", "region").with("tabindex", "0");
    let scroller = scroller.with("aria-labelledby", caption_id);
    let table = scroller.around(vec![element("table").with("class", "cw-table").around(vec![head, body])]);
    match rows.len().saturating_sub(MAX_ROWS) {
        0 => vec![table],
        over => vec![table, aside(texts::count(Text::AndMore, over))],
    }
}

/// A line below the table or in its place.
fn aside(text: String) -> Node {
    element("p").with("class", "cw-table-empty").with("dir", "auto").text(text)
}

fn cell(value: Option<&Value>) -> Node {
    let (text, numeric) = match value {
        Some(Value::Bool(yes)) => (if *yes { t(Text::Yes) } else { t(Text::No) }.to_owned(), false),
        Some(value) => (as_text(value).unwrap_or_default(), value.is_number()),
        None => (String::new(), false),
    };
    let cell = element("td").with("dir", "auto").text(text);
    if numeric { cell.with("class", "cw-number") } else { cell }
}

/// A value in a row; `a.b` reaches into an object.
fn at<'v>(row: &'v Value, key: &str) -> Option<&'v Value> {
    row.get(key).or_else(|| key.split('.').try_fold(row, |value, key| value.get(key)))
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use serde_json::json;

    fn html(properties: Value) -> String {
        let properties = properties.as_object().cloned().unwrap_or_default();
        let html =
            Owner::new().with(|| view! { <Table id="t" properties=Properties::of_config(properties) /> }.to_html());
        html.replace("<!>", "")
    }

    #[test]
    fn rows_and_columns() {
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
    fn no_rows_and_too_many() {
        assert!(html(json!({"rows": [], "empty": "No tickets."})).contains("No tickets."));
        assert!(html(json!({"rows": "nonsense"})).contains("Nothing here yet."));
        let many: Vec<_> = (0..MAX_ROWS + 3).map(|n| json!({ "n": n })).collect();
        assert!(html(json!({ "rows": many })).contains("and 3 more"));
    }
}
