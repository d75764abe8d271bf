//! Errors, functions and limits of the operators outside of the base set.

use operators::{
    Definition, Kind, Operators, Parameters, Scope, evaluate, evaluate_briefly, evaluate_fully, has_further_operators,
    is_costly,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn check(value: Value, expected: &str) {
    let state = json!({
        "name": "Ada",
        "list": [1, 2],
        "code": [{ "_state": "name" }, { "__state": "name" }, { "_captured": 0 }, { "_function": 1 }],
    });
    let scope = Scope { state: Some(&state), operators: Some(Operators::standard()), ..Scope::default() };
    let seen = evaluate(&value, &scope).map_or_else(|error| error.to_string(), |value| value.to_string());
    assert_eq!(seen, expected, "{value}");
}

#[test]
fn wrong_arguments_are_errors_at_their_place() {
    check(json!({ "_array.slice": { "on": 3 } }), "/_array.slice/on: expected a list, found a number");
    check(json!([{ "_array.join": [[1], 2] }]), "/0/_array.join/1: expected a text, found a number");
    check(
        json!({ "_string.slice": { "on": "a", "begin": 1 } }),
        "/_string.slice: there is no parameter `begin`; it takes `on`, `start`, `end`",
    );
    check(json!({ "_string.repeat": { "on": "a" } }), "/_string.repeat: `count` is missing");
    check(
        json!({ "_string.repeat": "a" }),
        "/_string.repeat: it takes `on`, `count`, as a mapping or as a list in this order",
    );
    check(json!({ "_gt": [1] }), "/_gt: it takes a list of two values");
    check(json!({ "_sum": 1 }), "/_sum: it takes a list of values, found a number");
    check(json!({ "_divide": [1, 0] }), "/_divide: a number cannot be divided by 0");
    check(json!({ "_math.PI": 3 }), "/_math.PI: it takes nothing: write `null`");
    check(json!({ "_math.sqrt": "x" }), "/_math.sqrt: expected a number, found a text");
    check(
        json!({ "_date.getTime": "yesterday" }),
        "/_date.getTime: expected a date in ISO 8601 format or in milliseconds, found a text",
    );
    check(
        json!({ "_json.parse": "{" }),
        "/_json.parse: it is not JSON: EOF while parsing an object at line 1 column 1",
    );
    check(json!({ "_uuid": null }), "/_uuid: there is no clock and no randomness here");
    check(
        json!({ "_object.fromEntries": [["__proto__", 1]] }),
        "/_object.fromEntries: the key `__proto__` is not allowed",
    );
    check(json!({ "_nothing": 1 }), "/_nothing: there is no operator `_nothing`");
    check(
        json!({ "_global": "x" }),
        "/_global: the operator `_global` is not supported: keep the value in the page's state, with `SetState` and `_state`",
    );
    check(
        json!({ "_regex": { "pattern": "(?=a)", "on": "a" } }),
        "/_regex: the pattern cannot be used: look-around is not supported (look-around, back references and `\\p` are not supported)",
    );
}

#[test]
fn arguments_may_be_computed() {
    check(json!({ "_array.concat": [{ "_state": "list" }, [3]] }), "[1,2,3]");
    check(json!({ "_sum": { "_state": "list" } }), "3");
    check(json!({ "_array.join": { "_array.concat": [[{ "_state": "list" }], ["-"]] } }), r#""1-2""#);
    check(json!({ "_and": { "_state": "list" } }), "true");
    check(json!({ "_array.length": { "_state": "nothing" } }), "0");
}

#[test]
fn conditions_evaluate_only_what_they_need() {
    check(json!({ "_and": [false, { "_divide": [1, 0] }] }), "false");
    check(json!({ "_or": [1, { "_divide": [1, 0] }] }), "true");
    check(json!({ "_if_none": [1, { "_divide": [1, 0] }] }), "1");
    check(json!({ "_switch": { "branches": [{ "if": true, "then": 1 }, { "if": { "_oops": 1 } }] } }), "1");
}

#[test]
fn functions_are_evaluated_when_they_are_made_and_when_they_are_called() {
    let map = |body: Value| json!({ "_array.map": [{ "_state": "list" }, { "_function": body }] });
    check(map(json!({ "__args": true })), "[[1,0,[1,2]],[2,1,[1,2]]]");
    check(map(json!({ "__args": { "key": "0.name", "default": "-" } })), r#"["-","-"]"#);
    check(map(json!({ "__args": 7 })), "[null,null]");
    check(
        map(json!({ "_args": 0 })),
        "/_array.map/1/_function/_args: `_args` has a value in a function only, as `__args`",
    );
    check(map(json!({ "__oops": 0 })), "/_array.map/callback/_function/_oops: there is no operator `_oops`");
    check(json!({ "__args": 0 }), "/__args: there is no operator `__args`");
    check(json!({ "_function": 1 }), "/_function: a function has no value here");
    check(json!({ "_array.map": [[1], 2] }), "/_array.map/1: expected a function: `_function: …`");
    check(
        json!({ "_array.map": { "_if": { "test": true, "then": [[1], 2] } } }),
        "/_array.map/1: a function must be written here",
    );
}

#[test]
fn values_are_never_evaluated_as_config() {
    let code = r#"[{"_state":"name"},{"__state":"name"},{"_captured":0},{"_function":1}]"#;
    let map = |body: Value| json!({ "_array.map": [[0], { "_function": body }] });
    check(map(json!({ "_state": "code" })), &format!("[{code}]"));
    check(map(json!({ "__state": "code" })), &format!("[{code}]"));
    check(json!({ "_array.map": [{ "_state": "code" }, { "_function": { "__args": 0 } }] }), code);
    check(
        map(
            json!({ "__array.map": [{ "_state": "code" }, { "__function": { "a": { "___args": 0 }, "b": { "__args": 0 } } }] }),
        ),
        r#"[[{"a":{"_state":"name"},"b":0},{"a":{"__state":"name"},"b":0},{"a":{"_captured":0},"b":0},{"a":{"_function":1},"b":0}]]"#,
    );
    check(json!({ "_json.parse": r#"{"_state": "name"}"# }), r#"{"_state":"name"}"#);
}

#[test]
fn growth_is_bounded() {
    let twice = json!({ "_function": { "__string.concat": [{ "__args": 0 }, { "__args": 0 }] } });
    let thousand: Vec<_> = (0..1_000).collect();
    check(
        json!({ "_array.reduce": [thousand, twice, "x"] }),
        "/_array.reduce/callback/_function/_string.concat: the text is longer than 1048576 bytes",
    );
    let nest = json!({ "_function": [{ "__args": 0 }] });
    check(
        json!({ "_array.reduce": [thousand, nest, 0] }),
        "/_array.reduce: the result is nested deeper than 64 levels",
    );
    for operator in ["_string.repeat", "_string.padEnd", "_string.padStart"] {
        check(
            json!({ operator: ["x", 9_007_199_254_740_991_i64] }),
            &format!("/{operator}: the text is longer than 1048576 bytes"),
        );
    }
    check(
        json!({ "_array.join": [[1, 2], "x".repeat(2_000_000)] }),
        "/_array.join: the text is longer than 1048576 bytes",
    );
    check(
        json!({ "_random": { "type": "string", "length": 1_000_000 } }),
        "/_random: there is no clock and no randomness here",
    );
}

#[test]
fn work_is_bounded() {
    assert_too_much_work(4);
}

#[test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
fn work_is_bounded_thoroughly() {
    assert_too_much_work(1);
}

/// Evaluates what takes too much work, and one of `every` values with the highest limits, which take seconds.
fn assert_too_much_work(every: usize) {
    let state = json!({ "list": (0..2_000).collect::<Vec<_>>(), "text": "a".repeat(100_000) });
    let scope = Scope { state: Some(&state), operators: Some(Operators::standard()), ..Scope::default() };
    let list = json!({ "_state": "list" });
    let nested = |body: Value| json!({ "_array.map": [list, { "_function": { "__array.map": [list, { "__function": body }] } }] });
    let values = [
        nested(json!({ "___sum": [1, 2] })),
        json!({ "_array.map": [list, { "_function": { "__array.concat": [list, { "__state": "list" }] } }] }),
        json!({ "_array.map": [list, { "_function": { "__args": 2 } }] }),
        json!({ "_array.map": [list, { "_function": { "__array.sort": { "on": list } } }] }),
        json!({ "_array.map": [list, { "_function": { "__string.split": [{ "_state": "text" }, ""] } }] }),
        json!({ "_array.map": [list, { "_function": { "__string.toUpperCase": { "__state": "text" } } }] }),
        // Each match reads the whole rest of the text.
        json!({ "_string.match": { "on": { "_state": "text" }, "regex": "a[^b]*b|a", "regexFlags": "g" } }),
        json!({ "_regex": { "pattern": "^(\\w{50}){50}$", "on": { "_state": "text" } } }),
    ];
    for (number, value) in values.iter().enumerate() {
        assert!(is_costly(value));
        assert!(evaluate_briefly(value, &scope).is_none(), "brief: {value}");
        if number.is_multiple_of(every) {
            let error = evaluate_fully(value, &scope, || false).unwrap_err().to_string();
            assert!(error.ends_with("the evaluation takes too much work"), "{error}");
        }
        // As on a page that the server renders.
        assert!(evaluate(value, &scope).is_err(), "{value}");
    }
}

#[test]
fn patterns_are_bounded() {
    let check = |pattern: String, part: &str| {
        let scope = Scope { operators: Some(Operators::standard()), ..Scope::default() };
        let error = evaluate(&json!({ "_regex": { "pattern": pattern, "on": "a" } }), &scope).unwrap_err().message;
        assert!(error.contains(part), "{error}");
    };
    check("a".repeat(2_001), "longer than 2000 bytes");
    check("((a{100}){100}){100}".to_owned(), "exceeded size limit");
    check("(".repeat(1_000), "nest");
}

/// Operators as a program adds them.
static ADDED: [Definition; 4] = [
    Definition::custom("_shout", Parameters::One(Kind::Text), |mut given| Ok(format!("{}!", given.text(0)).into()), ""),
    Definition::custom("_fail", Parameters::One(Kind::Any), |_| Err("not today".to_owned()), ""),
    Definition::custom("_crash", Parameters::Values(Kind::List), |mut given| Ok(given.list(9).remove(0)), ""),
    Definition::custom("_many", Parameters::Nothing, |_| Ok(vec![0; 10_000].into()), ""),
];

#[test]
fn a_program_can_add_operators() {
    let operators = Operators::with(ADDED.iter().collect()).unwrap();
    let scope = Scope { operators: Some(&operators), ..Scope::default() };
    let check = |value: Value, expected: &str| {
        let seen = evaluate(&value, &scope).map_or_else(|error| error.to_string(), |value| value.to_string());
        assert_eq!(seen, expected, "{value}");
    };
    check(json!({ "_shout": { "_string.concat": ["he", "y"] } }), r#""hey!""#);
    check(json!({ "_array.map": [["a"], { "_function": { "__shout": { "__args": 0 } } }] }), r#"["a!"]"#);
    check(json!({ "_shout": 1 }), "/_shout: expected a text, found a number");
    check(json!({ "a": { "_fail": 1 } }), "/a/_fail: not today");
    check(json!({ "_crash": [] }), "/_crash: the operator failed; the reason is in the server log");
    // The values that it makes are charged like those of other operators.
    check(json!({ "_array.length": { "_many": null } }), "10000");
    let often = json!({ "_array.map": [vec![0; 50], { "_function": { "__many": null } }] });
    let error = evaluate(&often, &scope).unwrap_err().to_string();
    assert!(error.ends_with("the evaluation takes too much work"), "{error}");
    assert!(has_further_operators(&json!([{ "_shout": "a" }])) && is_costly(&json!([{ "_shout": "a" }])));
}

#[test]
fn operators_cannot_be_added_under_any_name() {
    const fn named(name: &'static str) -> Definition {
        Definition::custom(name, Parameters::Nothing, |_| Ok(Value::Null), "")
    }
    static NAMES: [Definition; 4] = [named("_if"), named("shout"), named("__shout"), named("_")];
    let check = |added: Vec<&'static Definition>, expected: &str| {
        assert_eq!(Operators::with(added).err().as_deref(), Some(expected));
    };
    check(vec![&NAMES[0]], "the operator `_if` cannot be added: there is one with this name already");
    check(vec![&ADDED[0], &ADDED[0]], "the operator `_shout` cannot be added: there is one with this name already");
    for definition in &NAMES[1..] {
        let name = definition.name;
        check(
            vec![definition],
            &format!("the operator `{name}` cannot be added: a name begins with one underscore and a letter"),
        );
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z._0-9 é😀]{0,8}".prop_map(Value::from),
        Just(json!("2021-01-28T12:38:29Z")),
        Just(json!({ "_function": { "__args": 0 } })),
    ];
    let names: Vec<_> = operators::definitions().map(|definition| definition.name.to_owned()).collect();
    leaf.prop_recursive(5, 64, 5, move |inner| {
        let keys = ["on", "callback", "start", "end", "key", "value", "regex", "__args", "__sum", "test", "then"];
        let key =
            prop_oneof![prop::sample::select(names.clone()), prop::sample::select(keys.map(str::to_owned).to_vec())];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            (prop::sample::select(names.clone()), prop::collection::vec(inner.clone(), 0..4))
                .prop_map(|(name, arguments)| json!({ name: arguments })),
            prop::collection::vec((key, inner), 0..3).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn evaluation_never_panics(value in any_json(), state in any_json()) {
        let scope = Scope { state: Some(&state), operators: Some(Operators::standard()), ..Scope::default() };
        let brief = evaluate_briefly(&value, &scope);
        let full = evaluate_fully(&value, &scope, || false);
        // A smaller budget does not change a result.
        prop_assert!(brief.is_none_or(|brief| brief == full));
    }
}
