//! What chunks become, and what of a request is new.

mod requests;
mod translations;
