//! Notices that something other than SQLite wrote into the log.
//!
//! SQLite verifies the checksums of a log only when it finds one at the start; later it trusts what
//! it wrote. If the log is overwritten within, the server would go on, and the next checkpoint
//! would copy the foreign bytes into the database. The format of a log is described at
//! <https://www.sqlite.org/walformat.html>.

use super::watch::{FRAME_HEADER, LOG_HEADER, time_of};
use crate::sql::LocalConnection;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// How often the log is verified while the server writes to it. A write of something else between
/// the beginning and the end of a transaction cannot be told from the server's own by its time.
const INTERVAL: Duration = Duration::from_secs(5);

/// The most that is read of a log, in bytes; a longer one is one that a reader keeps from being checkpointed.
const MAX_READ: u64 = 64 << 20;

/// The number of pages that are read at once.
const PAGES_AT_ONCE: u64 = 64;

/// How often a log with wrong checksums is read: another process may restart the log meanwhile.
const LOOKS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(10);

/// Remembers the last write to a log that was SQLite's.
pub(super) struct LogGuard {
    /// Seconds and nanoseconds since 1970.
    time: (i64, i64),
    verified: Instant,
}

impl LogGuard {
    /// Trusts the log as SQLite has just opened it.
    pub(super) fn new(log: &Metadata) -> Self {
        Self { time: time_of(log), verified: Instant::now() }
    }

    /// Returns whether the log contains what SQLite wrote. It is read if something else than the
    /// transaction that was just committed may have written to it: another process that uses SQLite
    /// may do so.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) fn is_intact(
        &mut self,
        log: &File,
        page_size: u64,
        has_committed: bool,
        connection: &LocalConnection,
    ) -> io::Result<bool> {
        let time = time_of(&log.metadata()?);
        if time == self.time {
            return Ok(true);
        }
        if !has_committed || self.verified.elapsed() >= INTERVAL {
            if !has_right_checksums_soon(log, page_size, connection)? {
                return Ok(false);
            }
            self.verified = Instant::now();
        }
        self.time = time;
        Ok(true)
    }
}

fn has_right_checksums_soon(log: &File, page_size: u64, connection: &LocalConnection) -> io::Result<bool> {
    for look in 0..LOOKS {
        if look > 0 {
            std::thread::sleep(PAUSE);
        }
        let frames = connection.log_state("NOOP").map_err(io::Error::other)?.frames;
        if has_right_checksums(log, frames, page_size)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether the first `frames` pages of the log have the checksums that SQLite would expect.
fn has_right_checksums(log: &File, frames: u64, page_size: u64) -> io::Result<bool> {
    if frames == 0 {
        return Ok(true);
    }
    match verify(log, frames, page_size) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        verified => verified,
    }
}

fn verify(log: &File, frames: u64, page_size: u64) -> io::Result<bool> {
    let mut head = [0; LOG_HEADER as usize];
    log.read_exact_at(&mut head, 0)?;
    let mut sum = Checksum { is_big_endian: head[3] & 1 == 1, sums: [0; 2] };
    sum.add(&head[..24]);
    if !sum.is(&head[24..]) {
        return Ok(false);
    }
    let frame_size = FRAME_HEADER + page_size;
    let frames = frames.min(MAX_READ / frame_size);
    let mut buffer = Vec::new();
    for first in (0..frames).step_by(PAGES_AT_ONCE as usize) {
        let bytes = (frames - first).min(PAGES_AT_ONCE) * frame_size;
        buffer.resize(usize::try_from(bytes).map_err(io::Error::other)?, 0);
        log.read_exact_at(&mut buffer, LOG_HEADER + first * frame_size)?;
        let is_right = |frame: &[u8]| {
            let (frame_head, page) = frame.split_at(FRAME_HEADER as usize);
            sum.add(&frame_head[..8]);
            sum.add(page);
            // The salts of the log, which change when it is restarted.
            frame_head[8..16] == head[16..24] && sum.is(&frame_head[16..])
        };
        if !buffer.chunks_exact(frame_size as usize).all(is_right) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The checksum of a log, which runs on from frame to frame.
struct Checksum {
    is_big_endian: bool,
    sums: [u32; 2],
}

impl Checksum {
    /// Adds bytes, whose number is a multiple of 8.
    fn add(&mut self, bytes: &[u8]) {
        let word = |bytes| if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
        let [mut first, mut second] = self.sums;
        for [odd, even] in bytes.as_chunks::<4>().0.as_chunks::<2>().0 {
            first = first.wrapping_add(word(*odd)).wrapping_add(second);
            second = second.wrapping_add(word(*even)).wrapping_add(first);
        }
        self.sums = [first, second];
    }

    /// Returns whether this is the checksum in 8 bytes of a header.
    fn is(&self, stored: &[u8]) -> bool {
        let [first, second] = self.sums.map(u32::to_be_bytes);
        stored == [first, second].as_flattened()
    }
}
