//! The keys of a config for the libraries of an agent, and the errors that its author reads.

use config::Language;
use insta::assert_snapshot;
use std::collections::HashMap;

/// Reads a config with these keys of an agent; returns its problems.
fn check(agent: &str) -> String {
    let language: Language = capability::language(&[knowledge::DEFINITION]);
    let text = format!(
        "connections: [{{ id: demo, type: Demo }}]\nagents:\n  - id: a\n    type: Agent\n    connectionId: demo\n    properties: {{ model: m }}\n{agent}\n"
    );
    match language.read_embedded(&[("chatwright.yaml", &text)], &HashMap::<String, String>::new()).outcome {
        Ok((_, warnings)) => config::render(&warnings),
        Err(problems) => {
            let text = config::render(&problems);
            text.lines().filter(|line| line.contains("error") || line.contains("help")).collect::<Vec<_>>().join("\n")
        }
    }
}

#[test]
fn all_forms_are_accepted() {
    for value in [
        "[handbook]",
        "{ libraries: [handbook] }",
        "{ choose: all }",
        "{ libraries: [handbook, travel], choose: listed, documents: optIn }",
        "{ libraries: [handbook], documents: optOut }",
        "{ attachments: true }",
        "{ libraries: [handbook], documents: optIn, attachments: true }",
        "{ libraries: [made], graph: true }\nknowledge: { userGraph: { model: { connectionId: demo, model: m }, entities: [{ type: person }] } }",
    ] {
        assert_eq!(check(&format!("    knowledge: {value}")), "", "{value}");
    }
    assert_eq!(check("    knowledge: [handbook]\n    answerOnlyFromKnowledge: true"), "");
    assert_eq!(check("    answerOnlyFromKnowledge: false"), "");
}

#[test]
fn mistakes_are_named_with_their_position() {
    assert_snapshot!(check("    knowledge: []"), @r"
    chatwright.yaml:7:16: error: expected a list of at least 1, found 0
    ");
    assert_snapshot!(check("    knowledge: {}"), @r"
    chatwright.yaml:7:16: error: there is nothing to search
       = help: name `libraries`, let the user choose among all (`choose: all`), or search what they attach (`attachments: true`)
    ");
    assert_snapshot!(check("    knowledge: { choose: listed }"), @r"
    chatwright.yaml:7:16: error: there is nothing to search
       = help: name `libraries`, let the user choose among all (`choose: all`), or search what they attach (`attachments: true`)
    ");
    assert_snapshot!(check("    knowledge: { documents: optIn, attachments: true }"), @r"
    chatwright.yaml:7:29: error: there are no libraries to choose
       = help: name `libraries`, or leave it out
    ");
    assert_snapshot!(check("    knowledge: { libraries: [a], choose: some, document: optIn }"), @r"
    chatwright.yaml:7:42: error: there is no value `some`
       = help: one of `listed` and `all`
    chatwright.yaml:7:48: error: there is no key `document` here
       = help: did you mean `documents`?
    ");
    assert_snapshot!(check("    knowledge: [a]\nlibraries: [{ id: roles, documents: [{ name: a.md, text: A }] }]"), @r"
    chatwright.yaml:8:19: error: a library cannot have the id `roles`
       = help: `/api/libraries/roles` is the list of roles
    ");
    assert_snapshot!(check("    answerOnlyFromKnowledge: true"), @r"
    chatwright.yaml:7:30: error: this agent has no `knowledge`, so it could not answer anything
       = help: name libraries: `knowledge: [handbook]`
    ");
    assert_snapshot!(check("    knowledge: { libraries: [a], documents: optOut }\n    answerOnlyFromKnowledge: true"), @r"
    chatwright.yaml:8:30: error: this agent could not answer anything while the user has switched documents off
       = help: leave out `documents` in `knowledge`, or this key
    ");
}

/// Reads a config with these keys of the `graph` of a library.
fn check_graph(graph: &str) -> String {
    let library = "libraries: [{ id: a, documents: [{ name: a.md, text: A }]";
    check(&format!("    knowledge: {{ libraries: [a], graph: true }}\n{library}, graph: {{ {graph} }} }}]"))
}

#[test]
fn mistakes_in_a_graph_are_named_with_their_position() {
    let model = "model: { connectionId: demo, model: m }";
    let person = "entities: [{ type: person, description: People }, { type: team }]";
    let leads = "relations: [{ type: leads, from: person, to: team }, { type: leads, from: person, to: person }]";
    assert_eq!(check_graph(&format!("{model}, {person}, {leads}, maxPerDocument: 10, maxEntities: 10")), "");
    let has = |problems: String, expected: &str| assert!(problems.contains(expected), "{expected}: {problems}");
    has(check_graph(&format!("{model}, entities: []")), "expected a list of at least 1, found 0");
    has(check_graph(person), "model");
    let twice = check_graph(&format!("{model}, entities: [{{ type: a }}, {{ type: a }}]"));
    has(twice, "there are two types of entities with the name `a`");
    let unknown = check_graph(&format!("model: {{ connectionId: dem, model: m }}, {person}"));
    has(unknown, "there is no connection `dem`");
    let end = check_graph(&format!("{model}, {person}, relations: [{{ type: x, from: persn, to: team }}]"));
    has(end, "there is no type of entities `persn` here");
    has(check("    knowledge: { libraries: [a], graph: true }"), "none of the agent's libraries has a `graph`");
}

#[test]
fn mistakes_in_a_page_reader_are_named_with_their_position() {
    let check_reader = |reader: &str, models: &str| {
        check(&format!("    knowledge: {{ choose: all }}\nknowledge: {{ pageReader: {{ {reader} }} }}\n{models}"))
    };
    let model = "model: { connectionId: demo, model: m }";
    let has = |problems: String, expected: &str| assert!(problems.contains(expected), "{expected}: {problems}");
    let valid = check_reader(&format!("{model}, maxPages: 500, pagesPerRequest: 1"), "");
    has(valid, "8:51: warning: the demo's model sees no files");
    has(check_reader("maxPages: 5", ""), "model");
    has(check_reader(&format!("{model}, maxPages: 0"), ""), "expected a number between 1 and 500");
    has(check_reader("model: { connectionId: dem, model: m }", ""), "there is no connection `dem`");
    let unread = |keys: &str| format!("models: [{{ id: small, connectionId: demo, model: m, {keys} }}]");
    has(
        check_reader(model, &unread("files: false")),
        "8:64: warning: the model `m` reads no PDF, as `small` in `models` says",
    );
    has(check_reader(model, &unread("vision: false, files: false")), "the model `m` reads neither PDF nor images");
    for known in [
        check_reader(model, &unread("files: true")),
        check_reader("model: { connectionId: demo, model: other }", &unread("files: false")),
    ] {
        assert!(!known.contains("reads no"), "{known}");
    }
}

/// A search of an agent with a cost limit needs the prices of the services that it uses.
#[test]
fn cost_limit_without_prices_of_services_is_rejected() {
    let problems = |embedding: &str, reranking: &str| {
        let language: Language = capability::language(&[knowledge::DEFINITION]);
        let text = format!(
            "connections:
  - {{ id: demo, type: Demo }}
  - {{ id: vectors, type: Embeddings, properties: {{ model: e{embedding} }} }}
  - {{ id: order, type: Rerank, properties: {{ url: 'https://api.example.com/v2', model: r{reranking} }} }}
knowledge: {{ embedding: {{ connectionId: vectors }}, reranking: {{ connectionId: order }} }}
libraries: [{{ id: a, documents: [{{ name: a.md, text: A }}] }}]
prices: {{ m: {{ input: 1, output: 2 }} }}
agents:
  - id: a
    type: Agent
    connectionId: demo
    properties: {{ model: m, limits: {{ costUsd: 0.5 }} }}
    knowledge: [a]
"
        );
        match language.read_text(&text) {
            Ok((_, warnings)) => config::render(&warnings),
            Err(problems) => config::render_short(&problems),
        }
    };
    assert_snapshot!(problems("", ""), @r"
    chatwright.yaml:13:16: error: the price of the connection `vectors` is not known, so the cost limit of the agent `a` cannot be kept
        = help: set `costUsdPerMillionTokens` in the properties of `vectors`, to `0` if it costs nothing
    chatwright.yaml:13:16: error: the price of the connection `order` is not known, so the cost limit of the agent `a` cannot be kept
        = help: set `costUsd` in the properties of `order`, to `0` if it costs nothing
    ");
    assert_eq!(problems(", costUsdPerMillionTokens: 0.02", ", costUsd: 0"), "");
}
