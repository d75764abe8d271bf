//! Presets that do not fit what the agent has.

use crate::{SEARCH, check, with_basics};

#[test]
fn record_extractor_needs_documents_and_collections_or_neither() {
    let check = |keys: &str, expected: &[&str]| {
        let agent = "type: Agent, preset: record-extractor, connectionId: demo, properties: { model: m }";
        let said = check(&with_basics(&format!("agents:\n  - {{ id: a, {agent}{keys} }}\n")));
        let errors = said.lines().filter_map(|line| line.split_once(": error: ")).map(|(_, error)| error);
        // The keys are those of capabilities, which these tests do not have.
        let errors: Vec<_> = errors.filter(|error| error.contains("preset")).collect();
        assert_eq!(errors, expected, "{said}");
    };
    check("", &[]);
    check(", knowledge: [l], data: { collections: [c], write: true, sources: true }", &[]);
    check(", knowledge: [l]", &["the preset `record-extractor` needs `data` to fill collections from documents"]);
    let data = ", data: { collections: [c], write: true }";
    check(data, &["the preset `record-extractor` needs `knowledge` to fill collections from documents"]);
    let sources = "the preset `record-extractor` stores where each value is from";
    check(&format!(", knowledge: [l]{data}"), &[sources]);
}

#[test]
fn dispatcher_also_answers_without_documents() {
    let check = |preset: &str, only: &str, expected: Option<&str>| {
        let agent = format!("type: Agent, preset: {preset}, connectionId: demo, properties: {{ model: m }}");
        let keys = format!(
            "agents:\n  - {{ id: a, {agent},\n      knowledge: [l],\n      answerOnlyFromKnowledge: {only} }}\n"
        );
        let said = check(&with_basics(&keys));
        let found = said.lines().find(|line| line.contains(": error: the preset"));
        assert_eq!(found, expected, "{said}");
    };
    let error = "chatwright.yaml:5:7: error: the preset `dispatcher` also answers without documents, so it has no `answerOnlyFromKnowledge`";
    check("dispatcher", "true", Some(error));
    check("dispatcher", "false", None);
    check("rag-search", "true", None);
}

#[test]
fn preset_with_tools_is_rejected() {
    let said = check(&with_basics(&format!(
        "{SEARCH}agents:
  - id: a
    type: Agent
    preset: record-extractor
    connectionId: demo
    properties: {{ model: m, askUser: true }}
    tools: [search]
  - {{ id: b, type: Agent, preset: extractor, connectionId: demo, properties: {{ model: m }} }}
  - {{ id: c, type: Agent, preset: rag-search, connectionId: demo, properties: {{ model: m }} }}
  - {{ id: d, type: Agent, preset: web-search, connectionId: demo, properties: {{ model: m }}, tools: [search] }}
  - {{ id: e, type: Agent, preset: dispatcher, connectionId: demo, properties: {{ model: m }} }}
"
    )));
    let errors: Vec<_> = said.lines().filter_map(|line| line.split_once(": error: ")).map(|(_, error)| error).collect();
    assert_eq!(
        errors,
        [
            "the preset `record-extractor` works without tools, so it has no `askUser`",
            "the preset `record-extractor` works without tools, so it has no `tools`",
            "there is no preset `extractor`",
            "the preset `rag-search` needs `knowledge`",
            "the preset `web-search` needs `webSearch`",
            "the preset `dispatcher` needs `knowledge` or `webSearch`, otherwise it has nothing to decide",
        ],
        "{said}"
    );
}
