//! Resolves the references of a schema.

use serde_json::Value;
use std::collections::HashMap;

/// A schema document with its embedded resources and anchors.
pub(crate) struct Document<'a> {
    is_legacy: bool,
    /// The resources by `$id`, without an empty fragment.
    resources: HashMap<&'a str, &'a Value>,
    /// The anchors by the memory address of their resource and their name.
    anchors: HashMap<(usize, &'a str), &'a Value>,
}

impl<'a> Document<'a> {
    pub(crate) fn read(root: &'a Value, is_legacy: bool) -> Self {
        let mut document = Self { is_legacy, resources: HashMap::new(), anchors: HashMap::new() };
        document.index(root, root);
        document
    }

    /// Returns whether a subschema is a resource, relative to which the references in it are
    /// resolved.
    pub(crate) fn is_resource(&self, schema: &Value) -> bool {
        self.id(schema).is_some_and(|id| !id.starts_with('#'))
    }

    /// Returns the `$id`. Drafts 4 to 7 ignore one next to a `$ref`.
    fn id<'v>(&self, schema: &'v Value) -> Option<&'v str> {
        if self.is_legacy && schema.get("$ref").is_some() {
            return None;
        }
        schema.get("$id").or_else(|| schema.get("id").filter(|_| self.is_legacy))?.as_str()
    }

    fn index(&mut self, value: &'a Value, resource: &'a Value) {
        let mut resource = resource;
        match value {
            Value::Object(map) => {
                match self.id(value) {
                    Some(id) if id.starts_with('#') => self.anchor(&id[1..], value, resource),
                    Some(id) => {
                        resource = value;
                        self.resources.entry(id.trim_end_matches('#')).or_insert(value);
                    }
                    None => {}
                }
                for keyword in ["$anchor", "$dynamicAnchor"] {
                    if let Some(name) = map.get(keyword).and_then(Value::as_str) {
                        self.anchor(name, value, resource);
                    }
                }
                map.values().for_each(|value| self.index(value, resource));
            }
            Value::Array(values) => values.iter().for_each(|value| self.index(value, resource)),
            _ => {}
        }
    }

    fn anchor(&mut self, name: &'a str, value: &'a Value, resource: &'a Value) {
        self.anchors.entry((address(resource), name)).or_insert(value);
    }

    /// Returns the target of a reference in a resource, and the resource of the target.
    pub(crate) fn find(&self, reference: &str, resource: &'a Value) -> Result<(&'a Value, &'a Value), String> {
        let quoted: String = reference.chars().take(200).collect();
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = match base {
            "" => resource,
            id => *self.resources.get(id).ok_or_else(|| {
                format!("the reference `{quoted}` refers to another document, which is not supported")
            })?,
        };
        let found = if fragment.is_empty() || fragment.starts_with('/') {
            self.follow(&percent_decoded(fragment), resource)
        } else {
            self.anchors.get(&(address(resource), fragment)).map(|&target| (target, resource))
        };
        found.ok_or_else(|| format!("the reference `{quoted}` cannot be resolved"))
    }

    /// Follows a JSON pointer, and keeps track of the resources on the way.
    fn follow(&self, pointer: &str, resource: &'a Value) -> Option<(&'a Value, &'a Value)> {
        let (mut value, mut resource) = (resource, resource);
        for token in pointer.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            value = match value {
                Value::Object(map) => map.get(&token)?,
                Value::Array(values) => values.get(token.parse::<usize>().ok()?)?,
                _ => return None,
            };
            if self.is_resource(value) {
                resource = value;
            }
        }
        Some((value, resource))
    }
}

fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

/// Decodes `%XX`; invalid escapes stay.
fn percent_decoded(text: &str) -> String {
    let hex = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    let (mut decoded, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(&byte) = text.as_bytes().get(at) {
        let escaped = if byte == b'%' { hex(at + 1) } else { None };
        decoded.push(escaped.unwrap_or(byte));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
