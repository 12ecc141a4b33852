//! Messages of a client of a world's server. A client may be killed in the middle, or be a hostile program.

use std::{
    os::fd::{AsRawFd, OwnedFd},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use amdgpu_fuzz::reach::Reach;
use amdgpu_sim_world::{Call, Connection, Layout, Message, Running, Server, gpus, options};
use nix::{
    errno::Errno,
    sys::socket::{
        AddressFamily, MsgFlags, Shutdown, SockFlag, SockType, UnixAddr, connect, recv, send, shutdown, socket,
    },
};

static REACH: Reach = Reach::new("messages::any_messages_leave_the_server_serving");

/// Kind, errno, file, words, and whether it is cut off.
type Sent = (u8, u8, u8, [u64; 3], bool);

static PANICKED: AtomicBool = AtomicBool::new(false);

/// A server, in this process, whose threads' panics are noticed.
fn world() -> &'static Layout {
    static WORLD: OnceLock<Running> = OnceLock::new();
    WORLD
        .get_or_init(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                PANICKED.store(true, Ordering::Release);
                before(info);
            }));
            Server::start(&gpus("navi21,renoir").expect("chips"), options(|_| None).expect("the defaults"))
                .expect("a world")
        })
        .layout()
}

fn connected(layout: &Layout) -> OwnedFd {
    let fd = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None).expect("a socket");
    connect(fd.as_raw_fd(), &UnixAddr::new(&layout.socket()).expect("a short path")).expect("a server");
    fd
}

/// The bytes of a message: its kind, errno, file, and three words. Addresses are those of nothing, because the process that
/// the server would read and write is this one.
fn bytes(kind: u8, errno: u8, file: u8, words: [u64; 3]) -> [u8; 40] {
    let mut bytes = [0; 40];
    let request = 0xc000_6400 | words[0] & 0x00ff_00ff;
    let words = match kind {
        2 | 3 => [request, words[1] % 4096, words[2] % 4 + 1000],
        _ => words.map(|word| if word >> 63 == 0 { word } else { word % 256 }),
    };
    bytes[..4].copy_from_slice(&u32::from(kind).to_le_bytes());
    bytes[4..8].copy_from_slice(&u32::from(errno).to_le_bytes());
    bytes[8..16].copy_from_slice(&u64::from(file).to_le_bytes());
    for (place, word) in bytes[16..].chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// The server still answers another client.
fn still_serves(layout: &Layout) {
    let connection = Connection::open(&layout.socket()).expect("a server");
    let census = connection.call(&Message::new(Call::Census, 0, [0; 3])).expect("an answer");
    assert!(census.descriptor.is_some());
    assert!(!PANICKED.load(Ordering::Acquire), "a thread of the server panicked");
}

#[test]
fn any_messages_leave_the_server_serving() {
    let layout = world();
    bolero::check!().with_type::<Vec<Sent>>().with_iterations(1_000).for_each(|messages: &Vec<Sent>| {
        let fd = connected(layout);
        let mut answers = 0;
        for &(kind, errno, file, words, odd) in messages.iter().take(24) {
            let message = bytes(kind % 17, errno, file % 8, words);
            let message = if odd { &message[..usize::from(errno) % 40] } else { &message[..] };
            if send(fd.as_raw_fd(), message, MsgFlags::MSG_NOSIGNAL) == Err(Errno::EPIPE) {
                break;
            }
            // Answers and questions are read now and then; what is not read must not hold the server up for others.
            if words[2] % 2 == 0 {
                answers += usize::from(recv(fd.as_raw_fd(), &mut [0; 64], MsgFlags::MSG_DONTWAIT).is_ok());
            }
        }
        // The server answers what it has and then sees the end.
        let _ = shutdown(fd.as_raw_fd(), Shutdown::Write);
        answers += std::iter::repeat_with(|| recv(fd.as_raw_fd(), &mut [0; 64], MsgFlags::empty()))
            .take_while(|received| received.is_ok_and(|len| len > 0))
            .count();
        drop(fd);
        still_serves(layout);
        // The first is the welcome.
        REACH.count(answers > 1);
    });
    REACH.report();
}
