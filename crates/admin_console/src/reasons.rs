//! The reasons why runs ended, as the console shows them.

use wire::EndReason;

/// Returns the text for a reason.
pub(crate) fn reason_text(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Done => "The model finished",
        EndReason::Waiting => "Waiting for the user",
        EndReason::MaxSteps => "Limit: steps (maxSteps)",
        EndReason::StopOnToolCall => "Stopped after a tool call (stopOnToolCall)",
        EndReason::Time => "Limit: time",
        EndReason::Requests => "Limit: requests (limits.requests)",
        EndReason::TotalTokens => "Limit: tokens (limits.totalTokens)",
        EndReason::ToolCalls => "Limit: tool calls (limits.toolCalls)",
        EndReason::CostUsd => "Limit: cost (limits.costUsd)",
        EndReason::Loop => "Limit: repeated identical tool calls",
        EndReason::MaxOutputTokens => "Limit: the model's output (maxOutputTokens)",
        EndReason::ContentFilter => "The model or its provider's filter refused or cut off the answer",
        EndReason::TooLong => "Failed: the answer is too long",
        EndReason::StoppedByUser => "Stopped by the user",
        EndReason::StoppedByAdmin => "Stopped by an administrator",
        EndReason::Shutdown => "Stopped: the server shut down",
        EndReason::Deleted => "Stopped: the conversation or user was deleted",
        EndReason::Replaced => "The user continued without answering",
        EndReason::ModelCredentials => "Failed: the provider refused the credentials",
        EndReason::ModelBusy => "Failed: the provider's rate limit was reached",
        EndReason::ModelRefused => "Failed: the provider refused the request",
        EndReason::ModelAway => "Failed: the provider is unavailable",
        EndReason::ModelTimeout => "Failed: the provider stopped answering",
        EndReason::StreamBroken => "Failed: the provider closed the stream",
        EndReason::UnknownPrice => "Failed: the model's price is unknown",
        EndReason::InvalidCall => "Failed: invalid tool call",
        EndReason::Unfit => "Failed: the answer does not match its schema",
        EndReason::Storage => "Failed: database error",
        EndReason::Memory => "Failed: the server was low on memory",
        EndReason::Panic => "Failed: a panic in the server",
        EndReason::Expired => "Interrupted: an approval or question expired",
        EndReason::ServerGone => "Interrupted: the server was killed",
        EndReason::LeaseLost => "Interrupted: another server took over",
        EndReason::Other => "Failed",
    }
}
