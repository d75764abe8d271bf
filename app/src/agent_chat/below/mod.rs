//! The content below the newest answer: suggestions of the config or of the answer itself, suggestions that a model
//! makes (`followUps`), and a line that says what was remembered (`memory`).

mod memory;
mod offered;
mod suggestions;
pub(super) mod view;
