//! Definitions with mistakes, and what their authors read.

use crate::definition::Workflows;
use config::{Language, SectionType};
use insta::assert_snapshot;
use std::collections::HashMap;

const REST: &str = "
connections: [{ id: demo, type: Demo }]
agents: [{ id: clerk, type: Agent, connectionId: demo, properties: { model: demo }, auth: { roles: [manager] } }]
api: [{ id: post, type: InternalApi, routine: [{ ':return': 1 }] }]
";

/// Reads a config and returns its problems without the excerpts.
fn check(workflows: &str) -> String {
    let language = Language::new(&[SectionType::of::<Workflows>()], &[]);
    let text = format!("workflows:\n{workflows}{REST}");
    match language.read_embedded(&[("chatwright.yaml", &text)], &HashMap::<String, String>::new()).outcome {
        Ok((config, _)) => format!("{} workflows", config.section::<Workflows>().map_or(0, |all| all.0.len())),
        Err(problems) => {
            let text = config::render(&problems);
            text.lines().filter(|line| line.contains("error") || line.contains("help")).collect::<Vec<_>>().join("\n")
        }
    }
}

/// Checks the steps of one workflow, each of which is one line.
fn steps(steps: &[&str]) -> String {
    let steps: String = steps.iter().map(|step| format!("    - {step}\n")).collect();
    check(&format!("- id: invoice\n  steps:\n{steps}"))
}

#[test]
fn definition_with_all_kinds_of_steps_is_accepted() {
    assert_snapshot!(check(r#"
- id: invoice
  title: Invoice
  input: { type: object, properties: { total: { type: number } }, required: [total] }
  roles: [manager]
  runAs: { roles: [manager] }
  limits: { requests: 5, totalTokens: 1000, toolCalls: 3, timeoutSeconds: 60, steps: 20 }
  steps:
    - { id: extract, type: agent, agentId: clerk, prompt: $.input.text, responseSchema: { type: object }, timeoutSeconds: 30, retry: { attempts: 2, on: [timeout] } }
    - id: route
      type: switch
      cases: [{ test: { _gt: [{ _step: extract.total }, 5] }, then: [{ id: ask, type: human, title: OK?, roles: [manager], dueSeconds: 60, onLapse: { output: { decision: rejected } } }] }]
      default: [{ id: pause, type: wait, seconds: 5 }]
    - id: both
      type: parallel
      branches: { a: [{ id: one, type: endpoint, endpointId: post, payload: { a: $.route.decision } }], b: [{ id: two, type: workflow, workflowId: child }] }
    - id: each
      type: loop
      in: $.extract.rows
      item: row
      concurrency: 2
      max: 10
      do: [{ id: row, type: endpoint, endpointId: post, payload: [{ _item: row.n }, { _item: index }, $.both.a], onError: [{ id: tell, type: endpoint, endpointId: post, payload: { _error: message } }] }]
    - { id: poll, type: loop, until: { _step: look }, max: 3, do: [{ id: look, type: endpoint, endpointId: post, idempotent: true }] }
    - { id: stop, type: if, test: { _input: stop }, then: [{ id: no, type: fail, message: No. }], else: [{ id: yes, type: return, value: $.each }] }
  output: { n: "$.each[*]" }
- id: child
  steps: [{ id: form, type: human, ask: form, form: { type: object }, title: Fill in, users: [ada] }]
"#), @"");
}

#[test]
fn unknown_names_are_reported() {
    assert_snapshot!(steps(&[
        "{ id: a, type: agentt }",
        "{ id: b, type: agent, agentId: clark, prompt: Hi }",
        "{ id: c, type: endpoint, endpointId: pots }",
        "{ id: d, type: workflow, workflowId: invoices }",
        "{ id: e, type: endpoint, endpointId: post, retries: 3 }",
    ]), @"");
    assert_snapshot!(steps(&[
        "{ id: b, type: agent, agentId: clark, prompt: Hi }",
        "{ id: c, type: endpoint, endpointId: pots, retry: { attempts: 2, on: [timeouts] } }",
        "{ id: d, type: workflow, workflowId: invoices }",
    ]), @"");
}

#[test]
fn references_to_what_has_no_result_are_reported() {
    assert_snapshot!(steps(&[
        "{ id: a, type: endpoint, endpointId: post, payload: { x: { _step: b.total }, y: $.c, z: { _item: row }, e: { _error: message } } }",
        "{ id: b, type: if, test: $.a, then: [{ id: inner, type: endpoint, endpointId: post, payload: $.a }] }",
        "{ id: d, type: endpoint, endpointId: post, payload: [$.inner, { _step: bb }, '$.a[', { _state: x }] }",
    ]), @"");
}

#[test]
fn loops_humans_and_waits_need_their_bounds() {
    assert_snapshot!(steps(&["{ id: a, type: loop, in: [1], do: [{ id: b, type: fail, message: x }] }"]), @"");
    assert_snapshot!(steps(&[
        "{ id: a, type: loop, max: 3, do: [{ id: b, type: fail, message: x }] }",
        "{ id: c, type: loop, until: true, concurrency: 2, max: 3, do: [{ id: d, type: fail, message: x }] }",
        "{ id: e, type: human, title: OK? }",
        "{ id: f, type: human, title: OK?, roles: [managr], ask: choose, onLapse: { output: 1 } }",
        "{ id: g, type: wait }",
        "{ id: h, type: wait, seconds: 3, retry: { attempts: 2 }, timeoutSeconds: 3, idempotent: true }",
        "{ id: input, type: wait, seconds: 3 }",
        "{ id: g, type: wait, seconds: 3 }",
        "{ id: i, type: parallel, branches: { a: [{ id: j, type: return }] } }",
    ]), @"");
}

#[test]
fn misspelt_roles_and_unpriced_models_are_reported() {
    assert_snapshot!(steps(&["{ id: f, type: human, title: OK?, roles: [managr] }"]), @"");
    assert_snapshot!(steps(&["{ id: f, type: human, title: OK?, roles: [treasurer] }"]), @"1 workflows");
    assert_snapshot!(check("
- id: dear
  limits: { costUsd: 1 }
  steps: [{ id: sub, type: workflow, workflowId: child }]
- id: child
  steps: [{ id: ask, type: agent, agentId: clerk, prompt: Hi }]
"), @"");
}

#[test]
fn workflows_that_run_each_other_are_reported() {
    assert_snapshot!(check("
- id: a
  steps: [{ id: x, type: workflow, workflowId: b }]
- id: b
  steps: [{ id: y, type: workflow, workflowId: a }]
- id: runs
  steps: [{ id: z, type: wait, seconds: 1 }]
- id: b
  steps: [{ id: w, type: workflow, workflowId: b }]
"), @"");
}
