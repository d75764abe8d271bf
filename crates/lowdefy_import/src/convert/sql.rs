//! `KnexRaw`: a SQL statement with parameters.

use super::Notes;
use crate::tree::{Entry, Tree, Value};

/// Converts the step. Parameters by position get the names `p1`, `p2`, …
///
/// # Errors
/// A proposal of another form, if the statement cannot be converted.
pub(super) fn convert(step: &mut Tree, notes: &mut Notes<'_>) -> Result<(), &'static str> {
    let at = step.at;
    let properties = step.get("properties").ok_or("write its `properties`")?;
    let query =
        properties.get("query").filter(|query| query.text().is_some()).ok_or("write the statement as a text")?;
    let statement = query.text().unwrap_or_default();
    let (text, parameters) = parameters(statement, properties.get("parameters"))?;
    for entry in properties.entries().iter().filter(|entry| !["query", "parameters"].contains(&entry.key.as_str())) {
        notes.left_out(entry.key_at, format!("`{}` of a statement", entry.key), "");
    }
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

/// Returns the statement with named parameters, and these.
fn parameters(statement: &str, given: Option<&Tree>) -> Result<(String, Vec<Entry>), &'static str> {
    let Some(given) = given.filter(|given| !matches!(given.value, Value::Null)) else {
        return Ok((statement.to_owned(), Vec::new()));
    };
    let (named, placeholders) = name_placeholders(statement);
    if placeholders.names_identifiers {
        return Err("write the identifiers into the statement; they cannot be parameters");
    }
    let by_position: &[Tree] = match (&given.value, given.operator()) {
        (Value::Map(entries), None) => return Ok((statement.to_owned(), entries.clone())),
        (Value::List(values), _) => values,
        // A single value is that of the only placeholder. An operator could also return several.
        _ if placeholders.count == 1 => std::slice::from_ref(given),
        _ => return Err("write the parameters one by one; they cannot be computed as a whole"),
    };
    if placeholders.count != by_position.len() {
        return Err("write a named parameter `:name` for each `?`");
    }
    let parameters = by_position.iter().zip(1..).map(|(value, number)| Entry {
        key: format!("p{number}"),
        key_at: value.at,
        value: value.clone(),
    });
    Ok((named, parameters.collect()))
}

/// The placeholders of a statement.
struct Placeholders {
    /// The number of `?`.
    count: usize,
    /// Whether there are placeholders for names of tables and columns: `??` and `:name:`.
    names_identifiers: bool,
}

/// Replaces each `?` outside of quotes and comments by `:p1`, `:p2`, …
fn name_placeholders(text: &str) -> (String, Placeholders) {
    let (mut named, mut found) = (String::new(), Placeholders { count: 0, names_identifiers: false });
    let mut inside: Option<char> = None;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (inside, c) {
            (None, '\'' | '"') => inside = Some(c),
            (None, '-') if characters.peek() == Some(&'-') => inside = Some('\n'),
            (None, '?') => {
                found.names_identifiers |= characters.peek() == Some(&'?');
                found.count += 1;
                named.push_str(&format!(":p{}", found.count));
                continue;
            }
            // `:name:`, but not the cast `::text`.
            (None, ':') if !named.ends_with(':') => {
                let ends = |c: &char| !c.is_ascii_alphanumeric() && *c != '_';
                let mut after = characters.clone().skip_while(|c| !ends(c));
                let is_named = characters.peek().is_some_and(|c| !ends(c));
                found.names_identifiers |= is_named && after.next() == Some(':') && after.next() != Some(':');
            }
            (Some(end), c) if c == end => inside = None,
            _ => {}
        }
        named.push(c);
    }
    (named, found)
}
