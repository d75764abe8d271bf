//! Tests of the scores that each scorer gives an answer.

use crate::support::{Echo, score};
use serde_json::{Value, json};

/// Checks the score of an answer that repeats the input.
async fn check(scorer: &str, input: &str, expected_of_case: Value, verdict: &str) {
    let case = json!({ "id": "1", "input": input, "expected": expected_of_case });
    assert_eq!(score(Echo::default(), scorer, case).await, verdict, "{scorer}: {input}");
}

#[tokio::test]
async fn texts_are_compared() {
    let exact = "{ id: s, exact: {} }";
    check(exact, " Yes\n", json!("Yes"), "passed 1.00").await;
    check(exact, "yes", json!("Yes"), "failed 0.00 the answer is not “Yes”").await;
    check("{ id: s, exact: { value: YES, ignoreCase: true } }", "yes", json!(null), "passed 1.00").await;
    check(
        exact,
        "yes",
        json!(7),
        "failed 0.00 `expected` of the case cannot be used here: invalid type: integer `7`, expected a string",
    )
    .await;
    let contains = "{ id: s, contains: { all: { _case: expected.all }, none: sorry } }";
    check(contains, "Refunds take 5 days", json!({ "all": ["refunds", "DAYS"] }), "passed 1.00").await;
    check(contains, "Refunds", json!({ "all": ["refunds", "days"] }), "failed 0.50 the answer does not contain “days”")
        .await;
    check(contains, "Sorry, refunds", json!({ "all": "refunds" }), "failed 0.00 the answer contains “sorry”").await;
    let any = "{ id: s, contains: { any: [One, Two], ignoreCase: false } }";
    check(any, "Two", json!(null), "passed 1.00").await;
    check(any, "two", json!(null), "failed 0.00 the answer contains none of “One”, “Two”").await;
    check("{ id: s, regex: { pattern: '^\\d+$' } }", "42", json!(null), "passed 1.00").await;
    check(
        "{ id: s, regex: { pattern: '\\d', matches: false } }",
        "a1",
        json!(null),
        "failed 0.00 the answer matches `\\d`",
    )
    .await;
}

/// The time of a regular expression is linear, whatever the pattern.
#[tokio::test]
async fn costly_pattern_is_bounded() {
    let input = format!("{}b", "a".repeat(100_000));
    check(
        "{ id: s, regex: { pattern: '^(a+)+$' } }",
        &input,
        json!(null),
        "failed 0.00 the answer does not match `^(a+)+$`",
    )
    .await;
}

#[tokio::test]
async fn structured_answers_are_checked() {
    let schema = "{ id: s, schema: { type: object, required: [total], properties: { total: { type: number } } } }";
    check(schema, r#"{"total": 7}"#, json!(null), "passed 1.00").await;
    check(schema, "```json\n{\"total\": 7}\n```", json!(null), "passed 1.00").await;
    check(schema, r#"{"total": "7"}"#, json!(null), "failed 0.00 /total: \"7\" is not of type \"number\"").await;
    check(schema, "seven", json!(null), "failed 0.00 the answer is not JSON: expected value at line 1 column 1").await;
    let path = "{ id: s, jsonPath: { path: '$.items[*].id', equals: { _case: expected } } }";
    check(path, r#"{"items":[{"id":7}]}"#, json!(7), "passed 1.00").await;
    check(path, r#"{"items":[{"id":7},{"id":8}]}"#, json!(7), "failed 0.00 `$.items[*].id` selects 7, 8 instead of 7")
        .await;
    check("{ id: s, jsonPath: { path: '$.a' } }", "{}", json!(null), "failed 0.00 `$.a` selects nothing").await;
    check(
        "{ id: s, jsonPath: { path: '$.a[*]', count: 2 } }",
        r#"{"a":[1]}"#,
        json!(null),
        "failed 0.00 `$.a[*]` selects 1 values instead of 2",
    )
    .await;
}

fn with_calls() -> Echo {
    let call = |name: &str, state: &str, input: Value| json!({ "type": format!("tool-{name}"), "toolCallId": name, "state": state, "input": input });
    let search = call("search", "output-available", json!({ "query": "refunds", "limit": 3 }));
    Echo { parts: json!([search, call("delete", "approval-requested", json!({}))]), ..Echo::default() }
}

#[tokio::test]
async fn tool_calls_are_checked() {
    let check = async |tools: &str, verdict: &str| {
        let case = json!({ "id": "1", "input": "x", "expected": { "tools": ["search"] } });
        assert_eq!(score(with_calls(), &format!("{{ id: s, tools: {tools} }}"), case).await, verdict, "{tools}");
    };
    check("{ called: { _case: expected.tools } }", "passed 1.00").await;
    // One counts as a list of one.
    check("{ called: search }", "passed 1.00").await;
    check("{ called: { name: search } }", "passed 1.00").await;
    check("{ called: [{ name: search, arguments: { query: refunds } }] }", "passed 1.00").await;
    check(
        "{ called: [search, { name: search, arguments: { query: plans } }] }",
        "failed 0.50 `search` with {\"query\":\"plans\"} was not called",
    )
    .await;
    check("{ called: [{ name: delete, state: approval-requested }] }", "passed 1.00").await;
    check(
        "{ called: [{ name: delete, state: output-available }] }",
        "failed 0.00 `delete` in the state output-available was not called",
    )
    .await;
    check("{ called: [{ name: search, times: 2 }] }", "failed 0.00 `search` was called 1 times instead of 2").await;
    check("{ called: [search], only: true }", "failed 0.00 `delete` was called, too").await;
    check("{ notCalled: [delete, send] }", "failed 0.00 `delete` was called").await;
    check("{ notCalled: send }", "passed 1.00").await;
}

#[tokio::test]
async fn cost_and_time_are_bounded() {
    let check = async |subject: Echo, scorer: &str, verdict: &str| {
        assert_eq!(score(subject, scorer, json!({ "id": "1", "input": "x" })).await, verdict, "{scorer}");
    };
    check(Echo::default(), "{ id: s, cost: { maxUsd: 0.1 } }", "passed 1.00").await;
    check(
        Echo::default(),
        "{ id: s, cost: { maxUsd: 0.05 } }",
        "failed 0.00 the answer costs $0.100000, more than $0.05",
    )
    .await;
    let unpriced = Echo { cost_usd: None, ..Echo::default() };
    check(
        unpriced,
        "{ id: s, cost: { maxUsd: 1 } }",
        "failed 0.00 the cost is unknown: add the price of the model to `prices` in the config",
    )
    .await;
    check(
        Echo::default(),
        "{ id: s, time: { maxSeconds: 1.5 } }",
        "failed 0.00 the answer took 2.0 s, longer than 1.5 s",
    )
    .await;
}

#[tokio::test]
async fn citations_are_checked() {
    let check = async |citations: Value, verdict: &str| {
        let text = json!({ "type": "text", "text": "Within 30 days.", "citations": citations });
        let subject = Echo { parts: json!([text]), ..Echo::default() };
        assert_eq!(score(subject, "{ id: s, citations: {} }", json!({ "id": "1", "input": "x" })).await, verdict);
    };
    let source = json!({ "url": "https://example.com/refunds", "title": "Refunds" });
    check(json!([{ "source": source, "startIndex": 0, "endIndex": 15 }]), "passed 1.00").await;
    check(json!([]), "failed 0.00 the answer cites 0 sources, fewer than 1").await;
    check(
        json!([{ "source": source, "startIndex": 0, "endIndex": 99 }]),
        "failed 0.00 1 citations are of no passage of the text, or name no source",
    )
    .await;
}

#[tokio::test]
async fn judge_gives_a_mark() {
    let check = async |judgement: fn(&str) -> Value, settings: &str, verdict: &str| {
        let subject = Echo { judgement, ..Echo::default() };
        let scorer = format!("{{ id: s, judge: {{ agentId: judge, rubric: Be kind. {settings} }} }}");
        assert_eq!(score(subject, &scorer, json!({ "id": "1", "input": "x" })).await, verdict);
    };
    check(|_| json!({ "score": 4, "reason": "kind" }), "", "passed 0.75 4 of 5: kind").await;
    check(|_| json!({ "score": 3, "reason": "cold" }), "", "failed 0.50 3 of 5: cold").await;
    check(
        |_| json!({ "score": 7, "reason": "ok" }),
        ", scale: { min: 0, max: 10 }, passMark: 7",
        "passed 0.70 7 of 10: ok",
    )
    .await;
    check(|_| json!({ "score": 9 }), "", "failed 0.00 the judge gave no mark on the scale").await;
    // The prompt contains the rubric, the answer and the case as one JSON value.
    check(
        |prompt| {
            let judged: Value = serde_json::from_str(prompt.split_once("\n\n").unwrap().0).unwrap();
            json!({ "score": 5, "reason": format!("{} {} {}", judged["rubric"], judged["answer"], judged["case"]["input"]) })
        },
        "",
        "passed 1.00 5 of 5: \"Be kind.\" \"x\" [\"x\"]",
    )
    .await;
}

#[tokio::test]
async fn endpoint_scores() {
    let check = async |endpoint: &str, verdict: &str| {
        check(&format!("{{ id: s, endpoint: {{ {endpoint} }} }}"), "text", json!(null), verdict).await;
    };
    check("endpointId: length", "failed 0.25 text").await;
    check("endpointId: length, passMark: 0.2", "passed 0.25 text").await;
    check("endpointId: truth", "passed 1.00").await;
    check("endpointId: half", "passed 0.50").await;
    check("endpointId: wrong", "failed 0.00 the endpoint `wrong` returned no score: a number, or `{ score, reason }`")
        .await;
    check("endpointId: other", "failed 0.00 the endpoint `other` failed: it is broken").await;
}
