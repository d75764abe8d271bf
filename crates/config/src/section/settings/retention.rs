//! Checks `store.retention`: how long data is retained.

use crate::section::Context;
use config_source::{Node, PathStep};
use settings::Retention;

/// Reports agents that do not exist and conversations that would not be retained. `node` is the
/// section `store`.
pub(super) fn check(retention: &Retention, node: &Node, context: &mut Context<'_, '_>) {
    for (id, kept) in &retention.agents {
        let at = node.span_at(&[PathStep::Key("retention"), PathStep::Key("agents"), PathStep::Key(id)]);
        context.agent(id, at);
        if kept.is_zero() {
            context.report.error(at, "a conversation stays for one day or more".to_owned(), None);
        }
    }
}
