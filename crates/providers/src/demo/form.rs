//! Fills in a form from a sentence.

use super::intent;
use serde_json::{Map, Value};

/// The value of date fields: the same each time, because the demo model is deterministic.
const DUE_DATE: &str = "2026-12-10";

/// Returns the fields to write: values from the sentence, and defaults for the rest, limited to the
/// properties in the tool's schema. `None` if the sentence names no person.
pub(crate) fn updates(asked: &str, schema: &Value) -> Option<Map<String, Value>> {
    let (name, company) = intent::parse_person(asked)?;
    let person = Person { asked: asked.to_ascii_lowercase(), name, company };
    let fields = schema["properties"]["updates"]["properties"].as_object();
    let value = |(key, field): (&String, &Value)| Some((key.clone(), Value::String(person.field_value(key, field)?)));
    Some(fields.into_iter().flatten().filter_map(value).collect())
}

/// The person to enter into the form.
struct Person {
    /// The sentence in lowercase.
    asked: String,
    name: String,
    company: Option<String>,
}

impl Person {
    /// Returns the value of a field; `None` if it is unknown.
    fn field_value(&self, key: &str, field: &Value) -> Option<String> {
        let options: Vec<_> = ["enum", "examples"]
            .iter()
            .filter_map(|key| field[key].as_array())
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let key = key.to_ascii_lowercase();
        let has = |part: &str| key.contains(part);
        if !options.is_empty() {
            return self.choice(&options);
        }
        if field["type"].as_str().is_some_and(|kind| kind != "string") {
            return None;
        }
        let is_date =
            field["format"] == "date" || field["description"].as_str().is_some_and(|text| text.contains("YYYY-MM-DD"));
        if is_date {
            Some(DUE_DATE.to_owned())
        } else if has("mail") {
            self.email()
        } else if has("company") || has("organi") {
            self.company.clone()
        } else if has("name") || has("customer") {
            Some(self.name.clone())
        } else if has("note") {
            let of = self.company.as_ref().map(|company| format!(" of {company}")).unwrap_or_default();
            Some(format!("{}{of} asked for a call back. Written by the demo's assistant.", self.name))
        } else {
            None
        }
    }

    /// Returns an option that the sentence names, or else a common one.
    fn choice(&self, options: &[&str]) -> Option<String> {
        let named = options.iter().find(|option| self.mentions(option));
        let usual = ["high", "normal", "medium"].iter().find(|usual| options.contains(usual));
        named.or(usual).or(options.first()).map(|option| (*option).to_owned())
    }

    fn mentions(&self, option: &str) -> bool {
        self.asked.split(|c: char| !c.is_alphanumeric()).any(|word| word == option.to_ascii_lowercase())
    }

    fn email(&self) -> Option<String> {
        let name = slug(&self.name, ".")?;
        let company = self.company.as_deref().and_then(|company| slug(company, "-"));
        Some(format!("{name}@{}.example", company.as_deref().unwrap_or("mail")))
    }
}

/// Returns the ASCII words of a text, joined by `joint`; `None` if there are none.
fn slug(text: &str, joint: &str) -> Option<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join(joint);
    (!slug.is_empty()).then_some(slug)
}

/// Describes what the page wrote.
pub(crate) fn report(output: &Value) -> String {
    let written: Vec<_> = strings(&output["written"]).map(|key| format!("`{key}`")).collect();
    let mut answer = if written.is_empty() {
        "Nothing was written.".to_owned()
    } else {
        format!(
            "Done. I wrote {}. Each field that I changed is marked, and one click undoes the change.",
            written.join(", ")
        )
    };
    for refused in output["refused"].as_array().into_iter().flatten() {
        let text = |key: &str| refused[key].as_str().unwrap_or("?").trim_end_matches('.').to_owned();
        answer.push_str(&format!("\n\nThe page refused `{}`: {}.", text("key"), text("reason")));
    }
    let ignored: Vec<_> = strings(&output["ignored"]).map(|key| format!("`{key}`")).collect();
    if !ignored.is_empty() {
        answer.push_str(&format!("\n\nThe page has no field {}.", ignored.join(", ")));
    }
    answer
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}
