//! The output of a command.

use std::io::{self, PipeReader, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// The bytes that are read at once.
const PIECE: usize = 64 << 10;

/// The bytes that a command has written to an output.
#[derive(Debug, Default)]
pub struct Written {
    /// The beginning, up to the bound.
    pub bytes: Vec<u8>,
    /// Whether it has written more.
    pub is_truncated: bool,
}

/// An output that is read by a thread, so that the command does not wait.
pub struct Output {
    written: Arc<Mutex<Written>>,
    reader: JoinHandle<()>,
}

impl Output {
    /// Starts to read. At most this many bytes are kept.
    pub(super) fn read(mut pipe: PipeReader, most: usize) -> io::Result<Self> {
        let written = Arc::new(Mutex::new(Written::default()));
        let shared = written.clone();
        let reader = thread::Builder::new().spawn(move || {
            let mut piece = vec![0; PIECE];
            while let Ok(length) = pipe.read(&mut piece) {
                if length == 0 {
                    break;
                }
                let mut written = lock(&shared);
                let kept = length.min(most - written.bytes.len());
                written.bytes.extend_from_slice(&piece[..kept]);
                written.is_truncated |= kept < length;
            }
        })?;
        Ok(Self { written, reader })
    }

    /// Returns the last bytes that were written so far and are kept, at most this many.
    pub fn last(&self, most: usize) -> Vec<u8> {
        let written = lock(&self.written);
        written.bytes[written.bytes.len().saturating_sub(most)..].to_vec()
    }

    /// Returns how many bytes were written so far and are kept.
    pub fn len(&self) -> usize {
        lock(&self.written).bytes.len()
    }

    /// Returns whether nothing was written so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the output. All processes that had it open have ended.
    pub(super) fn finish(self) -> Written {
        let _ = self.reader.join();
        std::mem::take(&mut *lock(&self.written))
    }
}

fn lock(written: &Mutex<Written>) -> MutexGuard<'_, Written> {
    written.lock().unwrap_or_else(PoisonError::into_inner)
}
