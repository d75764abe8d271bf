//! Checks a section that is not written in the config but stored elsewhere, beside a config that is in
//! use. The same checks apply; positions are JSON pointers.

use crate::config::Config;
use crate::language::Language;
use crate::section::{Context, DeclaredIds};
use crate::section_type::{Section, SectionProblems};
use crate::shape::{Shape, decode};
use config_source::{Diagnostic, MapEntry, Node, NodeKind, Report, Severity, SourceReader, Span};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The number of problems that are kept.
const KEPT: usize = 100;

/// A problem of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ValueProblem {
    /// The place, as a JSON pointer.
    pub path: String,
    /// The problem, in one sentence without a full stop.
    pub message: String,
    /// How to solve it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Language {
    /// Reads a section from a value, as if it stood in the config.
    ///
    /// # Errors
    /// The problems of the value, at most 100.
    pub fn read_section_value<S: Section>(&self, config: &Config, value: &Value) -> Result<S, Vec<ValueProblem>> {
        let mut pointers = Vec::new();
        let node = node(value, String::new(), &mut pointers);
        let nowhere = Span::default();
        let connections =
            config.connections.values().map(|known| (known.id.as_str(), json!({ "type": known.kind.name() })));
        let connections: Vec<_> = connections.map(|(id, entry)| (id, Node::from_value(&entry, nowhere))).collect();
        let agents = config.agents.values().map(|agent| (agent.id.as_str(), agent_entry(agent)));
        let agents: Vec<_> = agents.map(|(id, entry)| (id, Node::from_value(&entry, nowhere))).collect();
        let null = Node { at: nowhere, kind: NodeKind::Null };
        let mut report = Report::keeping(KEPT);
        let environment = HashMap::<String, String>::new();
        let mut context = Context {
            report: &mut report,
            vocabulary: &self.vocabulary,
            env: &environment,
            // A section of a capability refers to no other one.
            root: &null,
            folder: None,
            connections: declared(&connections),
            models: DeclaredIds::new(),
            agents: declared(&agents),
            endpoints: config.endpoints.keys().map(|id| (id.as_str(), &null)).collect(),
            pages: DeclaredIds::new(),
            client_tools: HashMap::new(),
            is_embedded: false,
            has_site_users: false,
        };
        let section = Shape::root(&self.vocabulary.schema)
            .property(S::KEY)
            .and_then(|shape| decode::<S>(&node, shape, context.report));
        if let Some(section) = &section {
            section.check(&mut SectionProblems::new(&node, &mut context));
            if !context.report.has_errors() {
                section.check_with_config(config, &mut SectionProblems::new(&node, &mut context));
            }
        }
        match section.filter(|_| !report.has_errors()) {
            Some(section) => Ok(section),
            None => Err(problems(report, &pointers)),
        }
    }
}

fn declared<'n>(entries: &'n [(&'n str, Node)]) -> DeclaredIds<'n> {
    entries.iter().map(|(id, entry)| (*id, entry)).collect()
}

/// Returns what checks read of an agent: the models that it may use.
fn agent_entry(agent: &crate::Agent) -> Value {
    let fallbacks: Vec<_> = agent.fallback_models.iter().map(|model| json!(model.model)).collect();
    json!({ "id": agent.id, "properties": { "model": agent.model, "fallbackModels": fallbacks } })
}

/// Converts a value to a tree in which the line of each position is the number of a pointer, from 1.
fn node(value: &Value, pointer: String, pointers: &mut Vec<String>) -> Node {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    pointers.push(pointer.clone());
    let line = u32::try_from(pointers.len()).unwrap_or(u32::MAX);
    let at = Span { file: 0, line, column: 1, width: 1 };
    let kind = match value {
        Value::Null => NodeKind::Null,
        Value::Bool(value) => NodeKind::Bool(*value),
        Value::Number(number) => NodeKind::Number(number.clone()),
        Value::String(text) => NodeKind::Text(text.clone()),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            NodeKind::List(items.map(|(index, item)| node(item, format!("{pointer}/{index}"), pointers)).collect())
        }
        Value::Object(fields) => {
            let entry = |(key, value): (&String, &Value)| {
                let value = node(value, format!("{pointer}/{}", escaped(key)), pointers);
                MapEntry { key: key.clone(), key_at: value.at, value }
            };
            NodeKind::Map(fields.iter().map(entry).collect())
        }
    };
    Node { at, kind }
}

fn problems(report: Report, pointers: &[String]) -> Vec<ValueProblem> {
    let errors = report.into_diagnostics().into_iter().filter(|problem| problem.severity == Severity::Error);
    let problem = |found: Diagnostic| {
        let place = (found.line as usize).checked_sub(1).and_then(|index| pointers.get(index));
        ValueProblem { path: place.cloned().unwrap_or_default(), message: found.message, help: found.help }
    };
    errors.map(problem).collect()
}

/// Reads a YAML text as a value, within the bounds of a config file. `file` is its name in diagnostics.
///
/// # Errors
/// The problems of the text.
pub fn read_yaml(file: &str, text: &str) -> Result<Value, Vec<Diagnostic>> {
    let files = [(file, text)];
    let mut reader = SourceReader::embedded(&files);
    let read = reader.read(file, None);
    read.map(|node| node.to_value()).ok_or_else(|| reader.into_diagnostics())
}

/// Returns the problems of a value that was read with [`read_yaml`], at their places in the text.
pub fn problems_in_yaml(file: &str, text: &str, problems: Vec<ValueProblem>) -> Vec<Diagnostic> {
    let files = [(file, text)];
    let mut reader = SourceReader::embedded(&files);
    let root = reader.read(file, None);
    for ValueProblem { path, message, help } in problems {
        let at = root.as_ref().map_or_else(Span::default, |root| span_of_pointer(root, &path));
        reader.error(at, message, help);
    }
    reader.into_diagnostics()
}

/// Returns the position of the value to which a JSON pointer refers, or of its nearest existing parent.
fn span_of_pointer(root: &Node, pointer: &str) -> Span {
    let mut node = root;
    for part in pointer.split('/').skip(1) {
        let key = part.replace("~1", "/").replace("~0", "~");
        let item = || part.parse().ok().and_then(|index: usize| node.items().get(index));
        match node.get(&key).map(|entry| &entry.value).or_else(item) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node.at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_of_a_yaml_text_have_their_lines() {
        let text = "id: a\nsteps:\n  - id: one\n    a/b: wrong\n";
        assert_eq!(
            read_yaml("x.yaml", text).unwrap(),
            json!({ "id": "a", "steps": [{ "id": "one", "a/b": "wrong" }] })
        );
        let check = |path: &str, expected: &str| {
            let problem = ValueProblem { path: path.to_owned(), message: "no".to_owned(), help: None };
            let found = problems_in_yaml("x.yaml", text, vec![problem]);
            assert_eq!(found[0].to_string().lines().next(), Some(expected), "{path}");
        };
        check("/steps/0/a~1b", "x.yaml:4:10: error: no");
        // Of a value that is not there, the one around it.
        check("/steps/0/agentId/deep", "x.yaml:3:5: error: no");
        check("", "x.yaml:1:1: error: no");
        let broken = read_yaml("x.yaml", "a: [").unwrap_err();
        assert!(broken[0].line > 0, "{broken:?}");
    }
}
