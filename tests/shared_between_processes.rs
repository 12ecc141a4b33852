//! A descriptor goes to another process over a socket (SCM_RIGHTS), is used there, and comes back.
//!
//! In a program of its own, because it runs itself again as the other process.

mod support;

use std::{
    env,
    io::{IoSlice, IoSliceMut},
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        unix::net::UnixStream,
    },
    process::{Command, Stdio},
};

use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_winsys::{
    heaps::{AllocateFlags, AllocateInfo, ExternalHandleTypes, ImportInfo, MemoryManager, TableOptions},
    winsys::Device,
};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use support::chip;

/// Set in the other process.
const OTHER: &str = "AMDGPU_WINSYS_TEST_OTHER_PROCESS";
/// Cached system memory on the RX 6800.
const CACHED: u32 = 5;
const SIZE: u64 = 64 << 10;

fn send(socket: &UnixStream, fd: &OwnedFd) {
    let fds = [fd.as_raw_fd()];
    let message = [ControlMessage::ScmRights(&fds)];
    sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(b"m")], &message, MsgFlags::empty(), None).unwrap();
}

fn receive(socket: &UnixStream) -> OwnedFd {
    let mut byte = [0];
    let mut bytes = [IoSliceMut::new(&mut byte)];
    let mut space = nix::cmsg_space!([i32; 1]);
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut bytes, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC).unwrap();
    let fds = message.cmsgs().unwrap().find_map(|part| match part {
        ControlMessageOwned::ScmRights(fds) => Some(fds),
        _ => None,
    });
    let [fd] = fds.unwrap_or_default()[..] else { panic!("not one descriptor") };
    #[expect(unsafe_code, reason = "a received descriptor has no owner yet")]
    // SAFETY: the kernel installed it with the message just now.
    unsafe {
        OwnedFd::from_raw_fd(fd)
    }
}

/// Runs the other process: it knows the descriptor and nothing else.
fn other_process() {
    let input = std::io::stdin().as_raw_fd();
    #[expect(unsafe_code, reason = "the socket is our standard input")]
    // SAFETY: no other code in this process uses standard input.
    let socket = UnixStream::from(unsafe { OwnedFd::from_raw_fd(input) });
    let dma_buf = receive(&socket);
    let file = std::fs::File::from(dma_buf.try_clone().unwrap());
    let mut seen = [0; 4];
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut seen, 0).unwrap();
    assert_eq!(&seen, b"here");
    std::os::unix::fs::FileExt::write_all_at(&file, b"there", 4096).unwrap();
    send(&socket, &dma_buf);
    std::mem::forget(socket);
}

#[test]
fn a_descriptor_that_went_round_through_another_process_is_the_same_memory() {
    if env::var_os(OTHER).is_some() {
        return other_process();
    }
    let gpu = SimDevice::new(chip("navi21"), SimOptions::default());
    let manager = MemoryManager::new(&Device::new(gpu.open()).unwrap(), &TableOptions::default()).unwrap();
    let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(CACHED, SIZE) };
    let memory = manager.allocate(&info).unwrap();
    memory.map().unwrap().write(0, b"here").unwrap();

    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut other = Command::new(env::current_exe().unwrap())
        .args(["--exact", "a_descriptor_that_went_round_through_another_process_is_the_same_memory", "--nocapture"])
        .env(OTHER, "1")
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    send(&ours, &memory.export(ExternalHandleTypes::OPAQUE_FD).unwrap());
    let back = receive(&ours);
    assert!(other.wait().unwrap().success());

    let again = manager.import_fd(back, &ImportInfo::new(CACHED, SIZE)).unwrap();
    assert_eq!(again.bo().handle(), memory.bo().handle(), "one object");
    assert_eq!(manager.usage_tracker().usage().gtt, SIZE);
    let mut seen = [0; 5];
    memory.map().unwrap().read(4096, &mut seen).unwrap();
    assert_eq!(&seen, b"there");
    // Another open file imports it too.
    let elsewhere = MemoryManager::new(&Device::new(gpu.open()).unwrap(), &TableOptions::default()).unwrap();
    let fd = again.export(ExternalHandleTypes::DMA_BUF).unwrap();
    drop((memory, again));
    let imported = elsewhere.import_fd(fd, &ImportInfo::new(CACHED, SIZE)).unwrap();
    imported.map().unwrap().read(4096, &mut seen).unwrap();
    assert_eq!(&seen, b"there");
    drop(imported);
    assert_eq!(gpu.census().bos, 0);
}
