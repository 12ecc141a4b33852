//! The prefetch parser of graphics rings: what it reads for packets may be older than what ME, DMA and shaders have written before, as
//! long as nothing makes it wait.

use std::sync::Arc;

use amdgpu_sim::{
    HazardKind, Strictness,
    gpu::{Client, Reach, Scene, Shaders, Unfinished, Work},
};
use amdgpu_winsys::{
    cs::{
        Stream,
        pm4::{
            AcquireMem, CacheActions, Compare, CpDma, EndOfPipe, Event, EventWrite, IndirectBuffer, PfpSyncMe, Target,
            WaitRegMem, WriteData,
        },
    },
    vamgr::GpuVa,
    winsys::{GfxLevel, Ip},
};
use parking_lot::Mutex;

use crate::{CHIPS, Rig, order::skip_if_zero, start_alone};

/// A read by PFP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    Condition,
    Arguments,
    Indices,
    Commands,
}

/// The write before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Write {
    Packet,
    Dma,
    EndOfPipe,
    Shader,
}

/// The packet that makes PFP wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    None,
    Sync,
    Acquire,
}

const NEW: u32 = 2;

/// A shader executor whose first dispatch stores, if it is to, and which remembers the sizes of dispatches and the first indices of
/// draws.
struct Probe {
    stores: Mutex<Option<GpuVa>>,
    found: Arc<Mutex<Vec<u32>>>,
}

impl Shaders for Probe {
    fn run(&self, work: &Work, scene: &Scene<'_>) -> Result<(), Unfinished> {
        match work {
            Work::Dispatch(dispatch) => match self.stores.lock().take() {
                Some(va) => scene.memory.write(va, &NEW.to_le_bytes()).unwrap(),
                None => self.found.lock().push(dispatch.groups[0]),
            },
            Work::Draw(draw) => {
                let mut bytes = [0; 4];
                scene.memory.route(Client::Indices, Reach::Device);
                scene.memory.read(draw.indices.unwrap().va, &mut bytes).unwrap();
                self.found.lock().push(u32::from_le_bytes(bytes));
            }
            _ => {}
        }
        Ok(())
    }
}

fn raw(stream: &mut Stream<Target>, dwords: &[u32]) {
    stream.reserve(dwords.len()).unwrap().copy_from_slice(dwords);
}

fn halves(va: GpuVa) -> [u32; 2] {
    [va.as_u64() as u32, (va.as_u64() >> 32) as u32]
}

/// The commands that store a dword behind the first page, as an IB.
fn commands(rig: &Rig, value: u32) -> [u32; 8] {
    let [low, high] = halves(rig.at(4096));
    // WRITE_DATA to memory with a confirmation, and NOP.
    [0xc003_3700, 1 << 20 | 5 << 8, low, high, value, 0xc001_1000, 0, 0]
}

impl Read {
    /// Returns the offset of the dword that is written before, and its value before that.
    fn written(self) -> (u64, u32) {
        match self {
            Self::Condition => (0, 0),
            Self::Arguments | Self::Indices => (0, 1),
            Self::Commands => (16, 1),
        }
    }

    fn prepare(self, rig: &Rig) {
        let dwords = match self {
            Self::Condition => vec![0],
            Self::Arguments => vec![1, 1, 1],
            Self::Indices => vec![1],
            Self::Commands => commands(rig, 1).to_vec(),
        };
        (0..).step_by(4).zip(dwords).for_each(|(at, value)| rig.poke(at, value));
    }

    fn record(self, rig: &Rig, stream: &mut Stream<Target>) {
        let [low, high] = halves(rig.at(0));
        match self {
            Self::Condition => {
                skip_if_zero(rig, stream, 5);
                stream.push(&WriteData::new(rig.at(4096), &[NEW])).unwrap();
            }
            // SET_BASE, and DISPATCH_INDIRECT at an offset.
            Self::Arguments => raw(stream, &[0xc002_1100, 1, low, high, 0xc001_1602, 0, 1]),
            // DRAW_INDEX_2.
            Self::Indices => raw(stream, &[0xc004_2700, 1, low, high, 1, 0]),
            Self::Commands => stream.push(&IndirectBuffer::call(rig.at(0), 8)).unwrap(),
        }
    }
}

/// Runs a write, what makes PFP wait, and a read. Returns the hazards, and the value that was found.
fn run(chip: &str, strictness: Strictness, (write, read, join): (Write, Read, Join)) -> (Vec<HazardKind>, u32) {
    let rig = Rig::strictly(chip, Ip::Gfx, strictness);
    let (offset, old) = read.written();
    let target = rig.at(offset);
    let found = Arc::<Mutex<Vec<u32>>>::default();
    let stores = Mutex::new((write == Write::Shader).then_some(target));
    rig.gpu.plug_shaders(Arc::new(Probe { stores, found: Arc::clone(&found) }));
    read.prepare(&rig);
    rig.poke(2048, NEW);
    rig.run(|stream| {
        match write {
            Write::Packet => stream.push(&WriteData::new(target, &[NEW])).unwrap(),
            Write::Dma => stream.push(&CpDma::copy(rig.level(), target, rig.at(2048), 4).with_sync(true)).unwrap(),
            Write::EndOfPipe => {
                stream.end_of_pipe(EndOfPipe::fence(target, NEW)).unwrap();
                stream.push(&WaitRegMem::new(target, Compare::Equal, NEW)).unwrap();
            }
            Write::Shader => {
                start_alone(stream);
                stream.push(&EventWrite::new(Event::CS_PARTIAL_FLUSH)).unwrap();
            }
        }
        match join {
            Join::None => {}
            Join::Sync => stream.push(&PfpSyncMe).unwrap(),
            Join::Acquire => {
                stream.push(&AcquireMem::all(rig.target(), CacheActions::INVALIDATE_VECTOR)).unwrap();
            }
        }
        read.record(&rig, stream);
    });
    let found = match read {
        Read::Condition | Read::Commands => rig.peek(4096),
        Read::Arguments | Read::Indices => found.lock().first().copied().unwrap(),
    };
    let is_plain = found == old || found == NEW;
    assert!(is_plain, "{chip} {write:?} {read:?} {join:?}: {found}");
    (rig.kinds(), found)
}

#[test]
fn what_the_prefetch_parser_reads_is_new_once_it_has_waited_and_may_be_old_before() {
    let chips = CHIPS.into_iter().chain(["bonaire", "raven", "navi14", "gfx1201"]);
    for chip in chips {
        let level = Rig::new(chip, Ip::Gfx).level();
        for write in [Write::Packet, Write::Dma, Write::EndOfPipe, Write::Shader] {
            // Elsewhere what shaders have stored is written back first, for which PFP waits.
            if write == Write::Shader && !(GfxLevel::Gfx9..GfxLevel::Gfx12).contains(&level) {
                continue;
            }
            for read in [Read::Condition, Read::Arguments, Read::Indices, Read::Commands] {
                let case = format!("{chip} {write:?} {read:?}");
                let old = read.written().1;
                let one = |strictness, join| run(chip, strictness, (write, read, join));
                assert_eq!(one(Strictness::Report, Join::None).0, [HazardKind::Ahead], "{case}");
                assert_eq!(one(Strictness::Report, Join::Sync).0, [], "{case}");
                assert_eq!(one(Strictness::Late, Join::None), (vec![], old), "{case}");
                assert_eq!(one(Strictness::Late, Join::Sync), (vec![], NEW), "{case}");
                if level >= GfxLevel::Gfx10 {
                    assert_eq!(one(Strictness::Report, Join::Acquire).0, [], "{case}");
                    assert_eq!(one(Strictness::Late, Join::Acquire), (vec![], NEW), "{case}");
                }
            }
        }
    }
}
