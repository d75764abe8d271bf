//! Runs random definitions as the engine does, with random interleavings and crashes, and compares
//! the end and the effects with the interpreter's.

use super::interpreter::{Interpreter, effect};
use super::random::{FLAGS, shapes, written};
use super::{facts, workflow};
use crate::engine::end_of_wait;
use crate::plan::{End, Plan, Record, Records, RunFacts, Start, StepError, StepState, plan};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use workflow_definition::{StepKind, Workflow};

/// The most rounds of a simulation; a run that needs more is stuck.
const MAX_ROUNDS: usize = 20_000;

/// A server and its database.
struct World<'w> {
    workflow: &'w Workflow,
    facts: RunFacts,
    now: i64,
    /// The stored state.
    records: Records,
    /// The state that only the server knows: calls that run, with their results once they had their effect.
    calls: Vec<(Start, Option<Result<Value, String>>)>,
    /// The effects outside, by path.
    effects: BTreeMap<String, Vec<Value>>,
}

impl World<'_> {
    /// Kills the server. Afterwards a person looks up what each running step did.
    fn crash(&mut self) {
        self.calls.clear();
        for (path, record) in &mut self.records {
            if record.state != StepState::Running {
                continue;
            }
            match self.effects.get(path).and_then(|effects| effects.last()) {
                Some(output) => {
                    (record.state, record.output, record.ended_at) = (StepState::Done, output.clone(), self.now);
                }
                None => {
                    // The attempt that was lost does not count.
                    record.attempt -= 1;
                    (record.state, record.next_at) = (StepState::Retrying, Some(self.now));
                }
            }
        }
    }

    fn begin(&mut self, start: Start) {
        let step = self.workflow.step(&start.step_id).unwrap();
        let is_call = step.is_call();
        let record = Record {
            state: if is_call { StepState::Running } else { StepState::Waiting },
            output: Value::Null,
            error: None,
            attempt: start.attempt,
            next_at: match &step.kind {
                StepKind::Human(_) => Some(self.now + 1_000),
                _ => start.input.get("until").and_then(Value::as_i64),
            },
            ended_at: 0,
        };
        assert!(
            self.records.get(&start.path).is_none_or(|known| known.state == StepState::Retrying),
            "{} starts twice",
            start.path
        );
        self.records.insert(start.path.clone(), record);
        if is_call {
            self.calls.push((start, None));
        }
    }

    /// Ends a wait: with its event, if that happens, or because its time has come.
    fn end_wait(&mut self, path: &str, step_id: &str) {
        let step = self.workflow.step(step_id).unwrap();
        let result = match &step.kind {
            StepKind::Wait(wait) if wait.event.as_ref().is_some_and(|event| event.0 == "happens") => {
                Ok(json!({ "name": "happens" }))
            }
            _ => end_of_wait(Some(step), path),
        };
        let record = self.records.get_mut(path).unwrap();
        record.ended_at = self.now;
        match result {
            Ok(output) => (record.state, record.output) = (StepState::Done, output),
            Err(error) => (record.state, record.error) = (StepState::Failed, Some(error)),
        }
    }

    /// Lets a call have its effect, or stores its end.
    fn advance(&mut self, index: usize) {
        let (start, result) = &mut self.calls[index];
        let step = self.workflow.step(&start.step_id).unwrap();
        let Some(result) = result else {
            let done = effect(step, &start.path, &start.input, start.attempt);
            if let Ok(output) = &done {
                self.effects.entry(start.path.clone()).or_default().push(output.clone());
            }
            *result = Some(done);
            return;
        };
        let record = self.records.get_mut(&start.path).unwrap();
        match result {
            Ok(output) => (record.state, record.output) = (StepState::Done, output.clone()),
            Err(error) => {
                record.error = Some(StepError::new("failed", error.clone(), &start.path));
                let again = step.retry.as_ref().filter(|retry| start.attempt < retry.attempts);
                record.state = if again.is_some() { StepState::Retrying } else { StepState::Failed };
                record.next_at = again.map(|retry| self.now + retry.delay_ms(start.attempt));
            }
        }
        record.ended_at = self.now;
        self.calls.remove(index);
    }
}

/// Runs a definition; `choices` decide what happens next.
fn simulate(world: &mut World<'_>, choices: &[u8]) -> End {
    let mut choices = choices.iter().copied().cycle();
    let mut crashes = 30;
    for _ in 0..MAX_ROUNDS {
        world.now += 1;
        let Plan { start, due, wakes_at, end, .. } = plan(world.workflow, &world.facts, &world.records, world.now);
        if let Some(end) = end {
            assert!(start.is_empty() && due.is_empty());
            return end;
        }
        let choice = choices.next().unwrap_or_default();
        let pick = usize::from(choice / 8);
        if choice % 8 == 0 && crashes > 0 {
            crashes -= 1;
            world.crash();
        } else if !start.is_empty() && (choice % 2 == 0 || world.calls.is_empty()) {
            let index = pick % start.len();
            world.begin(start[index].clone());
        } else if !world.calls.is_empty() {
            world.advance(pick % world.calls.len());
        } else if let Some((path, step_id)) = due.first() {
            world.end_wait(path, step_id);
        } else {
            world.now = wakes_at.expect("the run is stuck");
        }
    }
    panic!("the run does not end");
}

fn check(workflow: &Workflow, flags: &[bool], choices: &[u8]) {
    let mut interpreter = Interpreter { flags, effects: Vec::new() };
    let expected = interpreter.run(workflow);
    let mut world = World {
        workflow,
        facts: facts(json!({ "flags": flags })),
        now: 10_000,
        records: Records::new(),
        calls: Vec::new(),
        effects: BTreeMap::new(),
    };
    let seen = simulate(&mut world, choices);
    assert_eq!(seen, expected);
    for (path, effects) in &world.effects {
        assert_eq!(effects.len(), 1, "{path} had its effect more than once");
    }
    let missing: Vec<_> = interpreter.effects.iter().filter(|path| !world.effects.contains_key(*path)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_definitions_end_as_the_interpreter_says(
        shapes in shapes(),
        flags in prop::collection::vec(any::<bool>(), FLAGS),
        choices in prop::collection::vec(any::<u8>(), 8..64),
    ) {
        check(&written(&shapes), &flags, &choices);
    }
}

#[test]
fn an_error_in_a_branch_waits_for_the_others() {
    let call = |id: &str, endpoint: &str| {
        json!({ "id": id, "type": "endpoint", "endpointId": endpoint,
        "payload": { "seen": { "_step": true }, "index": { "_item": "index" } } })
    };
    let branches = json!({ "a": [call("a1", "ok"), call("a2", "fails1")], "b": [call("b1", "ok"), call("b2", "ok")] });
    let workflow = workflow(json!([{ "id": "both", "type": "parallel", "branches": branches }]));
    check(&workflow, &[false; FLAGS], &[1, 3, 9, 17]);
}
