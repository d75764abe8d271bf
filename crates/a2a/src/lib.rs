#![doc = include_str!("../README.md")]

mod body;
mod capability;
mod card;
mod card_routes;
mod content;
mod error;
mod methods;
mod push;
mod questions;
mod request;
mod response;
mod rest;
mod routes;
mod rpc;
mod section;
mod send;
mod store;
mod stream;
mod task;

pub use self::capability::DEFINITION;

/// Reads the bodies of requests, for fuzz targets.
#[cfg(feature = "fuzz")]
pub mod fuzz {
    use crate::questions::{self, Request};
    use crate::rpc::{Call, Method};
    use serde_json::json;

    /// Reads a body, and the message in it as the answer to an approval request and a question; and the same text as the
    /// query of a path.
    pub fn read(body: &[u8]) {
        if let Ok(query) = std::str::from_utf8(body) {
            for name in ["ListTasks", "GetTask"] {
                let _ = Method::read(name, crate::rest::params(Some(query), &[("id", "t")]).into());
            }
        }
        let Ok(Call { method: Ok(Method::Send(send) | Method::SendStreaming(send)), .. }) = Call::read(body) else {
            return;
        };
        let question = json!({ "question": "Which?", "options": ["a", "b"] });
        let open = [Request::approval_for_fuzzing("a"), Request::question_for_fuzzing("b", question)];
        for open in [&open[..], &open[..1], &open[1..]] {
            if let Ok(answers) = questions::answers(&send.message.parts, open) {
                assert!(!answers.is_empty() && answers.len() <= open.len());
            }
        }
    }
}
