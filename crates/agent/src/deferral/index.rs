//! Finds tools by keywords. The texts are short and few, so each search reads all of them; ranking
//! of documents, as the crate `retrieval` does it, would gain nothing here.

use contract::ToolSpec;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The most words of a query that count.
const MAX_WORDS: usize = 20;
/// How deep the names of arguments are read in a schema.
const MAX_DEPTH: usize = 4;
/// The shortest beginning that two words must share to be taken as forms of the same word.
const MIN_STEM: usize = 4;

/// The words of a tool.
struct Entry {
    name: BTreeSet<String>,
    arguments: BTreeSet<String>,
    description: BTreeSet<String>,
}

/// The tools with their words.
pub(super) struct ToolIndex {
    tools: Vec<ToolSpec>,
    entries: Vec<Entry>,
}

impl ToolIndex {
    pub(super) fn new(tools: Vec<ToolSpec>) -> Self {
        let entry = |tool: &ToolSpec| {
            let mut arguments = BTreeSet::new();
            argument_words(&tool.input_schema, 0, &mut arguments);
            Entry { name: words(&tool.name).collect(), arguments, description: words(&tool.description).collect() }
        };
        let entries = tools.iter().map(entry).collect();
        Self { tools, entries }
    }

    /// Returns the best tools for a query, the best one first.
    pub(super) fn search(&self, query: &str, most: usize) -> Vec<&ToolSpec> {
        let asked: BTreeSet<_> = words(query).take(MAX_WORDS).collect();
        let mut scores = vec![0.0; self.tools.len()];
        for word in &asked {
            let weights: Vec<_> = self.entries.iter().map(|entry| entry.weight(word)).collect();
            let having = weights.iter().filter(|weight| **weight > 0.0).count();
            // Words of few tools say more.
            let rarity = (self.tools.len() as f64 / having.max(1) as f64).ln_1p();
            scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += weight * rarity);
        }
        let names = query.split(|letter: char| letter.is_whitespace() || ",\"`'".contains(letter));
        let named: BTreeSet<_> = names.collect();
        let mut found: Vec<_> = self.tools.iter().zip(scores).filter(|(_, score)| *score > 0.0).collect();
        found.sort_by(|(one, score), (other, than)| {
            let key = |tool: &ToolSpec| Reverse(named.contains(tool.name.as_str()));
            key(one).cmp(&key(other)).then(than.total_cmp(score)).then_with(|| one.name.cmp(&other.name))
        });
        found.into_iter().take(most).map(|(tool, _)| tool).collect()
    }
}

impl Entry {
    /// Returns how much a word says about the tool.
    fn weight(&self, word: &str) -> f64 {
        let of = |words: &BTreeSet<String>| {
            if words.contains(word) {
                1.0
            } else if words.iter().any(|known| is_form(known, word)) {
                0.5
            } else {
                0.0
            }
        };
        4.0_f64.mul_add(of(&self.name), 2.0_f64.mul_add(of(&self.arguments), of(&self.description)))
    }
}

/// Returns whether two words are probably forms of the same one, such as `issue` and `issues`.
fn is_form(one: &str, other: &str) -> bool {
    let shared = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let longest = one.chars().count().max(other.chars().count());
    shared >= MIN_STEM && longest - shared <= 3
}

/// Returns the words of a text in lower case. `listIssues`, `list_issues` and `list issues` have the
/// same words.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut spaced = String::with_capacity(text.len() + 8);
    let mut was_lower = false;
    for letter in text.chars() {
        if letter.is_uppercase() && was_lower {
            spaced.push(' ');
        }
        was_lower = letter.is_lowercase() || letter.is_numeric();
        spaced.extend(letter.to_lowercase());
    }
    let words: Vec<_> = spaced
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.into_iter()
}

/// Adds the words of the arguments' names.
fn argument_words(schema: &Value, depth: usize, found: &mut BTreeSet<String>) {
    if depth > MAX_DEPTH {
        return;
    }
    for (name, below) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        found.extend(words(name));
        argument_words(below, depth + 1, found);
    }
    if let Some(items) = schema.get("items") {
        argument_words(items, depth + 1, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tools_are_found_by_names_arguments_and_descriptions() {
        let tool = |name: &str, about: &str, argument: &str| {
            ToolSpec::new(name, about, json!({ "type": "object", "properties": { argument: { "type": "string" } } }))
        };
        let index = ToolIndex::new(vec![
            tool("github_create_issue", "Creates an issue in a repository.", "title"),
            tool("github_listIssues", "Lists the issues of a repository.", "assignee"),
            tool("calendar_create_event", "Adds an event.", "start"),
            tool("mail_send", "Sends a letter to somebody.", "recipient"),
        ]);
        let check = |query: &str, expected: &[&str]| {
            let found: Vec<_> = index.search(query, 2).into_iter().map(|tool| tool.name.as_str()).collect();
            assert_eq!(found, expected, "{query}");
        };
        check("create an issue", &["github_create_issue", "calendar_create_event"]);
        check("list issues", &["github_listIssues", "github_create_issue"]);
        check("recipient", &["mail_send"]);
        check("write letters", &["mail_send"]);
        check("github_listIssues, mail_send", &["github_listIssues", "mail_send"]);
        check("events", &["calendar_create_event"]);
        check("weather", &[]);
        check("", &[]);
    }
}
