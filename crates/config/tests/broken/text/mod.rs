//! The text of a config: syntax, included files and shapes of values.

mod includes;
mod shape;
mod yaml;
