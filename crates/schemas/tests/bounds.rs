//! Tests with hostile schemas and with ordinary ones.

use futures::FutureExt;
use schemas::{CheckError, Schema, SchemaError};
use serde_json::{Value, json};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// A timeout that only catches a hang: the checks take a second at most, and without the bounds
/// practically forever.
const HANG: Duration = Duration::from_secs(120);

/// Runs work on a thread of its own, and panics if it does not end.
fn ends<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = channel();
    thread::spawn(move || done.send(work()));
    result.recv_timeout(HANG).expect("it ends")
}

fn checked(schema: Value, instance: Value) -> String {
    ends(move || match Schema::new(&schema) {
        Err(error) => error.to_string(),
        Ok(schema) => match schema.check_blocking(&instance, 5) {
            Ok(()) => "fits".to_owned(),
            Err(misfit) => misfit.to_string(),
        },
    })
}

/// Builds `levels` definitions, each made of the one below.
fn tower(keyword: &str, levels: usize, bottom: Value, level: impl Fn(Value) -> Value) -> Value {
    let mut definitions = json!({ "l0": bottom });
    for n in 1..=levels {
        definitions[format!("l{n}")] = level(json!({ "$ref": format!("#/{keyword}/l{}", n - 1) }));
    }
    json!({ keyword: definitions, "$ref": format!("#/{keyword}/l{levels}") })
}

fn nested(levels: usize, bottom: Value, level: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(bottom, |below, _| level(below))
}

const TOO_COSTLY: &str = "checking this value against its schema takes too much work";

const PATTERN_TOO_COSTLY: &str = "a pattern of the schema is too costly for a text of this length";

#[test]
fn doubled_references_are_bounded() {
    check_doubled_references(&["$defs"]);
}

#[test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
fn doubled_references_are_bounded_thoroughly() {
    check_doubled_references(&["$defs", "definitions"]);
}

fn check_doubled_references(keywords: &[&str]) {
    let check = |schema: Value, instance: Value, expected: &str| {
        let text = schema.to_string();
        let seen = checked(schema, instance);
        assert!(seen.contains(expected), "{text}: {seen}");
    };
    let twice = |keyword: &'static str| move |below: Value| json!({ keyword: [below, below] });
    for keyword in keywords {
        check(tower(keyword, 40, json!({ "type": "object" }), twice("allOf")), json!({}), TOO_COSTLY);
        check(tower(keyword, 40, json!(true), twice("allOf")), json!({}), TOO_COSTLY);
        check(tower(keyword, 40, json!(false), twice("anyOf")), json!({}), TOO_COSTLY);
        check(tower(keyword, 40, json!({ "type": "string" }), twice("anyOf")), json!({}), TOO_COSTLY);
        check(tower(keyword, 40, json!(false), twice("oneOf")), json!({}), TOO_COSTLY);
    }
    let draft7 = |mut schema: Value| {
        schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        schema
    };
    check(draft7(tower("definitions", 40, json!({ "type": "object" }), twice("allOf"))), json!({}), TOO_COSTLY);
    check(
        tower("$defs", 40, json!(true), |below| json!({ "not": { "not": below }, "if": below, "then": true })),
        json!({}),
        TOO_COSTLY,
    );
    let dependent = |below: Value| json!({ "dependentSchemas": { "a": below, "b": below } });
    check(tower("$defs", 40, json!(true), dependent), json!({ "a": 1, "b": 1 }), TOO_COSTLY);
    let mut unevaluated = tower("$defs", 40, json!(true), dependent);
    unevaluated["unevaluatedProperties"] = json!(false);
    check(unevaluated, json!({ "a": 1, "b": 1 }), "expand too far");
    // A few levels are harmless.
    check(tower("$defs", 6, json!({ "type": "object" }), twice("allOf")), json!({}), "fits");
}

#[test]
fn branching_recursion_is_bounded() {
    let check = |properties: Value, bottom: &str, expected: &str| {
        let schema = json!({ "$ref": "#/$defs/n", "$defs": { "n": properties } });
        let instance = nested(100, json!(bottom), |below| json!({ "c": below }));
        assert!(checked(schema.clone(), instance).contains(expected), "{schema}");
    };
    let branch = || json!({ "properties": { "c": { "$ref": "#/$defs/n" } }, "not": { "const": "wrong" } });
    // Valid results are cached per location; reporting the errors would take 2^100 steps.
    check(json!({ "anyOf": [branch(), branch()] }), "wrong", "in more places than can be reported");
    check(json!({ "oneOf": [branch(), branch()] }), "x", "");
    check(json!({ "allOf": [branch(), branch()] }), "x", "");
    check(branch(), "x", "fits");
}

/// Neither the stack of a worker nor that of the larger threads overflows, which would abort the
/// process.
#[test]
fn deep_recursion_is_bounded() {
    let chain = |levels: usize| {
        let mut schema = tower("$defs", levels, json!({}), |below| json!({ "allOf": [below] }));
        schema["$defs"]["l0"] = json!({ "properties": { "c": { "$ref": format!("#/$defs/l{levels}") } } });
        schema
    };
    let instance = || nested(100, json!({}), |below| json!({ "c": below }));
    assert_eq!(checked(chain(3), instance()), "fits");
    assert_eq!(checked(chain(2_000), instance()), TOO_COSTLY);
    let plain = tower("definitions", 4_000, json!({ "type": "object" }), |below| below);
    assert_eq!(checked(plain, json!({})), "fits");
    assert!(checked(nested(100, json!(true), |below| json!({ "not": below })), json!({})).contains("nested deeper"));
    let circle =
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } });
    assert_eq!(checked(circle, json!({})), "fits");
    assert_eq!(checked(json!({ "$ref": "#" }), json!({})), "fits");
}

#[test]
fn costly_keywords_are_bounded() {
    let long = |count: usize| Value::from((0..count).map(|n| json!({ "a": n, "b": [n] })).collect::<Vec<_>>());
    let many = |count: usize| Value::from_iter((0..count).map(|n| (format!("key{n}"), json!(n))));
    let patterns = || Value::from_iter((0..150).map(|n| (format!("^k.*{n}.*y.*z$"), json!(true))));
    assert_eq!(checked(json!({ "uniqueItems": true }), long(10_000)), "fits");
    // Each level compares all elements again.
    let unique = tower("$defs", 9, json!({ "uniqueItems": true }), |below| json!({ "allOf": [below, below] }));
    assert_eq!(checked(unique, long(10_000)), TOO_COSTLY);
    assert_eq!(checked(json!({ "patternProperties": patterns() }), many(1_000)), "fits");
    assert_eq!(checked(json!({ "patternProperties": patterns() }), many(50_000)), TOO_COSTLY);
    let options = Value::from((0..9_000).map(|n| json!([n])).collect::<Vec<_>>());
    assert_eq!(checked(json!({ "items": { "enum": options } }), json!(vec![[8_999]; 5_000])), TOO_COSTLY);
    let slow = json!({ "pattern": "([a-q][^u-z]{13}x){10}y" });
    assert_eq!(checked(slow, json!("a".repeat(4 << 20))), PATTERN_TOO_COSTLY);
    let decimal = json!({ "items": { "multipleOf": 1e-300 } });
    assert!(!checked(decimal, json!(vec![1e300; 1_000])).is_empty());
}

/// The engine is linear in the text, but with a factor of the pattern's size: these take 15 µs per
/// byte.
#[test]
fn patterns_are_charged_by_their_size_and_the_text() {
    let check = |pattern: &str, length: usize, expected: &str| {
        let text: String = (0..length).map(|n| if (n * n + n / 7) % 3 == 0 { 'a' } else { 'b' }).collect();
        let seen = checked(json!({ "pattern": pattern }), json!(text));
        assert!(seen.contains(expected), "{pattern} {length}: {seen}");
    };
    let repeated = "[ab]*a[ab]{2000}[cd]";
    check(repeated, 100, "does not match");
    check(repeated, 5_000, "\"ab");
    check(repeated, 19_500, PATTERN_TOO_COSTLY);
    check(repeated, 900_000, PATTERN_TOO_COSTLY);
    check("(a|b|c|ab|bc|abc)*(?:[ab]{0,700}c?){2}[d]", 19_500, PATTERN_TOO_COSTLY);
    // Ordinary patterns take long texts, and an anchored one reads no more than it can match.
    check("^[a-z]+$", 4 << 20, "fits");
    check(r"^\S+(\s\S+)*$", 1 << 20, "fits");
    check("^[ab]{1,2000}$", 900_000, "\"ab");
    let keys = json!({ "patternProperties": { repeated: true } });
    assert_eq!(checked(keys.clone(), json!({ "ab".repeat(10): 1 })), "fits");
    assert_eq!(checked(keys, json!({ "ab".repeat(10_000): 1 })), TOO_COSTLY);
}

/// Compiling is charged before it is done.
#[test]
fn patterns_that_are_costly_to_compile_are_refused() {
    let many = |pattern: &str| Value::from_iter((0..190).map(|n| (format!("{pattern}{n}"), json!(true))));
    let check = |patterns: Value, expected: &str| {
        let seen = checked(json!({ "patternProperties": patterns }), json!({}));
        assert!(seen.contains(expected), "{seen}");
    };
    check(many(r"\p{L}{4}"), "its patterns are too costly to compile");
    check(many(r"(?i)[\x00-\u{10FFFF}]"), "its patterns are too costly to compile");
    check(many(r"[a-z]{400}"), "its patterns are too costly to compile");
    check(many(r"^x-[a-z]+-\d+-"), "fits");
    // The translation to the engine's syntax replaces classes one by one.
    check(json!({ r"\S".repeat(2_000): true }), "its patterns are too costly to compile");
}

/// An instance with very many errors does not take more memory than is reported.
#[test]
fn faults_are_few_and_short() {
    let check = |schema: Value, instance: Value| {
        let (faults, longest) = ends(move || {
            let Err(CheckError::Faults(faults)) = Schema::new(&schema).unwrap().check_blocking(&instance, 3) else {
                panic!("it fits");
            };
            let lengths = faults.iter().map(|fault| fault.to_string().chars().count());
            (faults.len(), lengths.max().unwrap())
        });
        assert!(faults <= 3 && longest <= 820, "{faults} {longest}");
    };
    check(json!({ "items": { "type": "string" } }), json!(vec![1; 300_000]));
    check(json!({ "type": "integer" }), json!("x".repeat(1 << 20)));
    check(json!({ "additionalProperties": { "type": "string" } }), json!({ "k".repeat(1 << 20): 1 }));
    let anywhere =
        json!({ "properties": { "a": { "items": { "anyOf": [{ "type": "string" }, { "type": "null" }] } } } });
    check(anywhere, json!({ "a": vec![1; 100_000] }));
    let below = json!({ "additionalProperties": { "items": { "type": "string" } } });
    check(below, json!({ "k".repeat(1 << 20): vec![1; 10_000] }));
}

#[test]
fn oversized_and_unsupported_schemas_are_refused() {
    let check = |schema: Value, expected: &str| {
        let error = Schema::new(&schema).unwrap_err();
        assert!(matches!(error, SchemaError::Refused(_)) && error.to_string().contains(expected), "{schema}: {error}");
    };
    check(json!({ "title": "x".repeat(300_000) }), "larger than 256 KB");
    check(json!({ "enum": vec![1; 30_000] }), "more than 20000 values");
    check(json!({ "pattern": "(?=x)" }), "look-around");
    check(json!({ "patternProperties": { "(?=x)": true } }), "look-around");
    check(json!({ "properties": { "a": { "pattern": "(" } } }), "not a regular expression");
    check(json!({ "$ref": "https://example.com/other.json" }), "refers to another document");
    check(json!({ "$ref": "http://json-schema.org/draft-07/schema#" }), "refers to another document");
    check(json!({ "$ref": "#/$defs/nothing" }), "cannot be resolved");
    check(json!({ "$ref": "#nothing" }), "cannot be resolved");
    check(json!({ "$dynamicRef": "#x" }), "`$dynamicRef` is not supported");
    check(json!({ "$schema": "https://example.com/own" }), "`$schema`");
    let names = Value::from_iter((0..4_000).map(|n| (format!("n{n}"), json!(true))));
    check(json!({ "properties": { "x".repeat(100_000): { "properties": names } } }), "names are too long");
    let patterns = Value::from_iter((0..201).map(|n| (format!("p{n}"), json!(true))));
    check(json!({ "patternProperties": patterns }), "more than 200 patterns");
}

#[test]
fn invalid_schema_is_reported_with_its_location() {
    let check = |schema: Value, expected: (&str, Option<&str>)| {
        let SchemaError::Invalid { path, value, .. } = Schema::new(&schema).unwrap_err() else { panic!("{schema}") };
        assert_eq!((path.as_str(), value.as_deref()), expected, "{schema}");
    };
    check(json!({ "properties": { "a": { "type": "text" } } }), ("/properties/a/type", Some("text")));
    check(json!({ "properties": 1 }), ("/properties", None));
    check(json!({ "allOf": [{ "not": { "required": "a" } }] }), ("/allOf/0/not/required", Some("a")));
    check(json!(1), ("", None));
    check(json!({ "$ref": 5 }), ("/$ref", None));
}

/// Checks the invariants of the rewriting.
#[test]
fn rewriting_preserves_the_meaning() {
    let check = |schema: &Value, instance: Value, expected: &str| {
        assert_eq!(checked(schema.clone(), instance.clone()), expected, "{schema} {instance}");
    };
    let person = json!({
        "type": "object",
        "properties": { "name": { "type": "string", "minLength": 1 }, "age": { "type": "integer", "minimum": 0 } },
        "required": ["name"],
        "additionalProperties": false,
    });
    check(&person, json!({ "name": "Ada", "age": 36 }), "fits");
    check(&person, json!({ "name": "" }), r#"/name: "" is shorter than 1 character"#);
    check(&person, json!({ "age": -1 }), r#"/age: -1 is less than the minimum of 0; "name" is a required property"#);
    check(&person, json!({ "name": "a", "x": 1 }), "Additional properties are not allowed ('x' was unexpected)");
    let tree = json!({ "type": "object", "properties": { "below": { "items": { "$ref": "#" } } }, "required": ["id"] });
    check(&tree, json!({ "id": 1, "below": [{ "id": 2, "below": [] }] }), "fits");
    check(
        &tree,
        json!({ "id": 1, "below": [{ "id": 2, "below": [{}] }] }),
        r#"/below/0/below/0: "id" is a required property"#,
    );
    // Pointers to locations that are not schemas, with escapes, and anchors.
    let odd = json!({ "components": { "a/b %": { "type": "null" } }, "$ref": "#/components/a~1b%20%25" });
    check(&odd, json!(null), "fits");
    check(&odd, json!(1), r#"1 is not of type "null""#);
    let anchored = json!({ "$ref": "#here", "$defs": { "x": { "$anchor": "here", "const": { "$ref": "#" } } } });
    check(&anchored, json!({ "$ref": "#" }), "fits");
    check(&anchored, json!({}), r##"{"$ref":"#"} was expected"##);
    // Embedded resources, as TypeBox generates them.
    let embedded = json!({ "$id": "T0", "type": "array", "items": { "$ref": "T0" } });
    check(&embedded, json!([[], [[]]]), "fits");
    check(&embedded, json!([[1]]), r#"/0/0: 1 is not of type "array""#);
    let inner = json!({ "items": { "$ref": "inner" }, "$defs": { "i": { "$id": "inner", "$ref": "#/$defs/x", "$defs": { "x": { "type": "null" } } } } });
    check(&inner, json!([null]), "fits");
    check(&inner, json!([1]), r#"/0: 1 is not of type "null""#);
    // Drafts 4 to 7 ignore keywords next to a reference, and allow lists in `items`.
    let seven = json!({ "$schema": "http://json-schema.org/draft-07/schema#", "definitions": { "s": { "type": "string" } },
        "properties": { "a": { "$ref": "#/definitions/s", "minLength": 5 }, "b": { "items": [{ "type": "null" }], "additionalItems": false },
            "c": { "format": "email" } } });
    check(&seven, json!({ "a": "x", "b": [null], "c": "a@b.c" }), "fits");
    check(&seven, json!({ "b": [null, 1] }), "/b: Additional items are not allowed (1 was unexpected)");
    check(&seven, json!({ "c": "x" }), r#"/c: "x" is not a "email""#);
    let four = json!({ "$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": true });
    check(&four, json!(2), "fits");
    check(&four, json!(1), "1 is less than or equal to the minimum of 1");
    // Properties that a branch evaluated count outside of it.
    let closed = json!({ "allOf": [{ "$ref": "#/$defs/a" }, { "properties": { "b": true } }], "unevaluatedProperties": false,
        "$defs": { "a": { "properties": { "a": true } } } });
    check(&closed, json!({ "a": 1, "b": 2 }), "fits");
    check(&closed, json!({ "c": 1 }), "Unevaluated properties are not allowed ('c' was unexpected)");
    let conditional = json!({ "if": { "properties": { "k": { "const": 1 } } }, "then": { "required": ["a"] }, "else": { "required": ["b"] } });
    check(&conditional, json!({ "k": 1, "a": 1 }), "fits");
    check(&conditional, json!({ "k": 2, "a": 1 }), r#""b" is a required property"#);
    check(&json!({ "x-cost": 7, "const": { "x-cost": 7 } }), json!({ "x-cost": 7 }), "fits");
    check(
        &json!({ "properties": { "x-cost": { "type": "null" } } }),
        json!({ "x-cost": 7 }),
        r#"/x-cost: 7 is not of type "null""#,
    );
    check(&json!(false), json!(1), "False schema does not allow 1");
    check(&json!({ "pattern": r"^\d+$" }), json!("12x"), r#""12x" does not match "^\d+$""#);
}

/// Many hostile validations at once do not block the async threads, and end when their callers are
/// dropped.
#[tokio::test(flavor = "current_thread")]
async fn hostile_checks_do_not_block_async_threads() {
    let doubled = tower("$defs", 40, json!({ "type": "object" }), |below| json!({ "allOf": [below, below] }));
    let schema = Schema::compile(&doubled).await.unwrap();
    let instance = json!({});
    let mut all = Vec::new();
    for _ in 0..100 {
        let (schema, instance) = (schema.clone(), instance.clone());
        all.push(tokio::spawn(async move { schema.check(&instance, 5).await }));
    }
    // The only thread of this test returns to this task while they run.
    let small = Schema::compile(&json!({ "type": "object" })).await.unwrap();
    assert_eq!(small.check(&instance, 5).await, Ok(()));
    assert!(all.iter().any(|one| !one.is_finished()));
    // Each of the others takes a second.
    let abandoned = all.split_off(3);
    abandoned.iter().for_each(tokio::task::JoinHandle::abort);
    for one in all {
        assert!(matches!(one.await.unwrap(), Err(CheckError::TooCostly | CheckError::Busy)));
    }
}

/// A schema whose patterns may be costly is not compiled on an async thread, and one that is refused
/// is remembered.
#[tokio::test(flavor = "current_thread")]
async fn costly_patterns_are_not_compiled_on_async_threads() {
    // The other thread may be done before the first look at it, but not every time.
    let waits = |schema: &dyn Fn(usize) -> Value| {
        (0..100).any(|attempt| Schema::compile(&schema(attempt)).now_or_never().is_none())
    };
    let refused =
        |size: usize| json!({ "patternProperties": { format!(r"\p{{L}}{{{size}}}"): true, "zz(?=a)": true } });
    // The first attempt waits for another thread, the second does not.
    assert!(waits(&|attempt| refused(4 + attempt)));
    let schema = refused(3);
    let compile = || Schema::compile(&schema);
    let SchemaError::Refused(first) = compile().await.unwrap_err() else { panic!("it is refused") };
    let again = compile().now_or_never().expect("it is remembered").unwrap_err();
    assert_eq!(again, SchemaError::Refused(first));
    // So is a tool's schema.
    assert!(Schema::compile_cached(&schema).now_or_never().unwrap().is_err());
    let cheap = json!({ "properties": { "day": { "pattern": r"^\d{4}-\d{2}-\d{2}$" } } });
    assert!(Schema::compile(&cheap).now_or_never().unwrap().is_ok());
    let unicode = json!({ "pattern": r"^\p{Lu}" });
    assert!(waits(&|_| unicode.clone()));
    assert!(Schema::compile(&unicode).await.is_ok());
}

/// While checks that take long occupy their lane, shorter ones are done.
#[tokio::test(flavor = "current_thread")]
async fn short_checks_do_not_wait_for_long_ones() {
    let doubled = tower("$defs", 40, json!({ "type": "object" }), |below| json!({ "allOf": [below, below] }));
    let long = Schema::compile(&doubled).await.unwrap();
    let short = Schema::compile(&json!({ "items": { "enum": [1, "a"] } })).await.unwrap();
    let (instance, elements) = (json!({}), json!(vec!["a"; 5_000]));
    let mut waiting: Vec<_> = (0..40).map(|_| Box::pin(long.check(&instance, 1))).collect();
    // Each of them passes the quick lane, and then occupies the slow one.
    for check in &mut waiting {
        assert!(check.now_or_never().is_none());
    }
    let mut all = futures::future::join_all(waiting);
    tokio::select! {
        biased;
        done = short.check(&elements, 1) => assert_eq!(done, Ok(())),
        _ = &mut all => panic!("it waited for all of them"),
    }
}
