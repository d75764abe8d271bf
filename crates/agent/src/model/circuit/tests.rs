use super::*;
use contract::testing::{Cue, ScriptedModel, model_error, text_reply};

/// Sends one request and returns the outcome of its first part.
async fn ask(model: &Arc<dyn Model>) -> String {
    let describe = |error: ModelError| match error.retry_after {
        Some(wait) => format!("{:?} for {wait:?}", error.kind),
        None => format!("{:?}", error.kind),
    };
    match model.stream(Request::default(), CancellationToken::new()).await {
        Ok(mut parts) => match parts.next().await {
            Some(Ok(_)) => "ok".to_owned(),
            Some(Err(error)) => describe(error),
            None => "nothing".to_owned(),
        },
        Err(error) => describe(error),
    }
}

fn scripted(replies: Vec<Vec<Cue>>) -> (Arc<ScriptedModel>, Circuits, Arc<dyn Model>) {
    let (model, circuits) = (Arc::new(ScriptedModel::new(replies)), Circuits::default());
    let guarded = circuits.guard("c", model.clone());
    (model, circuits, guarded)
}

fn fails(kind: ModelErrorKind) -> Vec<Cue> {
    vec![Cue::Fail(model_error(kind))]
}

fn wants(wait: u64) -> Vec<Cue> {
    let error = model_error(ModelErrorKind::RateLimited);
    vec![Cue::Fail(ModelError { retry_after: Some(Duration::from_secs(wait)), ..error })]
}

async fn seconds(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn five_consecutive_failures_open_a_circuit_and_an_answer_closes_it() {
    use ModelErrorKind::{Refused, Timeout, Unauthorized, Unavailable, Unreachable};
    // An answer resets the count of failures, and so does a refusal.
    let mut replies: Vec<_> = [Unavailable, Unreachable, Timeout, Unavailable].map(fails).into();
    replies.extend([text_reply("ok"), fails(Unavailable), fails(Refused), fails(Unavailable), fails(Unauthorized)]);
    replies.extend((0..6).map(|_| fails(Unavailable)));
    replies.push(text_reply("again"));
    let (asked, circuits, model) = scripted(replies);
    for _ in 0..14 {
        assert!(!ask(&model).await.starts_with("CircuitOpen"));
    }
    // Another handle for the same connection shares the circuit, whatever else has failed
    // meanwhile.
    let other = circuits.guard("c", asked.clone());
    assert_eq!(ask(&other).await, "CircuitOpen for 5s");
    assert_eq!(asked.requests().len(), 14);
    let facts = circuits.statuses();
    assert_eq!((facts.len(), facts[0].is_open, facts[0].refused), (1, true, 1));
    // The model still fails, so the circuit stays open twice as long.
    seconds(5).await;
    assert_eq!(ask(&model).await, "Unavailable");
    assert_eq!(ask(&model).await, "CircuitOpen for 10s");
    seconds(10).await;
    assert_eq!(ask(&model).await, "ok");
    assert!(!circuits.statuses()[0].is_open);
    // Another connection has its own circuit.
    let elsewhere = circuits.guard("d", Arc::new(ScriptedModel::new(vec![text_reply("ok")])));
    assert_eq!((ask(&elsewhere).await.as_str(), circuits.statuses().len()), ("ok", 2));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_the_provider_asks_for_applies_to_all_requests() {
    let (asked, circuits, model) =
        scripted(vec![wants(20), text_reply("ok"), wants(9_999), wants(0), text_reply("ok")]);
    assert_eq!(ask(&model).await, "RateLimited for 20s");
    assert_eq!(ask(&model).await, "CircuitOpen for 20s");
    seconds(20).await;
    assert_eq!(ask(&model).await, "ok");
    assert_eq!(ask(&model).await, "RateLimited for 9999s");
    assert_eq!(ask(&model).await, "CircuitOpen for 60s");
    // The operator changes something, which closes the circuit at once.
    circuits.close();
    assert_eq!(ask(&model).await, "RateLimited for 0ns");
    assert_eq!(ask(&model).await, "ok");
    assert_eq!(asked.requests().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_trial_lets_another_request_try() {
    let silence = || vec![Cue::Silence];
    let (asked, _, model) = scripted(vec![wants(5), silence(), silence(), text_reply("ok")]);
    ask(&model).await;
    seconds(5).await;
    let cancel = CancellationToken::new();
    let trial = model.stream(Request::default(), cancel.clone()).await.unwrap();
    assert_eq!(ask(&model).await, "CircuitOpen");
    cancel.cancel();
    drop(trial);
    // A cancelled request said nothing about the model; one that is dropped without being cancelled
    // counts as a failure.
    drop(model.stream(Request::default(), CancellationToken::new()).await.unwrap());
    assert_eq!(ask(&model).await, "CircuitOpen for 10s");
    seconds(10).await;
    assert_eq!((ask(&model).await.as_str(), asked.requests().len()), ("ok", 4));
}

/// A request from before the circuit opened neither closes it nor keeps it open for longer.
#[tokio::test(start_paused = true)]
async fn requests_from_before_the_opening_do_not_count() {
    let (_, _, model) = scripted(vec![text_reply("late"), wants(5), text_reply("ok")]);
    let mut early = model.stream(Request::default(), CancellationToken::new()).await.unwrap();
    ask(&model).await;
    assert!(early.next().await.unwrap().is_ok());
    assert_eq!(ask(&model).await, "CircuitOpen for 5s");
}

#[test]
fn the_number_of_circuits_is_limited() {
    let circuits = Circuits::default();
    let guard = |name: usize| circuits.guard(&name.to_string(), Arc::new(ScriptedModel::new(Vec::new())));
    let kept: Vec<_> = (0..CIRCUITS + 20).map(guard).collect();
    assert_eq!(circuits.statuses().len(), CIRCUITS);
    drop(kept);
    let _one = guard(0);
    let _two = guard(CIRCUITS + 1);
    assert_eq!(circuits.statuses().len(), 2, "what nobody uses makes room");
}
