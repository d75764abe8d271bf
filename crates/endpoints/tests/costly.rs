//! Templates and operators whose evaluation is expensive because of the caller's values.

use contract::ModelUse;
use endpoints::{CallContext, Endpoint, EndpointError, Endpoints, OwnedScope};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Searches a list once for each of its items.
const COSTLY: &str = "{% for a in payload.items %}{% if -1 in payload.items %}{% endif %}{% endfor %}";

fn endpoints(time: Duration, template: &str) -> Endpoints {
    returning(time, &json!({ "_template": template }))
}

fn returning(time: Duration, value: &Value) -> Endpoints {
    let routine = vec![json!({ ":return": value })];
    let endpoint = Endpoint { id: "e".to_owned(), routine, ..Endpoint::default() };
    Endpoints::new(vec![endpoint], HashMap::new(), time).unwrap()
}

fn context() -> CallContext {
    CallContext {
        agent: None,
        user_id: "ada".to_owned(),
        gate: Arc::new(|_: &str| Ok(())),
        models: ModelUse::default(),
        idempotency_key: None,
        cancel: CancellationToken::new(),
        reports: contract::CallReports::default(),
    }
}

fn payload(items: usize) -> Value {
    json!({ "items": vec![0; items] })
}

/// Stops a call of the endpoint while it is evaluated. The runtime has one thread, so the other task
/// makes progress only while the evaluation does not block it.
async fn check_stop(endpoints: &Endpoints) {
    let context = context();
    let stop = async {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        context.cancel.cancel();
    };
    let (ended, ()) = tokio::join!(endpoints.call("e", payload(9_000), &context), stop);
    assert_eq!(ended, Err(EndpointError::Cancelled));
}

#[tokio::test]
async fn costly_template_leaves_the_runtime_responsive_and_ends_with_stop() {
    check_stop(&endpoints(Duration::from_secs(60), COSTLY)).await;
}

#[tokio::test]
async fn costly_template_ends_with_the_deadline() {
    let time = Duration::from_millis(5);
    let ended = endpoints(time, COSTLY).call("e", payload(9_000), &context()).await;
    assert_eq!(ended, Err(EndpointError::TooSlow(time)));
}

#[tokio::test]
async fn costly_template_ends_with_its_budget() {
    let ended = endpoints(Duration::from_secs(600), COSTLY).call("e", payload(9_000), &context()).await;
    assert_eq!(ended.unwrap_err().to_string(), "The step `:return` failed: /_template: engine ran out of fuel");
}

#[tokio::test]
async fn large_values_are_evaluated_away_from_the_caller_with_the_same_result() {
    let template = "{{ payload.items | length }} of {{ user.id }}";
    for items in [3, 3_000] {
        let seen = endpoints(Duration::from_secs(60), template).call("e", payload(items), &context()).await;
        assert_eq!(seen, Ok(json!(format!("{items} of ada"))));
    }
}

#[tokio::test]
async fn secrets_are_read_beside_costly_templates() {
    let secrets = [("KEY".to_owned(), "s3cret".into())].into_iter().collect();
    let facts = OwnedScope { payload: Some(Arc::new(payload(3_000))), secrets: Some(secrets), ..OwnedScope::default() };
    let value = json!([{ "_secret": "KEY" }, { "_expr": "payload.items | length" }]);
    assert_eq!(facts.evaluate(&value).await, Ok(json!(["s3cret", 3_000])));
}

/// Visits each item of a list once for each item.
fn nested_maps() -> Value {
    let items = json!({ "_payload": "items" });
    json!({ "_array.map": [items, { "_function": { "__array.map": [items, { "__function": { "___args": 0 } }] } }] })
}

#[tokio::test]
async fn costly_operators_leave_the_runtime_responsive_and_end_with_stop() {
    check_stop(&returning(Duration::from_secs(60), &nested_maps())).await;
}

#[tokio::test]
async fn costly_operators_end_with_their_budget() {
    let ended = returning(Duration::from_secs(600), &nested_maps()).call("e", payload(9_000), &context()).await;
    let message = ended.unwrap_err().to_string();
    assert!(message.ends_with("the evaluation takes too much work"), "{message}");
}

#[tokio::test]
async fn operators_have_the_clock_and_the_randomness_of_their_scope() {
    #[derive(Debug)]
    struct Fixed;
    impl operators::Ambient for Fixed {
        fn unix_ms(&self) -> i64 {
            1_000
        }
        fn random(&self) -> u64 {
            u64::MAX
        }
    }
    let value = json!([{ "_date.now": null }, { "_uuid": true }, { "_random": "integer" }]);
    let fixed = OwnedScope { ambient: Some(Arc::new(Fixed)), ..OwnedScope::default() };
    let expected = json!(["1970-01-01T00:00:01.000Z", "ffffffff-ffff-4fff-bfff-ffffffffffff", 100]);
    assert_eq!(fixed.evaluate(&value).await, Ok(expected.clone()));
    let (one, other) = (OwnedScope::default().evaluate(&value).await, OwnedScope::default().evaluate(&value).await);
    assert_ne!(one.unwrap()[1], other.unwrap()[1]);
}
