//! Converts the chunks of a run to the objects and events of both APIs.

pub(crate) mod chat;
pub(crate) mod items;
pub(crate) mod response;
#[cfg(test)]
mod tests;
pub(crate) mod turn;
