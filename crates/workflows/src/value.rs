//! Values in a definition: operators, and `$.` paths (JSONPath, RFC 9535).

use crate::plan::{Frame, RunFacts};
use operators::{Ambient, Operators, Scope, evaluate_fully, evaluate_source, operator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::cell::Cell;
use workflow_definition::{Reference, Target, ValuePath, is_path, reads_by_name, references};

/// The values that an expression may read, and the time of its evaluation.
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
/// One line, which the readers of the run see.
pub(crate) fn evaluate(value: &Value, moment: Moment<'_>) -> Result<Value, String> {
    if references(value).is_empty() && !operators::is_dynamic(value) {
        return Ok(value.clone());
    }
    let bound = Bound::new(value, moment)?;
    bound.evaluate(None, &moment.facts.operators)
}

/// Returns a condition over an event, as JSON, with all that it reads beside the event.
///
/// # Errors
/// As [`evaluate`]; or it reads too much.
pub(crate) fn bind(value: &Value, moment: Moment<'_>) -> Result<Value, String> {
    let mut bound = Bound::new(value, moment)?;
    // Only sources may read the input by another way than an operator of their own.
    let text = value.to_string();
    if !text.contains("input") {
        bound.input = Cow::Owned(Value::Null);
    }
    let bound = serde_json::to_value(bound).map_err(|error| error.to_string())?;
    if bound.to_string().len() > MAX_BOUND {
        Err(format!("the condition reads more than {MAX_BOUND} bytes"))
    } else {
        Ok(bound)
    }
}

/// Returns whether an event meets a condition that [`bind`] has returned.
///
/// # Errors
/// One line, which the readers of the run see.
pub(crate) fn is_met(condition: &Value, event: &Value, operators: &Operators) -> Result<bool, String> {
    let bound: Bound<'_> =
        serde_json::from_value(condition.clone()).map_err(|_| "the condition is damaged".to_owned())?;
    Ok(operators::is_truthy(&bound.evaluate(Some(event), operators)?))
}

/// The most bytes of a condition with what it reads.
const MAX_BOUND: usize = 64 << 10;

/// A value with all that it reads.
#[derive(Debug, Deserialize, Serialize)]
struct Bound<'a> {
    value: Value,
    input: Cow<'a, Value>,
    user: Cow<'a, Value>,
    steps: Value,
    items: Value,
    error: Option<Cow<'a, Value>>,
    at: i64,
    seed: u64,
}

impl<'a> Bound<'a> {
    fn new(value: &Value, moment: Moment<'a>) -> Result<Self, String> {
        let Moment { facts, frame, at, path } = moment;
        let found = references(value);
        let mut items = frame.items();
        // A path becomes an operator that reads its result, so that the output of a step is never taken for
        // a path or an operator.
        let mut paths = 0;
        let value = replace_paths(value, &mut |text| {
            let name = format!("$ {paths}");
            paths += 1;
            items.insert(name.clone(), resolve(text, moment)?);
            Ok(json!({ "_item": name }))
        })?;
        let steps = Value::Object(visible_steps(&found, frame));
        Ok(Self {
            value,
            input: Cow::Borrowed(&facts.input),
            user: Cow::Borrowed(&facts.user),
            steps,
            items: Value::Object(items),
            error: frame.error().map(Cow::Borrowed),
            at,
            seed: seed(&[&facts.run_id, path]),
        })
    }

    fn evaluate(&self, event: Option<&Value>, operators: &Operators) -> Result<Value, String> {
        let ambient = Repeatable { at: self.at, seed: Cell::new(self.seed) };
        let scope = Scope {
            input: Some(&self.input),
            user: Some(&self.user),
            step: Some(&self.steps),
            item: Some(&self.items),
            error: self.error.as_deref(),
            event,
            expressions: Some(evaluate_source),
            operators: Some(operators),
            ambient: Some(&ambient),
            ..Scope::default()
        };
        evaluate_fully(&self.value, &scope, || false).map_err(|error| error.to_string())
    }
}

/// Returns the results that a value reads.
fn visible_steps(found: &[Reference<'_>], frame: &Frame<'_>) -> Map<String, Value> {
    let mut steps = Map::new();
    for reference in found {
        match reference.target {
            Target::Step(id) => drop(frame.result(id).map(|result| steps.insert(id.to_owned(), result.clone()))),
            Target::Source(_, text) => {
                let named = frame.results().filter(|(id, _)| text.contains(*id));
                named.for_each(|(id, result)| drop(steps.insert(id.to_owned(), result.clone())));
            }
            Target::AllSteps => {
                frame.results().for_each(|(id, result)| drop(steps.insert(id.to_owned(), result.clone())));
            }
            _ => {}
        }
    }
    steps
}

fn replace_paths(value: &Value, replace: &mut dyn FnMut(&str) -> Result<Value, String>) -> Result<Value, String> {
    if let Some((name, argument)) = operator(value) {
        if reads_by_name(name) {
            return Ok(value.clone());
        }
        return Ok(json!({ name: replace_paths(argument, replace)? }));
    }
    Ok(match value {
        Value::String(text) if is_path(text) => replace(text)?,
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
