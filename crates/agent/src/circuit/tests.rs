use super::*;
use contract::testing::{Cue, ScriptedModel, failure, says};

/// Asks once, until the first part; what came of it.
async fn ask(model: &Arc<dyn Model>) -> String {
    let told = |error: ModelError| match error.retry_after {
        Some(wait) => format!("{:?} for {wait:?}", error.kind),
        None => format!("{:?}", error.kind),
    };
    match model.stream(Request::default(), CancellationToken::new()).await {
        Ok(mut parts) => match parts.next().await {
            Some(Ok(_)) => "ok".to_owned(),
            Some(Err(error)) => told(error),
            None => "nothing".to_owned(),
        },
        Err(error) => told(error),
    }
}

fn scripted(replies: Vec<Vec<Cue>>) -> (Arc<ScriptedModel>, Circuits, Arc<dyn Model>) {
    let (model, circuits) = (Arc::new(ScriptedModel::new(replies)), Circuits::default());
    let guarded = circuits.guard("c", model.clone());
    (model, circuits, guarded)
}

fn fails(kind: ModelErrorKind) -> Vec<Cue> {
    vec![Cue::Fail(failure(kind))]
}

fn wants(wait: u64) -> Vec<Cue> {
    let error = failure(ModelErrorKind::RateLimited);
    vec![Cue::Fail(ModelError { retry_after: Some(Duration::from_secs(wait)), ..error })]
}

async fn seconds(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn five_failures_in_a_row_open_it_and_an_answer_closes_it() {
    use ModelErrorKind::{Refused, Timeout, Unauthorized, Unavailable, Unreachable};
    // An answer in between begins the count anew, a refusal as well.
    let mut replies: Vec<_> = [Unavailable, Unreachable, Timeout, Unavailable].map(fails).into();
    replies.extend([says("ok"), fails(Unavailable), fails(Refused), fails(Unavailable), fails(Unauthorized)]);
    replies.extend((0..6).map(|_| fails(Unavailable)));
    replies.push(says("again"));
    let (asked, circuits, model) = scripted(replies);
    for _ in 0..14 {
        assert!(!ask(&model).await.starts_with("CircuitOpen"));
    }
    // Whoever comes through the same connection knows of it, whatever else has failed meanwhile.
    let other = circuits.guard("c", asked.clone());
    assert_eq!(ask(&other).await, "CircuitOpen for 5s");
    assert_eq!(asked.requests().len(), 14);
    let facts = circuits.facts();
    assert_eq!((facts.len(), facts[0].is_open, facts[0].refused), (1, true, 1));
    // It fails still, so it rests twice as long.
    seconds(5).await;
    assert_eq!(ask(&model).await, "Unavailable");
    assert_eq!(ask(&model).await, "CircuitOpen for 10s");
    seconds(10).await;
    assert_eq!(ask(&model).await, "ok");
    assert!(!circuits.facts()[0].is_open);
    // Another connection has a circuit of its own.
    let elsewhere = circuits.guard("d", Arc::new(ScriptedModel::new(vec![says("ok")])));
    assert_eq!((ask(&elsewhere).await.as_str(), circuits.facts().len()), ("ok", 2));
}

#[tokio::test(start_paused = true)]
async fn what_the_provider_asks_for_holds_for_all() {
    let (asked, circuits, model) = scripted(vec![wants(20), says("ok"), wants(9_999), wants(0), says("ok")]);
    assert_eq!(ask(&model).await, "RateLimited for 20s");
    assert_eq!(ask(&model).await, "CircuitOpen for 20s");
    seconds(20).await;
    assert_eq!(ask(&model).await, "ok");
    assert_eq!(ask(&model).await, "RateLimited for 9999s");
    assert_eq!(ask(&model).await, "CircuitOpen for 60s");
    // The operator changes something, and nobody has to wait.
    circuits.close();
    assert_eq!(ask(&model).await, "RateLimited for 0ns");
    assert_eq!(ask(&model).await, "ok");
    assert_eq!(asked.requests().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn one_tries_it_and_his_leaving_lets_another_try() {
    let silence = || vec![Cue::Silence];
    let (asked, _, model) = scripted(vec![wants(5), silence(), silence(), says("ok")]);
    ask(&model).await;
    seconds(5).await;
    let cancel = CancellationToken::new();
    let trial = model.stream(Request::default(), cancel.clone()).await.unwrap();
    assert_eq!(ask(&model).await, "CircuitOpen");
    cancel.cancel();
    drop(trial);
    // Who changed his mind told nothing; who waited long enough did.
    drop(model.stream(Request::default(), CancellationToken::new()).await.unwrap());
    assert_eq!(ask(&model).await, "CircuitOpen for 10s");
    seconds(10).await;
    assert_eq!((ask(&model).await.as_str(), asked.requests().len()), ("ok", 4));
}

/// What was begun before it was opened neither closes it nor opens it for longer.
#[tokio::test(start_paused = true)]
async fn what_was_begun_before_does_not_count() {
    let (_, _, model) = scripted(vec![says("late"), wants(5), says("ok")]);
    let mut early = model.stream(Request::default(), CancellationToken::new()).await.unwrap();
    ask(&model).await;
    assert!(early.next().await.unwrap().is_ok());
    assert_eq!(ask(&model).await, "CircuitOpen for 5s");
}

#[test]
fn their_number_has_a_bound() {
    let circuits = Circuits::default();
    let guard = |name: usize| circuits.guard(&name.to_string(), Arc::new(ScriptedModel::new(Vec::new())));
    let kept: Vec<_> = (0..CIRCUITS + 20).map(guard).collect();
    assert_eq!(circuits.facts().len(), CIRCUITS);
    drop(kept);
    let _one = guard(0);
    let _two = guard(CIRCUITS + 1);
    assert_eq!(circuits.facts().len(), 2, "what nobody uses makes room");
}
