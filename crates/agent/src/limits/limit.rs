//! The limits that a run can reach.

/// A limit that a run reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`crate::RunSettings::max_steps`]
    MaxSteps,
    /// [`crate::RunSettings::stop_on_tool_call`]
    StopOnToolCall,
    /// [`crate::Timeouts::total`]
    Time,
    /// [`crate::TurnLimits::requests`]
    Requests,
    /// [`crate::TurnLimits::total_tokens`]
    TotalTokens,
    /// [`crate::TurnLimits::tool_calls`]
    ToolCalls,
    /// [`crate::TurnLimits::cost_usd`]
    Cost,
    /// The same tool calls were repeated too often.
    Loop,
    /// The provider cut off the last reply at its length limit.
    OutputTokens,
    /// The model or its provider's filter refused the last reply, or cut it off.
    ContentFilter,
}
