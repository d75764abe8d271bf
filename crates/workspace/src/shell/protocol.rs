//! The protocol between the server and the process of a script. They use a socket, which is the standard input of
//! the process. A message has the lengths of its two parts (four bytes each, big-endian), a description as JSON, and
//! bytes.
//!
//! The server sends [`Start`], and answers each [`Message::Read`]. The last message is [`Message::Done`] or
//! [`Message::Ended`]. The end of the socket tells the process that the server has gone.

use crate::section::{ShellSettings, WorkspaceLimits};
use crate::tree::FileEntry;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The longest description in bytes. It may have the paths of all files.
const MAX_DESCRIPTION: usize = 4 << 20;

/// The first message of the server.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) script: String,
    pub(super) settings: ShellSettings,
    pub(super) limits: WorkspaceLimits,
    /// The files by their paths.
    pub(super) files: Vec<(String, FileEntry)>,
    /// For the programs of the machine: the arguments with which this program becomes the first process of a sandbox.
    pub(super) confined: Vec<String>,
}

/// The answer of the server to [`Message::Read`].
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Answer {
    /// The number of the question.
    pub(super) no: u64,
    pub(super) outcome: ReadOutcome,
}

/// The outcome of a request for the content of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ReadOutcome {
    /// The content is in the bytes.
    Content,
    /// It may not be read, for this reason.
    Refused(String),
    /// The store failed.
    Failed,
}

/// A message of the process.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Message {
    /// It needs the content of a file. A command that is ended does not wait for the answer, so the questions
    /// have numbers.
    Read { no: u64, path: String },
    /// A file was written; its content is in the bytes.
    Written(String),
    /// The script continues. The bytes are the end of what it has written so far.
    Progress,
    /// The script has ended by itself. The bytes are its output.
    Done(Done),
    /// The script was ended, for this reason.
    Ended(String),
    /// Scripts cannot run at this level; the reason is for the operator.
    Unavailable(String),
}

/// The result of a script that has ended by itself.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) exit_code: i32,
    /// How many of the bytes were written to standard output; the others were written to standard error.
    pub(super) stdout_bytes: usize,
    pub(super) is_truncated: bool,
    /// The paths of the files that are there and were not written.
    pub(super) kept: Vec<String>,
    /// The files that cannot be stored, each with the reason.
    pub(super) left_out: Vec<String>,
    /// Why nothing can be stored.
    pub(super) refused: Option<String>,
}

fn lengths(prefix: [u8; 8], most: usize) -> io::Result<(usize, usize)> {
    let [a, b, c, d, e, f, g, h] = prefix;
    let length = |bytes: [u8; 4]| u32::from_be_bytes(bytes) as usize;
    let (description, bytes) = (length([a, b, c, d]), length([e, f, g, h]));
    if description > MAX_DESCRIPTION || bytes > most {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a message is longer than allowed"));
    }
    Ok((description, bytes))
}

/// Returns the lengths and the description.
fn head(description: &impl Serialize, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let description = serde_json::to_vec(description)?;
    let prefix = |length: usize| u32::try_from(length).map(u32::to_be_bytes).map_err(io::Error::other);
    Ok([&prefix(description.len())?[..], &prefix(bytes.len())?[..], &description[..]].concat())
}

/// Sends a message.
///
/// # Errors
/// The socket is closed.
pub(super) async fn send(
    socket: &mut (impl AsyncWrite + Unpin),
    description: &impl Serialize,
    bytes: &[u8],
) -> io::Result<()> {
    socket.write_all(&head(description, bytes)?).await?;
    socket.write_all(bytes).await
}

/// Receives a message with at most this many bytes beside its description.
///
/// # Errors
/// The socket is closed, or what comes is not a message.
pub(super) async fn receive<T: for<'d> Deserialize<'d>>(
    socket: &mut (impl AsyncRead + Unpin),
    most: usize,
) -> io::Result<(T, Vec<u8>)> {
    let mut prefix = [0; 8];
    socket.read_exact(&mut prefix).await?;
    let (description, bytes) = lengths(prefix, most)?;
    let (mut parts, mut content) = (Vec::new(), Vec::new());
    socket.take(description as u64).read_to_end(&mut parts).await?;
    let got = socket.take(bytes as u64).read_to_end(&mut content).await?;
    if got < bytes {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((serde_json::from_slice(&parts)?, content))
}

/// Sends a message, as [`send`], on this thread.
pub(super) fn send_blocking(socket: &mut impl Write, description: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
    socket.write_all(&head(description, bytes)?)?;
    socket.write_all(bytes)
}

/// Receives a message, as [`receive`], on this thread.
pub(super) fn receive_blocking<T: for<'d> Deserialize<'d>>(
    socket: &mut impl Read,
    most: usize,
) -> io::Result<(T, Vec<u8>)> {
    let mut prefix = [0; 8];
    socket.read_exact(&mut prefix)?;
    let (description, bytes) = lengths(prefix, most)?;
    let (mut parts, mut content) = (Vec::new(), Vec::new());
    socket.by_ref().take(description as u64).read_to_end(&mut parts)?;
    let got = socket.by_ref().take(bytes as u64).read_to_end(&mut content)?;
    if got < bytes {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((serde_json::from_slice(&parts)?, content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = receive_blocking::<Message>(&mut &bytes[..], 100);
        }

        #[test]
        fn what_is_sent_is_received(path in ".*", bytes in prop::collection::vec(any::<u8>(), 0..100), more in any::<bool>()) {
            let (mut sent, message) = (Vec::new(), Message::Written(path));
            send_blocking(&mut sent, &message, &bytes).unwrap();
            let most = bytes.len() - usize::from(more && !bytes.is_empty());
            let is_allowed = most == bytes.len();
            let received = receive_blocking::<Message>(&mut &sent[..], most);
            prop_assert_eq!(received.ok(), is_allowed.then_some((message, bytes)));
            // A part of a message is none.
            sent.pop();
            prop_assert!(receive_blocking::<Message>(&mut &sent[..], most).is_err());
        }
    }
}
