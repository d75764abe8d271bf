//! Schedules compilation and validation: small work on the calling thread, the rest on threads of
//! low priority.

use crate::limits::SchemaSize;
use crate::meter::{MAX_WORK, Overrun, WorkBudget, within};
use crate::{CheckError, InstanceFault, MAX_MESSAGE, Schema, SchemaError, build, message};
use offload::{Abandoned, Busy, Pool};
use serde_json::Value;
use std::sync::{Arc, LazyLock};
use std::thread;

/// The stack size of the worker threads in bytes. Only used pages take memory.
const STACK: usize = 32 << 20;
/// The maximum number of schemas and instances that are queued or processed.
const MAX_WAITING: usize = 64;
/// The maximum size of a schema that is compiled on the calling thread, in well under a
/// millisecond.
const SMALL: SchemaSize = SchemaSize { bytes: 4 << 10, values: 200, depth: 12, patterns: 2, costly_patterns: 0 };
/// The maximum size of a schema that is compiled in the quick lane, in some milliseconds.
const MEDIUM: SchemaSize = SchemaSize { bytes: 32 << 10, values: 2_000, depth: 32, patterns: 50, costly_patterns: 10 };
/// The budget of a validation on the calling thread: about a millisecond.
const CALLER_BUDGET: WorkBudget = WorkBudget { work: 20_000, patterns: 20_000, stack: 256 << 10 };
/// The budget of a validation in the quick lane: about 20 milliseconds.
const QUICK_BUDGET: WorkBudget = WorkBudget { work: 400_000, patterns: 400_000, stack: STACK - (4 << 20) };
/// The budget of a validation in the slow lane: about a fifth of a second.
const SLOW_BUDGET: WorkBudget = WorkBudget { work: MAX_WORK, patterns: MAX_WORK, stack: STACK - (4 << 20) };
/// The budget for collecting errors, each of which takes memory.
const COLLECT_UNITS: u64 = 20_000;
/// The maximum number of bytes of all error paths.
const MAX_PATHS: u64 = 16 << 20;
/// The maximum length of an error's path in characters.
const MAX_PATH: usize = MAX_MESSAGE;

/// The lane for what takes 20 milliseconds at most, so that it need not wait for what takes longer.
static QUICK: LazyLock<Pool> = LazyLock::new(|| Pool::new("schemas", STACK, MAX_WAITING));
/// The lane for the rest.
static SLOW: LazyLock<Pool> = LazyLock::new(|| Pool::new("schemas-slow", STACK, MAX_WAITING));

/// Returns whether a schema is compiled on the calling thread.
pub(crate) fn is_small(size: SchemaSize) -> bool {
    is_within(size, SMALL)
}

fn is_within(size: SchemaSize, limit: SchemaSize) -> bool {
    size.bytes <= limit.bytes
        && size.values <= limit.values
        && size.depth <= limit.depth
        && size.patterns <= limit.patterns
        && size.costly_patterns <= limit.costly_patterns
}

/// Compiles a small schema.
pub(crate) fn compile_here(schema: &Value) -> Result<Schema, SchemaError> {
    build(schema, None)
}

pub(crate) async fn compile(schema: &Value, size: SchemaSize) -> Result<Schema, SchemaError> {
    let lane = if is_within(size, MEDIUM) { &QUICK } else { &SLOW };
    let schema = schema.clone();
    lane.run(move |abandoned| build(&schema, Some(abandoned))).await.unwrap_or(Err(SchemaError::Busy))
}

pub(crate) fn compile_blocking(schema: &Value, size: SchemaSize) -> Result<Schema, SchemaError> {
    if is_small(size) {
        return compile_here(schema);
    }
    run_on_large_stack(|| build(schema, None)).unwrap_or(Err(SchemaError::Busy))
}

/// Runs work on a thread with a large stack and waits for it. Returns `None` if no thread could be
/// started, or the work panicked.
fn run_on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("schemas".to_owned()).stack_size(STACK);
        builder.spawn_scoped(scope, work).ok()?.join().ok()
    })
}

pub(crate) async fn check(schema: &Schema, instance: &Value, max_faults: usize) -> Result<(), CheckError> {
    match evaluate(schema, instance, max_faults, CALLER_BUDGET, None) {
        Err(Overrun::Work | Overrun::Stack) => {}
        done => return into_check_result(done),
    }
    // Shared by both lanes, since the instance may be large.
    let instance = Arc::new(instance.clone());
    for (lane, budget) in [(&QUICK, QUICK_BUDGET), (&SLOW, SLOW_BUDGET)] {
        let (schema, instance) = (schema.clone(), instance.clone());
        let work = move |abandoned: &Abandoned| evaluate(&schema, &instance, max_faults, budget, Some(abandoned));
        match lane.run(work).await {
            Err(Busy) => return Err(CheckError::Busy),
            Ok(Err(Overrun::Work)) if budget.work < MAX_WORK => {}
            Ok(done) => return into_check_result(done),
        }
    }
    Err(CheckError::TooCostly)
}

pub(crate) fn check_blocking(schema: &Schema, instance: &Value, max_faults: usize) -> Result<(), CheckError> {
    match evaluate(schema, instance, max_faults, CALLER_BUDGET, None) {
        Err(Overrun::Work | Overrun::Stack) => {}
        done => return into_check_result(done),
    }
    run_on_large_stack(|| evaluate(schema, instance, max_faults, SLOW_BUDGET, None))
        .map_or(Err(CheckError::Busy), into_check_result)
}

fn into_check_result(done: Result<Vec<InstanceFault>, Overrun>) -> Result<(), CheckError> {
    match done {
        Ok(faults) if faults.is_empty() => Ok(()),
        Ok(faults) => Err(CheckError::Faults(faults)),
        Err(overrun) => {
            tracing::warn!(?overrun, "a value could not be checked against its schema");
            Err(if overrun == Overrun::Pattern { CheckError::PatternTooCostly } else { CheckError::TooCostly })
        }
    }
}

/// Returns the errors of an instance. It first checks whether the instance is valid, which takes no
/// memory, and then collects the errors with a smaller budget.
fn evaluate(
    Schema(validator): &Schema,
    instance: &Value,
    max_faults: usize,
    budget: WorkBudget,
    abandoned: Option<&Abandoned>,
) -> Result<Vec<InstanceFault>, Overrun> {
    if within(budget, abandoned, || validator.is_valid(instance))? {
        return Ok(Vec::new());
    }
    let longest = longest_path(instance).max(1);
    let budget = WorkBudget { work: COLLECT_UNITS.min(MAX_PATHS / longest), ..budget };
    let collect = || {
        let errors = validator.iter_errors(instance).take(max_faults.max(1));
        errors
            .map(|error| InstanceFault {
                path: truncated_path(error.instance_path().as_str()),
                message: message(&error),
            })
            .collect()
    };
    match within(budget, abandoned, collect) {
        Err(Overrun::Work | Overrun::Stack | Overrun::Pattern) => {
            let message = "it violates the schema in more places than can be reported".to_owned();
            Ok(vec![InstanceFault { path: String::new(), message }])
        }
        done => done,
    }
}

fn truncated_path(path: &str) -> String {
    match path.char_indices().nth(MAX_PATH) {
        Some((end, _)) => format!("{}…", &path[..end]),
        None => path.to_owned(),
    }
}

/// Returns the number of bytes of the longest path in an instance.
fn longest_path(instance: &Value) -> u64 {
    match instance {
        Value::Array(values) => values.iter().map(longest_path).max().map_or(0, |longest| longest + 8),
        Value::Object(map) => {
            map.iter().map(|(key, value)| key.len() as u64 + 1 + longest_path(value)).max().unwrap_or(0)
        }
        _ => 0,
    }
}
