#![doc = include_str!("../README.md")]

mod cache;
mod cost;
mod expand;
mod limits;
mod meter;
mod pattern;
mod references;
mod rewrite;
mod work;

pub use pattern::is_regular_expression;

use jsonschema::{PatternOptions, ValidationError, Validator};
use limits::Size;
use meter::CostKeyword;
use serde_json::Value;
use std::fmt::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Characters of one fault's message.
const MAX_MESSAGE: usize = 400;

/// A schema that was compiled; a cheap handle.
#[derive(Clone)]
pub struct Schema(Arc<Validator>);

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").finish_non_exhaustive()
    }
}

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It is no JSON Schema.
    #[error("{message}")]
    Invalid {
        /// Where, as a JSON pointer into the schema.
        path: String,
        /// The value there, if it is a text.
        value: Option<String>,
        /// What is wrong.
        message: String,
    },
    /// It is one, but checking with it would have no bound.
    #[error("the schema is refused: {0}")]
    Refused(String),
    /// Too many others are being compiled.
    #[error("too many schemas are being compiled; try again in a moment")]
    Busy,
}

/// What is wrong with an instance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// It does not fit.
    #[error("{}", join(.0))]
    Faults(Vec<Fault>),
    /// Checking it takes more than the budget.
    #[error("checking this value against its schema takes too much work")]
    TooCostly,
    /// Too many others are being checked.
    #[error("too many values are being checked; try again in a moment")]
    Busy,
}

/// One fault of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where, as a JSON pointer into the instance; empty for the instance itself.
    pub path: String,
    /// What is wrong, in a few words.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

fn join(faults: &[Fault]) -> String {
    faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("; ")
}

impl Schema {
    /// Compiles a schema, on this thread if it is small and on one with a larger stack if not. For what is read at the start, such as a
    /// config: it may take some milliseconds.
    ///
    /// # Errors
    /// See [`SchemaError`].
    pub fn new(schema: &Value) -> Result<Self, SchemaError> {
        let size = Size::of_schema(schema).map_err(SchemaError::Refused)?;
        work::compile_here(schema, size)
    }

    /// Compiles a schema from within async code.
    ///
    /// # Errors
    /// See [`SchemaError`].
    pub async fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let size = Size::of_schema(schema).map_err(SchemaError::Refused)?;
        work::compile(schema, size).await
    }

    /// The same for a schema that is compiled again and again, such as that of a tool: a small one is kept.
    ///
    /// # Errors
    /// See [`SchemaError`].
    pub async fn compile_kept(schema: &Value) -> Result<Self, SchemaError> {
        let size = Size::of_schema(schema).map_err(SchemaError::Refused)?;
        let may_be_kept = size.bytes <= cache::MAX_BYTES;
        if let Some(kept) = may_be_kept.then(|| cache::get(schema)).flatten() {
            return Ok(kept);
        }
        let compiled = work::compile(schema, size).await?;
        if may_be_kept {
            cache::put(schema, &compiled);
        }
        Ok(compiled)
    }

    /// Checks an instance on this thread; it may take a fifth of a second. Up to `max_faults` are named.
    ///
    /// # Errors
    /// See [`Misfit`].
    pub fn check_here(&self, instance: &Value, max_faults: usize) -> Result<(), Misfit> {
        work::check_here(self, instance, max_faults)
    }

    /// Checks an instance from within async code: a little on this thread, more on one of low priority. Dropping the future ends it. Up to
    /// `max_faults` are named.
    ///
    /// # Errors
    /// See [`Misfit`].
    pub async fn check(&self, instance: &Value, max_faults: usize) -> Result<(), Misfit> {
        work::check(self, instance, max_faults).await
    }
}

/// Compiles, whatever it takes; what it takes was bounded before.
#[expect(clippy::disallowed_methods, reason = "the one place that may")]
fn build(schema: &Value) -> Result<Schema, SchemaError> {
    let rewrite::Rewritten { schema: rewritten, costs, draft } =
        rewrite::rewrite(schema).map_err(SchemaError::Refused)?;
    let engine = PatternOptions::regex().size_limit(pattern::MAX_COMPILED).dfa_size_limit(pattern::MAX_MATCHER);
    let options = jsonschema::options()
        .with_draft(draft)
        .with_pattern_options(engine)
        .with_format("regex", |_: &str| true)
        .with_keyword(rewrite::COST, move |_, index, _| {
            let cost = index.as_u64().and_then(|index| costs.get(usize::try_from(index).ok()?));
            Ok(Box::new(CostKeyword(cost.cloned().unwrap_or_default())))
        });
    let failed = || SchemaError::Refused("it cannot be compiled".to_owned());
    match catch_unwind(AssertUnwindSafe(|| options.build(&rewritten))).map_err(|_| failed())? {
        Ok(validator) => Ok(Schema(Arc::new(validator))),
        // The error tells where in the rewritten schema; the original one says it better.
        Err(error) => Err(match jsonschema::meta::validate(schema) {
            Err(error) => invalid(&error),
            Ok(()) => SchemaError::Invalid { path: String::new(), value: None, message: message(&error) },
        }),
    }
}

fn invalid(error: &ValidationError<'_>) -> SchemaError {
    let value = error.instance().as_str().map(str::to_owned);
    SchemaError::Invalid { path: error.instance_path().to_string(), value, message: message(error) }
}

/// The message of an error, which quotes the instance, cut off.
fn message(error: &ValidationError<'_>) -> String {
    let mut text = Cut { text: String::new(), left: MAX_MESSAGE };
    if write!(text, "{error}").is_err() {
        text.text.push('…');
    }
    text.text
}

/// A text that refuses to grow beyond a number of characters.
struct Cut {
    text: String,
    left: usize,
}

impl Write for Cut {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        for c in more.chars() {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(c);
        }
        Ok(())
    }
}
