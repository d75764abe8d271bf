use super::{evaluate_encoded, evaluate_source};
use crate::{ExpressionLanguage, OperatorError, Operators, Scope, evaluate_briefly, evaluate_fully};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::cell::Cell;
use std::rc::Rc;

fn evaluate(value: &Value, scope: &Scope<'_>) -> Result<Value, OperatorError> {
    evaluate_fully(value, scope, || false)
}

#[test]
fn only_the_values_of_an_encoded_template_are_encoded() {
    let encode = |value: &str| match value {
        "" => Err("it is empty".to_owned()),
        value => Ok(format!("<{value}>")),
    };
    let check = |source: &str, expected: Result<&str, &str>| {
        let payload = json!({ "name": "Ada", "seats": 3, "none": null, "items": ["a", "b"] });
        let scope = Scope { payload: Some(&payload), ..Scope::default() };
        let seen = evaluate_encoded(ExpressionLanguage::Template, source, &scope, encode);
        assert_eq!(seen, expected.map(Value::from).map_err(str::to_owned), "{source}");
        // The next evaluation does not encode.
        let plain = evaluate_source(ExpressionLanguage::Template, "{{ payload.name }}", &scope);
        assert_eq!(plain, Ok(json!("Ada")));
    };
    check("/users/{{ payload.name }}/{{ payload.seats }}", Ok("/users/<Ada>/<3>"));
    check("{% for item in payload.items %}/{{ item }}{% endfor %}", Ok("/<a>/<b>"));
    check("{% if payload.nobody %}/{{ payload.nobody }}{% endif %}x", Ok("x"));
    check("/users/{{ payload.nobody }}", Err("invalid operation: it is empty"));
    check("/users/{{ payload.none }}", Err("invalid operation: it is empty"));
    for other in ["true", "payload.name == 'Ada'", "payload.items", "payload"] {
        let source = format!("/users/{{{{ {other} }}}}");
        check(&source, Err("invalid operation: only a text or a number can be put here"));
    }
    check("/users/{{ payload.name | safe }}", Ok("/users/<Ada>"));
}

fn check(value: Value, expected: &str) {
    let payload = json!({ "name": "Ada", "seats": 3, "items": [{ "price": 2.5 }, { "price": 4 }] });
    let secret = |_: &str| Some("s3cret".to_owned());
    let scope = Scope {
        payload: Some(&payload),
        secret: Some(&secret),
        expressions: Some(evaluate_source),
        ..Scope::default()
    };
    let seen = evaluate(&value, &scope).map_or_else(|error| error.to_string(), |value| value.to_string());
    assert_eq!(seen, expected, "{value}");
}

#[test]
fn expressions_are_evaluated() {
    check(json!({ "_expr": "payload.seats * 2 + 1" }), "7");
    check(json!({ "_expr": "payload.seats > 2 and payload.name == 'Ada'" }), "true");
    check(json!({ "_expr": "payload.items | map(attribute='price') | sum" }), "6.5");
    check(json!({ "_expr": "payload.nobody.at.all" }), "null");
    check(json!({ "_expr": "payload.items[1]" }), r#"{"price":4}"#);
    check(json!({ "_expr": "1 +" }), "/_expr: syntax error: unexpected end of input, expected expression");
    check(json!({ "_expr": 1 }), "/_expr: `_expr` takes a text");
    check(json!({ "_expr": "secret" }), "null");
    check(json!({ "_expr": "'x' * 2000000" }), "/_expr: its value is too large or not JSON");
}

#[test]
fn templates_are_rendered() {
    check(json!({ "_template": "Dear {{ payload.name }}" }), r#""Dear Ada""#);
    check(json!({ "_template": "{% for i in payload.items %}{{ i.price }};{% endfor %}" }), r#""2.5;4;""#);
    check(json!({ "_template": "{{ payload.nobody.at }}<b>" }), r#""<b>""#);
    check(
        json!({ "_template": "{% include 'x' %}" }),
        "/_template: template not found: tried to include non-existing template 'x'",
    );
    check(
        json!({ "_template": "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}" }),
        "/_template: engine ran out of fuel",
    );
}

#[test]
fn texts_cannot_grow_beyond_the_limit() {
    let too_large = "invalid operation: more than 1048576 bytes";
    let check = |operator: &str, source: &str, expected: &str| {
        let big = "x".repeat(100_000);
        let many = vec!["y"; 10_000];
        let payload = json!({ "big": big, "many": many });
        let scope = Scope { payload: Some(&payload), expressions: Some(evaluate_source), ..Scope::default() };
        let seen = evaluate(&json!({ operator: source }), &scope).map_err(|error| error.to_string());
        assert_eq!(
            seen.map_or_else(|error| error, |value| value.to_string()),
            format!("/{operator}: {expected}"),
            "{source}"
        );
    };
    let unknown = |what| format!("unknown function: {what} is unknown");
    check(
        "_template",
        "{% set n = namespace(x='x') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
        &unknown("namespace"),
    );
    check(
        "_template",
        "{% for i in [payload.big] recursive %}{{ loop([i ~ i]) }}{% endfor %}",
        "recursive loops are not supported",
    );
    check("_template", "{% macro f(x) %}{{ f(x ~ x) }}{% endmacro %}", "syntax error: unknown statement macro");
    check("_template", "{% set a %}{% for i in payload.many %}{{ payload.big }}{% endfor %}{% endset %}", too_large);
    check("_expr", "payload.many | join(payload.big)", too_large);
    check("_expr", "(payload.big | replace('x', payload.big)) == ''", too_large);
    check("_expr", "((payload.many * 100) | join('-')) == ''", too_large);
    check("_expr", "'%9999999999s' | format(1)", "unknown filter: filter format is unknown");
}

#[test]
fn iterated_items_are_counted() {
    let check = |items: usize, expected: &str| {
        let payload = json!({ "items": (0..items).collect::<Vec<_>>() });
        let scope = Scope { payload: Some(&payload), expressions: Some(evaluate_source), ..Scope::default() };
        let source = "{% for item in range(1000) %}{% if -1 in payload.items %}{% endif %}{% endfor %}";
        let seen = evaluate(&json!({ "_template": source }), &scope).map_err(|error| error.to_string());
        assert_eq!(seen.map_or_else(|error| error, |value| value.to_string()), expected, "{items}");
    };
    check(1_000, r#""""#);
    check(20_000, "/_template: engine ran out of fuel");
    check(60_000, "/_template: engine ran out of fuel");
}

/// A payload that is large in all respects, for the tests of brief evaluations.
fn large_payload() -> Value {
    json!({
        "numbers": (0..1_000).collect::<Vec<_>>(),
        "texts": (0..500).map(|number| format!("text {number}")).collect::<Vec<_>>(),
        "lists": (0..300).map(|number| json!([number])).collect::<Vec<_>>(),
        "fields": (0..500).map(|number| (format!("key {number}"), number.into())).collect::<serde_json::Map<_, _>>(),
        "text": "ab".repeat(8_000),
    })
}

#[test]
fn each_costly_step_is_counted() {
    let payload = large_payload();
    let scope = Scope { payload: Some(&payload), expressions: Some(evaluate_source), ..Scope::default() };
    for condition in [
        "-1 in payload.numbers",
        "-1 in payload.numbers + payload.numbers",
        "-1 in payload.numbers[1:]",
        "-1 in payload.numbers | list",
        "-1 in payload.numbers | map('abs')",
        "-1 in payload.lists | sum(start=[])",
        "payload.numbers[1:] == payload.numbers[1:]",
        "payload.numbers[:-1] < payload.numbers[:-1]",
        "payload.fields == dict(payload.fields)",
        "payload.fields | items | first == 1 or payload.fields | dictsort | first == 1",
        "payload.numbers ~ '' == ''",
        "payload.numbers | string == ''",
        "payload.numbers | tojson == ''",
        "payload.numbers | pprint == ''",
        "payload.numbers | join == ''",
        "payload.numbers | sum == 1",
        "payload.numbers | max == 1",
        "payload.numbers | last == 1 or payload.numbers | reverse | last == 1",
        "payload.numbers | zip(payload.numbers) | list | length == 1",
        "payload.numbers | chain(payload.numbers) | list | length == 1",
        "payload.numbers | select('in', payload.numbers) | first == -1",
        "payload.numbers | select('even') | first == -1",
        "payload.texts | sort | first == 1",
        "payload.texts | unique | first == 1",
        "payload.texts | groupby('x') | first == 1",
        "payload.texts | sum(start='') == ''",
        "payload.texts | select('in', payload.text) | first == ''",
        "'x' in payload.text",
        "payload.text | upper == ''",
        "payload.text | replace('c', 'd') == ''",
        "payload.text | trim(payload.text) == 'x'",
        "payload.text | split('b') | first == ''",
        "payload.text | lines | first == ''",
        "payload.text is upper",
        "range(1000) | list | length == 1",
    ] {
        let turns = |turns: usize| {
            let source = format!("{{% for i in range({turns}) %}}{{% if {condition} %}}{{% endif %}}{{% endfor %}}");
            evaluate_briefly(&json!({ "_template": source }), &scope)
        };
        assert!(turns(150).is_none(), "{condition}");
        assert!(turns(0).is_some_and(|seen| seen.is_ok()), "{condition}");
    }
}

#[test]
fn large_values_and_multiplications_exceed_the_brief_limits() {
    let check = |source: &str, size: usize, expected: bool| {
        let payload = json!({ "text": "x".repeat(size), "items": vec![0; size / 10] });
        let operators = Some(Operators::standard());
        let scope =
            Scope { payload: Some(&payload), expressions: Some(evaluate_source), operators, ..Scope::default() };
        let seen = evaluate_briefly(&json!([{ "_expr": source }, { "_payload": "text" }]), &scope);
        assert_eq!(seen.is_some_and(|seen| seen.is_ok()), expected, "{source} of {size}");
    };
    check("payload.items | length", 1_000, true);
    check("payload.items | length", 20_000, false);
    check("'payload' ~ 1", 20_000, false);
    check("1 + 1", 20_000, true);
    check("'-' * 3", 10, false);
}

#[test]
fn evaluations_of_one_value_share_a_budget() {
    let payload = large_payload();
    let scope = Scope { payload: Some(&payload), expressions: Some(evaluate_source), ..Scope::default() };
    let once = json!({ "_expr": "payload.numbers | sum" });
    assert!(evaluate_briefly(&once, &scope).is_some());
    assert!(evaluate_briefly(&Value::Array(vec![once; 20]), &scope).is_none());
}

#[test]
fn abandoned_evaluation_ends() {
    let payload = large_payload();
    let scope = Scope { payload: Some(&payload), expressions: Some(evaluate_source), ..Scope::default() };
    let asked = Rc::new(Cell::new(0));
    let is_abandoned = {
        let asked = asked.clone();
        move || {
            asked.set(asked.get() + 1);
            asked.get() == 20_000
        }
    };
    let source = "{% for i in range(9999) %}{% if -1 in payload.numbers %}{% endif %}{% endfor %}";
    let seen = evaluate_fully(&json!([{ "_template": source }, { "_expr": "1" }]), &scope, is_abandoned);
    assert_eq!(seen.unwrap_err().to_string(), "/0/_template: engine ran out of fuel");
    // It is not called again, so the evaluation did not continue.
    assert_eq!(asked.get(), 20_000);
}

#[test]
fn long_texts_reduce_the_number_of_steps() {
    let check = |bytes: usize, expected: &str| {
        let payload = json!({ "text": "x".repeat(bytes) });
        let scope = Scope { payload: Some(&payload), expressions: Some(evaluate_source), ..Scope::default() };
        let source = "{% set text = payload.text %}{% for i in range(3000) %}{% if text %}{% endif %}{% endfor %}";
        let seen = evaluate(&json!({ "_template": source }), &scope).map_err(|error| error.to_string());
        assert_eq!(seen.map_or_else(|error| error, |value| value.to_string()), expected, "{bytes}");
    };
    check(100_000, r#""""#);
    check(8_000_000, "/_template: engine ran out of fuel");
}

/// Metered values behave like the original ones.
#[test]
fn metered_values_behave_like_the_original() {
    check(json!({ "_template": "{{ payload.items }}" }), r#""[{'price': 2.5}, {'price': 4}]""#);
    check(json!({ "_expr": "payload.items == [{'price': 2.5}, {'price': 4}]" }), "true");
    check(json!({ "_expr": "payload.items | reverse | map(attribute='price') | list" }), "[4,2.5]");
    check(json!({ "_expr": "payload.items[-1].price" }), "4");
    check(json!({ "_expr": "(payload.items | sort(attribute='price', reverse=true))[0].price" }), "4");
    check(json!({ "_expr": "payload.items | groupby('price') | map(attribute='grouper') | list" }), "[2.5,4]");
    check(json!({ "_expr": "payload.items is sequence and payload is mapping and 'name' in payload" }), "true");
    check(json!({ "_expr": "payload.items | length + range(3) | length" }), "5");
    check(json!({ "_expr": "dict(payload, seats=4).seats" }), "4");
    check(json!({ "_expr": "payload | items | list | length" }), "3");
    check(json!({ "_expr": "payload | dictsort | first" }), r#"["items",[{"price":2.5},{"price":4}]]"#);
    check(json!({ "_expr": "payload.items | tojson" }), r#""[{\"price\": 2.5}, {\"price\": 4}]""#);
    check(
        json!({ "_template": "{% for key, value in payload | items %}{{ loop.index }}/{{ loop.length }} {{ key }};{% endfor %}" }),
        r#""1/3 items;2/3 name;3/3 seats;""#,
    );
}

#[test]
fn variables_set_in_a_loop_are_reset_in_each_iteration() {
    check(
        json!({ "_template": "{% set x = 'a' %}{% for i in range(4) %}{% set x = x ~ x %}{{ x }};{% endfor %}" }),
        r#""aa;aa;aa;aa;""#,
    );
}

proptest! {
    #[test]
    fn evaluation_never_panics(source in "[a-z0-9 ._+*/%|()\\[\\]{}'\"<>=!,~-]{0,40}") {
        for operator in ["_expr", "_template"] {
            let scope = Scope { expressions: Some(evaluate_source), ..Scope::default() };
            let _ = evaluate(&json!({ operator: source }), &scope);
        }
    }
}

#[test]
fn variables_of_a_text_are_listed_with_what_they_read() {
    let check = |language: ExpressionLanguage, source: &str, expected: &[&str]| {
        let seen = super::variables(language, source).unwrap();
        assert_eq!(seen.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{source}");
    };
    let (expression, template) = (ExpressionLanguage::Expression, ExpressionLanguage::Template);
    check(expression, "step.extract.total > input.limit", &["input.limit", "step.extract.total"]);
    check(expression, "step['extract'].total", &["step"]);
    check(expression, "range(3) | length", &[]);
    check(template, "{% for row in step.find.rows %}{{ row.name }} {{ loop.index }}{% endfor %}", &["step.find.rows"]);
    check(
        template,
        "{% set total = step.find.total %}{{ total }} of {{ user.name }}",
        &["step.find.total", "user.name"],
    );
    check(template, "no variables", &[]);
    assert!(super::variables(template, "{{ step. }}").is_err());
}
