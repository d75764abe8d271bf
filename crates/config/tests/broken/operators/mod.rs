//! Operators that cannot be evaluated, and arguments that are wrong.

use crate::{check, with_basics};
use insta::assert_snapshot;

fn routine(value: &str) -> String {
    with_basics(&format!("api:\n  - id: e\n    routine:\n      - ':return': {value}\n"))
}

fn page(title: &str) -> String {
    format!(
        "pages:\n  - id: p\n    blocks:\n      - {{ id: name, type: TextInput }}\n      - {{ id: t, type: Title, properties: {{ title: {title} }} }}\n"
    )
}

#[test]
fn unknown_operators_are_rejected() {
    assert_snapshot!(check(&routine("[{ _array.fliter: 1 }, { _string: a }, { _nothing_like_it: 1 }, { _stringconcat: [a] }]")), @"
    refused
    chatwright.yaml:5:23: error: there is no operator `_array.fliter`
       |
     5 |       - ':return': [{ _array.fliter: 1 }, { _string: a }, { _nothing_like_it: 1 }, { _stringconcat: [a] }]
       |                       ^^^^^^^^^^^^^
       = help: did you mean `_array.filter`?

    chatwright.yaml:5:45: error: there is no operator `_string`
       |
     5 |       - ':return': [{ _array.fliter: 1 }, { _string: a }, { _nothing_like_it: 1 }, { _stringconcat: [a] }]
       |                                             ^^^^^^^
       = help: one of `_string.charAt`, `_string.concat`, `_string.endsWith`, `_string.includes`, `_string.indexOf`, `_string.lastIndexOf`, `_string.length`, `_string.padEnd`, `_string.padStart`, `_string.repeat`, `_string.slice`, `_string.split`, `_string.startsWith`, `_string.substring`, `_string.toLowerCase`, `_string.toUpperCase`, `_string.trim`, `_string.trimEnd`, `_string.trimStart`, `_string.match`, `_string.replace` and `_string.search`

    chatwright.yaml:5:61: error: there is no operator `_nothing_like_it`
       |
     5 |       - ':return': [{ _array.fliter: 1 }, { _string: a }, { _nothing_like_it: 1 }, { _stringconcat: [a] }]
       |                                                             ^^^^^^^^^^^^^^^^
       = help: `_payload`, `_step`, `_state`, `_user`, `_item`, `_error`, `_agent`, `_expr` and `_template` read a value here; `docs/operators.md` has all others

    chatwright.yaml:5:86: error: there is no operator `_stringconcat`
       |
     5 |       - ':return': [{ _array.fliter: 1 }, { _string: a }, { _nothing_like_it: 1 }, { _stringconcat: [a] }]
       |                                                                                      ^^^^^^^^^^^^^
       = help: did you mean `_string.concat`?
    ");
}

#[test]
fn unsupported_operators_say_what_to_use() {
    assert_snapshot!(check(&page("{ _string.concat: [{ _global: name }, { _date.getHours: 0 }, { _js: x }, { _media: width }] }")), @"
    refused
    chatwright.yaml:5:73: error: the operator `_global` is not supported
       |
     5 | …ties: { title: { _string.concat: [{ _global: name }, { _date.getHours: 0 }, { _js: x }, { _media: width }] } }…
       |                                      ^^^^^^^
       = help: keep the value in the page's state, with `SetState` and `_state`

    chatwright.yaml:5:92: error: the operator `_date.getHours` is not supported
       |
     5 | …tring.concat: [{ _global: name }, { _date.getHours: 0 }, { _js: x }, { _media: width }] } } }
       |                                      ^^^^^^^^^^^^^^
       = help: server and browser may be in different time zones; use the method with `UTC` in its name, `_date.toISOString` or `_dayjs.format`

    chatwright.yaml:5:115: error: the operator `_js` is not supported
       |
     5 | …l: name }, { _date.getHours: 0 }, { _js: x }, { _media: width }] } } }
       |                                      ^^^
       = help: use `_expr`, or a function with operators; a page that needs more is written in Rust

    chatwright.yaml:5:127: error: the operator `_media` is not supported
       |
     5 | … _date.getHours: 0 }, { _js: x }, { _media: width }] } } }
       |                                      ^^^^^^
       = help: blocks adapt to the width of the window themselves
    ");
}

#[test]
fn operators_with_another_result_each_time_are_rejected_where_values_are_rendered() {
    assert_snapshot!(check(&page("{ _string.concat: [{ _uuid: true }, { _date.now: null }, { _math.random: null }] }")), @"
    refused
    chatwright.yaml:5:73: error: the operator `_uuid` has another result each time
       |
     5 | …ties: { title: { _string.concat: [{ _uuid: true }, { _date.now: null }, { _math.random: null }] } } }
       |                                      ^^^^^
       = help: what the server renders must be the same as in the browser; compute it in an action and show the state that it sets

    chatwright.yaml:5:90: error: the operator `_date.now` has another result each time
       |
     5 | …_string.concat: [{ _uuid: true }, { _date.now: null }, { _math.random: null }] } } }
       |                                      ^^^^^^^^^
       = help: what the server renders must be the same as in the browser; compute it in an action and show the state that it sets

    chatwright.yaml:5:111: error: the operator `_math.random` has another result each time
       |
     5 | …uid: true }, { _date.now: null }, { _math.random: null }] } } }
       |                                      ^^^^^^^^^^^^
       = help: what the server renders must be the same as in the browser; compute it in an action and show the state that it sets
    ");
    assert_snapshot!(check(&routine("{ _string.concat: [{ _uuid: true }, { _date.now: null }, { _math.random: null }] }")), @"accepted");
}

#[test]
fn wrong_arguments_are_rejected() {
    assert_snapshot!(check(&routine("
          - { _array.slice: { on: 3, begin: 1 } }
          - { _array.join: [[a], 2] }
          - { _string.repeat: { on: a } }
          - { _string.repeat: a }
          - { _gt: [1] }
          - { _sum: 1 }
          - { _math.PI: 3 }
          - { _math.sqrt: [4] }
          - { _date.getTime: yesterday }
          - { _regex: { pattern: '(?=a)', on: a } }
          - { _array.map: { on: [1], callback: 2 } }
          - { _array.map: { on: [1], callback: { _sum: [1] } } }
")), @r#"
    refused
    chatwright.yaml:6:35: error: expected a list, found a number
       |
     6 |           - { _array.slice: { on: 3, begin: 1 } }
       |                                   ^

    chatwright.yaml:6:38: error: `_array.slice` has no parameter `begin`
       |
     6 |           - { _array.slice: { on: 3, begin: 1 } }
       |                                      ^^^^^
       = help: one of `on`, `start` and `end`

    chatwright.yaml:7:34: error: expected a text, found a number
       |
     7 |           - { _array.join: [[a], 2] }
       |                                  ^

    chatwright.yaml:8:15: error: `_string.repeat` needs `count`, a whole number
       |
     8 |           - { _string.repeat: { on: a } }
       |               ^^^^^^^^^^^^^^

    chatwright.yaml:9:31: error: `_string.repeat` cannot take the text `a`
       |
     9 |           - { _string.repeat: a }
       |                               ^
       = help: it takes `on` and `count`, as a mapping or as a list in this order

    chatwright.yaml:10:20: error: `_gt` takes a list of two values, found a list
        |
     10 |           - { _gt: [1] }
        |                    ^

    chatwright.yaml:11:21: error: `_sum` takes a list of values, found the number 1
        |
     11 |           - { _sum: 1 }
        |                     ^

    chatwright.yaml:12:25: error: `_math.PI` takes nothing
        |
     12 |           - { _math.PI: 3 }
        |                         ^
        = help: write `null`

    chatwright.yaml:13:27: error: expected a number, found a list
        |
     13 |           - { _math.sqrt: [4] }
        |                           ^

    chatwright.yaml:14:30: error: expected a date in ISO 8601 format or in milliseconds, found a text
        |
     14 |           - { _date.getTime: yesterday }
        |                              ^^^^^^^^^

    chatwright.yaml:15:34: error: the pattern cannot be used: look-around is not supported (look-around, back references and `\p` are not supported)
        |
     15 |           - { _regex: { pattern: '(?=a)', on: a } }
        |                                  ^^^^^^^

    chatwright.yaml:16:48: error: expected a function, found the number 2
        |
     16 |           - { _array.map: { on: [1], callback: 2 } }
        |                                                ^
        = help: write `_function:` with operators that begin with two underscores

    chatwright.yaml:17:48: error: expected a function, found a mapping
        |
     17 |           - { _array.map: { on: [1], callback: { _sum: [1] } } }
        |                                                ^
        = help: write `_function:` with operators that begin with two underscores
    "#);
}

#[test]
fn computed_arguments_are_accepted() {
    assert_snapshot!(check(&routine("
          - { _array.slice: { on: { _payload: list }, start: { _sum: [1, { _payload: n }] } } }
          - { _array.join: { _payload: all } }
          - { _sum: { _payload: numbers } }
          - { _array.length: null }
          - { _array.map: [{ _payload: list }, { _function: { __string.concat: [{ __args: 0.name }, ' ', { _payload: end }] } }] }
          - { _array.map: [[[1]], { _function: { __array.map: [{ __args: 0 }, { __function: { ___sum: [{ ___args: 0 }, { __args: 1 }] } }] } }] }
")), @"accepted");
}

#[test]
fn functions_are_checked() {
    assert_snapshot!(check(&routine("
          - { _function: { __args: 0 } }
          - { __sum: [1] }
          - { _args: 0 }
          - { _array.map: [[1], { _function: { ___sum: [{ _args: 0 }] } }] }
          - { _array.map: [[1], { _function: { __oops: [{ __state: x }, { _event: y }] } }] }
")), @"
    refused
    chatwright.yaml:6:15: error: a function has no meaning here
       |
     6 |           - { _function: { __args: 0 } }
       |               ^^^^^^^^^
       = help: only parameters such as `callback` of `_array.map` take a function

    chatwright.yaml:6:28: error: there is no operator `__args` here
       |
     6 |           - { _function: { __args: 0 } }
       |                            ^^^^^^
       = help: write `_args`; more underscores are for what a function evaluates (`_function`)

    chatwright.yaml:7:15: error: there is no operator `__sum` here
       |
     7 |           - { __sum: [1] }
       |               ^^^^^
       = help: write `_sum`; more underscores are for what a function evaluates (`_function`)

    chatwright.yaml:8:15: error: `_args` has no meaning here
       |
     8 |           - { _args: 0 }
       |               ^^^^^
       = help: a function reads its arguments as `__args`

    chatwright.yaml:9:48: error: there is no operator `___sum` here
       |
     9 |           - { _array.map: [[1], { _function: { ___sum: [{ _args: 0 }] } }] }
       |                                                ^^^^^^
       = help: write `_sum`; more underscores are for what a function evaluates (`_function`)

    chatwright.yaml:10:48: error: there is no operator `_oops`
        |
     10 |           - { _array.map: [[1], { _function: { __oops: [{ __state: x }, { _event: y }] } }] }
        |                                                ^^^^^^
        = help: `_payload`, `_step`, `_state`, `_user`, `_item`, `_error`, `_agent`, `_expr` and `_template` read a value here; `docs/operators.md` has all others

    chatwright.yaml:10:75: error: the operator `_event` has no meaning here
        |
     10 |           - { _array.map: [[1], { _function: { __oops: [{ __state: x }, { _event: y }] } }] }
        |                                                                           ^^^^^^
        = help: what can be read here: `_payload`, `_step`, `_state`, `_user`, `_item`, `_error`, `_agent`, `_expr` and `_template`; operators that only compute are allowed, too
    ");
}

#[test]
fn secrets_are_not_changed() {
    let request = |value: &str| {
        format!(
            "connections: [{{ id: web, type: Http, properties: {{ baseURL: 'https://example.com' }} }}]
api:
  - id: e
    routine:
      - {{ id: r, type: Http, connectionId: web, properties: {{ path: /, headers: {{ authorization: {value} }} }} }}
"
        )
    };
    assert_snapshot!(check(&request("{ _string.concat: ['Bearer ', { _secret: KEY }] }")), @"accepted");
    assert_snapshot!(check(&request("{ _if_none: [{ _payload: token }, { _secret: KEY }] }")), @"accepted");
    assert_snapshot!(check(&request("{ _base64.encode: { _string.concat: [':', { _secret: KEY }] } }")), @"
    refused
    chatwright.yaml:5:142: error: a secret cannot be given to `_base64.encode`
       |
     5 | …4.encode: { _string.concat: [':', { _secret: KEY }] } } } } }
       |                                      ^^^^^^^
       = help: responses are searched for secrets as they are, so one that was changed would not be found; store it in the form that is sent
    ");
    assert_snapshot!(check(&request("{ _array.join: [{ _array.map: [[1], { _function: { __string.concat: [{ __secret: KEY }] } }] }] }")), @"
    refused
    chatwright.yaml:5:169: error: a function cannot read secrets
       |
     5 | … { _function: { __string.concat: [{ __secret: KEY }] } }] }] } } } }
       |                                      ^^^^^^^^
       = help: write `_secret`, which is read once, before the function is called

    chatwright.yaml:5:169: error: a secret cannot be given to `_array.join`
       |
     5 | … { _function: { __string.concat: [{ __secret: KEY }] } }] }] } } } }
       |                                      ^^^^^^^^
       = help: responses are searched for secrets as they are, so one that was changed would not be found; store it in the form that is sent
    ");
}
