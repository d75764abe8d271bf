#![doc = include_str!("../README.md")]

mod annotations;
mod bearer;
mod call_reports;
mod call_time;
mod displayed_item;
pub mod error;
mod function_tool;
pub mod mask;
pub mod message;
pub mod model;
mod model_use;
pub mod part;
pub mod price;
mod request;
mod scope;
pub mod testing;
pub mod tool;
pub mod usage;

pub use annotations::{Annotations, DeclaredAnnotations};
pub use bearer::Bearer;
pub use call_reports::{CallReport, CallReports, MCP_APP, TOOL_QUESTION};
pub use call_time::{CallTime, MAX_USER_WAIT, UserWait};
pub use displayed_item::displayed_item;
pub use error::{ModelError, ModelErrorKind, ToolError};
pub use function_tool::{FunctionTool, read_arguments};
pub use mask::mask_secrets;
pub use message::{AssistantPart, FileData, Message, OutputPart, ToolCall, ToolOutput, ToolResult, UserPart};
pub use model::{Model, ModelId, PartStream};
pub use model_use::{ModelMeter, ModelUse, ReplyUsage};
pub use part::{Citation, ContextEdit, FinishReason, Part, Source};
pub use price::Price;
pub use request::{Request, ResponseFormat, Sampling, ToolChoice};
pub use scope::{CallCounts, RunScope};
pub use tool::{
    ApprovalTerms, Confirm, Execution, Exposure, NoteQuery, OmittedTool, SourceTools, Tool, ToolContext, ToolSource,
    ToolSpec, is_name,
};
pub use usage::{Usage, estimated_tokens};

/// Provider-specific data of a part, as `{provider: {…}}`. It goes back to that provider with the
/// part, and only that provider's codec reads it.
pub type ProviderMetadata = serde_json::Map<String, serde_json::Value>;
