#![doc = include_str!("../README.md")]

mod answer;
mod capability;
mod error;
mod request;
mod routes;
mod section;
mod store;

pub use self::capability::DEFINITION;

/// Reads the bodies of requests, for fuzz targets.
#[cfg(feature = "fuzz")]
pub mod fuzz {
    use crate::request::chat::ChatCompletion;
    use crate::request::history::History;
    use crate::request::responses::ResponseCall;

    /// Reads a body as that of both APIs, and its entries as a history. A history that can be answered ends with a
    /// message of the user or the result of a tool, and each call in it has a result.
    pub fn read(body: &[u8]) {
        let chat = ChatCompletion::read(body).map(|read| (read.entries, read.parameters.tools.names()));
        let response = ResponseCall::read(body).map(|read| (read.entries, read.parameters.tools.names()));
        for (entries, names) in [chat, response].into_iter().flatten() {
            let Ok(history) = History::new(Vec::new(), &[]).read(entries, &names, "messages") else { continue };
            assert!(!history.messages.is_empty());
            let open = history.messages.iter().flat_map(wire::UiMessage::tools).any(|tool| !tool.is_final());
            assert!(!open, "a call has no result");
        }
    }
}
