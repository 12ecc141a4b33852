//! The library's accounts in several processes on one GPU.

use std::{
    io::{IoSlice, Read as _, Write as _},
    os::{
        fd::{AsFd as _, AsRawFd as _, OwnedFd},
        unix::net::UnixStream,
    },
    path::Path,
    process::{Command, Stdio},
};

use amdgpu_winsys::{
    heaps::{AllocateFlags, AllocateInfo, DeviceMemory, MemoryManager, TableOptions},
    winsys::{Bo, Device},
};
use nix::{
    sys::{
        socket::{ControlMessage, MsgFlags, sendmsg},
        wait::{WaitStatus, waitpid},
    },
    unistd::ForkResult,
};

use crate::{descriptors::receive, node::RENDER};

const MIB: u64 = 1 << 20;

fn device() -> Device {
    Device::open(Path::new(RENDER)).expect("the device")
}

fn manager(device: &Device) -> MemoryManager {
    MemoryManager::new(device, &TableOptions::default()).expect("its memory")
}

/// Returns the bytes on a device's own accounts.
fn own(device: &Device) -> u64 {
    device.usage_tracker().usage().total()
}

/// Returns the bytes of all processes together on the GPU.
fn on_gpu(device: &Device) -> u64 {
    let info = device.memory_info().expect("MEMORY");
    info.vram.heap_usage + info.gtt.heap_usage
}

/// System memory that can be shared, and mapped.
fn shared(manager: &MemoryManager, size: u64) -> DeviceMemory {
    let cached = manager.properties().host_pointer_types().iter().next().expect("a type for host memory");
    let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(cached, size) };
    manager.allocate(&info).expect("memory")
}

/// Waits until the other process has said so, or says so.
fn hear(peer: &mut UnixStream) {
    peer.read_exact(&mut [0]).expect("the other client");
}

fn tell(peer: &mut UnixStream) {
    peer.write_all(b"!").expect("the other client");
}

/// A program that makes memory and gives it to another program.
pub(crate) fn first_client() {
    let device = device();
    let manager = manager(&device);
    let before = on_gpu(&device);
    let memory = shared(&manager, MIB);
    memory.map().expect("a mapping").store_u32(0, 7).expect("inside");
    let file = memory.bo().export().expect("an export");
    let again = Bo::import(&device, &file).expect("an import at home");
    assert_eq!((own(&device), on_gpu(&device) - before), (MIB, MIB), "its own export, imported, is no second memory");

    let (mut peer, theirs) = UnixStream::pair().expect("a pair");
    let program = std::env::current_exe().expect("this program");
    let mut second =
        Command::new(program).arg("second-client").stdin(Stdio::from(OwnedFd::from(theirs))).spawn().expect("a client");
    let rights = [file.as_raw_fd()];
    let message = ControlMessage::ScmRights(&rights);
    sendmsg::<()>(peer.as_raw_fd(), &[IoSlice::new(b"x")], &[message], MsgFlags::empty(), None).expect("sendmsg");
    drop(file);
    hear(&mut peer);
    assert_eq!((own(&device), on_gpu(&device) - before), (MIB, MIB), "the other client's import is no second memory");
    drop((memory, again));
    assert_eq!((own(&device), on_gpu(&device) - before), (0, MIB), "the other client still has it");
    tell(&mut peer);
    hear(&mut peer);
    assert_eq!((own(&device), on_gpu(&device)), (0, before), "and now nobody has");
    tell(&mut peer);
    assert!(second.wait().expect("the other client").success());
}

/// The program that gets it: on standard input, as the only thing it knows.
pub(crate) fn second_client() {
    let input = std::io::stdin().as_fd().try_clone_to_owned().expect("standard input");
    let file = receive(&input);
    let mut peer = UnixStream::from(input);
    let device = device();
    let before = on_gpu(&device);
    let bo = Bo::import(&device, &file).expect("an import");
    let again = Bo::import(&device, &file).expect("the same import");
    assert_eq!((bo.handle(), own(&device), on_gpu(&device)), (again.handle(), MIB, before));
    drop((again, file));
    assert_eq!(own(&device), MIB, "one of two names is left");
    tell(&mut peer);
    hear(&mut peer);
    let mapping = amdgpu_winsys::winsys::Mapping::new(&bo).expect("a mapping");
    assert_eq!(mapping.load_u32(0), Ok(7), "its maker has let go of it");
    drop((mapping, bo));
    assert_eq!(own(&device), 0);
    tell(&mut peer);
    hear(&mut peer);
}

/// Runs a function in a forked child that leaves by `_exit`: nothing that it has is dropped.
#[expect(unsafe_code, reason = "fork and _exit")]
fn in_child_that_drops_nothing(work: impl FnOnce()) {
    // SAFETY: this scenario has one thread, so the child may do anything.
    match unsafe { nix::unistd::fork() }.expect("fork") {
        ForkResult::Child => {
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            // SAFETY: leaving at once is what is wanted.
            unsafe { libc::_exit(i32::from(done.is_err())) }
        }
        ForkResult::Parent { child } => {
            assert_eq!(waitpid(child, None).expect("the child"), WaitStatus::Exited(child, 0));
        }
    }
}

/// Chance that is the same every time: a linear congruence (Knuth's MMIX).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// A driver, and what it must have.
struct Driver {
    device: Device,
    manager: MemoryManager,
    before: u64,
    /// By number, so that a mapped one can be told by its contents.
    memories: Vec<(u32, DeviceMemory)>,
    /// Exported, with the number of bytes of what they are.
    files: Vec<(u32, u64, OwnedFd)>,
    imports: Vec<(u32, u64, Bo)>,
    next: u32,
}

impl Driver {
    /// Bytes of the objects that the file holds, and of those that live at all: each once.
    fn expected(&self) -> (u64, u64) {
        let memories = self.memories.iter().map(|(id, memory)| (*id, memory.size()));
        let imports = self.imports.iter().map(|(id, size, _)| (*id, *size));
        let mut held: Vec<_> = memories.chain(imports).collect();
        let mut alive = held.clone();
        alive.extend(self.files.iter().map(|(id, size, _)| (*id, *size)));
        let sum = |list: &mut Vec<(u32, u64)>| {
            list.sort_unstable();
            list.dedup();
            list.iter().map(|(_, size)| size).sum()
        };
        (sum(&mut held), sum(&mut alive))
    }

    fn check(&self, what: usize) {
        let (held, alive) = self.expected();
        assert_eq!(own(&self.device), held, "after step {what}");
        // The server is told by the kernel when a child has ended, and has released its file soon.
        while on_gpu(&self.device) - self.before != alive {
            std::thread::yield_now();
        }
        for (id, memory) in &self.memories {
            let word = memory.mapping().map(|mapping| mapping.load_u32(0));
            assert!(word.as_ref().is_none_or(|word| *word == Ok(*id)), "{word:?} in {id} after step {what}");
        }
    }

    fn step(&mut self, chance: &mut Chance) -> usize {
        let what = chance.below(12);
        match what {
            0..3 => {
                let memory = shared(&self.manager, 4096 * (1 + chance.below(16) as u64));
                memory.map().expect("a mapping").store_u32(0, self.next).expect("the mapping has a dword");
                self.memories.push((self.next, memory));
                self.next += 1;
            }
            3..5 if !self.memories.is_empty() => drop(self.memories.swap_remove(chance.below(self.memories.len()))),
            5 | 6 if !self.memories.is_empty() => {
                let (id, memory) = &self.memories[chance.below(self.memories.len())];
                self.files.push((*id, memory.size(), memory.bo().export().expect("an export")));
            }
            7 if !self.files.is_empty() => drop(self.files.swap_remove(chance.below(self.files.len()))),
            8 if !self.files.is_empty() => {
                let (id, size, file) = &self.files[chance.below(self.files.len())];
                self.imports.push((*id, *size, Bo::import(&self.device, file).expect("an import")));
            }
            9 if !self.imports.is_empty() => drop(self.imports.swap_remove(chance.below(self.imports.len()))),
            10 => in_child_that_drops_nothing(|| {}),
            11 => in_child_that_drops_nothing(|| self.as_a_child()),
            _ => {}
        }
        what
    }

    /// Uses the memory as a child may: sees it, and uses a device of its own.
    fn as_a_child(&self) {
        for (id, memory) in &self.memories {
            assert_eq!(memory.mapping().map(|mapping| mapping.load_u32(0)), Some(Ok(*id)), "mappings are inherited");
        }
        let device = device();
        let manager = manager(&device);
        let (mut imports, mut ids, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (id, size, file) in &self.files {
            imports.push(Bo::import(&device, file).expect("an inherited dma-buf"));
            if !ids.contains(id) {
                ids.push(*id);
                bytes += size;
            }
        }
        let memory = shared(&manager, MIB);
        assert_eq!(own(&device), bytes + memory.size(), "the child's ledger is its own");
        let (held, _) = self.expected();
        assert_eq!(own(&self.device), held, "the copy of the parent's ledger is as it was");
        // Nothing is dropped: the kernel takes it back with the file.
        std::mem::forget((imports, memory));
    }
}

/// Allocates, imports, exports, maps, frees and forks by chance, and counts.
pub(crate) fn books() {
    for seed in 1..=8 {
        let device = device();
        let manager = manager(&device);
        let before = on_gpu(&device);
        let (memories, files, imports) = Default::default();
        let mut driver = Driver { device, manager, before, memories, files, imports, next: 1 };
        let mut chance = Chance(seed);
        for _ in 0..60 {
            let what = driver.step(&mut chance);
            driver.check(what);
        }
        driver.memories.clear();
        driver.imports.clear();
        driver.files.clear();
        driver.check(12);
        assert_eq!(own(&driver.device), 0);
    }
}

/// A child that does what it must not: it drops the parent's memory. The parent gets an error that names what is gone, and
/// its other memory is as it was.
pub(crate) fn fork_and_drop() {
    let device = device();
    let manager = manager(&device);
    let (mut lost, kept) = (Some(shared(&manager, MIB)), shared(&manager, MIB));
    kept.map().expect("a mapping").store_u32(0, 5).expect("the mapping has a dword");
    in_child_that_drops_nothing(|| drop(lost.take()));
    let lost = lost.expect("only the child's copy was taken");
    let refused = lost.map().map(drop).expect_err("the handle is closed in the file");
    assert!(format!("{refused:?}").contains("ENOENT"), "{refused:?}");
    assert_eq!(kept.map().expect("a mapping").load_u32(0).expect("the mapping has a dword"), 5);
    drop((lost, kept));
    assert_eq!(own(&device), 0, "the ledger counts what this process holds, not what the file does");
}
