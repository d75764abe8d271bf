//! Tests of the section of the config, and of its error messages.

use capability::Definition;
use config::{Language, Section, SectionPlace, SectionType};
use insta::assert_snapshot;

/// Reads a config with these collections and this key of an agent; returns its problems.
fn check(data: &str, agent: &str) -> String {
    const DOCUMENTS: Definition =
        Definition { sections: &[SectionType::of::<Knowledge>()], ..Definition::new("documents") };
    let language: Language = capability::language(&[collections::DEFINITION, DOCUMENTS]);
    let text = format!(
        "connections:\n  - {{ id: demo, type: Demo }}\n  - {{ id: db, type: Sql, properties: {{ url: 'sqlite::memory:' }} }}\n  - {{ id: archive, type: Sql, properties: {{ url: 'sqlite::memory:', readOnly: true }} }}\ndata: {data}\nagents:\n  - id: a\n    type: Agent\n    connectionId: demo\n    properties: {{ model: m }}\n    data: {agent}\n"
    );
    match language.read_text(&text) {
        Ok((_, warnings)) => config::render(&warnings),
        Err(problems) => config::render_short(&problems),
    }
}

#[test]
fn mistakes_are_named_with_their_position() {
    let good = "[{ id: todos, description: d, records: shared, maxRecords: 5, schema: { type: object } }]";
    assert_snapshot!(check(good, "{ collections: [todos], write: true, confirmChanges: true, confirmDeletes: false }"), @"");
    assert_snapshot!(check(good, "{ collections: [todo] }"), @"
    chatwright.yaml:11:27: error: there is no collection `todo`
        = help: did you mean `todos`?
    ");
    let twice = "[{ id: a, schema: { type: object } }, { id: a, schema: { type: string } }]";
    assert_snapshot!(check(twice, "{ collections: [a] }"), @"
    chatwright.yaml:5:51: error: there are two collections with the id `a`
    chatwright.yaml:5:62: error: a record is an object
       = help: write `type: object`
    ");
    let own = "[{ id: a, schema: { type: object, properties: { n: { type: array } } }, maxRecords: 5, source: { connectionId: demo, table: t } }]";
    assert_snapshot!(check(own, "{ collections: [a] }"), @"
    chatwright.yaml:5:58: error: `n` has no type that a column can have
       = help: set `type` to string, number, integer or boolean, or to one of them and null
    chatwright.yaml:5:91: error: the records of a `source` are not counted
       = help: leave it out; the database has its own limits
    chatwright.yaml:5:102: error: it is not known whose a record is
       = help: set `ownerColumn` to the column with the id of the user, or `records: shared`
    chatwright.yaml:5:118: error: `demo` is a connection of the type Demo, which cannot be used here
       = help: use one of the type Sql
    ");
    let source = "ownerColumn: m, columns: { nam: x, name: m }";
    let shared = format!(
        "[{{ id: a, records: shared, schema: {{ type: object, properties: {{ name: {{ type: string }} }} }}, source: {{ connectionId: db, table: t, {source} }} }}]"
    );
    assert_snapshot!(check(&shared, "{ collections: [a], write: true }"), @"
    chatwright.yaml:5:78: error: `name` would change whose the record is
       = help: remove the property; the column is set by the server
    chatwright.yaml:5:151: error: shared records have no owner
       = help: leave out `ownerColumn`, or `records: shared`
    chatwright.yaml:5:170: error: the schema has no property `nam`
       = help: did you mean `name`?
    ");
}

#[test]
fn writes_need_a_table_that_may_be_written() {
    let data = |write: &str, id: &str| {
        format!(
            "[{{ id: a, records: shared, schema: {{ type: object, properties: {{ n: {{ type: [number, 'null'] }} }} }}, source: {{ connectionId: {id}, table: t{write} }} }}]"
        )
    };
    assert_snapshot!(check(&data(", write: true", "db"), "{ collections: [a], write: true }"), @"");
    assert_snapshot!(check(&data("", "db"), "{ collections: [a] }"), @"");
    assert_snapshot!(check(&data("", "db"), "{ collections: [a], write: true }"), @"
    chatwright.yaml:5:115: error: the agent `a` has `write: true`, but the records cannot be changed
       = help: set `write: true` in `source`, or leave it out of the agent
    ");
    assert_snapshot!(check(&data(", write: true", "archive"), "{ collections: [a] }"), @"
    chatwright.yaml:5:157: error: the connection `archive` is read-only
       = help: leave out `readOnly` there, or `write` here
    ");
}

/// Stands for the key of another capability.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Knowledge(#[expect(dead_code, reason = "only its key counts")] Vec<String>);

impl Section for Knowledge {
    const KEY: &'static str = "knowledge";
    const PLACE: SectionPlace = SectionPlace::Agent;
}

#[test]
fn sources_need_documents_and_records_of_our_own() {
    let own = "[{ id: a, schema: { type: object } }]";
    assert_snapshot!(check(own, "{ collections: [a], sources: true }\n    knowledge: [l]"), @"
    chatwright.yaml:11:40: error: this agent inserts nothing
        = help: set `write: true`, or leave it out
    ");
    assert_snapshot!(check(own, "{ collections: [a], write: true, sources: true }"), @"
    chatwright.yaml:11:53: error: this agent has no documents to quote
        = help: name libraries: `knowledge: [invoices]`
    ");
    let sources = "{ collections: [a], write: true, sources: true }\n    knowledge: [l]";
    assert_snapshot!(check(own, sources), @"");
    let table = "[{ id: a, records: shared, schema: { type: object, properties: { n: { type: number } } }, source: { connectionId: db, table: t, write: true } }]";
    assert_snapshot!(check(table, sources), @"
    chatwright.yaml:5:105: error: the agent `a` has `sources: true`, which cannot be stored in a table
       = help: leave out `source`, so that the server's own database has the records
    ");
}
