//! Values in a definition: operators, and `$.` paths (JSONPath, RFC 9535).

mod path;
mod references;

pub(crate) use references::{Place, Reference, references};

use crate::plan::{Frame, RunFacts};
use operators::{Ambient, Scope, evaluate_fully, evaluate_source, operator};
use path::ValuePath;
use serde_json::{Map, Value, json};
use std::cell::Cell;

/// The operators that read a value in a workflow.
pub(crate) const OPERATORS: [&str; 7] = ["_input", "_step", "_item", "_user", "_error", "_expr", "_template"];

/// What a value may read, and when it is evaluated.
#[derive(Clone, Copy)]
pub(crate) struct Moment<'a> {
    /// The run.
    pub(crate) facts: &'a RunFacts,
    /// The results that are visible.
    pub(crate) frame: &'a Frame<'a>,
    /// The time: when the steps before had ended. It is the same in every attempt.
    pub(crate) at: i64,
    /// The path of the step, from which random numbers are made.
    pub(crate) path: &'a str,
}

/// The clock and the random numbers of one value. Both are the same whenever it is evaluated.
#[derive(Debug)]
struct Repeatable {
    at: i64,
    seed: Cell<u64>,
}

impl Ambient for Repeatable {
    fn unix_ms(&self) -> i64 {
        self.at
    }

    fn random(&self) -> u64 {
        // SplitMix64.
        let seed = self.seed.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.seed.set(seed);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// Evaluates a value.
///
/// # Errors
/// One line for whoever reads the run.
pub(crate) fn evaluate(value: &Value, moment: Moment<'_>) -> Result<Value, String> {
    let Moment { facts, frame, at, path } = moment;
    let found = references(value);
    if found.is_empty() && !operators::is_dynamic(value) {
        return Ok(value.clone());
    }
    let mut items = frame.items();
    // A path becomes an operator that reads its result, so that what a step has returned is never
    // taken for a path or an operator.
    let mut paths = 0;
    let value = replace_paths(value, &mut |text| {
        let name = format!("$ {paths}");
        paths += 1;
        items.insert(name.clone(), resolve(text, moment)?);
        Ok(json!({ "_item": name }))
    })?;
    let steps = Value::Object(visible_steps(&found, frame));
    let (items, error) = (Value::Object(items), frame.error());
    let ambient = Repeatable { at, seed: Cell::new(seed(&[&facts.run_id, path])) };
    let scope = Scope {
        input: Some(&facts.input),
        user: Some(&facts.user),
        step: Some(&steps),
        item: Some(&items),
        error,
        expressions: Some(evaluate_source),
        operators: Some(&facts.operators),
        ambient: Some(&ambient),
        ..Scope::default()
    };
    evaluate_fully(&value, &scope, || false).map_err(|error| error.to_string())
}

/// Returns the results that a value reads.
fn visible_steps(found: &[Reference<'_>], frame: &Frame<'_>) -> Map<String, Value> {
    let mut steps = Map::new();
    for reference in found {
        match reference {
            Reference::Step { id, .. } => {
                drop(frame.result(id).map(|result| steps.insert((*id).to_owned(), result.clone())))
            }
            Reference::Source { text, .. } => {
                let named = frame.results().filter(|(id, _)| text.contains(*id));
                named.for_each(|(id, result)| drop(steps.insert(id.to_owned(), result.clone())));
            }
            Reference::AllSteps { .. } => {
                frame.results().for_each(|(id, result)| drop(steps.insert(id.to_owned(), result.clone())));
            }
            _ => {}
        }
    }
    steps
}

fn replace_paths(value: &Value, replace: &mut dyn FnMut(&str) -> Result<Value, String>) -> Result<Value, String> {
    if let Some((name, argument)) = operator(value) {
        if references::reads_by_name(name) {
            return Ok(value.clone());
        }
        return Ok(json!({ name: replace_paths(argument, replace)? }));
    }
    Ok(match value {
        Value::String(text) if path::is_path(text) => replace(text)?,
        Value::Array(items) => items.iter().map(|item| replace_paths(item, replace)).collect::<Result<_, _>>()?,
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| Ok((key.clone(), replace_paths(value, replace)?)));
            Value::Object(fields.collect::<Result<_, String>>()?)
        }
        plain => plain.clone(),
    })
}

fn resolve(text: &str, Moment { facts, frame, .. }: Moment<'_>) -> Result<Value, String> {
    let path = ValuePath::parse(text)?;
    let item = || frame.item(path.root);
    Ok(match path.root {
        "input" => path.query(&facts.input),
        "user" => path.query(&facts.user),
        "error" => path.query(frame.error().unwrap_or(&Value::Null)),
        root => frame.result(root).or_else(item).map_or(Value::Null, |value| path.query(value)),
    })
}

/// Returns a number that depends on these texts only.
fn seed(texts: &[&str]) -> u64 {
    // FNV-1a.
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
