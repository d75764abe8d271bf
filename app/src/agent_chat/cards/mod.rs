//! The cards of tool calls, approval requests and questions to the user, and standing approvals.

mod app_view;
pub(super) mod approval_card;
pub(super) mod card;
pub(super) mod labels;
pub(super) mod progress;
pub(super) mod provider_output;
pub(super) mod question_card;
pub(super) mod question_field;
pub(super) mod standing_approvals;
pub(super) mod standing_button;
pub(super) mod standing_state;
pub(super) mod sub_agent;
pub(super) mod sub_agent_output;
#[cfg(all(test, feature = "ssr"))]
mod tests;
pub(super) mod tool_card;
pub(super) mod tool_name;
pub(super) mod tool_result;
