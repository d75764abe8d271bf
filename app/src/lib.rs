//! The UI.
