//! A database server that is further away: passes its socket on, delays what is sent, and counts the round trips of the
//! writing connections.

use anyhow::{Context, Result};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// The name of PostgreSQL's socket in its folder.
const SOCKET: &str = ".s.PGSQL.5432";
/// A function in the queries that only writing connections send.
const TAKES_LOCK: &[u8] = b"pg_advisory_xact_lock";

/// Where servers connect instead. The threads end with the connections.
pub(crate) struct Distance {
    folder: tempfile::TempDir,
    trips: Arc<AtomicU64>,
}

impl Distance {
    /// Passes on the socket in this folder. A round trip takes longer by this time.
    pub(crate) fn start(database: &Path, round_trip: Duration) -> Result<Self> {
        let (folder, trips) = (tempfile::Builder::new().prefix("pg").tempdir()?, Arc::new(AtomicU64::new(0)));
        let listener = UnixListener::bind(folder.path().join(SOCKET))?;
        let (to, counted) = (database.join(SOCKET), trips.clone());
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = UnixStream::connect(&to) else { return };
                let _ = connect(near, far, round_trip / 2, &counted);
            }
        });
        Ok(Self { folder, trips })
    }

    /// Returns the URL by which a database is reached through it.
    pub(crate) fn url(&self, url: &str) -> Result<String> {
        let (before, rest) = url.split_once('@').context("the URL has a host")?;
        let (_, name) = rest.split_once('/').context("the URL has a database")?;
        Ok(format!("{before}@{}/{name}", self.folder.path().display().to_string().replace('/', "%2F")))
    }

    /// Returns how often writing connections have sent something so far.
    pub(crate) fn trips(&self) -> f64 {
        self.trips.load(Relaxed) as f64
    }
}

/// Passes on a connection in both directions.
fn connect(near: UnixStream, far: UnixStream, delay: Duration, trips: &Arc<AtomicU64>) -> Result<()> {
    let (near_again, far_again, trips) = (near.try_clone()?, far.try_clone()?, trips.clone());
    thread::spawn(move || {
        let mut is_writer = false;
        pass_on(near, far, delay, |bytes| {
            is_writer = is_writer || bytes.windows(TAKES_LOCK.len()).any(|window| window == TAKES_LOCK);
            if is_writer {
                trips.fetch_add(1, Relaxed);
            }
        });
    });
    thread::spawn(move || pass_on(far_again, near_again, delay, |_| {}));
    Ok(())
}

/// Passes on one direction until it ends. Bytes that arrive during a delay are sent with the delayed ones, as the
/// database's protocol is one of questions and answers.
fn pass_on(mut from: UnixStream, mut to: UnixStream, delay: Duration, mut look: impl FnMut(&[u8])) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        look(&buffer[..count]);
        thread::sleep(delay);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn bytes_are_delayed_and_writers_are_counted() {
        let database = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(database.path().join(SOCKET)).unwrap();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                thread::spawn(move || {
                    let mut buffer = [0; 100];
                    while let Ok(count @ 1..) = stream.read(&mut buffer) {
                        stream.write_all(&buffer[..count]).unwrap();
                    }
                });
            }
        });
        let distance = Distance::start(database.path(), Duration::from_millis(40)).unwrap();
        let url = distance.url("postgres://ada:secret@%2Fold/bench").unwrap();
        assert!(url.starts_with("postgres://ada:secret@%2F") && url.ends_with("/bench"), "{url}");
        let ask = |stream: &mut UnixStream, text: &[u8]| {
            let begun = Instant::now();
            stream.write_all(text).unwrap();
            let mut answer = vec![0; text.len()];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, text);
            assert!(begun.elapsed() >= Duration::from_millis(40));
        };
        let mut reader = UnixStream::connect(distance.folder.path().join(SOCKET)).unwrap();
        ask(&mut reader, b"SELECT 1");
        assert_eq!(distance.trips(), 0.0);
        let mut writer = UnixStream::connect(distance.folder.path().join(SOCKET)).unwrap();
        ask(&mut writer, b"BEGIN; SELECT 1 FROM pg_advisory_xact_lock(7)");
        ask(&mut writer, b"COMMIT");
        assert_eq!(distance.trips(), 2.0);
    }
}
