//! Operators in an agent's properties (L-20): evaluated for each turn.

use super::{Context, operator};
use crate::source::{Entry, Node};

/// What can be known of a turn: who asks, where, and with what.
const OF_TURNS: [&str; 6] = ["_user", "_payload", "_if", "_eq", "_expr", "_template"];

/// Properties that go to the model's provider as they are; secrets may stand there.
const OF_REQUESTS: [&str; 4] = ["providerOptions", "byok", "user", "tags"];

/// Reports operators that mean nothing where they stand, and secrets that are not set.
pub(super) fn check(properties: &Node, context: &mut Context<'_, '_>) {
    if let Some(instructions) = properties.get("instructions") {
        operator::each(&instructions.value, &OF_TURNS, context.report, &mut |_, _| {});
    }
    let env = context.env;
    let of_requests: Vec<_> = OF_TURNS.into_iter().chain(["_secret"]).collect();
    for entry in OF_REQUESTS.iter().filter_map(|key| properties.get(key)) {
        operator::each(&entry.value, &of_requests, context.report, &mut |operator: &Entry, report| {
            operator::check_secret(operator, env, "each request of this agent sends it", report);
        });
    }
}
