//! A client of a world: a separate process that connects on command.
//!
//! Usage: `client SOCKET`, with a socket as standard input. Each byte that comes is answered with a new connection to the
//! world's server and the address of [`ARENA`] bytes of this process. It ends when the other side does.

use std::{
    fs::File,
    io::{IoSlice, stdin},
    os::fd::{AsFd, AsRawFd},
};

use amdgpu_fuzz::arguments::ARENA;
use amdgpu_sim_world::Call;
use amdgpu_winsys::winsys::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, UnixAddr, connect, recv, sendmsg, socket,
};

fn main() -> Result<(), Errno> {
    let path = std::env::args_os().nth(1).ok_or(Errno::EINVAL)?;
    let server = UnixAddr::new(std::path::Path::new(&path))?;
    let arena = vec![0_u8; ARENA as usize];
    let address = (arena.as_ptr() as u64).to_le_bytes();
    let control = stdin();
    let control = control.as_fd().as_raw_fd();
    while recv(control, &mut [0], MsgFlags::empty())? == 1 {
        let fd = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)?;
        connect(fd.as_raw_fd(), &server)?;
        for (which, path, is_written) in [(0, "/proc/self/mem", true), (1, "/proc/self/maps", false)] {
            let file = File::options().read(true).write(is_written).open(path).map_err(|_| Errno::EACCES)?;
            let mut message = [0; 40];
            message[..4].copy_from_slice(&(Call::Memory as u32).to_le_bytes());
            message[16] = which;
            let fds = [file.as_raw_fd()];
            let beside = [ControlMessage::ScmRights(&fds)];
            sendmsg::<()>(fd.as_raw_fd(), &[IoSlice::new(&message)], &beside, MsgFlags::empty(), None)?;
        }
        let fds = [fd.as_raw_fd()];
        let beside = [ControlMessage::ScmRights(&fds)];
        sendmsg::<()>(control, &[IoSlice::new(&address)], &beside, MsgFlags::empty(), None)?;
    }
    Ok(())
}
