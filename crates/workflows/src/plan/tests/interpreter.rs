//! A simple interpreter: it goes through a definition once, in memory, one step after the other.
//! It is written without the planner's code, to be compared with it.

use crate::plan::End;
use crate::plan::StepError;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use workflow_definition::{Step, StepKind, Workflow};

/// The result of an endpoint: its output, or an error in its first attempts.
pub(super) fn effect(step: &Step, path: &str, input: &Value, attempt: u32) -> Result<Value, String> {
    let name = match &step.kind {
        StepKind::Endpoint(called) => &called.endpoint_id.0,
        StepKind::Tool(called) => &called.tool_name.0,
        _ => panic!("{path} is no call"),
    };
    let fails: u32 = name.strip_prefix("fails").map_or(0, |count| count.parse().unwrap());
    if attempt <= fails {
        return Err("it failed".to_owned());
    }
    let mut hasher = DefaultHasher::new();
    // The order of the keys has no meaning.
    let seen: BTreeMap<_, _> = input["seen"].as_object().into_iter().flatten().collect();
    (path, format!("{seen:?} {}", input["index"])).hash(&mut hasher);
    Ok(json!(hasher.finish() % 1_000_000))
}

pub(super) enum Stop {
    Failed(StepError),
    Returned(Value),
}

#[derive(Clone)]
pub(super) struct Seen {
    results: Map<String, Value>,
    index: Value,
}

pub(super) struct Interpreter<'f> {
    pub(super) flags: &'f [bool],
    /// The paths of the calls that had an effect.
    pub(super) effects: Vec<String>,
}

impl Interpreter<'_> {
    pub(super) fn run(&mut self, workflow: &Workflow) -> End {
        let mut seen = Seen { results: Map::new(), index: Value::Null };
        match self.list(&workflow.steps, "", &mut seen) {
            Ok(output) | Err(Stop::Returned(output)) => End::Done(output),
            Err(Stop::Failed(error)) => End::Failed(error),
        }
    }

    fn list(&mut self, steps: &[Step], prefix: &str, seen: &mut Seen) -> Result<Value, Stop> {
        let mut last = Value::Null;
        for step in steps {
            let path = format!("{prefix}{}", step.id.0);
            last = match self.step(step, &path, seen) {
                Err(Stop::Failed(_)) if !step.on_error.is_empty() => {
                    self.list(&step.on_error, &format!("{path}/onError/"), &mut seen.clone())?
                }
                other => other?,
            };
            seen.results.insert(step.id.0.clone(), last.clone());
        }
        Ok(last)
    }

    fn flag(&self, test: &Value) -> bool {
        let name = test["_input"].as_str().unwrap();
        self.flags[name.strip_prefix("flags.").unwrap().parse::<usize>().unwrap()]
    }

    fn step(&mut self, step: &Step, path: &str, seen: &Seen) -> Result<Value, Stop> {
        let inner = format!("{path}/");
        match &step.kind {
            StepKind::Endpoint(_) | StepKind::Tool(_) => {
                let results: Map<String, Value> = seen.results.clone();
                let input = json!({ "seen": results, "index": seen.index });
                let attempts = step.retry.as_ref().map_or(1, |retry| retry.attempts);
                let mut attempt = 1;
                loop {
                    match effect(step, path, &input, attempt) {
                        Ok(output) => {
                            self.effects.push(path.to_owned());
                            return Ok(output);
                        }
                        Err(error) if attempt == attempts => {
                            return Err(Stop::Failed(StepError::new("failed", error, path)));
                        }
                        Err(_) => attempt += 1,
                    }
                }
            }
            StepKind::If(choice) => {
                if self.flag(&choice.test) {
                    self.list(&choice.then, &inner, &mut seen.clone())
                } else {
                    self.list(&choice.otherwise, &inner, &mut seen.clone())
                }
            }
            StepKind::Switch(choice) => {
                let case = choice.cases.iter().find(|case| self.flag(&case.test));
                let steps = case.map_or(&choice.default, |case| &case.then);
                self.list(steps, &inner, &mut seen.clone())
            }
            StepKind::Parallel(parallel) => {
                let (mut outputs, mut failed) = (Map::new(), None);
                for (name, steps) in &parallel.branches {
                    match self.list(steps, &format!("{path}.{name}/"), &mut seen.clone()) {
                        Ok(output) => drop(outputs.insert(name.clone(), output)),
                        Err(stop) => drop(failed.get_or_insert(stop)),
                    }
                }
                failed.map_or(Ok(Value::Object(outputs)), Err)
            }
            StepKind::Loop(repeated) => {
                let (count, stop) = match (&repeated.list, &repeated.until) {
                    (Some(list), _) => (list.as_array().unwrap().len(), None),
                    (None, until) => (repeated.max as usize, until.as_ref().unwrap()["_eq"][1].as_u64()),
                };
                let mut outputs = Vec::new();
                for index in 0..count {
                    let mut seen = Seen { index: json!(index), ..seen.clone() };
                    outputs.push(self.list(&repeated.body, &format!("{path}[{index}]/"), &mut seen)?);
                    if stop == Some(index as u64) {
                        return Ok(Value::Array(outputs));
                    }
                }
                if repeated.until.is_some() {
                    let message = format!("the condition of the loop was not true after {count} iterations");
                    return Err(Stop::Failed(StepError::new("limit", message, path)));
                }
                Ok(Value::Array(outputs))
            }
            StepKind::Wait(wait) => match wait.event.as_ref().map(|event| event.0.as_str()) {
                None => Ok(Value::Null),
                Some("happens") => Ok(json!({ "name": "happens" })),
                Some(_) => {
                    let message = "The event `never` did not happen in time.";
                    Err(Stop::Failed(StepError::new("timeout", message, path)))
                }
            },
            StepKind::Human(human) => match &human.on_lapse {
                Some(lapse) => self.list(&lapse.steps, &format!("{path}/onLapse/"), &mut seen.clone()),
                None => Err(Stop::Failed(StepError::new("lapsed", "Nobody answered in time.", path))),
            },
            StepKind::Return(_) => Err(Stop::Returned(Value::Object(seen.results.clone()))),
            StepKind::Fail(_) => Err(Stop::Failed(StepError::new("failed", "as written", path))),
            other => panic!("{other:?}"),
        }
    }
}
