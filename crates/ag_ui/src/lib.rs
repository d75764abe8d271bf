#![doc = include_str!("../README.md")]

mod body;
mod capability;
mod event;
mod files;
mod history;
mod input;
mod interrupts;
mod messages;
mod outcome;
mod places;
mod request;
mod routes;
mod run;
mod section;
mod state;
mod tools;
mod translate;

pub use self::capability::DEFINITION;

/// Reads the bodies of requests, for fuzz targets.
#[cfg(feature = "fuzz")]
pub mod fuzz {
    use crate::input::RunAgentInput;
    use crate::{request, tools};

    /// Reads a body, as the first one of a thread.
    pub fn read(body: &[u8]) {
        let Ok(input) = RunAgentInput::read(body) else { return };
        let _ = tools::specs(&input.tools);
        let _ = request::decide(&input, &[]);
    }
}
