//! Filling in a form from one sentence.

use contract::ToolSpec;
use serde_json::{Map, Value};

/// The fields to write: what the sentence says, and sensible choices for the rest, limited to what the tool offers.
pub(crate) fn updates(asked: &str, tool: &ToolSpec) -> Map<String, Value> {
    let Some((name, company)) = who(asked) else { return Map::new() };
    let fields = tool.input_schema["properties"]["updates"]["properties"].as_object();
    let value = |(key, hint): (&String, &Value)| Some((key.clone(), field(key, hint, &name, &company)?));
    fields.into_iter().flatten().filter_map(value).collect()
}

/// "… for NAME at COMPANY"
fn who(asked: &str) -> Option<(String, String)> {
    let at = asked.to_lowercase().find(" for ")? + 5;
    let rest = asked.get(at..)?.trim().trim_end_matches(['.', '!']);
    let (name, company) = match rest.to_lowercase().find(" at ") {
        Some(at) => (rest.get(..at)?, rest.get(at + 4..)?),
        None => (rest, "Independent"),
    };
    (!name.trim().is_empty()).then(|| (name.trim().to_owned(), company.trim().to_owned()))
}

fn field(key: &str, hint: &Value, name: &str, company: &str) -> Option<Value> {
    let text = match key {
        "legal_name" | "name" | "full_name" => name.to_owned(),
        "company" | "organisation" | "organization" => company.to_owned(),
        "email" | "e_mail" => format!("{}@{}.example", slug(name, "."), slug(company, "-")),
        "priority" => hint["examples"].as_array()?.iter().rev().find_map(|option| {
            let option = option.as_str()?;
            matches!(option, "high" | "normal").then(|| option.to_owned())
        })?,
        "notes" | "note" => format!("Met {name} of {company} at the demo. Filled in by the assistant."),
        _ if hint["description"].as_str().is_some_and(|text| text.contains("YYYY-MM-DD")) => "2026-12-10".to_owned(),
        _ => return None,
    };
    Some(Value::String(text))
}

fn slug(text: &str, joint: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(joint)
}

/// What the page wrote, in words.
pub(crate) fn report(output: &Value) -> String {
    let list = |key: &str| {
        let names = output[key].as_array().into_iter().flatten();
        names.filter_map(Value::as_str).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let mut said = match list("written") {
        written if written.is_empty() => "Nothing was written.".to_owned(),
        written => {
            format!("Done. I wrote {written}. Each field that I changed is marked, and one click takes it back.")
        }
    };
    for refused in output["refused"].as_array().into_iter().flatten() {
        let text = |key: &str| refused[key].as_str().unwrap_or_default().to_owned();
        said.push_str(&format!("\n\nThe page refused `{}`: {}.", text("key"), text("reason")));
    }
    said
}
