//! Rewrites a schema with costs: only known keywords remain, each subschema is preceded by its
//! cost, and each target of a reference is in `$defs`.

use crate::cost::{Cost, KeyPatterns, PatternCost};
use crate::expand;
use crate::limits;
use crate::pattern;
use crate::references::Document;
use jsonschema::Draft;
use offload::Abandoned;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The keyword that charges a cost; its value is an index into the costs.
pub(crate) const COST_KEYWORD: &str = "x-cost";
/// The maximum number of values in the rewritten schema.
const MAX_REWRITTEN: usize = 100_000;
/// The maximum number of distinct patterns in a schema.
const MAX_PATTERNS: usize = 200;
/// The maximum work of compiling all patterns of a schema, in microseconds.
const MAX_PATTERN_WORK: u64 = 50_000;

/// Keywords whose value is a subschema.
const SUBSCHEMA_KEYWORDS: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is a list of subschemas.
const SUBSCHEMA_LISTS: [&str; 5] = ["allOf", "anyOf", "oneOf", "items", "prefixItems"];
/// Keywords whose value is a map of subschemas.
const SUBSCHEMA_MAPS: [&str; 4] = ["properties", "patternProperties", "dependentSchemas", "dependencies"];
/// Keywords without subschemas.
const PLAIN_KEYWORDS: [&str; 24] = [
    "type",
    "enum",
    "const",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "maxContains",
    "minContains",
    "maxProperties",
    "minProperties",
    "required",
    "dependentRequired",
    "format",
    "contentEncoding",
    "contentMediaType",
    "$ref",
];
/// Keywords that take only nanoseconds for any instance.
const TRIVIAL_KEYWORDS: [&str; 10] = [
    "type",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxItems",
    "minItems",
    "maxProperties",
    "minProperties",
];

/// A rewritten schema, ready to compile.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub(crate) schema: Value,
    pub(crate) costs: Vec<Cost>,
    pub(crate) draft: Draft,
}

/// Rewrites a schema, or returns why its cost cannot be bounded. It ends between two patterns when
/// the caller has gone.
pub(crate) fn rewrite(schema: &Value, abandoned: Option<&Abandoned>) -> Result<Rewritten, String> {
    let draft = Draft::default().detect(schema);
    if draft == Draft::Unknown {
        return Err("its `$schema` is not one of JSON Schema's drafts 4, 6, 7, 2019-09 and 2020-12".to_owned());
    }
    let is_legacy = matches!(draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7);
    let mut rewriter = Rewriter {
        document: Document::read(schema, is_legacy),
        is_legacy,
        costs: Vec::new(),
        patterns: HashMap::new(),
        pattern_work: 0,
        abandoned,
        targets: HashMap::new(),
        pending: Vec::new(),
        values: 0,
    };
    let mut root = rewriter.rewrite_schema(schema, schema)?;
    let mut definitions = Map::new();
    while let Some((index, target, resource)) = rewriter.pending.pop() {
        definitions.insert(index.to_string(), rewriter.rewrite_schema(target, resource)?);
    }
    if !definitions.is_empty() {
        // A schema with references is an object.
        root[rewriter.definitions()] = Value::Object(definitions);
    }
    // `unevaluatedProperties` may match the keys of an object against the patterns of any
    // subschema.
    for cost in rewriter.costs.iter_mut().filter(|cost| cost.is_unevaluated) {
        rewriter.patterns.values().for_each(|pattern| cost.keys.add(*pattern));
    }
    limits::check_paths(&root)?;
    expand::check(&root)?;
    Ok(Rewritten { schema: root, costs: rewriter.costs, draft })
}

struct Rewriter<'a> {
    document: Document<'a>,
    /// Whether the draft is one of 4 to 7, which ignore keywords next to a `$ref`.
    is_legacy: bool,
    costs: Vec<Cost>,
    /// The costs of all patterns.
    patterns: HashMap<&'a str, PatternCost>,
    /// The work of compiling the patterns so far, in microseconds.
    pattern_work: u64,
    /// Whether the caller has gone.
    abandoned: Option<&'a Abandoned>,
    /// The numbers of reference targets by memory address; the document does not move.
    targets: HashMap<usize, usize>,
    /// The targets still to be rewritten, with their numbers and resources.
    pending: Vec<(usize, &'a Value, &'a Value)>,
    /// The number of values written.
    values: usize,
}

impl<'a> Rewriter<'a> {
    fn definitions(&self) -> &'static str {
        if self.is_legacy { "definitions" } else { "$defs" }
    }

    /// Rewrites a subschema within a resource (the document, or an embedded schema with a `$id`).
    fn rewrite_schema(&mut self, schema: &'a Value, resource: &'a Value) -> Result<Value, String> {
        let Value::Object(keywords) = schema else { return Ok(self.copy(schema)) };
        let resource = if self.document.is_resource(schema) { schema } else { resource };
        let mut written = Map::new();
        match keywords.get("$ref") {
            Some(reference) if self.is_legacy => {
                written.insert("$ref".to_owned(), self.rewrite_reference(reference, resource)?);
            }
            _ => {
                for (keyword, value) in keywords {
                    if let Some(value) = self.rewrite_keyword(keyword, value, resource)? {
                        written.insert(keyword.clone(), value);
                    }
                }
            }
        }
        self.values += 1 + written.len();
        if self.values > MAX_REWRITTEN {
            return Err("its references overlap too much".to_owned());
        }
        Ok(self.with_cost(written))
    }

    /// Puts the cost of a subschema in front of it.
    fn with_cost(&mut self, written: Map<String, Value>) -> Value {
        if written.keys().all(|keyword| TRIVIAL_KEYWORDS.contains(&keyword.as_str())) {
            return Value::Object(written);
        }
        let cost = |pattern: &str| self.patterns.get(pattern).copied();
        let pattern = written.get("pattern").and_then(Value::as_str).and_then(cost);
        let mut keys = KeyPatterns::default();
        let map = written.get("patternProperties").and_then(Value::as_object);
        map.into_iter().flat_map(Map::keys).filter_map(|key| cost(key)).for_each(|pattern| keys.add(pattern));
        self.costs.push(Cost::for_schema(&written, pattern, keys));
        json!({ "allOf": [{ COST_KEYWORD: self.costs.len() - 1 }, written] })
    }

    /// Rewrites a keyword; returns `None` for an annotation.
    fn rewrite_keyword(
        &mut self,
        keyword: &str,
        value: &'a Value,
        resource: &'a Value,
    ) -> Result<Option<Value>, String> {
        let written = match value {
            _ if matches!(keyword, "$dynamicRef" | "$recursiveRef") => {
                return Err(format!("`{keyword}` is not supported; use `$ref`"));
            }
            _ if keyword == "$ref" => self.rewrite_reference(value, resource)?,
            Value::Array(list) if SUBSCHEMA_LISTS.contains(&keyword) => {
                let list = list.iter().map(|schema| self.rewrite_schema(schema, resource));
                Value::Array(list.collect::<Result<_, _>>()?)
            }
            Value::Object(map) if SUBSCHEMA_MAPS.contains(&keyword) => {
                let mut written = Map::new();
                for (name, schema) in map {
                    if keyword == "patternProperties" {
                        self.add_pattern(name)?;
                    }
                    written.insert(name.clone(), self.rewrite_schema(schema, resource)?);
                }
                Value::Object(written)
            }
            _ if SUBSCHEMA_KEYWORDS.contains(&keyword) => self.rewrite_schema(value, resource)?,
            _ if SUBSCHEMA_LISTS.contains(&keyword)
                || SUBSCHEMA_MAPS.contains(&keyword)
                || PLAIN_KEYWORDS.contains(&keyword) =>
            {
                if let ("pattern", Value::String(pattern)) = (keyword, value) {
                    self.add_pattern(pattern)?;
                }
                self.copy(value)
            }
            _ => return Ok(None),
        };
        Ok(Some(written))
    }

    fn copy(&mut self, value: &Value) -> Value {
        self.values += 1;
        value.clone()
    }

    /// Analyzes a pattern. Its work is charged before it is done: parsing it here, and compiling it
    /// later, which `jsonschema` does once for each distinct pattern.
    fn add_pattern(&mut self, pattern: &'a str) -> Result<(), String> {
        if self.patterns.contains_key(pattern) {
            return Ok(());
        }
        if self.patterns.len() == MAX_PATTERNS {
            return Err(format!("it has more than {MAX_PATTERNS} patterns"));
        }
        if self.abandoned.is_some_and(Abandoned::is_set) {
            return Err("nobody waits for it any more".to_owned());
        }
        let too_costly = || "its patterns are too costly to compile".to_owned();
        if self.pattern_work.saturating_add(pattern::parsing_work(pattern)) > MAX_PATTERN_WORK {
            return Err(too_costly());
        }
        let analysis = pattern::analyze(pattern)?;
        self.pattern_work = self.pattern_work.saturating_add(analysis.work);
        if self.pattern_work > MAX_PATTERN_WORK {
            return Err(too_costly());
        }
        self.patterns.insert(pattern, analysis.cost);
        Ok(())
    }

    /// Rewrites a reference to the new location of its target.
    fn rewrite_reference(&mut self, reference: &'a Value, resource: &'a Value) -> Result<Value, String> {
        // A reference that is not a string is left for the compiler to reject.
        let Some(text) = reference.as_str() else { return Ok(reference.clone()) };
        let (target, resource) = self.document.find(text, resource)?;
        let next = self.targets.len();
        let index = *self.targets.entry(std::ptr::from_ref(target).addr()).or_insert(next);
        if index == next {
            self.pending.push((index, target, resource));
        }
        Ok(format!("#/{}/{index}", self.definitions()).into())
    }
}
