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

use jsonschema::{ValidationError, Validator};
use limits::SchemaSize;
use meter::CostKeyword;
use offload::Abandoned;
use serde_json::Value;
use std::fmt::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The maximum length of an error message in characters.
const MAX_MESSAGE: usize = 400;

/// A compiled schema; a cheap handle.
#[derive(Clone)]
pub struct Schema(Arc<Validator>);

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").finish_non_exhaustive()
    }
}

/// An error in a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// The schema is not a valid JSON Schema.
    #[error("{message}")]
    Invalid {
        /// The location as a JSON pointer into the schema.
        path: String,
        /// The value there, if it is a string.
        value: Option<String>,
        /// The error message.
        message: String,
    },
    /// The schema is valid, but validation with it would have no bound.
    #[error("the schema is refused: {0}")]
    Refused(String),
    /// Too many other schemas are being compiled.
    #[error("too many schemas are being compiled; try again in a moment")]
    Busy,
}

/// A failed validation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// The instance is invalid.
    #[error("{}", join(.0))]
    Faults(Vec<InstanceFault>),
    /// The validation exceeds the budget.
    #[error("checking this value against its schema takes too much work")]
    TooCostly,
    /// A pattern of the schema exceeds the budget with a text of the instance.
    #[error("a pattern of the schema is too costly for a text of this length")]
    PatternTooCostly,
    /// Too many other instances are being validated.
    #[error("too many values are being checked; try again in a moment")]
    Busy,
}

/// A validation error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceFault {
    /// The location as a JSON pointer into the instance; empty for the instance itself.
    pub path: String,
    /// A short error message.
    pub message: String,
}

impl fmt::Display for InstanceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

fn join(faults: &[InstanceFault]) -> String {
    faults.iter().map(InstanceFault::to_string).collect::<Vec<_>>().join("; ")
}

impl Schema {
    /// Compiles a schema on this thread, or on one with a larger stack if the schema is large.
    /// Meant for startup, such as for a config: it may take some milliseconds. Small schemas are
    /// cached, since a config is checked before it is used.
    ///
    /// # Errors
    /// See [`SchemaError`].
    pub fn new(schema: &Value) -> Result<Self, SchemaError> {
        let size = SchemaSize::measure(schema).map_err(SchemaError::Refused)?;
        if let Some(kept) = cache::get(schema, size) {
            return Ok(kept);
        }
        let compiled = work::compile_blocking(schema, size)?;
        cache::put(schema, size, &compiled);
        Ok(compiled)
    }

    /// Compiles a schema from async code: on this thread if it is small, otherwise on one of low
    /// priority. A schema that cannot be used is remembered.
    ///
    /// # Errors
    /// See [`SchemaError`].
    pub async fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let size = SchemaSize::measure(schema).map_err(SchemaError::Refused)?;
        if work::is_small(size) {
            return work::compile_here(schema);
        }
        let key = cache::RefusalKey::for_schema(schema);
        if let Some(error) = cache::refusal(key) {
            return Err(error);
        }
        let compiled = work::compile(schema, size).await;
        if let Err(error @ (SchemaError::Invalid { .. } | SchemaError::Refused(_))) = &compiled {
            cache::put_refusal(key, error);
        }
        compiled
    }

    /// Compiles a schema that is needed repeatedly, such as that of a tool; small schemas are
    /// cached.
    ///
    /// # Errors
    /// See [`SchemaError`].
    pub async fn compile_cached(schema: &Value) -> Result<Self, SchemaError> {
        let size = SchemaSize::measure(schema).map_err(SchemaError::Refused)?;
        if let Some(kept) = cache::get(schema, size) {
            return Ok(kept);
        }
        let compiled = Self::compile(schema).await?;
        cache::put(schema, size, &compiled);
        Ok(compiled)
    }

    /// Validates an instance on this thread, which may take a fifth of a second. Returns at most
    /// `max_faults` errors.
    ///
    /// # Errors
    /// See [`CheckError`].
    pub fn check_blocking(&self, instance: &Value, max_faults: usize) -> Result<(), CheckError> {
        work::check_blocking(self, instance, max_faults)
    }

    /// Validates an instance from async code: on this thread if it takes little work, otherwise on
    /// a thread of low priority. Dropping the future cancels the work. Returns at most `max_faults`
    /// errors.
    ///
    /// # Errors
    /// See [`CheckError`].
    pub async fn check(&self, instance: &Value, max_faults: usize) -> Result<(), CheckError> {
        work::check(self, instance, max_faults).await
    }
}

/// Compiles a schema; its cost is limited before.
#[expect(clippy::disallowed_methods, reason = "the one place that may")]
fn build(schema: &Value, abandoned: Option<&Abandoned>) -> Result<Schema, SchemaError> {
    let rewrite::Rewritten { schema: rewritten, costs, draft } =
        rewrite::rewrite(schema, abandoned).map_err(SchemaError::Refused)?;
    let options = jsonschema::options()
        .with_draft(draft)
        .with_pattern_options(pattern::engine())
        .with_format("regex", |_: &str| true)
        .with_keyword(rewrite::COST_KEYWORD, move |_, index, _| {
            let cost = index.as_u64().and_then(|index| costs.get(usize::try_from(index).ok()?));
            Ok(Box::new(CostKeyword(cost.cloned().unwrap_or_default())))
        });
    let failed = || SchemaError::Refused("it cannot be compiled".to_owned());
    match catch_unwind(AssertUnwindSafe(|| options.build(&rewritten))).map_err(|_| failed())? {
        Ok(validator) => Ok(Schema(Arc::new(validator))),
        // The error refers to the rewritten schema, so the original one is validated for a better
        // message.
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

/// Formats an error, which quotes the instance, and truncates it.
fn message(error: &ValidationError<'_>) -> String {
    let mut text = TruncatedText { text: String::new(), left: MAX_MESSAGE };
    if write!(text, "{error}").is_err() {
        text.text.push('…');
    }
    text.text
}

/// A writer that stops after a number of characters.
struct TruncatedText {
    text: String,
    left: usize,
}

impl Write for TruncatedText {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        for c in more.chars() {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(c);
        }
        Ok(())
    }
}
