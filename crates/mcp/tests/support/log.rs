//! Captures the log, for tests that look for secrets in it.

use std::io;
use std::sync::{Arc, Mutex};
use tracing::subscriber::DefaultGuard;

/// A log in memory.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Captures what this thread logs, at every level, as long as the guard exists.
    pub(crate) fn taking() -> (Self, DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_ansi(false);
        let taken = tracing::subscriber::set_default(subscriber.with_writer(move || writer.clone()).finish());
        (log, taken)
    }

    /// Returns the log so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
