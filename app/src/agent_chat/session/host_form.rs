//! Which conversation, or which page, a shared form belongs to.

use crate::prelude::*;

/// The id of the conversation to which the form's values belong; none before the first.
pub(in crate::agent_chat) type FormConversation = StoredValue<Option<String>>;

/// Provided in the context of an embedded chat, whose form belongs to the host page and is not
/// saved here.
#[derive(Clone, Copy)]
pub(in crate::agent_chat) struct HostForm;
