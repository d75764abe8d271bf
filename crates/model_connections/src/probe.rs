//! Tries a model with a real question, whose answer is one word.

use crate::store::TestResult;
use contract::{Message, Model, ModelError, Part, Price, Request, Sampling, Usage, UserPart};
use futures::StreamExt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use web::times::now_millis;
use wire::UserError;

/// The longest test.
const TEST_TIME: Duration = Duration::from_secs(30);
/// The most tests and lists at once on this server.
const MAX_AT_ONCE: usize = 4;
static PERMITS: Semaphore = Semaphore::const_new(MAX_AT_ONCE);
const QUESTION: &str = "Answer with one word: ready";
/// The longest answer in tokens: models that reason need more than one word.
const MAX_TOKENS: u32 = 200;
/// The most characters that are kept of the answer and of a cause.
const MAX_ANSWER: usize = 100;
const MAX_CAUSE: usize = 300;

/// Permits a request to a provider.
///
/// # Errors
/// 429 if too many are running.
pub(crate) fn permit() -> Result<tokio::sync::SemaphorePermit<'static>, UserError> {
    added_entries::permit(&PERMITS)
}

/// Asks a model. `price` is that of its tokens.
pub(crate) async fn ask(name: &str, model: Arc<dyn Model>, price: Option<Price>) -> TestResult {
    let (begun, cancel) = (Instant::now(), CancellationToken::new());
    let _stop = cancel.clone().drop_guard();
    let asked = tokio::time::timeout(TEST_TIME, answer(&*model, cancel)).await;
    let error = match &asked {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(problem(error)),
        Err(_) => Some(format!("It did not answer within {} seconds.", TEST_TIME.as_secs())),
    };
    let (text, usage) = asked.ok().and_then(Result::ok).unwrap_or_default();
    let is_counted = error.is_none() && usage != Usage::default();
    // A millionth of a dollar is less than a token of any model costs, so rounding up is close enough.
    let micro = |price: Price| (price.cost(usage) * 1_000_000.0).ceil() as u64;
    TestResult {
        at: now_millis(),
        model: name.to_owned(),
        answer: text,
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cost_micro_usd: price.filter(|_| is_counted).map(micro),
        took_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        error,
    }
}

/// Returns the beginning of the answer, and the usage.
async fn answer(model: &dyn Model, cancel: CancellationToken) -> Result<(String, Usage), ModelError> {
    let question = Message::User(vec![UserPart::Text { text: QUESTION.to_owned() }]);
    let sampling = Sampling { max_output_tokens: Some(MAX_TOKENS), ..Sampling::default() };
    let request = Request { messages: vec![Arc::new(question)], sampling, ..Request::default() };
    let mut parts = model.stream(request, cancel).await?;
    let (mut text, mut used) = (String::new(), Usage::default());
    while let Some(part) = parts.next().await {
        match part? {
            Part::TextDelta { delta, .. } => text.push_str(&shortened(&delta, MAX_ANSWER)),
            Part::Finish { usage, .. } => used = usage,
            _ => {}
        }
    }
    Ok((shortened(&text, MAX_ANSWER), used))
}

/// Returns the error message. The cause is the message of the provider, without secrets.
fn problem(error: &ModelError) -> String {
    let cause = shortened(&error.cause, MAX_CAUSE);
    if cause.is_empty() { format!("{}.", error.kind) } else { format!("{}: {cause}", error.kind) }
}

/// Returns the beginning of a text in one line.
fn shortened(text: &str, most: usize) -> String {
    text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).take(most).collect()
}
