//! Finds entities and relations for requests of the capability `knowledge`, and answers from relations. It looks for
//! sentences with a type of relation between two names, such as "Mara Lindholm leads the people team."

use super::turn::{DemoAction, DemoTurn, say, say_and_call};
use contract::{ToolOutput, ToolResult};
use serde_json::{Value, json};

/// The name of the answer's form.
pub(crate) const FORM: &str = "knowledge_graph";
/// The tool that follows relations.
pub(crate) const EXPLORE: &str = "graph_explore";
/// The longest name in words.
const MAX_WORDS: usize = 5;

/// Returns the answer to a request for what passages state.
pub(crate) fn found(prompt: &str) -> Value {
    let prompt: Value = serde_json::from_str(prompt).unwrap_or_default();
    let (mut entities, mut relations) = (Vec::new(), Vec::new());
    for passage in list(&prompt["passages"]) {
        let text = passage["text"].as_str().unwrap_or_default();
        for sentence in text.split_inclusive(['.', '\n']).map(str::trim) {
            for kind in list(&prompt["relationTypes"]) {
                let Some((from, to)) = stated(sentence, kind["type"].as_str().unwrap_or_default()) else { continue };
                for (name, end) in [(from, "from"), (to, "to")] {
                    let entity = json!({
                        "type": kind[end], "name": name, "aliases": [], "passage": passage["number"], "quote": sentence,
                    });
                    if !entities.contains(&entity) {
                        entities.push(entity);
                    }
                }
                relations.push(json!({
                    "type": kind["type"], "from": from, "to": to, "passage": passage["number"], "quote": sentence,
                }));
            }
        }
    }
    json!({ "entities": entities, "relations": relations })
}

/// Returns the names before and after the name of a type of relations in a sentence.
fn stated<'s>(sentence: &'s str, kind: &str) -> Option<(&'s str, &'s str)> {
    let verb = format!(" {kind} ");
    let at = sentence.to_ascii_lowercase().find(&verb.to_ascii_lowercase()).filter(|_| !kind.is_empty())?;
    let before = sentence[..at].rsplit([',', ';', ':']).next()?;
    let after = sentence.get(at + verb.len()..)?;
    let ends = [",", ";", ".", " and ", " within ", " for "].iter().filter_map(|end| after.find(end));
    let after = &after[..ends.min().unwrap_or(after.len())];
    let name = |text: &'s str| {
        let text = text.trim();
        let text = ["The ", "the "].iter().find_map(|article| text.strip_prefix(article)).unwrap_or(text);
        let words = text.split_whitespace().count();
        (1..=MAX_WORDS).contains(&words).then_some(text)
    };
    name(before).zip(name(after))
}

/// Follows the relations of what the user asks about; `None` if nothing can be followed.
pub(crate) fn explore(turn: &DemoTurn<'_>, topic: &str) -> Option<Vec<DemoAction>> {
    let tool = turn.tool(EXPLORE)?;
    let thinks = format!("The user asks what “{topic}” is connected with. I follow its relations.");
    Some(say_and_call(&thinks, "Let me see what is connected.", tool, json!({ "entity": topic })))
}

/// Answers from relations, each with its citation.
pub(crate) fn answer(result: &ToolResult) -> Vec<DemoAction> {
    let ToolOutput::Json(output) = &result.output else {
        return say("There is no such entity.", "I found nothing about this in the documents.");
    };
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let line = |row: &Value| {
        let [from, relation, to, source] = ["from", "relation", "to", "source"].map(|key| text(row, key));
        format!("- {from} {relation} {to} [{source}]")
    };
    let lines: Vec<_> = list(&output["relations"]).map(line).collect();
    if lines.is_empty() {
        say("It has no relations.", "I found no relations of it in the documents.")
    } else {
        say("I have the relations and name each with its source.", lines.join("\n"))
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_state_relations() {
        let check = |sentence: &str, expected: Option<(&str, &str)>| {
            assert_eq!(stated(sentence, "leads"), expected, "{sentence}");
        };
        check("Mara Lindholm leads the people team.", Some(("Mara Lindholm", "people team")));
        check("Since May, Bob LEADS the service desk and helps others.", Some(("Bob", "service desk")));
        check("This road leads.", None);
        check("leads the team", None);
        check("One two three four five six leads us.", None);
    }

    #[test]
    fn passages_give_entities_and_relations() {
        let prompt = json!({
            "entityTypes": [{ "type": "person" }, { "type": "team" }],
            "relationTypes": [{ "type": "leads", "from": "person", "to": "team" }],
            "passages": [{ "number": 1, "text": "Ada leads the team. Ada leads the desk." }],
        });
        let found = found(&prompt.to_string());
        let names =
            |key: &str| list(&found[key]).map(|one| one["name"].as_str().unwrap_or_default()).collect::<Vec<_>>();
        assert_eq!(names("entities"), ["Ada", "team", "Ada", "desk"]);
        assert_eq!(found["relations"].as_array().map(Vec::len), Some(2));
        assert_eq!(super::found(""), json!({ "entities": [], "relations": [] }));
    }
}
