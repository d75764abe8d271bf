use crate::api::routine;
use crate::check;
use insta::assert_snapshot;

#[test]
fn invalid_sql_requests_are_rejected() {
    assert_snapshot!(check(&routine("      - { id: a, type: SqlQuery, connectionId: demo, properties: { query: select 1 } }
      - { id: b, type: SqlQuery, connectionId: k, properties: { query: select 1 } }
      - { id: c, type: SqlQuery, connectionId: kb, properties: { query: 'select :title', parameters: { titel: { _payload: titel } } } }
      - { id: c, type: SqlQuery, connectionId: kb, properties: { sql: select 1 } }
      - { id: c, type: SqlQuery, connectionId: kb, properties: { query: select 1, parameters: [1] } }
      - { id: c, type: SqlQuery, connectionId: kb, properties: { query: select 1 } }
      - { type: SqlQuery, connectionId: kb, properties: { query: select 1 } }
")), @"
    refused
    chatwright.yaml:6:48: error: SqlQuery needs a connection of the type Sql; `demo` is of the type Demo
       |
     6 |       - { id: a, type: SqlQuery, connectionId: demo, properties: { query: select 1 } }
       |                                                ^^^^

    chatwright.yaml:7:48: error: there is no connection `k`
       |
     7 |       - { id: b, type: SqlQuery, connectionId: k, properties: { query: select 1 } }
       |                                                ^
       = help: one of `demo` and `kb`

    chatwright.yaml:8:73: error: the parameter `:title` has no value
       |
     8 | …nectionId: kb, properties: { query: 'select :title', parameters: { titel: { _payload: titel } } } }
       |                                      ^^^^^^^^^^^^^^^
       = help: did you mean `titel`?

    chatwright.yaml:8:104: error: the statement does not use the parameter `titel`
       |
     8 | …ery: 'select :title', parameters: { titel: { _payload: titel } } } }
       |                                      ^^^^^
       = help: did you mean `title`?

    chatwright.yaml:8:123: warning: the payload schema has no `titel`
       |
     8 | …', parameters: { titel: { _payload: titel } } } }
       |                                      ^^^^^
       = help: did you mean `title`?

    chatwright.yaml:9:52: error: `query` is missing here
       |
     9 |       - { id: c, type: SqlQuery, connectionId: kb, properties: { sql: select 1 } }
       |                                                    ^^^^^^^^^^
       = help: `query`: The statement, with `:name` where a parameter goes.

    chatwright.yaml:9:66: error: there is no key `sql` here
       |
     9 |       - { id: c, type: SqlQuery, connectionId: kb, properties: { sql: select 1 } }
       |                                                                  ^^^
       = help: one of `query` and `parameters`

    chatwright.yaml:10:95: error: expected a mapping, found a list
        |
     10 |       - { id: c, type: SqlQuery, connectionId: kb, properties: { query: select 1, parameters: [1] } }
        |                                                                                               ^

    chatwright.yaml:11:15: error: there are two steps with the id `c` in this routine
        |
     11 |       - { id: c, type: SqlQuery, connectionId: kb, properties: { query: select 1 } }
        |               ^

    chatwright.yaml:12:9: error: `id` is missing here
        |
     12 |       - { type: SqlQuery, connectionId: kb, properties: { query: select 1 } }
        |         ^
        = help: `id`: The name under which later steps find the result.
    ");
    assert_snapshot!(check("connections: [{ id: kb, type: Sql, properties: { url: 'sqlite:kb.db', readOnly: true } }]
api:
  - { id: e, routine: [{ id: a, type: SqlExecute, connectionId: kb, properties: { query: delete from a } }] }
"), @"
    refused
    chatwright.yaml:3:65: error: the connection `kb` is read-only
       |
     3 |   - { id: e, routine: [{ id: a, type: SqlExecute, connectionId: kb, properties: { query: delete from a } }] }
       |                                                                 ^^
    ");
}

#[test]
fn statements_are_parsed_in_the_dialect_of_their_database() {
    let config = "connections:
  - { id: lite, type: Sql, properties: { url: 'sqlite::memory:' } }
  - { id: shop, type: Sql, properties: { url: 'postgres://host/shop' } }
  - { id: later, type: Sql, properties: { url: { _secret: LATER } } }
api:
  - id: e
    routine:
      - { id: a, type: SqlQuery, connectionId: shop, properties: { query: 'select $$ :x $$, a ? :k from t', parameters: { k: 1 } } }
      - { id: b, type: SqlQuery, connectionId: lite, properties: { query: 'select [:x], a ? :k from t', parameters: { k: 1 } } }
      - { id: c, type: SqlQuery, connectionId: shop, properties: { query: 'select list[:x]' } }
      - { id: d, type: SqlExecute, connectionId: shop, properties: { query: 'delete from a; delete from b' } }
      - { id: f, type: SqlExecute, connectionId: later, properties: { query: 'select a ? :k' } }
";
    assert_snapshot!(check(config), @"
    refused
    chatwright.yaml:4:48: error: the environment variable `LATER` is not set
       |
     4 |   - { id: later, type: Sql, properties: { url: { _secret: LATER } } }
       |                                                ^
       = help: set it before the server starts: it is the `url` of the connection `later`

    chatwright.yaml:9:75: error: parameters must be named, such as `:name`; found `?`
       |
     9 | …ctionId: lite, properties: { query: 'select [:x], a ? :k from t', parameters: { k: 1 } } }
       |                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    chatwright.yaml:10:75: error: the parameter `:x` has no value
        |
     10 |       - { id: c, type: SqlQuery, connectionId: shop, properties: { query: 'select list[:x]' } }
        |                                                                           ^^^^^^^^^^^^^^^^^^
        = help: add `x` to `parameters`

    chatwright.yaml:11:77: error: a request can run only one statement; put the second one into its own step
        |
     11 |       - { id: d, type: SqlExecute, connectionId: shop, properties: { query: 'delete from a; delete from b' } }
        |                                                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    ");
}

#[test]
fn paths_that_every_request_would_refuse_are_rejected() {
    let check = |path: &str| {
        check(&format!(
            "connections: [{{ id: shop, type: Http, properties: {{ baseURL: 'https://shop.example.com' }} }}]
api:
  - id: ask
    payloadSchema: {{ type: object, properties: {{ city: {{ type: string }} }} }}
    routine: [{{ id: a, type: Http, connectionId: shop, properties: {{ path: {path} }} }}]
"
        ))
    };
    for (path, message) in [
        ("/current?city=Bern", "5:76: error: a path cannot contain `?`"),
        ("'/a#b'", "5:76: error: a path cannot contain `#`"),
        ("{ _template: \"/{{ 'days?' }}{# ? #}?city={{ payload.city }}\" }", "5:89: error: a path cannot contain `?`"),
        ("https://other.example.com/x", "5:76: error: a path cannot be a whole address"),
        ("{ _template: 'https://{{ payload.city }}.example.com' }", "5:89: error: a path cannot be a whole address"),
    ] {
        let found = check(path);
        assert!(found.contains(message), "{path}: {found}");
    }
    for path in [
        "/current",
        "{ _template: \"/{{ 'days?' }}{# ? #}{% if payload.city != '?' %}/{% endif %}\" }",
        "{ _payload: city }",
    ] {
        let found = check(path);
        assert!(found.starts_with("accepted"), "{path}: {found}");
    }
}

#[test]
fn invalid_http_and_model_requests_are_rejected() {
    assert_snapshot!(check("connections:
  - { id: shop, type: Http, properties: { baseURL: 'ftp://shop', headers: { X-Key: { _secret: SHOP_KEY } } } }
  - { id: web, type: Http, properties: { headers: {} } }
  - { id: demo, type: Demo }
api:
  - id: ask
    routine:
      - { id: a, type: Http, connectionId: demo, properties: { method: Get, path: x } }
      - { id: b, type: Http, connectionId: weg, properties: { pth: x, headers: { a: { _secret: K } } } }
      - { id: c, type: GenerateText, connectionId: web, properties: { model: m, prompt: { _step: d } } }
      - { id: d, type: GenerateText, connectionId: demo, properties: { model: '', temperature: 3 } }
      - { id: e, type: GenerateObject, connectionId: demo, properties: { model: m, prompt: p, schema: { type: objct } } }
"), @"
    refused
    chatwright.yaml:2:52: error: this address must start with `https://` or `http://`
       |
     2 |   - { id: shop, type: Http, properties: { baseURL: 'ftp://shop', headers: { X-Key: { _secret: SHOP_KEY } } } }
       |                                                    ^^^^^^^^^^^^
       = help: for example `https://api.example.com/v1`

    chatwright.yaml:3:28: error: `baseURL` is missing here
       |
     3 |   - { id: web, type: Http, properties: { headers: {} } }
       |                            ^^^^^^^^^^
       = help: `baseURL`: The address below which every request stays.

    chatwright.yaml:8:72: error: there is no method `Get`
       |
     8 |       - { id: a, type: Http, connectionId: demo, properties: { method: Get, path: x } }
       |                                                                        ^^^
       = help: did you mean `GET`?

    chatwright.yaml:9:63: error: there is no key `pth` here
       |
     9 |       - { id: b, type: Http, connectionId: weg, properties: { pth: x, headers: { a: { _secret: K } } } }
       |                                                               ^^^
       = help: did you mean `path`?

    chatwright.yaml:9:96: error: the environment variable `K` is not set
       |
     9 |       - { id: b, type: Http, connectionId: weg, properties: { pth: x, headers: { a: { _secret: K } } } }
       |                                                                                                ^
       = help: set it before the server starts: a request of this routine sends it

    chatwright.yaml:10:52: error: GenerateText needs a connection of a model provider; `web` is of the type Http
        |
     10 |       - { id: c, type: GenerateText, connectionId: web, properties: { model: m, prompt: { _step: d } } }
        |                                                    ^^^

    chatwright.yaml:10:98: error: no step before this one has the id `d`
        |
     10 |       - { id: c, type: GenerateText, connectionId: web, properties: { model: m, prompt: { _step: d } } }
        |                                                                                                  ^
        = help: one of `a` and `b`

    chatwright.yaml:11:58: error: `prompt` is missing here
        |
     11 |       - { id: d, type: GenerateText, connectionId: demo, properties: { model: '', temperature: 3 } }
        |                                                          ^^^^^^^^^^
        = help: `prompt`: The task for the model; an operator is allowed.

    chatwright.yaml:11:79: error: this text is empty
        |
     11 |       - { id: d, type: GenerateText, connectionId: demo, properties: { model: '', temperature: 3 } }
        |                                                                               ^^

    chatwright.yaml:11:96: error: expected a number between 0 and 2, found the number 3
        |
     11 |       - { id: d, type: GenerateText, connectionId: demo, properties: { model: '', temperature: 3 } }
        |                                                                                                ^

    chatwright.yaml:12:103: error: this schema is not the schema of an object
        |
     12 | …ies: { model: m, prompt: p, schema: { type: objct } } }
        |                                      ^
        = help: add `type: object`

    chatwright.yaml:12:111: error: JSON Schema has no type `objct`
        |
     12 | …odel: m, prompt: p, schema: { type: objct } } }
        |                                      ^^^^^
        = help: did you mean `object`?
    ");
}

#[test]
fn invalid_expressions_and_templates_are_rejected() {
    assert_snapshot!(check("connections: [{ id: demo, type: Demo }]
api:
  - id: a
    routine:
      - ':if': { _expr: 'payload.n > ' }
        ':then': { ':return': { _template: 'Dear {{ payload.name' } }
      - ':log': { _expr: 3 }
agents:
  - id: b
    type: Agent
    connectionId: demo
    properties: { model: demo, instructions: { _template: 'You serve {{ user.id }' } }
  - id: c
    type: Agent
    connectionId: demo
    properties: { model: demo, instructions: { _state: x } }
pages:
  - id: p
    blocks: [{ id: t, type: Title, properties: { title: { _template: 'Hi {{ state.name' } } }]
"), @"
    refused
    chatwright.yaml:5:25: error: syntax error: unexpected end of input, expected expression
       |
     5 |       - ':if': { _expr: 'payload.n > ' }
       |                         ^^^^^^^^^^^^^^^

    chatwright.yaml:6:44: error: syntax error: unexpected end of input, expected end of variable block
       |
     6 |         ':then': { ':return': { _template: 'Dear {{ payload.name' } }
       |                                            ^^^^^^^^^^^^^^^^^^^^^^^

    chatwright.yaml:7:26: error: expected a text, found the number 3
       |
     7 |       - ':log': { _expr: 3 }
       |                          ^

    chatwright.yaml:12:59: error: syntax error: unexpected `}`, expected end of variable block
        |
     12 |     properties: { model: demo, instructions: { _template: 'You serve {{ user.id }' } }
        |                                                           ^^^^^^^^^^^^^^^^^^^^^^^^^

    chatwright.yaml:16:48: error: the operator `_state` has no meaning here
        |
     16 |     properties: { model: demo, instructions: { _state: x } }
        |                                                ^^^^^^
        = help: what can be read here: `_user`, `_payload`, `_expr` and `_template`; operators that only compute are allowed, too

    chatwright.yaml:19:70: error: syntax error: unexpected end of input, expected end of variable block
        |
     19 |     blocks: [{ id: t, type: Title, properties: { title: { _template: 'Hi {{ state.name' } } }]
        |                                                                      ^^^^^^^^^^^^^^^^^^^
    ");
}

#[test]
fn values_in_paths_that_are_not_encoded_cause_a_warning() {
    let config = |path: &str| {
        let step = format!("      - {{ id: a, type: Http, connectionId: web, properties: {{ path: {path} }} }}\n");
        routine(&step).replace(
            "connections: [",
            "connections: [{ id: web, type: Http, properties: { baseURL: 'https://a.test' } }, ",
        )
    };
    for good in [
        "/items/7",
        "{ _template: '/items/{{ payload.title }}' }",
        "{ _string.concat: [/items/, { _payload: title }] }",
        "{ _if: { test: { _eq: [{ _payload: title }, a] }, then: /a, else: { _template: '/{{ payload.title }}' } } }",
    ] {
        assert_eq!(check(&config(good)), "accepted\n", "{good}");
    }
    for plain in [
        "{ _payload: title }",
        "{ _if: { test: true, then: { _payload: title }, else: / } }",
        "{ _string.toLowerCase: { _payload: title } }",
        "{ _expr: payload.title }",
    ] {
        let found = check(&config(plain));
        assert!(
            found.starts_with("accepted\n") && found.contains("can be several steps of the path"),
            "{plain}: {found}"
        );
    }
    let found = check(&config("{ _payload: title }"));
    assert!(found.contains("chatwright.yaml:6:71: warning: the value of `_payload` can be"), "{found}");
    assert!(found.contains("= help: write the path as a `_template`"), "{found}");
}
