//! Checks mappings: unknown keys, missing keys, and the tag that selects a shape.

use super::decode::Decoder;
use super::query::{Shape, description};
use config_source::{MapEntry, Node, NodeKind, Report, Span, suggest};
use serde_json::{Map, Value};

/// The keys that hold limits.
const LIMIT_GROUPS: [&str; 5] = ["limits", "quotas", "rates", "retention", "timeout"];

/// Numbers that limit nothing, for which models have values of their own.
const MODEL_SETTINGS: [&str; 6] = ["frequencyPenalty", "presencePenalty", "seed", "temperature", "topK", "topP"];

/// A property of a mapping.
struct Property<'s> {
    name: &'s str,
    /// The schema as written, with its annotations.
    schema: &'s Value,
    /// The shape of the mapping that the property belongs to.
    parent: Shape<'s>,
    required: bool,
}

impl<'s> Property<'s> {
    /// Returns its shape. This resolves references, so it is done only when a value is checked: most properties of most
    /// mappings are absent.
    fn shape(&self) -> Shape<'s> {
        self.parent.at(self.schema)
    }

    /// Whether a missing property is the same as its default or an empty mapping.
    fn may_be_absent(&self) -> bool {
        !self.required || self.shape().types().eq(["object"]) && self.shape().may_be_empty()
    }

    /// Whether an empty value would be read as "no limit": numbers, and the groups that hold them.
    fn is_limit(&self) -> bool {
        LIMIT_GROUPS.contains(&self.name) || self.shape().may_be_number() && !MODEL_SETTINGS.contains(&self.name)
    }

    /// Returns the help line for a missing property: its description, or its required keys.
    fn purpose(&self) -> Option<String> {
        let name = self.name;
        let inside =
            || suggest::list(&self.shape().required().collect::<Vec<_>>()).map(|keys| format!("`{name}` holds {keys}"));
        description(self.schema).map(|text| format!("`{name}`: {text}")).or_else(inside)
    }
}

impl Decoder<'_> {
    /// Checks a mapping with known keys. A tag such as `type` may select further keys.
    pub(super) fn mapping(&mut self, node: &Node, shape: Shape<'_>, owner: Span) -> Option<Value> {
        let NodeKind::Map(entries) = &node.kind else { return self.unexpected_mapping(node, shape) };
        let mut properties = properties_of(shape);
        if let Some(tag) = shape.tag() {
            let branch = self.branch(node, shape, tag)?;
            properties.extend(properties_of(branch));
        }
        let mut whole = self.check_key_count(node, entries, shape);
        let mut map = Map::new();
        // Keys that were misspelt are not reported as missing as well.
        let mut meant = Vec::new();
        for MapEntry { key, key_at, value } in entries {
            let Some(property) = properties.iter().find(|property| property.name == key) else {
                meant.extend(self.unknown_key(key, *key_at, &properties, shape));
                whole = false;
                continue;
            };
            if property.may_be_absent() && matches!(value.kind, NodeKind::Null) {
                whole &= !property.is_limit() || self.empty_limit(key, *key_at).is_some();
                continue;
            }
            match self.value(value, property.shape(), *key_at) {
                Some(value) => drop(map.insert(key.clone(), value)),
                None => whole = false,
            }
        }
        for property in properties.iter().filter(|property| property.required) {
            if map.contains_key(property.name) {
                continue;
            }
            if property.may_be_absent() {
                map.insert(property.name.to_owned(), Value::Object(Map::new()));
            } else if node.get(property.name).is_none() {
                whole = false;
                if !meant.contains(&property.name) {
                    self.error(owner, format!("`{}` is missing here", property.name), property.purpose());
                }
            }
        }
        whole.then_some(Value::Object(map))
    }

    /// Reports a number or a group of limits without a value: `costUsd:`.
    fn empty_limit(&mut self, key: &str, key_at: Span) -> Option<Value> {
        self.error(key_at, empty_limit_message(key), Some(EMPTY_LIMIT_HELP.to_owned()))
    }

    /// Checks the number of keys and reports too many or too few.
    fn check_key_count(&mut self, node: &Node, entries: &[MapEntry], shape: Shape<'_>) -> bool {
        let most = shape.number("maxProperties").filter(|most| entries.len() as f64 > *most);
        let least = shape.number("minProperties").filter(|least| (entries.len() as f64) < *least);
        let (at, message) = match (most, least) {
            (Some(most), _) => (entries[most as usize].key_at, format!("too many keys; {most} is the most here")),
            (_, Some(least)) => (node.at, format!("expected a mapping of at least {least}, found {}", entries.len())),
            (None, None) => return true,
        };
        let names: Vec<&str> = shape.properties().map(|(name, _)| name).collect();
        self.error(at, message, suggest::one_of(&names)).is_some()
    }

    fn unexpected_mapping(&mut self, node: &Node, shape: Shape<'_>) -> Option<Value> {
        self.error(node.at, format!("expected a mapping, found {}", node.describe()), mapping_help(shape, node))
    }

    /// Reports an unknown key and returns the known key that was probably meant.
    fn unknown_key<'s>(
        &mut self,
        key: &str,
        at: Span,
        properties: &[Property<'s>],
        shape: Shape<'s>,
    ) -> Option<&'s str> {
        if shape.is_unavailable_key(key) {
            self.report.error(at, format!("`{key}` is not available in this version"), None);
            return None;
        }
        let names = properties.iter().map(|property| property.name);
        let help = suggest::help(key, names.clone());
        self.report.error(at, format!("there is no key `{key}` here"), help);
        suggest::nearest(key, names)
    }

    /// Returns the alternative that the value of the mapping's tag selects.
    fn branch<'s>(&mut self, node: &Node, shape: Shape<'s>, tag: &str) -> Option<Shape<'s>> {
        let names = || -> Vec<&str> { shape.tagged_alternatives(tag).map(|(name, _)| name).collect() };
        let Some(entry) = node.get(tag) else {
            self.error(node.at, format!("`{tag}` is missing here"), suggest::one_of(&names()));
            return None;
        };
        let Some(text) = entry.value.text() else {
            let message = format!("expected a {}, found {}", shape.choice_noun(), entry.value.describe());
            self.error(entry.value.at, message, suggest::one_of(&names()));
            return None;
        };
        let branch = shape.tagged_alternatives(tag).find(|(name, _)| *name == text);
        if branch.is_none() {
            self.unknown_name(entry.value.at, text, &names(), shape);
        }
        branch.map(|(_, branch)| branch)
    }
}

/// Returns the help line for another value in the place of a mapping: its keys, or `{ enabled: true
/// }`, because what has this key is often written as `true`.
pub(super) fn mapping_help(shape: Shape<'_>, node: &Node) -> Option<String> {
    let keys: Vec<&str> = shape.properties().map(|(name, _)| name).collect();
    match node.kind {
        NodeKind::Bool(value) if keys.contains(&"enabled") => Some(format!("write `{{ enabled: {value} }}`")),
        _ => suggest::list(&keys).map(|keys| format!("its keys are {keys}")),
    }
}

/// Reports the sections of limits without a value.
pub(super) fn check_limit_sections(root: &Node, report: &mut Report) {
    let is_empty = |entry: &&MapEntry| matches!(entry.value.kind, NodeKind::Null);
    for entry in root.entries().iter().filter(is_empty).filter(|entry| LIMIT_GROUPS.contains(&entry.key.as_str())) {
        report.error(entry.key_at, empty_limit_message(&entry.key), Some(EMPTY_LIMIT_HELP.to_owned()));
    }
}

const EMPTY_LIMIT_HELP: &str = "write a value after it, or leave the key out";

fn empty_limit_message(key: &str) -> String {
    format!("`{key}` has no value")
}

fn properties_of(shape: Shape<'_>) -> Vec<Property<'_>> {
    let required: Vec<&str> = shape.required().collect();
    let property = |(name, schema)| Property { name, schema, parent: shape, required: required.contains(&name) };
    shape.properties().map(property).collect()
}
