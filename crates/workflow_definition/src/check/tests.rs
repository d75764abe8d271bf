//! Definitions with mistakes, and what their authors read.

use crate::AgentWorkflows;
use crate::Workflows;
use config::{Language, SectionType};
use insta::assert_snapshot;

const REST: &str = "
connections: [{ id: demo, type: Demo }]
agents: [{ id: clerk, type: Agent, connectionId: demo, properties: { model: demo }, auth: { roles: [admin, manager] } }]
api: [{ id: post, type: InternalApi, routine: [{ ':return': 1 }] }]
";

/// Reads a config and returns its problems without the excerpts.
fn check(workflows: &str) -> String {
    let language = Language::new(&[SectionType::of::<Workflows>()], &[]);
    let text = format!("workflows:\n{workflows}{REST}");
    match language.read_text(&text) {
        Ok((config, _)) => format!("{} workflows", config.section::<Workflows>().map_or(0, |all| all.0.len())),
        Err(problems) => config::render_short(&problems),
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
      timeoutSeconds: 86400
      cases: [{ test: { _gt: [{ _step: extract.total }, 5] }, then: [{ id: ask, type: human, title: OK?, roles: [manager], dueSeconds: 60, onLapse: { output: { decision: rejected } } }] }]
      default: [{ id: pause, type: wait, seconds: 5 }]
    - id: both
      type: parallel
      timeoutSeconds: 60
      branches: { a: [{ id: one, type: endpoint, endpointId: post, payload: { a: $.route.decision } }], b: [{ id: two, type: workflow, workflowId: child }] }
    - id: each
      type: loop
      in: $.extract.rows
      item: row
      concurrency: 2
      max: 10
      timeoutSeconds: 60
      do: [{ id: row, type: endpoint, endpointId: post, payload: [{ _item: row.n }, { _item: index }, $.both.a], onError: [{ id: tell, type: endpoint, endpointId: post, payload: { _error: message } }] }]
    - { id: poll, type: loop, until: { _step: look }, max: 3, do: [{ id: look, type: endpoint, endpointId: post, idempotent: true }] }
    - { id: stop, type: if, test: { _input: stop }, timeoutSeconds: 60, then: [{ id: no, type: fail, message: No. }], else: [{ id: yes, type: return, value: $.each }] }
  output: { n: "$.each[*]" }
- id: child
  steps: [{ id: form, type: human, ask: form, form: { type: object }, title: Fill in, users: [ada] }]
"#), @"2 workflows");
}

#[test]
fn unknown_names_are_reported() {
    assert_snapshot!(steps(&[
        "{ id: a, type: agentt }",
        "{ id: b, type: agent, agentId: clark, prompt: Hi }",
        "{ id: c, type: endpoint, endpointId: pots }",
        "{ id: d, type: workflow, workflowId: invoices }",
        "{ id: e, type: endpoint, endpointId: post, retries: 3 }",
    ]), @"
    chatwright.yaml:4:22: error: there is no type of step `agentt`
       = help: did you mean `agent`?
    chatwright.yaml:8:50: error: there is no key `retries` here
       = help: one of `id`, `retry`, `timeoutSeconds`, `onError`, `idempotent`, `type`, `endpointId` and `payload`
    ");
    assert_snapshot!(steps(&[
        "{ id: b, type: agent, agentId: clark, prompt: Hi }",
        "{ id: c, type: endpoint, endpointId: pots, retry: { attempts: 2, on: [timeouts] } }",
        "{ id: d, type: workflow, workflowId: invoices }",
    ]), @"
    chatwright.yaml:4:38: error: there is no agent `clark`
       = help: did you mean `clerk`?
    chatwright.yaml:5:44: error: there is no endpoint `pots`
       = help: did you mean `post`?
    chatwright.yaml:5:77: error: there is no kind of error `timeouts`
       = help: did you mean `timeout`?
    chatwright.yaml:6:44: error: there is no workflow `invoices`
       = help: did you mean `invoice`?
    ");
}

#[test]
fn unknown_tiers_are_reported() {
    let step = "{ id: a, type: agent, agentId: clerk, prompt: Hi, tier: TIER }";
    assert_snapshot!(steps(&[&step.replace("TIER", "complex")]), @"1 workflows");
    assert_snapshot!(steps(&[&step.replace("TIER", "complx")]), @"
    chatwright.yaml:4:63: error: there is no tier `complx`
       = help: did you mean `complex`?
    ");
    assert_snapshot!(check("- { id: a, tier: hug, steps: [{ id: pause, type: wait, seconds: 1 }] }\n"), @"
    chatwright.yaml:2:18: error: there is no tier `hug`
       = help: one of `simple`, `complex` and `batch`
    ");
}

#[test]
fn references_to_what_has_no_result_are_reported() {
    assert_snapshot!(steps(&[
        "{ id: a, type: endpoint, endpointId: post, payload: { x: { _step: b.total }, y: $.c, z: { _item: row }, e: { _error: message } } }",
        "{ id: b, type: if, test: $.a, then: [{ id: inner, type: endpoint, endpointId: post, payload: $.a }] }",
        "{ id: d, type: endpoint, endpointId: post, payload: [$.inner, { _step: bb }, '$.a[', { _state: x }] }",
    ]), @r#"
    chatwright.yaml:4:73: error: the step `b` has no result here
       = help: a step reads the steps before it in its own list and before the steps around it; what is within another step is read through the output of that step
    chatwright.yaml:4:87: error: there is no step `c`
    chatwright.yaml:4:104: error: there is no item `row` here
       = help: only the steps of a loop have an item
    chatwright.yaml:4:124: error: there is no error here
       = help: only the steps of `onError` have one
    chatwright.yaml:6:60: error: the step `inner` has no result here
       = help: a step reads the steps before it in its own list and before the steps around it; what is within another step is read through the output of that step
    chatwright.yaml:6:78: error: there is no step `bb`
       = help: one of `a` and `b`
    chatwright.yaml:6:84: error: at position 1, parser error
       = help: a text that begins with `$.` is a path; a plain one is `{ _template: "$.…" }`
    chatwright.yaml:6:94: error: the operator `_state` has no meaning here
       = help: what can be read here: `_input`, `_step`, `_item`, `_user`, `_error`, `_expr` and `_template`; operators that only compute are allowed, too
    "#);
}

#[test]
fn loops_humans_and_waits_need_their_bounds() {
    assert_snapshot!(steps(&["{ id: a, type: loop, in: [1], do: [{ id: b, type: fail, message: x }] }"]), @"
    chatwright.yaml:4:7: error: `max` is missing here
       = help: `max`: The most iterations. A longer list, or a condition that never is true, is an error.
    ");
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
    ]), @"
    chatwright.yaml:4:7: error: a loop has either `in` or `until`
    chatwright.yaml:5:54: error: `concurrency` has no meaning with `until`
       = help: iterations with `until` run one after the other
    chatwright.yaml:6:7: error: nobody may answer this
       = help: name who may answer: `roles: [manager]`
    chatwright.yaml:7:63: error: `choices` is missing here
    chatwright.yaml:7:80: error: without `dueSeconds` nothing lapses
    chatwright.yaml:8:7: error: a wait has either `seconds`, `until` or `event`
    chatwright.yaml:9:47: error: `retry` has no meaning for a step of the type `wait`
    chatwright.yaml:9:80: error: `timeoutSeconds` has no meaning for a step of the type `wait`
    chatwright.yaml:9:95: error: `idempotent` has no meaning for a step of the type `wait`
    chatwright.yaml:10:13: error: a step cannot have the id `input`
        = help: `$.input` is reserved; use another id
    chatwright.yaml:11:13: error: there are two steps with the id `g`
        = help: ids are unique in a workflow, also those of steps within steps
    chatwright.yaml:12:63: error: a run cannot return from a parallel branch or iteration
        = help: other steps may still run; let the branches end, and return after them
    ");
}

#[test]
fn misspelt_roles_and_unpriced_models_are_reported() {
    assert_snapshot!(steps(&["{ id: f, type: human, title: OK?, roles: [managr] }"]), @"
    chatwright.yaml:4:49: error: nothing else names the role `managr`
       = help: did you mean `manager`?
    ");
    assert_snapshot!(steps(&["{ id: f, type: human, title: OK?, roles: [treasurer] }"]), @"1 workflows");
    assert_snapshot!(check("
- id: dear
  limits: { costUsd: 1 }
  steps: [{ id: sub, type: workflow, workflowId: child }]
- id: child
  steps: [{ id: ask, type: agent, agentId: clerk, prompt: Hi }]
"), @"
    chatwright.yaml:10:77: error: the price of the model `demo` is not known, so the cost limit of the workflow `dear` cannot be kept
        = help: add it to the section `prices`, in US dollars for a million tokens: `demo: { input: 1, output: 2 }`
    ");
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
"), @"
    chatwright.yaml:4:48: error: the workflow `b` would run `a` again, endlessly
    chatwright.yaml:6:48: error: the workflow `a` would run `b` again, endlessly
    chatwright.yaml:7:7: error: a workflow cannot have the id `runs`
       = help: it is a part of the API's paths; use another one
    chatwright.yaml:9:7: error: there are two workflows with the id `b`
    chatwright.yaml:10:48: error: the workflow `b` would run `b` again, endlessly
    ");
}

#[test]
fn steps_that_never_run_are_reported() {
    let lone = "{ id: r, type: if, test: true, then: [{ id: stop, type: return }, { id: a, type: wait, seconds: 1 }, { id: b, type: wait, seconds: 1 }] }";
    assert_snapshot!(steps(&[lone]), @"chatwright.yaml:4:79: error: this step never runs: `stop` before it is a `return`");
    assert_snapshot!(
        steps(&["{ id: no, type: fail, message: No. }", "{ id: a, type: wait, seconds: 1 }"]),
        @"chatwright.yaml:5:13: error: this step never runs: `no` before it is a `fail`"
    );
    let handled = "{ id: no, type: fail, message: No., onError: [{ id: b, type: wait, seconds: 1 }] }";
    assert_snapshot!(steps(&[handled, "{ id: a, type: wait, seconds: 1 }"]), @"1 workflows");
}

#[test]
fn branches_that_a_parallel_step_does_not_have_are_reported() {
    let both = "{ id: both, type: parallel, branches: { left: [{ id: l, type: wait, seconds: 1 }], right: [{ id: r, type: wait, seconds: 1 }] } }";
    // Its output may be that of the steps that handle an error.
    let safe = "{ id: safe, type: parallel, branches: { left: [{ id: m, type: wait, seconds: 1 }], right: [{ id: q, type: wait, seconds: 1 }] }, onError: [{ id: h, type: wait, seconds: 1 }] }";
    let read = r#"{ id: a, type: endpoint, endpointId: post, payload: [$.both.rihgt.n, { _step: both.up }, { _expr: step.both.rite }, '$.both["left"]', $.both, '$.both[*]', $.safe.up] }"#;
    assert_snapshot!(steps(&[both, safe, read]), @"
    chatwright.yaml:6:60: error: the step `both` has no branch `rihgt`
       = help: did you mean `right`?
    chatwright.yaml:6:85: error: the step `both` has no branch `up`
       = help: one of `left` and `right`
    chatwright.yaml:6:105: error: the step `both` has no branch `rite`
       = help: one of `left` and `right`
    ");
}

#[test]
fn keys_that_the_schema_of_the_input_excludes_are_reported() {
    let with_input = |schema: &str| {
        let payload = r#"[{ _input: ordr }, { _input: order.totl }, $.input.order.total, '$.input.order.lines[0].any', $.input.note.any, $.input.open.any, { _input: true }, { _template: '{{ input.nte }}' }, "$.input['customer'].name"]"#;
        let steps = format!(
            "  steps: [{{ id: a, type: endpoint, endpointId: post, payload: {payload} }}]\n  output: {{ n: $.input.ordr }}\n"
        );
        check(&format!("- id: invoice\n  input: {schema}\n{steps}"))
    };
    let closed = "{ type: object, additionalProperties: false, properties: { order: { type: object, additionalProperties: false, properties: { total: { type: number }, lines: { type: array } } }, note: {}, open: { type: object } } }";
    assert_snapshot!(with_input(closed), @"
    chatwright.yaml:4:74: error: the input has no key `ordr`
       = help: did you mean `order`?
    chatwright.yaml:4:92: error: the input has no key `order.totl`
       = help: did you mean `total`?
    chatwright.yaml:4:224: error: the input has no key `nte`
       = help: did you mean `note`?
    chatwright.yaml:4:245: error: the input has no key `customer`
       = help: one of `order`, `note` and `open`
    chatwright.yaml:5:16: error: the input has no key `ordr`
       = help: did you mean `order`?
    ");
    assert_snapshot!(with_input(&closed.replace("additionalProperties: false", "title: Open")), @"1 workflows");
    assert_snapshot!(with_input(&closed.replace("type: object", "patternProperties: { '^x': {} }")), @"1 workflows");
}

#[test]
fn children_for_other_roles_are_reported() {
    let with_rights = |rights: &str| {
        check(&format!(
            "
- id: pay
  roles: [manager, boss]
  steps: [{{ id: x, type: wait, seconds: 1 }}]
- id: all
  roles: [manager, boss]
  {rights}
  steps: [{{ id: either, type: if, test: true, then: [{{ id: y, type: workflow, workflowId: pay }}] }}]
"
        ))
    };
    assert_snapshot!(with_rights("runAs: { roles: [clerk] }"), @"
    chatwright.yaml:9:91: error: the workflow `all` may not start `pay`, which is for other roles
       = help: `runAs` needs one of its roles: `manager`, `boss`
    ");
    // The user who starts it is not known when the config is loaded.
    assert_snapshot!(with_rights("title: All"), @"2 workflows");
    assert_snapshot!(with_rights("runAs: { roles: [clerk, boss] }"), @"2 workflows");
}

/// Checks the key `workflows` of an agent, with its positions.
fn of_agent(entries: &str) -> String {
    let language = Language::new(&[SectionType::of::<Workflows>(), SectionType::of::<AgentWorkflows>()], &[]);
    let text = format!(
        "connections: [{{ id: demo, type: Demo }}]\n\
         agents: [{{ id: clerk, type: Agent, connectionId: demo, properties: {{ model: demo }}, workflows: {entries} }}]\n\
         workflows: [{{ id: invoice, description: Pays., steps: [{{ id: end, type: return, value: 1 }}] }}]\n\
         pages: [{{ id: home }}]\n"
    );
    match language.read_text(&text) {
        Ok((_, warnings)) => format!("accepted\n{}", config::render(&warnings)),
        Err(problems) => {
            let text = config::render(&problems);
            let is_shown = |line: &&str| ["error", "help", "-->"].iter().any(|part| line.contains(part));
            text.lines().filter(is_shown).collect::<Vec<_>>().join("\n")
        }
    }
}

#[test]
fn workflows_of_agents_are_accepted() {
    assert_snapshot!(of_agent("[invoice]"), @"accepted");
    assert_snapshot!(of_agent("[{ id: invoice, name: pay-invoice, confirm: true, whenDone: continue }]"), @"accepted");
    assert_snapshot!(of_agent("[{ id: invoice }, { id: of-the-api, stored: true }]"), @"accepted");
}

#[test]
fn mistakes_in_workflows_of_agents_have_their_places() {
    assert_snapshot!(of_agent("[invoise]"), @"
    chatwright.yaml:2:97: error: there is no workflow `invoise`
       = help: did you mean `invoice`?
    ");
    assert_snapshot!(of_agent("[{ id: invoise, name: pay }]"), @"
    chatwright.yaml:2:103: error: there is no workflow `invoise`
       = help: did you mean `invoice`?
    ");
    assert_snapshot!(of_agent("[invoice, invoice]"), @"
    chatwright.yaml:2:106: error: this agent has two workflows with the name `invoice`
       = help: give one of them another `name`
    ");
    assert_snapshot!(of_agent("[{ id: invoice, name: pay }, { id: other, stored: true, name: pay }]"), @"
    chatwright.yaml:2:158: error: this agent has two workflows with the name `pay`
       = help: give one of them another `name`
    ");
    assert_snapshot!(of_agent("[{ id: invoice, name: pay it }]"), @"
    chatwright.yaml:2:118: error: `pay it` cannot be the name of a tool
       = help: use up to 64 letters, digits, `_` and `-`
    ");
    assert_snapshot!(of_agent("[{ id: of.the.api, stored: true }]"), @"
    chatwright.yaml:2:103: error: `of.the.api` cannot be an id
       = help: use up to 128 letters, digits, `_` and `-`, and do not start with `-`
    ");
    let long = "x".repeat(65);
    assert_snapshot!(of_agent(&format!("[{{ id: {long}, stored: true }}]")), @"
    chatwright.yaml:2:103: error: a tool cannot have the name `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`
       = help: give it a `name` of at most 64 letters, digits, `_` or `-`
    ");
    assert_snapshot!(of_agent("[{ id: invoice, whenDone: later }]"), @"
    chatwright.yaml:2:122: error: there is no value `later`
       = help: one of `tell` and `continue`
    ");
    assert_snapshot!(of_agent("[]"), @"
    chatwright.yaml:2:96: error: expected a list of at least 1, found 0
    ");
}

#[test]
fn templates_and_expressions_read_what_is_there() {
    assert_snapshot!(steps(&[
        "{ id: extract, type: agent, agentId: clerk, prompt: { _template: 'Read {{ inpt.text }} of {{ user.name }}' } }",
        "{ id: post, type: endpoint, endpointId: post, payload: { n: { _template: '{{ step.extrct.total }}' } } }",
        "{ id: check, type: if, test: { _expr: step.later.total > item.n }, then: [{ id: no, type: fail, message: { _template: '{{ error.message }}' } }] }",
        "{ id: each, type: loop, in: [1], item: row, max: 2, do: [{ id: later, type: endpoint, endpointId: post, payload: [{ _expr: item.rwo.n + item.index }] }] }",
        "{ id: fine, type: endpoint, endpointId: post, payload: { _template: \"{% set n = step['extract'].n %}{% for row in step.each %}{{ row }}{{ loop.index }}{% endfor %}{{ n }}{{ range(3) }}\" } }",
    ]), @r"
    chatwright.yaml:4:72: error: there is no variable `inpt`
       = help: did you mean `input`?
    chatwright.yaml:5:80: error: there is no step `extrct`
       = help: did you mean `extract`?
    chatwright.yaml:6:45: error: there is no item `n` here
       = help: only the steps of a loop have an item
    chatwright.yaml:6:45: error: the step `later` has no result here
       = help: a step reads the steps before it in its own list and before the steps around it; what is within another step is read through the output of that step
    chatwright.yaml:6:125: error: there is no error here
       = help: only the steps of `onError` have one
    chatwright.yaml:7:130: error: there is no item `rwo` here
       = help: did you mean `row`?
    ");
}
