//! Requests of two processes to one world, with addresses of their own memory and the descriptors that they hold.
//!
//! `messages` sends what no client means; here each call is whole, so that it gets to the simulated kernel: arguments lie in
//! the client's memory and point into it. A client must not reach the other's objects by their numbers.

use std::{
    io::{IoSlice, IoSliceMut},
    os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

use amdgpu_fuzz::{
    arguments::{ARENA, number, request, word},
    reach::Reach,
};
use amdgpu_sim::SimOptions;
use amdgpu_sim_world::{Call, Layout, NodeName, Running, Server, gpus, options};
use amdgpu_winsys::winsys::Errno;
use nix::{
    sys::{
        socket::{
            AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg, send, sendmsg,
            socketpair,
        },
        uio::{RemoteIoVec, process_vm_writev},
    },
    unistd::Pid,
};

static REACH: Reach = Reach::new("two_clients::any_ioctls_of_two_clients_are_answered_and_stay_their_own");

/// A call: the client that makes it, the request's number and shape, the file that it names, and words of the argument.
type Asked = (bool, u8, u8, u8, [(u8, u32); 8]);

/// A client's process.
struct Process {
    child: Child,
    control: OwnedFd,
}

/// A client's connection, its memory, and the node that it opened.
struct Client<'a> {
    process: &'a Process,
    connection: OwnedFd,
    arena: u64,
    node: OwnedFd,
    file: u64,
}

fn world() -> &'static Layout {
    static WORLD: OnceLock<Running> = OnceLock::new();
    WORLD
        .get_or_init(|| {
            let display = Some("320x200".parse().expect("a display"));
            let options = SimOptions { display, ..options(|_| None).expect("the defaults") };
            Server::start(&gpus("navi21").expect("a chip"), options).expect("a world")
        })
        .layout()
}

/// Receives bytes, and the descriptor beside them.
fn receive(from: &OwnedFd, bytes: &mut [u8]) -> Result<(usize, Option<OwnedFd>), Errno> {
    let mut space = nix::cmsg_space!(RawFd);
    let mut parts = [IoSliceMut::new(bytes)];
    let message = recvmsg::<()>(from.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC)?;
    let mut beside: Vec<OwnedFd> = Vec::new();
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(fds) = control {
            beside.extend(fds.into_iter().map(own));
        }
    }
    assert!(beside.len() < 2, "the server sends one descriptor at a time");
    Ok((message.bytes, beside.pop()))
}

#[expect(unsafe_code, reason = "a descriptor that just came")]
fn own(fd: RawFd) -> OwnedFd {
    // SAFETY: the kernel made it for this call, and no other code knows its number.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// The bytes of a message without error.
fn message(call: Call, file: u64, words: [u64; 3]) -> [u8; 40] {
    let mut bytes = [0; 40];
    bytes[..4].copy_from_slice(&(call as u32).to_le_bytes());
    bytes[8..16].copy_from_slice(&file.to_le_bytes());
    for (place, word) in bytes[16..].chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

fn word_at(bytes: &[u8; 40], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("a word"))
}

impl Process {
    fn start() -> Self {
        let (control, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
            .expect("a pair of sockets");
        let child = Command::new(env!("CARGO_BIN_EXE_client"))
            .arg(world().socket())
            .stdin(Stdio::from(theirs))
            .spawn()
            .expect("the client starts");
        Self { child, control }
    }

    /// Has the process connect anew and opens the node with a minor number on that connection.
    fn connect(&self, minor: u64) -> Client<'_> {
        send(self.control.as_raw_fd(), b"?", MsgFlags::MSG_NOSIGNAL).expect("the client lives");
        let mut arena = [0; 8];
        let (_, connection) = receive(&self.control, &mut arena).expect("the client answers");
        let connection = connection.expect("a connection");
        let mut welcome = [0; 40];
        receive(&connection, &mut welcome).expect("a welcome");
        let node = call(&connection, None, Call::Open, 0, [minor, 2, 0]).expect("a node").expect("a descriptor");
        let file = NodeName::of(node.as_raw_fd()).expect("a node's name").file;
        Client { process: self, connection, arena: u64::from_le_bytes(arena), node, file }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes a call whose waits a signal ends at once. Descriptors that are asked for are the node, whatever the number.
fn call(
    connection: &OwnedFd,
    node: Option<&OwnedFd>,
    kind: Call,
    file: u64,
    words: [u64; 3],
) -> Result<Option<OwnedFd>, Errno> {
    let say = |bytes: [u8; 40]| send(connection.as_raw_fd(), &bytes, MsgFlags::MSG_NOSIGNAL).map(drop);
    say(message(kind, file, words))?;
    say(message(Call::Interrupt, 0, [0; 3]))?;
    let mut installed = 100;
    loop {
        let mut answer = [0; 40];
        let (len, beside) = receive(connection, &mut answer)?;
        if len == 0 {
            return Err(Errno::ECONNRESET);
        }
        let kind = word_at(&answer, 0) as u32;
        let errno = (word_at(&answer, 0) >> 32) as i32;
        if kind == Call::Done as u32 {
            return if errno == 0 { Ok(beside) } else { Err(Errno::from_raw(errno)) };
        } else if kind == Call::Fetch as u32 {
            let Some(node) = node else { return Err(Errno::EBADF) };
            let (bytes, fds) = (message(Call::Give, 0, [0; 3]), [node.as_raw_fd()]);
            let beside = [ControlMessage::ScmRights(&fds)];
            sendmsg::<()>(connection.as_raw_fd(), &[IoSlice::new(&bytes)], &beside, MsgFlags::MSG_NOSIGNAL, None)?;
        } else if kind == Call::Install as u32 {
            drop(beside);
            installed += 1;
            say(message(Call::Installed, 0, [installed, 0, 0]))?;
        } else {
            panic!("the server says {answer:?}");
        }
    }
}

impl Client<'_> {
    /// Fills the memory with bytes, over and over.
    fn fill(&self, bytes: &[u8]) {
        let mut all = bytes.repeat(ARENA as usize / bytes.len());
        all.resize(ARENA as usize, 0);
        let remote = [RemoteIoVec { base: self.arena as usize, len: all.len() }];
        let pid = Pid::from_raw(self.process.child.id().cast_signed());
        assert_eq!(process_vm_writev(pid, &[IoSlice::new(&all)], &remote), Ok(all.len()), "a parent may write");
    }

    fn ioctl(&self, file: u64, request: u32) -> Result<Option<OwnedFd>, Errno> {
        let words = [request.into(), self.arena, self.node.as_raw_fd().cast_unsigned().into()];
        call(&self.connection, Some(&self.node), Call::Ioctl, file, words)
    }
}

/// The world's own count: everything of a client that is gone is gone.
fn is_empty(process: &Process) -> bool {
    send(process.control.as_raw_fd(), b"?", MsgFlags::MSG_NOSIGNAL).expect("the client lives");
    let (_, connection) = receive(&process.control, &mut [0; 8]).expect("the client answers");
    let connection = connection.expect("a connection");
    receive(&connection, &mut [0; 40]).expect("a welcome");
    let text = call(&connection, None, Call::Census, 0, [0; 3]).expect("a census").expect("a text");
    let census = std::io::read_to_string(std::fs::File::from(text)).expect("a readable text");
    census.contains("open 0 mapped 0\n") && census.contains(" files 0 bos 0 ")
}

#[test]
fn any_ioctls_of_two_clients_are_answered_and_stay_their_own() {
    let processes = [Process::start(), Process::start()];
    bolero::check!().with_type::<Vec<Asked>>().with_iterations(300).for_each(|asked: &Vec<Asked>| {
        let clients = [processes[0].connect(0), processes[1].connect(128)];
        let mut granted = false;
        for &(whose, raw, shape, named, words) in asked.iter().take(24) {
            let (client, other) = (&clients[usize::from(whose)], &clients[usize::from(!whose)]);
            let bytes: Vec<u8> = words.iter().flat_map(|&raw| word(raw, client.arena).to_le_bytes()).collect();
            client.fill(&bytes);
            let request = request(number(raw, shape), shape);
            if named.is_multiple_of(8) {
                // The other's file, which the client's own descriptor does not show.
                let answer = client.ioctl(other.file, request);
                assert_eq!(answer.map(drop), Err(Errno::EBADF), "a client reached the other's file");
            } else {
                granted |= client.ioctl(client.file, request).is_ok();
            }
        }
        REACH.count(granted);
    });
    // What waits in a ring ends with the ring's patience.
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_empty(&processes[0]) {
        assert!(Instant::now() < deadline, "something is left of clients that are gone");
        std::thread::sleep(Duration::from_millis(20));
    }
    REACH.report();
}
