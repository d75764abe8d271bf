//! Maps the errors of Feishu's API.

use super::types::ApiStatus;
use crate::messenger::{ApiError, Refusal};
use egress::EgressResponse;
use std::time::Duration;

/// The wait if Feishu names none, and the longest wait that is accepted.
const DEFAULT_WAIT: Duration = Duration::from_secs(1);
const MAX_WAIT: Duration = Duration::from_secs(3_600);
/// The header that says in how many seconds requests are taken again.
const RESET: &str = "x-ogw-ratelimit-reset";

/// Codes of too many requests: of the app, and in a chat or for a message. The last one is that of a message that is still
/// being sent with the same key.
const WAIT: [i64; 4] = [99_991_400, 230_020, 11_232, 230_049];
/// Codes of an access token that is missing, wrong or not valid any more.
const TOKEN: [i64; 5] = [99_991_661, 99_991_663, 99_991_664, 99_991_668, 99_991_671];
/// Codes of a chat that is closed to the bot: the bot is not in the group, its user is outside of the app's
/// availability, may not write there, has resigned, or wants nothing from the bot; the group is gone.
const BLOCKED: [i64; 7] = [230_002, 230_013, 230_018, 230_029, 230_035, 230_053, 232_009];
/// Codes of a message that was withdrawn or deleted.
const GONE: [i64; 2] = [230_011, 230_110];
/// The words by which [`is_gone`] knows the error.
const GONE_WORDS: &str = "the message is gone";
/// Codes of a service that is busy or broken.
const BUSY: [i64; 2] = [1, 1_000_040_343];
/// The code of a card that cannot be made of what was sent.
const CARD: i64 = 230_099;

/// Returns the error of a response whose code is not 0, or which has none.
pub(super) fn failure(response: &EgressResponse) -> ApiError {
    let status = response.status;
    let Ok(ApiStatus { code, msg }) = serde_json::from_slice(&response.body) else {
        return match status {
            429 => ApiError::Wait(wait_time(response)),
            // Files have no code.
            400..500 => ApiError::refused(format!("status {status}")),
            _ => ApiError::Unavailable(format!("a response with status {status} cannot be read")),
        };
    };
    let message: String = msg.chars().filter(|sign| !sign.is_control()).take(200).collect();
    let description = format!("{message} (status {status}, code {code})");
    let refusal = match code {
        _ if status == 429 || WAIT.contains(&code) => return ApiError::Wait(wait_time(response)),
        _ if GONE.contains(&code) => return ApiError::refused(GONE_WORDS),
        _ if status >= 500 || BUSY.contains(&code) => return ApiError::Unavailable(description),
        _ if TOKEN.contains(&code) => Refusal::Token,
        _ if BLOCKED.contains(&code) => Refusal::Blocked,
        _ => Refusal::Other,
    };
    ApiError::Refused { refusal, description }
}

/// Returns whether an error says that the message is not there any more.
pub(super) fn is_gone(error: &ApiError) -> bool {
    error.description_contains(GONE_WORDS)
}

/// Returns whether an error says that the card is wrong, so that it may be taken without its formatting.
pub(super) fn is_of_card(error: &ApiError) -> bool {
    error.description_contains(&format!("code {CARD})"))
}

fn wait_time(response: &EgressResponse) -> Duration {
    let seconds = response.headers.get(RESET).and_then(|value| value.to_str().ok()?.parse().ok());
    seconds.map_or(DEFAULT_WAIT, |seconds| Duration::from_secs(seconds).clamp(DEFAULT_WAIT, MAX_WAIT))
}
