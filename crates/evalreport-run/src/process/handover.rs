//! Handing open files to another process over a socket (unix(7), `SCM_RIGHTS`).

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Maximum number of files handed over at once.
const MAX_FILES: usize = 8;

/// Sends files to another process.
pub fn send_files(line: &UnixStream, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !beside.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // The message must carry at least one byte.
    sendmsg(
        line,
        &[IoSlice::new(b"\n")],
        &mut beside,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// Receives files. Returns an empty list if the other process has ended.
pub fn receive_files(line: &UnixStream) -> io::Result<Vec<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    recvmsg(
        line,
        &mut [IoSliceMut::new(&mut [0])],
        &mut beside,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let rights = |message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    };
    Ok(beside.drain().filter_map(rights).flatten().collect())
}
