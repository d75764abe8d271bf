//! What the chunks of a run become: the objects and events of both APIs.

pub(crate) mod chat;
pub(crate) mod items;
pub(crate) mod response;
#[cfg(test)]
mod tests;
pub(crate) mod turn;
