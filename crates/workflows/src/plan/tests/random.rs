//! Random definitions.

use proptest::prelude::*;
use serde_json::{Value, json};
use workflow_definition::Workflow;

/// The number of flags in the input, which conditions read.
pub(super) const FLAGS: usize = 4;

/// A step of a random definition, without ids.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// An endpoint whose first `fails` attempts fail.
    Call {
        is_tool: bool,
        fails: u32,
        retries: bool,
        is_handled: bool,
    },
    If {
        flag: usize,
        then: Vec<Shape>,
        otherwise: Vec<Shape>,
    },
    Switch {
        flags: Vec<usize>,
        then: Vec<Shape>,
        default: Vec<Shape>,
    },
    Parallel {
        branches: Vec<Vec<Shape>>,
    },
    For {
        items: usize,
        concurrency: u32,
        body: Vec<Shape>,
    },
    Until {
        stop: usize,
        max: u32,
        body: Vec<Shape>,
    },
    Wait,
    /// A wait for an event that happens, or for one that does not happen in time.
    Event {
        happens: bool,
        is_handled: bool,
    },
    /// A question that nobody answers in time.
    Ask {
        has_steps: bool,
        is_handled: bool,
    },
    Return,
    Fail {
        is_handled: bool,
    },
}

pub(super) fn shapes() -> impl Strategy<Value = Vec<Shape>> {
    let call = (any::<bool>(), 0_u32..3, any::<bool>(), any::<bool>());
    let call =
        call.prop_map(|(is_tool, fails, retries, is_handled)| Shape::Call { is_tool, fails, retries, is_handled });
    let plain = Just(Shape::Call { is_tool: false, fails: 0, retries: false, is_handled: false });
    let leaf = prop_oneof![
        6 => plain,
        3 => call,
        1 => Just(Shape::Wait),
        1 => (any::<bool>(), any::<bool>()).prop_map(|(happens, is_handled)| Shape::Event { happens, is_handled }),
        1 => (any::<bool>(), any::<bool>()).prop_map(|(has_steps, is_handled)| Shape::Ask { has_steps, is_handled }),
        1 => Just(Shape::Return),
        1 => any::<bool>().prop_map(|is_handled| Shape::Fail { is_handled }),
    ];
    let shape = leaf.prop_recursive(3, 24, 3, |inner| {
        let list = prop::collection::vec(inner, 0..3);
        prop_oneof![
            (0..FLAGS, list.clone(), list.clone()).prop_map(|(flag, then, otherwise)| Shape::If {
                flag,
                then,
                otherwise
            }),
            (prop::collection::vec(0..FLAGS, 1..3), list.clone(), list.clone())
                .prop_map(|(flags, then, default)| Shape::Switch { flags, then, default }),
            prop::collection::vec(list.clone(), 1..4).prop_map(|branches| Shape::Parallel { branches }),
            (0_usize..4, 1_u32..4, list.clone()).prop_map(|(items, concurrency, body)| Shape::For {
                items,
                concurrency,
                body
            }),
            (0_usize..4, 1_u32..4, list).prop_map(|(stop, max, body)| Shape::Until { stop, max, body }),
        ]
    });
    prop::collection::vec(shape, 1..4)
}

/// Writes a definition, as a config has it.
pub(super) fn written(shapes: &[Shape]) -> Workflow {
    super::workflow(list(shapes, &mut 0, false))
}

fn list(shapes: &[Shape], count: &mut u32, is_concurrent: bool) -> Value {
    shapes.iter().map(|shape| step(shape, count, is_concurrent)).collect()
}

fn call(id: &str) -> Value {
    json!({ "id": id, "type": "endpoint", "endpointId": "e", "payload": { "seen": { "_step": true }, "index": { "_item": "index" } } })
}

fn step(shape: &Shape, count: &mut u32, is_concurrent: bool) -> Value {
    *count += 1;
    let id = format!("s{count}");
    let flag = |flag: usize| json!({ "_input": format!("flags.{flag}") });
    match shape {
        Shape::Call { is_tool, fails, retries, is_handled } => {
            let mut step = call(&id);
            step["endpointId"] = format!("fails{fails}").into();
            if *is_tool {
                let arguments = step["payload"].take();
                step = json!({ "id": id, "type": "tool", "agentId": "a", "toolName": format!("fails{fails}"), "arguments": arguments });
            }
            if *retries {
                step["retry"] = json!({ "attempts": 2, "delaySeconds": 1 });
            }
            if *is_handled {
                step["onError"] = json!([call(&format!("{id}h"))]);
            }
            step
        }
        Shape::If { flag: number, then, otherwise } => json!({
            "id": id, "type": "if", "test": flag(*number),
            "then": list(then, count, is_concurrent), "else": list(otherwise, count, is_concurrent),
        }),
        Shape::Switch { flags, then, default } => {
            let cases: Vec<_> = flags
                .iter()
                .map(|number| json!({ "test": flag(*number), "then": list(then, count, is_concurrent) }))
                .collect();
            json!({ "id": id, "type": "switch", "cases": cases, "default": list(default, count, is_concurrent) })
        }
        Shape::Parallel { branches } => {
            let branches: serde_json::Map<_, _> = branches
                .iter()
                .enumerate()
                .map(|(index, steps)| (format!("b{index}"), list(steps, count, true)))
                .collect();
            json!({ "id": id, "type": "parallel", "branches": branches })
        }
        Shape::For { items, concurrency, body } => json!({
            "id": id, "type": "loop", "in": vec![0; *items], "max": 5, "concurrency": concurrency,
            "do": list(body, count, is_concurrent || *concurrency > 1),
        }),
        Shape::Until { stop, max, body } => json!({
            "id": id, "type": "loop", "until": { "_eq": [{ "_item": "index" }, stop] }, "max": max,
            "do": list(body, count, is_concurrent),
        }),
        Shape::Wait => json!({ "id": id, "type": "wait", "seconds": 1 }),
        Shape::Event { happens, is_handled } => {
            let event = if *happens { "happens" } else { "never" };
            handled(json!({ "id": id, "type": "wait", "event": event, "timeoutSeconds": 1 }), *is_handled)
        }
        Shape::Ask { has_steps, is_handled } => {
            let mut step = json!({ "id": id, "type": "human", "title": "OK?", "users": ["ada"], "dueSeconds": 1 });
            if *has_steps {
                step["onLapse"] = json!({ "steps": [call(&format!("{id}l"))] });
            }
            handled(step, *is_handled)
        }
        // The checker refuses it there.
        Shape::Return if is_concurrent => call(&id),
        Shape::Return => json!({ "id": id, "type": "return", "value": { "_step": true } }),
        Shape::Fail { is_handled } => {
            let mut step = json!({ "id": id, "type": "fail", "message": "as written" });
            if *is_handled {
                step["onError"] = json!([call(&format!("{id}h"))]);
            }
            step
        }
    }
}

/// Adds a step that handles the error of a step.
fn handled(mut step: Value, is_handled: bool) -> Value {
    if is_handled {
        step["onError"] = json!([call(&format!("{}h", step["id"].as_str().unwrap()))]);
    }
    step
}
