//! The reference of the config language: every key with its type, default and meaning, as Markdown.
//!
//! It is generated from the JSON Schema, so that a key is described once, at its Rust type.

mod phrase;

use operators::Usage;
use phrase::Phrases;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Stands before the generated sections.
const INTRODUCTION: &str = "# Config reference

Every key of the config, with its type, default and meaning. This page is generated from the config's JSON Schema
(`chatwright schema --markdown`); `chatwright schema` prints the schema itself, for completion in editors.
[config.md](config.md) explains the config step by step.

- A heading is the path of a mapping: `agents[]` is an item of the list `agents`, `limits.rates[]` an item of the list
  `rates` in the mapping `limits`, `connections[Sql]` a connection of the type `Sql`.
- Any value may be `{ _ref: PATH }`: the content of another file, by its path relative to the config's folder. A YAML or
  JSON file is parsed, any other file is text.
- *Operator* means that the value may be computed: [in agents](#operators-in-agents) for each turn,
  [on pages](#operators-on-pages) whenever the page state changes. In routines of endpoints, operators are
  allowed wherever a value is.
";

/// The definitions that describe operators, with the headings of their sections.
const OPERATORS: [(&str, &str); 2] = [("TurnOperator", "Operators in agents"), ("Operator", "Operators on pages")];

/// The definition of `{ _ref: PATH }`, which is allowed everywhere.
const FILE_REFERENCE: &str = "_ref";

/// A mapping that gets a section of its own.
struct Section<'a> {
    /// Its path in the config: `agents[].properties`.
    path: String,
    schema: &'a Map<String, Value>,
    /// The paths of its variants, such as those of a connection by its type.
    variants: Vec<String>,
}

/// Returns the reference as Markdown.
///
/// `schema` is the published JSON Schema of the config.
pub(crate) fn markdown(schema: &Value) -> String {
    let mut outline = Outline { schema, sections: Vec::new(), paths: HashMap::new() };
    outline.visit("", schema);
    let phrases = Phrases::new(schema, &outline.paths);
    let mut page = INTRODUCTION.to_owned();
    for section in &outline.sections {
        write_section(&mut page, section, &phrases);
    }
    for (name, title) in OPERATORS {
        if let Some(definition) = schema.pointer(&format!("/$defs/{name}")).and_then(Value::as_object) {
            write_heading(&mut page, title, &slug(title), definition);
            write_keys(&mut page, &without_computing_operators(definition), &phrases);
            page.push_str("\nThe operators that only compute, and those of lists: [operators.md](operators.md).\n");
        }
    }
    page
}

/// Returns the schema of operators with those only that read a value of their place. The others have
/// a page of their own.
fn without_computing_operators(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut schema = schema.clone();
    let reads = |name: &str| operators::definition(name).is_none_or(|operator| operator.usage == Usage::Value);
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| reads(name));
    }
    schema
}

/// Collects the sections in the order in which a reader meets them. A definition that is used in
/// several places gets one section, at the first of them.
struct Outline<'a> {
    schema: &'a Value,
    sections: Vec<Section<'a>>,
    /// The path at which each definition is used first.
    paths: HashMap<&'a str, String>,
}

impl<'a> Outline<'a> {
    fn visit(&mut self, path: &str, schema: &'a Value) {
        if let Some((name, definition)) = definition(self.schema, schema) {
            if !self.paths.contains_key(name) && !is_operator(name) && !is_inline(definition) {
                self.paths.insert(name, path.to_owned());
                self.visit(path, definition);
            }
            return;
        }
        let Some(keywords) = schema.as_object() else { return };
        if has_keys(keywords) {
            self.sections.push(Section { path: path.to_owned(), schema: keywords, variants: Vec::new() });
        }
        let own = self.sections.len().checked_sub(1).filter(|_| has_keys(keywords));
        for (key, value) in properties(keywords) {
            self.visit(&joined(path, key), value);
        }
        if let Some(items) = keywords.get("items") {
            self.visit(&format!("{path}[]"), items);
        }
        if let Some(values) = keywords.get("additionalProperties").filter(|values| values.is_object()) {
            self.visit(&joined(path, "*"), values);
        }
        self.visit_alternatives(path, keywords, own);
    }

    /// Visits the alternatives of a schema. If several are mappings, such as connections of different
    /// types, each gets a path of its own and is listed with the section `own`.
    fn visit_alternatives(&mut self, path: &str, keywords: &'a Map<String, Value>, own: Option<usize>) {
        let is_value = |one: &&Value| !definition_name(one).is_some_and(is_operator);
        let alternatives: Vec<_> = alternatives(keywords).filter(is_value).collect();
        let has_variants = alternatives.iter().filter(|one| self.resolved(one).is_some_and(has_keys)).count() > 1;
        for alternative in alternatives {
            let mark = self.resolved(alternative).filter(|_| has_variants).and_then(|one| self.mark(one));
            let place = mark.map_or_else(|| path.to_owned(), |mark| format!("{}[{mark}]", path.trim_end_matches("[]")));
            if let Some(own) = own.filter(|_| place != path) {
                self.sections[own].variants.push(place.clone());
            }
            self.visit(&place, alternative);
        }
    }

    /// Returns the keywords of a schema, or of the definition that it refers to.
    fn resolved(&self, schema: &'a Value) -> Option<&'a Map<String, Value>> {
        definition(self.schema, schema).map_or(schema, |(_, definition)| definition).as_object()
    }

    /// Returns what tells a mapping from its alternatives: the constants of a key such as `type`, or
    /// else its first required key.
    fn mark(&self, keywords: &'a Map<String, Value>) -> Option<String> {
        let constants = properties(keywords).find_map(|(_, value)| self.constants(value));
        constants.or_else(|| Some(keywords.get("required")?.get(0)?.as_str()?.to_owned()))
    }

    /// Returns the constants of a choice, separated by `|`.
    fn constants(&self, schema: &'a Value) -> Option<String> {
        let keywords = self.resolved(schema)?;
        if let Some(one) = keywords.get("const").and_then(Value::as_str) {
            return Some(one.to_owned());
        }
        let all: Option<Vec<_>> = alternatives(keywords).map(|one| self.constants(one)).collect();
        all.filter(|all| !all.is_empty()).map(|all| all.join("|"))
    }
}

fn write_section(page: &mut String, section: &Section<'_>, phrases: &Phrases<'_>) {
    if section.path.is_empty() {
        write_heading(page, "The file", "the-file", section.schema);
    } else {
        write_heading(page, &format!("`{}`", section.path), &slug(&section.path), section.schema);
    }
    write_keys(page, section.schema, phrases);
    if !section.variants.is_empty() {
        let links: Vec<_> = section.variants.iter().map(|path| format!("[`{path}`](#{})", slug(path))).collect();
        let _ = write!(page, "\nThe other keys depend on its type: {}.\n", links.join(", "));
    }
}

/// Writes a heading with an anchor of its own, because renderers disagree on those of code spans.
fn write_heading(page: &mut String, title: &str, anchor: &str, schema: &Map<String, Value>) {
    let _ = write!(page, "\n<a id=\"{anchor}\"></a>\n\n## {title}\n");
    if let Some(text) = schema.get("description").and_then(Value::as_str) {
        let _ = write!(page, "\n{text}\n");
    }
}

fn write_keys(page: &mut String, schema: &Map<String, Value>, phrases: &Phrases<'_>) {
    let required: Vec<_> = schema.get("required").and_then(Value::as_array).into_iter().flatten().collect();
    page.push_str("\n| Key | Type | Default | Meaning |\n|---|---|---|---|\n");
    for (key, value) in properties(schema) {
        let default = match value.get("default").filter(|default| !default.is_null()) {
            _ if required.iter().any(|name| *name == key) => "required".to_owned(),
            Some(default) => format!("`{default}`"),
            None => String::new(),
        };
        let meaning = phrases.meaning(value);
        let _ = writeln!(page, "| `{key}` | {} | {default} | {meaning} |", phrases.kind(value));
    }
}

/// Whether a definition is described where it is used instead of in a section: a secret is
/// `{ _secret: NAME }` everywhere.
fn is_inline(definition: &Value) -> bool {
    definition.pointer("/properties/_secret").is_some()
        && definition["properties"].as_object().is_some_and(|keys| keys.len() == 1)
}

fn has_keys(keywords: &Map<String, Value>) -> bool {
    properties(keywords).next().is_some()
}

/// Returns the name of the definition that a schema refers to.
fn definition_name(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

/// Returns the definition that a schema refers to, with its name.
fn definition<'a>(root: &'a Value, schema: &'a Value) -> Option<(&'a str, &'a Value)> {
    let name = definition_name(schema)?;
    Some((name, root.get("$defs")?.get(name)?))
}

/// Whether a definition is one of operators.
fn is_operator(name: &str) -> bool {
    OPERATORS.iter().any(|(operator, _)| *operator == name)
}

fn properties(keywords: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let properties = keywords.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
}

/// Returns the alternatives of a schema, without references to other files.
fn alternatives(keywords: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let lists = ["oneOf", "anyOf"].into_iter().filter_map(|keyword| keywords.get(keyword)?.as_array());
    lists.flatten().filter(|one| definition_name(one) != Some(FILE_REFERENCE))
}

/// Returns the path of a key in a mapping.
fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Returns the anchor of a path: letters and digits in lower case, all else as `-`.
fn slug(path: &str) -> String {
    let words = path.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}
