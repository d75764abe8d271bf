#![doc = include_str!("../README.md")]

pub mod api;
mod arguments;
pub mod change;
pub mod chunk;
pub mod end;
pub mod error;
pub mod events;
pub mod file;
pub mod invoke;
pub mod json;
pub mod locale;
pub mod message;
pub mod order;
pub mod page;
pub mod partial_json;
pub mod question;
mod read;
pub mod reduce;

pub use arguments::arguments_hash;
pub use chunk::{Chunk, DataChunk, FinishReason};
pub use end::EndReason;
pub use error::{ErrorCode, ErrorReason, UserError};
pub use message::{
    Approval, ApprovalTerms, CutOff, DataPart, Exposure, FilePart, Role, TextPart, ToolPart, ToolState, UiMessage,
    UiPart,
};
pub use reduce::{Change, ReduceError, Reducer};

/// What a provider wants back with a part, as `{provider: {…}}`; opaque to everyone but that provider's codec.
pub type ProviderMetadata = serde_json::Map<String, serde_json::Value>;

/// The name of the data part that keeps a provider's own item verbatim for the next request to the same provider.
/// It is stored with the message and never leaves the server.
pub const PROVIDER_ITEM: &str = "data-provider-item";

/// A data part with what a suspended call goes on from, by the call's id; it never leaves the server.
pub const SUSPENDED_CALL: &str = "data-suspended-call";

/// A data part about a call that a standing approval lets run, by the call's id: `{grantId, toolName, scope}`, where the scope is
/// `conversation` or `always`.
pub const STANDING_APPROVAL: &str = "data-standing-approval";

/// A data part with what the agent has read in the conversation by then that makes sending dangerous, as [`Exposure`]; it never
/// leaves the server.
pub const EXPOSURE: &str = "data-exposure";

/// A data part with what a turn has used by the time at which it waits for the user; it never leaves the server.
pub const SPENT: &str = "data-spent";

/// Whether parts of this type are for the store alone.
pub fn is_private(kind: &str) -> bool {
    matches!(kind, PROVIDER_ITEM | SUSPENDED_CALL | SPENT | EXPOSURE)
}
