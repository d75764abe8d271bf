//! The configs that users read and copy: they are valid in the language with all capabilities, and
//! the reference names every key.

mod coverage;
mod docs;
mod examples;
mod keys;
mod operators;
mod private_keys;
mod reference;
