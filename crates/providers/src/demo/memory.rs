//! Finds facts about the user in their messages, for requests of the capability `memory`: what follows a
//! few plain beginnings of sentences, such as "I live in".

use serde_json::{Value, json};

/// The name of the answer's form.
pub(crate) const FORM: &str = "memory_facts";

/// A beginning of a sentence, and the fact that it states.
struct Pattern {
    begins: &'static str,
    /// The beginning of the fact.
    fact: &'static str,
    category: &'static str,
    topic: &'static str,
    /// The beginning of known facts that are not true any more; empty for none.
    replaces: &'static str,
}

const fn pattern(
    begins: &'static str,
    fact: &'static str,
    category: &'static str,
    topic: &'static str,
    replaces: &'static str,
) -> Pattern {
    Pattern { begins, fact, category, topic, replaces }
}

const PATTERNS: &[Pattern] = &[
    pattern("my name is ", "The user's name is ", "context", "personalContext", "The user's name is "),
    pattern("i live in ", "The user lives in ", "context", "personalContext", "The user lives in "),
    pattern("i moved to ", "The user lives in ", "context", "personalContext", "The user lives in "),
    pattern("i work at ", "The user works at ", "context", "workContext", "The user works at "),
    pattern("i now work at ", "The user works at ", "context", "workContext", "The user works at "),
    pattern("i work as ", "The user works as ", "context", "workContext", "The user works as "),
    pattern("i prefer ", "The user prefers ", "preference", "personalContext", ""),
    pattern("i like ", "The user likes ", "preference", "personalContext", "The user does not like "),
    pattern("i love ", "The user loves ", "preference", "personalContext", "The user does not like "),
    pattern("i don't like ", "The user does not like ", "preference", "personalContext", "The user likes "),
    pattern("i no longer like ", "The user does not like ", "preference", "personalContext", "The user likes "),
    pattern("i am allergic to ", "The user is allergic to ", "context", "longTermBackground", ""),
    pattern("i know ", "The user knows ", "knowledge", "workContext", ""),
    pattern("i am learning ", "The user is learning ", "goal", "topOfMind", ""),
    pattern("i want to ", "The user wants to ", "goal", "topOfMind", ""),
    pattern("i usually ", "The user says that they usually ", "behavior", "personalContext", ""),
    pattern("i grew up in ", "The user grew up in ", "context", "longTermBackground", "The user grew up in "),
    pattern("i might ", "The user might ", "goal", "topOfMind", ""),
];

/// Words before a statement.
const LEADS: &[&str] = &["actually, ", "by the way, ", "also, ", "well, ", "please remember: ", "hi, ", "hello, "];

/// Returns the answer to a request for facts.
pub(crate) fn facts(prompt: &str) -> Value {
    let prompt: Value = serde_json::from_str(prompt).unwrap_or_default();
    let mut known: Vec<(String, String)> = prompt["known"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|fact| Some((fact["id"].as_str()?.to_owned(), fact["content"].as_str()?.to_owned())))
        .collect();
    let mut facts: Vec<Value> = Vec::new();
    for message in prompt["messages"].as_array().into_iter().flatten() {
        let sentences = message["text"].as_str().unwrap_or_default().split_inclusive(['.', '!', '?', '\n']);
        for sentence in sentences {
            let Some((quote, found)) = statement(sentence) else { continue };
            let content = fact(found, quote);
            // The same subject: any other place, the same thing that was liked before.
            let is_old = |old: &str| is_contradicted(found, quote, old) && old != content;
            // A later message corrects an earlier one.
            facts.retain(|fact| !is_old(fact["content"].as_str().unwrap_or_default()));
            let replaces: Vec<_> = known.iter().filter(|(_, old)| is_old(old)).map(|(id, _)| id.clone()).collect();
            known.retain(|(id, _)| !replaces.contains(id));
            facts.push(json!({
                "message": message["number"],
                "quote": quote,
                "content": content,
                "category": found.category,
                "topic": found.topic,
                "confidence": if found.begins == "i might " { 0.4 } else { 0.9 },
                "replaces": replaces,
            }));
        }
    }
    json!({ "facts": facts })
}

/// Returns the part of a sentence that states something, and what it begins with.
fn statement(sentence: &str) -> Option<(&str, &'static Pattern)> {
    let mut text = sentence.trim();
    if text.ends_with('?') {
        return None;
    }
    text = text.trim_end_matches(['.', '!', ' ']);
    let lower = text.to_ascii_lowercase();
    let lead = LEADS.iter().find(|lead| lower.starts_with(**lead)).map_or(0, |lead| lead.len());
    let (text, lower) = (&text[lead..], &lower[lead..]);
    let found = PATTERNS.iter().find(|pattern| lower.starts_with(pattern.begins))?;
    (text.len() > found.begins.len()).then_some((text, found))
}

fn fact(pattern: &Pattern, quote: &str) -> String {
    format!("{}{}.", pattern.fact, quote[pattern.begins.len()..].trim())
}

fn is_contradicted(pattern: &Pattern, quote: &str, old: &str) -> bool {
    if pattern.replaces.is_empty() || !old.starts_with(pattern.replaces) {
        return false;
    }
    // Of what one likes, only the same thing.
    let is_liking = pattern.category == "preference";
    let thing = quote[pattern.begins.len()..].trim();
    !is_liking || old[pattern.replaces.len()..].trim_end_matches('.').eq_ignore_ascii_case(thing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_become_facts() {
        let check = |text: &str, expected: &[&str]| {
            let prompt = json!({
                "known": [{ "id": "f0", "content": "The user lives in Oslo." }, { "id": "f1", "content": "The user likes tea." }],
                "messages": [{ "number": 1, "text": text }],
            });
            let facts = facts(&prompt.to_string());
            let shown = |fact: &Value| format!("{} {}", fact["content"].as_str().unwrap(), fact["replaces"]);
            assert_eq!(facts["facts"].as_array().unwrap().iter().map(shown).collect::<Vec<_>>(), expected, "{text}");
        };
        check("Hello, I live in Rome. What is the weather?", &["The user lives in Rome. [\"f0\"]"]);
        check("Do you think I live in Rome?", &[]);
        check("I live in Rome. Actually, I moved to Paris!", &["The user lives in Paris. []"]);
        check("I no longer like tea.", &["The user does not like tea. [\"f1\"]"]);
        check("I like coffee", &["The user likes coffee. []"]);
        check("", &[]);
    }
}
