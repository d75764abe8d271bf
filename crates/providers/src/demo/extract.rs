//! Reads values from a text by their names, for requests that want JSON.

use serde_json::{Map, Value, json};

/// Returns a JSON object with a value for each property of the schema: what follows the property's
/// name in the text, or an empty value of its type.
pub(crate) fn object(asked: &str, schema: &Value) -> Value {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let value = |(name, property): (&String, &Value)| (name.clone(), value(find(asked, name), property));
    Value::Object(properties.map(value).collect::<Map<_, _>>())
}

fn value(found: Option<&str>, property: &Value) -> Value {
    let found = found.unwrap_or_default();
    match property["type"].as_str() {
        Some("number" | "integer") => number(found),
        Some("boolean") => json!(matches!(found.to_ascii_lowercase().as_str(), "yes" | "true")),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => {
            let options: Vec<_> = property["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let chosen = options.iter().find(|option| option.eq_ignore_ascii_case(found)).or(options.first());
            json!(chosen.copied().unwrap_or(found))
        }
    }
}

/// Returns the first number in a text, or 0.
fn number(text: &str) -> Value {
    let digits =
        text.split(|c: char| !c.is_ascii_digit() && c != '.').find(|part| part.contains(|c: char| c.is_ascii_digit()));
    let digits = digits.unwrap_or("0").trim_matches('.');
    digits
        .parse::<i64>()
        .map(Value::from)
        .or_else(|_| digits.parse::<f64>().map(Value::from))
        .unwrap_or_else(|_| json!(0))
}

/// Returns what follows a name: `total: 12`, `Total 12`.
fn find<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let lower = text.to_ascii_lowercase();
    let name = name.to_ascii_lowercase();
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let starts = lower.match_indices(&name).map(|(at, _)| at);
    let at = starts
        .filter(|at| !is_part(lower[..*at].chars().next_back()))
        .find(|at| !is_part(lower[at + name.len()..].chars().next()))?;
    let rest = text.get(at + name.len()..)?.trim_start_matches([' ', ':', '=']);
    let end = rest.find([',', ';', '\n']).into_iter().chain(rest.find(". ")).min().unwrap_or(rest.len());
    Some(rest[..end].trim().trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_by_their_names() {
        let schema = json!({ "properties": {
            "supplier": { "type": "string" },
            "total": { "type": "number" },
            "paid": { "type": "boolean" },
            "currency": { "type": "string", "enum": ["EUR", "USD"] },
            "note": { "type": "string" },
        } });
        let check = |asked: &str, expected: Value| assert_eq!(object(asked, &schema), expected, "{asked}");
        check(
            "Supplier: Acme Ltd. Total: 6200, paid: yes; currency usd",
            json!({ "supplier": "Acme Ltd", "total": 6200, "paid": true, "currency": "USD", "note": "" }),
        );
        check("Subtotal 4", json!({ "supplier": "", "total": 0, "paid": false, "currency": "EUR", "note": "" }));
        check(
            "total = 12.5 EUR",
            json!({ "supplier": "", "total": 12.5, "paid": false, "currency": "EUR", "note": "" }),
        );
    }
}
