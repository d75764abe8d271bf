use crate::{check, with_basics};
use insta::assert_snapshot;

/// Returns a config with an endpoint `e` that has a payload with `title` and this routine.
pub(crate) fn routine(steps: &str) -> String {
    with_basics(&format!(
        "api:\n  - id: e\n    payloadSchema: {{ type: object, properties: {{ title: {{ type: string }} }} }}\n    routine:\n{steps}"
    ))
}

#[test]
fn invalid_endpoints_are_rejected() {
    assert_snapshot!(check("api:
  - { id: a, type: Apo, routine: [{ ':return': 1 }] }
  - { id: b, type: InternalApi, routine: [{ ':return': 1 }] }
  - { id: c }
  - { id: d, routine: [] }
  - { id: /e, routine: [{ ':return': 1 }] }
  - { id: f, routine: [{ ':return': 1 }], auth: { roles: [admin] } }
  - { id: g, routine: [go] }
  - { id: g, routine: [{ ':return': 1 }] }
"), @"
    refused
    chatwright.yaml:2:20: error: there is no endpoint type `Apo`
       |
     2 |   - { id: a, type: Apo, routine: [{ ':return': 1 }] }
       |                    ^^^
       = help: did you mean `Api`?

    chatwright.yaml:4:5: error: `routine` is missing here
       |
     4 |   - { id: c }
       |     ^
       = help: `routine`: The steps of the endpoint: requests, and controls such as `:return`.

    chatwright.yaml:5:23: error: expected a list of steps, found an empty list
       |
     5 |   - { id: d, routine: [] }
       |                       ^

    chatwright.yaml:6:11: error: `/e` cannot be an endpoint's id
       |
     6 |   - { id: /e, routine: [{ ':return': 1 }] }
       |           ^^
       = help: use up to 128 letters, digits, `_`, `-` and `/`, and start with a letter, a digit or `_`

    chatwright.yaml:8:24: error: expected a step, found the text `go`
       |
     8 |   - { id: g, routine: [go] }
       |                        ^^

    chatwright.yaml:9:11: error: there are two endpoints with the id `g`
       |
     9 |   - { id: g, routine: [{ ':return': 1 }] }
       |           ^
       = help: the first one is at chatwright.yaml:8:11
    ");
}

#[test]
fn invalid_payload_schemas_are_rejected() {
    assert_snapshot!(check("api:
  - { id: a, payloadSchema: { properties: {} }, routine: [{ ':return': 1 }] }
  - { id: b, payloadSchema: { type: object, properties: { q: { type: strin } } }, routine: [{ ':return': 1 }] }
  - { id: c, payloadSchema: { type: object, properties: { q: { $ref: 'http://example.com/a.json' } } }, routine: [{ ':return': 1 }] }
  - { id: d, payloadSchema: [q], routine: [{ ':return': 1 }] }
"), @"
    refused
    chatwright.yaml:2:29: error: this payload schema is not the schema of an object
       |
     2 |   - { id: a, payloadSchema: { properties: {} }, routine: [{ ':return': 1 }] }
       |                             ^
       = help: add `type: object`

    chatwright.yaml:3:70: error: JSON Schema has no type `strin`
       |
     3 | …e: object, properties: { q: { type: strin } } }, routine: [{ ':return': 1 }] }
       |                                      ^^^^^
       = help: did you mean `string`?

    chatwright.yaml:4:70: error: a schema cannot refer to another document
       |
     4 | …e: object, properties: { q: { $ref: 'http://example.com/a.json' } } }, routine: [{ ':return': 1 }] }
       |                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       = help: write the definition under `$defs` and refer to it as `#/$defs/NAME`

    chatwright.yaml:5:29: error: expected a mapping, found a list
       |
     5 |   - { id: d, payloadSchema: [q], routine: [{ ':return': 1 }] }
       |                             ^
    ");
}

#[test]
fn invalid_steps_are_rejected() {
    assert_snapshot!(check(&routine("      - {}
      - { id: a }
      - { id: b, type: SqlQery }
      - { id: c, type: Http }
      - { ':for': x, ':do': [] }
      - { ':if': { _payload: titel }, ':then': [{ id: t, type: SqlQuery }], ':els': [] }
      - { ':if': { _payload: title }, ':then': 3, ':else': { ':throw': { _step: t } } }
      - { ':set_state': [1] }
      - { ':retrun': 1 }
      - { ':return': 1, id: x }
")), @"
    refused
    chatwright.yaml:6:9: error: expected a step, found an empty mapping
       |
     6 |       - {}
       |         ^

    chatwright.yaml:7:11: error: this step has no `type`
       |
     7 |       - { id: a }
       |           ^^
       = help: a request has a type, one of `SqlQuery`, `SqlExecute`, `Http`, `GenerateText`, `GenerateObject` and `CallEndpoint`; a control starts with `:`

    chatwright.yaml:8:24: error: there is no request type `SqlQery`
       |
     8 |       - { id: b, type: SqlQery }
       |                        ^^^^^^^
       = help: did you mean `SqlQuery`?

    chatwright.yaml:9:9: error: `connectionId` is missing here
       |
     9 |       - { id: c, type: Http }
       |         ^
       = help: `connectionId`: A connection of the type `Http`.

    chatwright.yaml:10:11: error: `:for` needs `:in` beside it
        |
     10 |       - { ':for': x, ':do': [] }
        |           ^^^^^^

    chatwright.yaml:11:30: warning: the payload schema has no `titel`
        |
     11 |       - { ':if': { _payload: titel }, ':then': [{ id: t, type: SqlQuery }], ':els': [] }
        |                              ^^^^^
        = help: did you mean `title`?

    chatwright.yaml:11:49: error: `connectionId` is missing here
        |
     11 |       - { ':if': { _payload: titel }, ':then': [{ id: t, type: SqlQuery }], ':els': [] }
        |                                                 ^
        = help: `connectionId`: A connection of the type `Sql`.

    chatwright.yaml:11:49: error: `properties` is missing here
        |
     11 |       - { ':if': { _payload: titel }, ':then': [{ id: t, type: SqlQuery }], ':els': [] }
        |                                                 ^
        = help: `properties`: Statement and parameters.

    chatwright.yaml:11:77: error: there is no key `:els` beside `:if`
        |
     11 |       - { ':if': { _payload: titel }, ':then': [{ id: t, type: SqlQuery }], ':els': [] }
        |                                                                             ^^^^^^
        = help: did you mean `:else`?

    chatwright.yaml:12:48: error: expected a list of steps, found the number 3
        |
     12 |       - { ':if': { _payload: title }, ':then': 3, ':else': { ':throw': { _step: t } } }
        |                                                ^

    chatwright.yaml:12:81: error: no step before this one has the id `t`
        |
     12 |       - { ':if': { _payload: title }, ':then': 3, ':else': { ':throw': { _step: t } } }
        |                                                                                 ^
        = help: the only one is `c`

    chatwright.yaml:13:25: error: expected a mapping of values, found a list
        |
     13 |       - { ':set_state': [1] }
        |                         ^

    chatwright.yaml:14:11: error: there is no control `:retrun`
        |
     14 |       - { ':retrun': 1 }
        |           ^^^^^^^^^
        = help: did you mean `:return`?

    chatwright.yaml:15:25: error: there is no key `id` beside `:return`
        |
     15 |       - { ':return': 1, id: x }
        |                         ^^
        = help: `:return` is a separate step
    ");
}

#[test]
fn misplaced_operators_are_rejected() {
    assert_snapshot!(check(&routine("      - { id: a, type: SqlQuery, connectionId: kb, properties: { query: 'select :x', parameters: { x: { _paylod: title } } } }
      - ':return':
          one: { _step: b }
          two: [{ _secret: KEY }]
          three: { _step: a.0.title }
          four: { _if: { test: { _item: x }, then: { _expr: 1 } } }
")), @"
    refused
    chatwright.yaml:6:105: error: there is no operator `_paylod`
       |
     6 | …ry: 'select :x', parameters: { x: { _paylod: title } } } }
       |                                      ^^^^^^^
       = help: did you mean `_payload`?

    chatwright.yaml:8:25: error: no step before this one has the id `b`
       |
     8 |           one: { _step: b }
       |                         ^
       = help: the only one is `a`

    chatwright.yaml:9:19: error: a secret has no place here
       |
     9 |           two: [{ _secret: KEY }]
       |                   ^^^^^^^
       = help: secrets are read in `connections`, in an agent's `providerOptions`, and in what a routine asks of a database or a web service; they never leave the server otherwise

    chatwright.yaml:11:41: error: no loop around this step has the item `x`
        |
     11 |           four: { _if: { test: { _item: x }, then: { _expr: 1 } } }
        |                                         ^
        = help: `_item` reads the item of a `:for` around the step

    chatwright.yaml:11:61: error: expected a text, found the number 1
        |
     11 |           four: { _if: { test: { _item: x }, then: { _expr: 1 } } }
        |                                                             ^
    ");
}

#[test]
fn invalid_controls_are_rejected() {
    assert_snapshot!(check(&routine("      - { ':switch': { ':case': 1 }, ':defalt': [] }
      - { ':switch': [{ ':then': [] }, { ':case': { _payload: titel }, ':than': [] }, 3] }
      - { ':for': row, ':do': [{ ':return': { _item: rwo } }] }
      - { ':for': { _payload: title }, ':in': [], ':do': [] }
      - { ':return': { _item: row } }
      - { ':parallel': { a: 1 } }
      - { ':parallel': [{ ':return': { _step: other } }, { id: other, type: CallEndpoint, properties: { endpointId: e } }] }
      - { ':try': [{ ':return': { _error: message } }] }
      - { ':try': [], ':catch': [{ ':return': { _error: message } }, { ':lgo': 1 }] }
      - { id: f, type: CallEndpoint, properties: { endpointId: ee } }
      - { id: g, type: CallEndpoint, properties: { endpoint: e } }
      - { ':return': { a: { _step: other }, b: { _step: f } } }
")), @"
    refused
    chatwright.yaml:6:22: error: expected a list of cases, each with `:case` and `:then`, found a mapping
       |
     6 |       - { ':switch': { ':case': 1 }, ':defalt': [] }
       |                      ^

    chatwright.yaml:6:38: error: there is no key `:defalt` beside `:switch`
       |
     6 |       - { ':switch': { ':case': 1 }, ':defalt': [] }
       |                                      ^^^^^^^^^
       = help: did you mean `:default`?

    chatwright.yaml:7:25: error: this case has no `:case`
       |
     7 |       - { ':switch': [{ ':then': [] }, { ':case': { _payload: titel }, ':than': [] }, 3] }
       |                         ^^^^^^^

    chatwright.yaml:7:63: warning: the payload schema has no `titel`
       |
     7 |       - { ':switch': [{ ':then': [] }, { ':case': { _payload: titel }, ':than': [] }, 3] }
       |                                                               ^^^^^
       = help: did you mean `title`?

    chatwright.yaml:7:72: error: a case has no key `:than`
       |
     7 |       - { ':switch': [{ ':then': [] }, { ':case': { _payload: titel }, ':than': [] }, 3] }
       |                                                                        ^^^^^^^
       = help: did you mean `:then`?

    chatwright.yaml:7:87: error: expected a case with `:case` and `:then`, found the number 3
       |
     7 |       - { ':switch': [{ ':then': [] }, { ':case': { _payload: titel }, ':than': [] }, 3] }
       |                                                                                       ^

    chatwright.yaml:8:11: error: `:for` needs `:in` beside it
       |
     8 |       - { ':for': row, ':do': [{ ':return': { _item: rwo } }] }
       |           ^^^^^^

    chatwright.yaml:8:54: error: no loop around this step has the item `rwo`
       |
     8 |       - { ':for': row, ':do': [{ ':return': { _item: rwo } }] }
       |                                                      ^^^
       = help: did you mean `row`?

    chatwright.yaml:9:19: error: expected the name of the item, which its steps read as `_item: name`, found a mapping
       |
     9 |       - { ':for': { _payload: title }, ':in': [], ':do': [] }
       |                   ^

    chatwright.yaml:10:31: error: no loop around this step has the item `row`
        |
     10 |       - { ':return': { _item: row } }
        |                               ^^^
        = help: `_item` reads the item of a `:for` around the step

    chatwright.yaml:11:24: error: expected a list of branches, found a mapping
        |
     11 |       - { ':parallel': { a: 1 } }
        |                        ^

    chatwright.yaml:12:47: error: no step before this one has the id `other`
        |
     12 | …':parallel': [{ ':return': { _step: other } }, { id: other, type: CallEndpoint, properties: { endpointId: e } …
        |                                      ^^^^^
        = help: a step sees the results of the steps before it

    chatwright.yaml:13:11: error: `:try` needs `:catch` or `:finally` beside it
        |
     13 |       - { ':try': [{ ':return': { _error: message } }] }
        |           ^^^^^^

    chatwright.yaml:13:35: error: `_error` has no meaning here
        |
     13 |       - { ':try': [{ ':return': { _error: message } }] }
        |                                   ^^^^^^
        = help: only the steps under `:catch` know why something failed

    chatwright.yaml:14:72: error: there is no control `:lgo`
        |
     14 |       - { ':try': [], ':catch': [{ ':return': { _error: message } }, { ':lgo': 1 }] }
        |                                                                        ^^^^^^
        = help: did you mean `:log`?

    chatwright.yaml:15:64: error: there is no endpoint `ee`
        |
     15 |       - { id: f, type: CallEndpoint, properties: { endpointId: ee } }
        |                                                                ^^
        = help: the only one is `e`

    chatwright.yaml:16:52: error: there is no key `endpoint` here
        |
     16 |       - { id: g, type: CallEndpoint, properties: { endpoint: e } }
        |                                                    ^^^^^^^^
        = help: did you mean `endpointId`?
    ");
}
