//! Two files do anything with BOs, in any order: usage stays within the heaps, contents stay, and nothing is left.

use std::{
    collections::HashMap,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
};

use amdgpu_winsys::{
    uapi::{
        GEM_OP_SET_PLACEMENT, GemCreateFlags, GemDomain, GemOp, MemoryInfo, PRIME_FD_TO_HANDLE, PrimeHandle, query,
    },
    winsys::Ip,
};
use proptest::prelude::*;

use crate::support::{Chunk, DATA, Job, Rig, card};

const GIB: u64 = 1 << 30;
const VRAM: GemDomain = GemDomain::VRAM;
const GTT: GemDomain = GemDomain::GTT;
/// Base of the BOs' addresses, each at a place of its own.
const VA: u64 = 0x100_0000_0000;

#[derive(Clone, Debug)]
enum Op {
    Create {
        file: usize,
        gib: u64,
        domains: GemDomain,
    },
    Close {
        file: usize,
        which: usize,
    },
    /// Into the other file.
    Share {
        file: usize,
        which: usize,
    },
    Submit {
        file: usize,
        which: Vec<usize>,
    },
    SetPlacement {
        file: usize,
        which: usize,
        domains: GemDomain,
    },
    Bind {
        file: usize,
        which: usize,
    },
}

fn any_op() -> impl Strategy<Value = Op> {
    let (file, which) = (|| 0..2_usize, any::<usize>);
    let domains = || prop::sample::select(vec![VRAM, GTT, VRAM | GTT]);
    prop_oneof![
        4 => (file(), 1..8_u64, domains()).prop_map(|(file, gib, domains)| Op::Create { file, gib, domains }),
        2 => (file(), which()).prop_map(|(file, which)| Op::Close { file, which }),
        2 => (file(), which()).prop_map(|(file, which)| Op::Share { file, which }),
        4 => (file(), prop::collection::vec(which(), 0..3)).prop_map(|(file, which)| Op::Submit { file, which }),
        1 => (file(), which(), domains()).prop_map(|(file, which, domains)| Op::SetPlacement { file, which, domains }),
        1 => (file(), which()).prop_map(|(file, which)| Op::Bind { file, which }),
    ]
}

/// The BO of a handle: its number, which is written into it, and its size.
type Known = (u32, u64);

/// As much as two BOs can always change places beside: of memory that is full to the last page nothing can be moved, and
/// what would have to be is ENOMEM.
const MOST_BYTES: u64 = 56 * GIB;

/// Two files, the handles they have, and how many BOs there ever were.
struct World {
    rigs: [Rig; 2],
    handles: [HashMap<u32, Known>; 2],
    made: u32,
}

impl World {
    fn pick(&self, file: usize, which: usize) -> Option<(u32, Known)> {
        let mut handles: Vec<_> = self.handles[file].iter().map(|(&handle, &known)| (handle, known)).collect();
        handles.sort_unstable();
        which.checked_rem(handles.len()).map(|index| handles[index])
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Create { file, gib, domains } => {
                let live: HashMap<u32, u64> = self.handles.iter().flat_map(HashMap::values).copied().collect();
                if live.values().sum::<u64>() + gib * GIB > MOST_BYTES {
                    return;
                }
                let rig = &self.rigs[file];
                let Ok(handle) = rig.file.try_create(gib * GIB, 0, domains, GemCreateFlags::empty()) else { return };
                self.made += 1;
                let va = place(self.made);
                rig.file.bind(handle, va, gib * GIB).unwrap();
                rig.poke(0, self.made);
                run(rig, handle, &rig.copy(DATA, va));
                self.handles[file].insert(handle, (self.made, gib * GIB));
            }
            Op::Close { file, which } => {
                let Some((handle, _)) = self.pick(file, which) else { return };
                self.rigs[file].file.close(handle).unwrap();
                self.handles[file].remove(&handle);
            }
            Op::Share { file, which } => {
                let Some((handle, known)) = self.pick(file, which) else { return };
                let mut export = PrimeHandle { handle, flags: 0, fd: -1 };
                self.rigs[file].file.send(&mut export).unwrap();
                let fd = owned(export.fd);
                let mut import = PrimeHandle { handle: 0, flags: 0, fd: fd.as_raw_fd() };
                self.rigs[1 - file].file.send_as(PRIME_FD_TO_HANDLE, &mut import).unwrap();
                let before = self.handles[1 - file].insert(import.handle, known);
                assert!(before.is_none_or(|before| before == known), "one handle for one BO");
            }
            Op::Submit { file, ref which } => {
                let mut listed: Vec<u32> =
                    which.iter().filter_map(|&which| self.pick(file, which)).map(|(handle, _)| handle).collect();
                listed.sort_unstable();
                listed.dedup();
                let rig = &self.rigs[file];
                let job = Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, rig.ib(&[]))).with(Chunk::bos(&listed));
                // What does not fit together is ENOMEM.
                if let Ok(number) = job.send(&rig.file) {
                    rig.finish(Ip::Gfx, 0, number).unwrap();
                }
            }
            Op::SetPlacement { file, which, domains } => {
                let Some((handle, _)) = self.pick(file, which) else { return };
                let mut request = GemOp { handle, op: GEM_OP_SET_PLACEMENT, value: domains.bits() };
                self.rigs[file].file.send(&mut request).unwrap();
            }
            Op::Bind { file, which } => {
                let Some((handle, (number, size))) = self.pick(file, which) else { return };
                // Bound already is EINVAL.
                let _ = self.rigs[file].file.bind(handle, place(number), size);
            }
        }
    }

    fn check(&self) {
        let memory: MemoryInfo = self.rigs[0].file.info(query::MEMORY, [0; 4]).unwrap();
        for heap in [memory.vram, memory.cpu_accessible_vram, memory.gtt] {
            assert!(heap.heap_usage <= heap.total_heap_size);
        }
        let live: HashMap<u32, u64> = self.handles.iter().flat_map(HashMap::values).copied().collect();
        let own = self.rigs.iter().map(|rig| rig.file.0.census().handles).sum::<usize>() - self.handles_count();
        assert_eq!(own, 4, "two of each rig's own");
        let used = memory.vram.heap_usage + memory.gtt.heap_usage;
        assert!(used <= live.values().sum::<u64>() + 4 * (1 << 20), "no more than there is");
    }

    fn handles_count(&self) -> usize {
        self.handles.iter().map(HashMap::len).sum()
    }
}

/// Returns the address at which a BO is bound in every file.
fn place(number: u32) -> u64 {
    VA + u64::from(number) * 16 * GIB
}

/// A program that uses one BO, done when it returns.
fn run(rig: &Rig, bo: u32, program: &[u32]) {
    let listed = Chunk::bos(&[rig.ibs, rig.data, bo]);
    let job = Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, rig.ib(program))).with(listed);
    rig.finish(Ip::Gfx, 0, job.send(&rig.file).unwrap()).unwrap();
}

#[expect(unsafe_code, reason = "a descriptor that an ioctl answered")]
fn owned(fd: i32) -> OwnedFd {
    // SAFETY: the kernel just made it, and no other code has it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    // Checks R59 and R118.
    #[test]
    fn any_order_keeps_contents_and_ends_at_zero(ops in prop::collection::vec(any_op(), 0..40)) {
        let device = card();
        let rigs = [Rig::new(&device), Rig::new(&device)];
        let mut world = World { rigs, handles: Default::default(), made: 0 };
        for op in &ops {
            world.apply(op);
            world.check();
        }
        for (rig, handles) in world.rigs.iter().zip(&world.handles) {
            for (&handle, &(number, size)) in handles {
                let _ = rig.file.bind(handle, place(number), size);
                run(rig, handle, &rig.copy(place(number), DATA));
                prop_assert_eq!(rig.load(0), number);
            }
        }
        drop(world);
        let census = device.census();
        prop_assert_eq!((census.bos, census.vram_bytes, census.gtt_bytes), (0, 0, 0));
    }
}
