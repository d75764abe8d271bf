//! Messages between the process that makes a sandbox and the first process in it, with open files.

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// The most files of a message.
const MAX_FILES: usize = 16;
/// The longest message in bytes.
const MAX_MESSAGE: usize = 1 << 20;

/// Sends a message with open files.
pub(super) fn send(socket: &UnixStream, message: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let length = u32::try_from(message.len()).map_err(io::Error::other)?.to_be_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::other("a message has too many files"));
    }
    let sent = sendmsg(socket, &[IoSlice::new(&length)], &mut control, SendFlags::NOSIGNAL)?;
    let mut socket = socket;
    socket.write_all(&length[sent..])?;
    socket.write_all(message)
}

/// Receives a message with open files.
pub(super) fn receive(socket: &UnixStream) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let (mut length, mut files) = ([0; 4], Vec::new());
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut length)], &mut control, RecvFlags::CMSG_CLOEXEC)?.bytes;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            files.extend(received);
        }
    }
    if received == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut socket = socket;
    socket.read_exact(&mut length[received..])?;
    let length = u32::from_be_bytes(length) as usize;
    if length > MAX_MESSAGE {
        return Err(io::Error::other("a message is longer than allowed"));
    }
    let mut message = Vec::new();
    if socket.take(length as u64).read_to_end(&mut message)? < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((message, files))
}
