//! What runs were told about their projects, so that a run hears of one state of a project only: what it reads counts
//! as read from its beginning on.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// The most runs that are remembered. A run that is forgotten hears of a change with the next message.
const MAX_RUNS: usize = 4_096;
/// The most text that is remembered, in bytes.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// What a run was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// The block at the beginning of its conversation; empty if there is none.
    pub(crate) block: Arc<str>,
    /// What holds now; empty if the conversation is in no project with instructions.
    pub(crate) current: Arc<str>,
}

impl Told {
    fn bytes(&self) -> usize {
        self.block.len() + self.current.len()
    }
}

/// What the latest runs of this server were told.
#[derive(Debug, Default)]
pub(crate) struct ToldRuns(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    runs: VecDeque<(String, Told)>,
    bytes: usize,
}

impl Inner {
    fn remove_oldest(&mut self) {
        if let Some((_, told)) = self.runs.pop_front() {
            self.bytes -= told.bytes();
        }
    }
}

impl ToldRuns {
    /// Remembers what a run was told, instead of what it was told before.
    pub(crate) fn remember(&self, run_id: &str, told: Told) {
        if run_id.is_empty() {
            return;
        }
        let mut inner = self.0.lock();
        if let Some(at) = inner.runs.iter().rposition(|(known, _)| known == run_id)
            && let Some((_, known)) = inner.runs.remove(at)
        {
            inner.bytes -= known.bytes();
        }
        inner.bytes += told.bytes();
        inner.runs.push_back((run_id.to_owned(), told));
        while inner.runs.len() > MAX_RUNS || inner.bytes > MAX_BYTES {
            inner.remove_oldest();
        }
    }

    /// Returns what a run was told.
    pub(crate) fn get(&self, run_id: &str) -> Option<Told> {
        let inner = self.0.lock();
        inner.runs.iter().rev().find(|(known, _)| known == run_id).map(|(_, told)| told.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_remembered_within_bounds() {
        let runs = ToldRuns::default();
        let told = |bytes: usize| Told { block: "a".repeat(bytes).into(), current: Arc::default() };
        runs.remember("", told(1));
        assert_eq!(runs.get(""), None);
        runs.remember("a", told(1));
        runs.remember("a", told(2));
        assert_eq!((runs.get("a"), runs.0.lock().bytes), (Some(told(2)), 2));
        for number in 0..MAX_RUNS {
            runs.remember(&number.to_string(), told(0));
        }
        assert_eq!((runs.get("a"), runs.get("0"), runs.0.lock().bytes), (None, Some(told(0)), 0));
        for number in 0..20 {
            runs.remember(&format!("long-{number}"), told(1024 * 1024));
        }
        let inner = runs.0.lock();
        assert_eq!((inner.runs.len(), inner.bytes), (16, MAX_BYTES));
    }
}
