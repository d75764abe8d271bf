//! What a config says about collections, and what its author reads about mistakes.

use config::Language;
use insta::assert_snapshot;
use std::collections::HashMap;

/// Reads a config with these collections and this key of an agent; returns its problems.
fn check(data: &str, agent: &str) -> String {
    let language: Language = capability::language(&[collections::DEFINITION]);
    let text = format!(
        "connections: [{{ id: demo, type: Demo }}]\ndata: {data}\nagents:\n  - id: a\n    type: Agent\n    connectionId: demo\n    properties: {{ model: m }}\n    data: {agent}\n"
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
fn mistakes_are_named_with_their_position() {
    let good = "[{ id: todos, description: d, records: shared, maxRecords: 5, schema: { type: object } }]";
    assert_snapshot!(check(good, "{ collections: [todos], write: true, confirmChanges: true, confirmDeletes: false }"), @"");
    assert_snapshot!(check(good, "{ collections: [todo] }"), @"
    chatwright.yaml:8:27: error: there is no collection `todo`
       = help: did you mean `todos`?
    ");
    let twice = "[{ id: a, schema: { type: object } }, { id: a, schema: { type: string } }]";
    assert_snapshot!(check(twice, "{ collections: [a] }"), @"
    chatwright.yaml:2:51: error: there are two collections with the id `a`
    chatwright.yaml:2:62: error: a record is an object
       = help: write `type: object`
    ");
}
