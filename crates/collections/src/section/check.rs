//! Checks that the schema of the sections cannot express.

use super::{AgentData, Collection, Collections, Sharing, Source};
use crate::table::column_kind;
use config::{Config, ConnectionKind, PathStep, SectionProblems};
use schemas::Schema;
use serde_json::Value;
use std::collections::HashSet;

/// The most properties of a record that is a row of a table.
const MAX_COLUMNS: usize = 100;

/// Checks the collections by themselves.
pub(super) fn collections(all: &[Collection], problems: &mut SectionProblems<'_, '_, '_>) {
    let mut seen = HashSet::new();
    for (index, collection) in all.iter().enumerate() {
        let at = |key| [PathStep::Index(index), PathStep::Key(key)];
        if !seen.insert(&collection.id.0) {
            problems.error(&at("id"), format!("there are two collections with the id `{}`", collection.id.0), None);
        }
        if collection.schema.get("type").and_then(Value::as_str) != Some("object") {
            problems.error(&at("schema"), "a record is an object", Some("write `type: object`".to_owned()));
        } else if let Err(error) = Schema::new(&Value::Object(collection.schema.clone())) {
            problems.error(&at("schema"), format!("this is not a usable JSON Schema: {error}"), None);
        }
        if let Some(source) = &collection.source {
            self::source(index, collection, source, problems);
        }
    }
}

fn source(index: usize, collection: &Collection, source: &Source, problems: &mut SectionProblems<'_, '_, '_>) {
    let at = |key| [PathStep::Index(index), PathStep::Key("source"), PathStep::Key(key)];
    problems.check_connection_type(&at("connectionId"), &source.connection_id.0, &["Sql"]);
    match (collection.records, &source.owner_column) {
        (Sharing::Own, None) => problems.error(
            &[PathStep::Index(index), PathStep::Key("source")],
            "it is not known whose a record is",
            Some("set `ownerColumn` to the column with the id of the user, or `records: shared`".to_owned()),
        ),
        (Sharing::Shared, Some(_)) => problems.error(
            &at("ownerColumn"),
            "shared records have no owner",
            Some("leave out `ownerColumn`, or `records: shared`".to_owned()),
        ),
        _ => {}
    }
    if collection.max_records.is_some() {
        let help = Some("leave it out; the database has its own limits".to_owned());
        problems.error(
            &[PathStep::Index(index), PathStep::Key("maxRecords")],
            "the records of a `source` are not counted",
            help,
        );
    }
    let properties = collection.schema.get("properties").and_then(Value::as_object);
    let fields: Vec<_> = properties.into_iter().flatten().map(|(field, _)| field.as_str()).collect();
    if fields.is_empty() || fields.len() > MAX_COLUMNS {
        let message = format!("a record of a `source` has 1 to {MAX_COLUMNS} `properties`, which are its columns");
        problems.error(&[PathStep::Index(index), PathStep::Key("schema")], message, None);
    }
    for (field, schema) in properties.into_iter().flatten() {
        let path = [PathStep::Index(index), PathStep::Key("schema"), PathStep::Key("properties"), PathStep::Key(field)];
        if column_kind(schema).is_none() {
            let help = Some("set `type` to string, number, integer or boolean, or to one of them and null".to_owned());
            problems.error(&path, format!("`{field}` has no type that a column can have"), help);
        }
        let column = source.columns.get(field).map_or(field.as_str(), |column| column.0.as_str());
        if source.owner_column.as_ref().is_some_and(|owner| owner.0 == column) {
            let help = Some("remove the property; the column is set by the server".to_owned());
            problems.error(&path, format!("`{field}` would change whose the record is"), help);
        }
    }
    for field in source.columns.keys().filter(|field| !fields.contains(&field.as_str())) {
        let path = [PathStep::Index(index), PathStep::Key("source"), PathStep::Key("columns"), PathStep::Key(field)];
        let help = SectionProblems::name_help(field, fields.iter().copied());
        problems.error(&path, format!("the schema has no property `{field}`"), help);
    }
}

/// Checks the collections together with connections and agents.
pub(super) fn with_config(all: &[Collection], config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
    for (index, collection) in all.iter().enumerate() {
        let Some(source) = &collection.source else { continue };
        let agents = || config.agents.values().filter_map(|agent| Some((&agent.id, agent.section::<AgentData>()?)));
        let quotes = |data: &AgentData| data.sources && data.collections.contains(&collection.id.0);
        for (agent, _) in agents().filter(|(_, data)| quotes(data)) {
            let message = format!("the agent `{agent}` has `sources: true`, which cannot be stored in a table");
            let help = Some("leave out `source`, so that the server's own database has the records".to_owned());
            problems.error(&[PathStep::Index(index), PathStep::Key("source")], message, help);
        }
        let at = |key| [PathStep::Index(index), PathStep::Key("source"), PathStep::Key(key)];
        let connection = config.connections.get(&source.connection_id.0).map(|connection| &connection.kind);
        let is_read_only = matches!(connection, Some(ConnectionKind::Sql(sql)) if sql.read_only);
        if source.write && is_read_only {
            let message = format!("the connection `{}` is read-only", source.connection_id.0);
            problems.error(&at("write"), message, Some("leave out `readOnly` there, or `write` here".to_owned()));
        }
        if source.write {
            continue;
        }
        let only_this = |data: &AgentData| data.write && data.collections == [collection.id.0.clone()];
        for (agent, _) in agents().filter(|(_, data)| only_this(data)) {
            let message = format!("the agent `{agent}` has `write: true`, but the records cannot be changed");
            let help = Some("set `write: true` in `source`, or leave it out of the agent".to_owned());
            problems.error(&[PathStep::Index(index), PathStep::Key("source")], message, help);
        }
    }
}

/// Checks the key of an agent.
pub(super) fn agent(data: &AgentData, problems: &mut SectionProblems<'_, '_, '_>) {
    for (index, id) in data.collections.iter().enumerate() {
        let at = [PathStep::Key("collections"), PathStep::Index(index)];
        problems.check_entry::<Collections>(&at, "collection", id);
    }
    if data.sources && !data.write {
        let help = Some("set `write: true`, or leave it out".to_owned());
        problems.error(&[PathStep::Key("sources")], "this agent inserts nothing", help);
    }
}
