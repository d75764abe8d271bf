//! Remembers which project instructions each run has received, so that a run sees one version of
//! them: from its beginning on, they count as read.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// The most runs that are remembered. A run that is no longer remembered gets a change with the
/// next message.
const MAX_RUNS: usize = 4_096;
/// The most text that is remembered, in bytes.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The project instructions of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunInstructions {
    /// The block at the beginning of its conversation; empty if there is none.
    pub(crate) block: Arc<str>,
    /// The current instructions; empty if the conversation is in no project with instructions.
    pub(crate) current: Arc<str>,
}

impl RunInstructions {
    fn bytes(&self) -> usize {
        self.block.len() + self.current.len()
    }
}

/// The instructions of the latest runs of this server.
#[derive(Debug, Default)]
pub(crate) struct RunInstructionsCache(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    runs: VecDeque<(String, RunInstructions)>,
    bytes: usize,
}

impl Inner {
    fn remove_oldest(&mut self) {
        if let Some((_, instructions)) = self.runs.pop_front() {
            self.bytes -= instructions.bytes();
        }
    }
}

impl RunInstructionsCache {
    /// Remembers the instructions of a run, and replaces the earlier ones.
    pub(crate) fn remember(&self, run_id: &str, instructions: RunInstructions) {
        if run_id.is_empty() {
            return;
        }
        let mut inner = self.0.lock();
        if let Some(at) = inner.runs.iter().rposition(|(known, _)| known == run_id)
            && let Some((_, known)) = inner.runs.remove(at)
        {
            inner.bytes -= known.bytes();
        }
        inner.bytes += instructions.bytes();
        inner.runs.push_back((run_id.to_owned(), instructions));
        while inner.runs.len() > MAX_RUNS || inner.bytes > MAX_BYTES {
            inner.remove_oldest();
        }
    }

    /// Returns the instructions of a run.
    pub(crate) fn get(&self, run_id: &str) -> Option<RunInstructions> {
        let inner = self.0.lock();
        inner.runs.iter().rev().find(|(known, _)| known == run_id).map(|(_, instructions)| instructions.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_remembered_within_bounds() {
        let runs = RunInstructionsCache::default();
        let instructions = |bytes: usize| RunInstructions { block: "a".repeat(bytes).into(), current: Arc::default() };
        runs.remember("", instructions(1));
        assert_eq!(runs.get(""), None);
        runs.remember("a", instructions(1));
        runs.remember("a", instructions(2));
        assert_eq!((runs.get("a"), runs.0.lock().bytes), (Some(instructions(2)), 2));
        for number in 0..MAX_RUNS {
            runs.remember(&number.to_string(), instructions(0));
        }
        assert_eq!((runs.get("a"), runs.get("0"), runs.0.lock().bytes), (None, Some(instructions(0)), 0));
        for number in 0..20 {
            runs.remember(&format!("long-{number}"), instructions(1024 * 1024));
        }
        let inner = runs.0.lock();
        assert_eq!((inner.runs.len(), inner.bytes), (16, MAX_BYTES));
    }
}
