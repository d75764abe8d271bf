//! The connection between a session and the page: calls of client tools, events, methods and
//! messages that the page sets.

pub(super) mod client_call;
pub(super) mod event_claims;
pub(super) mod events;
pub(super) mod methods;
pub(super) mod page_call;
pub(super) mod preset;
pub(super) mod sent_values;
