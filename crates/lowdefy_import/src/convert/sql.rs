//! `KnexRaw`: a SQL statement with bindings.

use crate::tree::{Entry, Tree, Value};

/// Converts the step. Bindings by position get the names `p1`, `p2`, …
///
/// # Errors
/// What to do instead, if the statement cannot be converted.
pub(super) fn convert(step: &mut Tree) -> Result<(), &'static str> {
    let at = step.at;
    let properties = step.get("properties").ok_or("write its `properties`")?;
    let query =
        properties.get("query").filter(|query| query.text().is_some()).ok_or("write the statement as a text")?;
    let text = query.text().unwrap_or_default();
    let bindings = properties.get("bindings");
    let (text, parameters) = match bindings.map(|bindings| (&bindings.value, bindings.operator())) {
        None | Some((Value::Null, _)) => (text.to_owned(), Vec::new()),
        Some((Value::Map(_), None)) => (text.to_owned(), bindings.map(Tree::entries).unwrap_or_default().to_vec()),
        Some((Value::List(values), _)) => {
            let named = name_placeholders(text);
            if named.1 != values.len() {
                return Err("write a named parameter `:name` for each `?`");
            }
            let parameters = values.iter().zip(1..).map(|(value, number)| Entry {
                key: format!("p{number}"),
                key_at: value.at,
                value: value.clone(),
            });
            (named.0, parameters.collect())
        }
        Some(_) => return Err("write the parameters one by one; they cannot be computed as a whole"),
    };
    let first = text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    let writes = !["select", "with", "values", "show", "explain"].contains(&first.as_str());
    let returns_rows = text.to_ascii_lowercase().contains("returning");
    let kind = if writes && !returns_rows { "SqlExecute" } else { "SqlQuery" };
    let query = Tree::text_at(query.at, text);
    let mut converted = vec![("query", query)];
    if !parameters.is_empty() {
        converted.push(("parameters", Tree::new(at, Value::Map(parameters))));
    }
    let properties = Tree::map_at(at, converted);
    step.set("type", Tree::text_at(at, kind));
    step.set("properties", properties);
    Ok(())
}

/// Replaces each `?` outside of quotes and comments by `:p1`, `:p2`, … and returns their number.
fn name_placeholders(text: &str) -> (String, usize) {
    let (mut named, mut number) = (String::new(), 0);
    let mut inside: Option<char> = None;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (inside, c) {
            (None, '\'' | '"') => inside = Some(c),
            (None, '-') if characters.peek() == Some(&'-') => inside = Some('\n'),
            (None, '?') => {
                number += 1;
                named.push_str(&format!(":p{number}"));
                continue;
            }
            (Some(end), c) if c == end => inside = None,
            _ => {}
        }
        named.push(c);
    }
    (named, number)
}
