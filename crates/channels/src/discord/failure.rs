//! Maps the errors of Discord's API.

use super::types::ApiFailure;
use crate::messenger::{ApiError, Refusal};
use egress::EgressResponse;
use std::time::{Duration, SystemTime};

/// The wait if Discord names none, and the longest wait that is accepted.
const DEFAULT_WAIT: Duration = Duration::from_secs(5);
const MAX_WAIT: Duration = Duration::from_secs(3_600);

/// Codes of a chat that is closed to the bot: the channel is gone, the bot has no access to it, the person takes no
/// direct messages, the bot may not write there, the thread is archived.
const BLOCKED: [i64; 5] = [10_003, 50_001, 50_007, 50_013, 50_083];
/// The code of a message that is not there any more.
const UNKNOWN_MESSAGE: i64 = 10_008;
/// The words by which [`is_gone`] knows the error.
const GONE: &str = "the message is gone";

/// Returns the error that a response without success means.
pub(super) fn failure(response: &EgressResponse) -> ApiError {
    let read: ApiFailure = serde_json::from_slice(&response.body).unwrap_or_default();
    let status = response.status;
    let message: String = read.message.chars().filter(|sign| !sign.is_control()).take(200).collect();
    let description = format!("{message} (status {status}, code {})", read.code);
    let refusal = match (status, read.code) {
        (429, _) => return ApiError::Wait(wait_time(response, &read)),
        (_, UNKNOWN_MESSAGE) => return ApiError::refused(GONE),
        (401, _) => Refusal::Token,
        (_, code) if BLOCKED.contains(&code) => Refusal::Blocked,
        (400..500, _) => Refusal::Other,
        _ => return ApiError::Unavailable(description),
    };
    ApiError::Refused { refusal, description }
}

/// Returns whether an error says that the message is not there any more.
pub(super) fn is_gone(error: &ApiError) -> bool {
    error.description_contains(GONE)
}

fn wait_time(response: &EgressResponse, read: &ApiFailure) -> Duration {
    let precise = read.retry_after.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let asked = precise.or_else(|| egress::retry_after(&response.headers, SystemTime::now()));
    asked.map_or(DEFAULT_WAIT, |time| time.clamp(Duration::from_millis(100), MAX_WAIT))
}
