//! The YAML of promptfoo: a test for each case, with its scorers as assertions.

use super::Exported;
use crate::case::Case;
use crate::case_value::{CaseValue, Texts};
use crate::definition::Evaluation;
use crate::scorer::{Kind, Scorer};
use config::to_yaml;
use serde_json::{Map, Value, json};

/// Exports an evaluation, with the notes as comments at the beginning of the file. The provider is a
/// Chatwright server with `openaiApi`, in which the agent is a model.
pub fn export_promptfoo(evaluation: &Evaluation, cases: &[Case]) -> Exported {
    let mut notes = Vec::new();
    if evaluation.compare.is_some() {
        notes.push("`compare` is left out: the answers of two configs are not compared".to_owned());
    }
    let tests: Vec<_> = cases.iter().map(|case| test(evaluation, case, &mut notes)).collect();
    let provider = json!({
        "id": format!("openai:chat:{}", evaluation.agent_id),
        "config": { "apiBaseUrl": "http://127.0.0.1:3000/v1", "apiKeyEnvar": "CHATWRIGHT_API_KEY" },
    });
    let config = json!({
        "description": evaluation.name,
        "prompts": ["{{input}}"],
        "providers": [provider],
        "tests": tests,
    });
    let exported = Exported::new(to_yaml(&config), notes);
    let comments: String = exported.notes.iter().map(|note| format!("# {}\n", on_one_line(note))).collect();
    Exported { text: comments + &exported.text, ..exported }
}

/// Replaces line breaks, so that a note is one comment.
fn on_one_line(note: &str) -> String {
    note.split(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')).collect::<Vec<_>>().join(" ")
}

fn test(evaluation: &Evaluation, case: &Case, notes: &mut Vec<String>) -> Value {
    if case.input.len() > 1 {
        notes.push(format!("of the case `{}`, only the last message is sent", case.id));
    }
    if case.input.iter().any(|text| text.contains("{{") || text.contains("{%")) {
        notes.push(format!("the message of the case `{}` has signs of a template, which promptfoo evaluates", case.id));
    }
    let value = case.to_value();
    let mut assertions = Vec::new();
    for scorer in evaluation.scorers.iter().chain(&case.scorers).filter(|scorer| scorer.has_tag_of(&case.tags)) {
        match assertions_of(scorer, &value) {
            Ok(found) => assertions.extend(found),
            Err(problem) => notes.push(problem),
        }
    }
    let mut test = Map::new();
    test.insert("description".to_owned(), json!(case.id));
    test.insert("vars".to_owned(), json!({ "input": case.input.last() }));
    if !assertions.is_empty() {
        test.insert("assert".to_owned(), json!(assertions));
    }
    let mut metadata = case.metadata.clone();
    if !case.tags.is_empty() {
        metadata.insert("tags".to_owned(), json!(case.tags));
    }
    if let Some(split) = &case.split {
        metadata.insert("split".to_owned(), json!(split));
    }
    if let Some(rated) = &case.rated {
        metadata.insert("rated".to_owned(), json!(rated));
    }
    if case.must {
        notes.push(format!("`must` of the case `{}` is only metadata: to promptfoo, all tests are equal", case.id));
        metadata.insert("must".to_owned(), json!(true));
    }
    if !metadata.is_empty() {
        test.insert("metadata".to_owned(), Value::Object(metadata));
    }
    Value::Object(test)
}

/// Converts a scorer to the assertions of a case; none if the case has no value for it.
///
/// # Errors
/// There is no such assertion.
fn assertions_of(scorer: &Scorer, case: &Value) -> Result<Vec<Value>, String> {
    let left_out =
        |what: &str| Err(format!("the scorer `{}` is left out: promptfoo has no assertion about {what}", scorer.id));
    let one = |kind: &str, value: Value| Ok(vec![json!({ "type": kind, "value": value })]);
    match scorer.kinds().first().copied() {
        Some(Kind::Exact(exact)) => match exact.value.resolve(case)? {
            Some(_) if exact.ignore_case => left_out("equality without regard to upper and lower case"),
            Some(value) => one("equals", json!(value)),
            None => Ok(Vec::new()),
        },
        Some(Kind::Contains(contains)) => {
            let prefix = if contains.ignore_case { "i" } else { "" };
            let texts = |value: &Option<CaseValue<Texts>>| match value {
                Some(value) => Ok::<_, String>(value.resolve(case)?.map(|Texts(texts)| texts).unwrap_or_default()),
                None => Ok(Vec::new()),
            };
            let all = texts(&contains.all)?
                .into_iter()
                .map(|text| json!({ "type": format!("{prefix}contains"), "value": text }));
            let any = texts(&contains.any)?;
            let any = (!any.is_empty()).then(|| json!({ "type": format!("{prefix}contains-any"), "value": any }));
            let none = texts(&contains.none)?.into_iter();
            let none = none.map(|text| json!({ "type": format!("not-{prefix}contains"), "value": text }));
            Ok(all.chain(any).chain(none).collect())
        }
        Some(Kind::Regex(regex)) => one(if regex.matches { "regex" } else { "not-regex" }, json!(regex.pattern)),
        Some(Kind::Schema(schema)) => one("is-json", schema.0.clone()),
        Some(Kind::Cost(cost)) => Ok(vec![json!({ "type": "cost", "threshold": cost.max_usd })]),
        Some(Kind::Time(time)) => Ok(vec![json!({ "type": "latency", "threshold": time.max_seconds * 1_000.0 })]),
        Some(Kind::Judge(judge)) => match judge.rubric.resolve(case)? {
            Some(rubric) => one("llm-rubric", json!(rubric)),
            None => Ok(Vec::new()),
        },
        Some(Kind::JsonPath(_)) => left_out("paths in JSON"),
        Some(Kind::Tools(_)) => left_out("the tools that an agent of a server has called"),
        Some(Kind::Citations(_)) => left_out("citations"),
        Some(Kind::Endpoint(_)) => left_out("what an endpoint says"),
        None => Ok(Vec::new()),
    }
}
