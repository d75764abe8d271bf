//! Why runs ended, in the words of the console.

use wire::EndReason;

/// What an administrator reads of a reason.
pub(super) fn reason_text(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Done => "The model finished",
        EndReason::Waiting => "Waits for the user",
        EndReason::MaxSteps => "Limit: steps (maxSteps)",
        EndReason::StopOnToolCall => "Last call (stopOnToolCall)",
        EndReason::Time => "Limit: time",
        EndReason::Requests => "Limit: requests (limits.requests)",
        EndReason::TotalTokens => "Limit: tokens (limits.totalTokens)",
        EndReason::ToolCalls => "Limit: tool calls (limits.toolCalls)",
        EndReason::CostUsd => "Limit: cost (limits.costUsd)",
        EndReason::Loop => "Limit: the same calls again and again",
        EndReason::TooLong => "Failed: the answer is too long",
        EndReason::StoppedByUser => "Stopped by the user",
        EndReason::StoppedByAdmin => "Stopped by an administrator",
        EndReason::Shutdown => "Stopped: the server shut down",
        EndReason::Deleted => "Stopped: deleted",
        EndReason::Replaced => "The user went on without an answer",
        EndReason::ModelCredentials => "Failed: the provider refused the credentials",
        EndReason::ModelBusy => "Failed: the provider limits requests",
        EndReason::ModelRefused => "Failed: the provider refused the request",
        EndReason::ModelAway => "Failed: the provider is away",
        EndReason::ModelTimeout => "Failed: the provider stopped answering",
        EndReason::StreamBroken => "Failed: the provider closed the stream",
        EndReason::UnknownPrice => "Failed: a price is not known",
        EndReason::InvalidCall => "Failed: a call that cannot be run",
        EndReason::Unfit => "Failed: the answer does not fit its schema",
        EndReason::Storage => "Failed: the database",
        EndReason::Memory => "Failed: the server ran short of memory",
        EndReason::Panic => "Failed: a panic in the server",
        EndReason::Expired => "Interrupted: a question expired",
        EndReason::ServerGone => "Interrupted: the server was killed",
        EndReason::LeaseLost => "Interrupted: another server took over",
        EndReason::Other => "Failed",
    }
}
