//! Untrusted recordings, which may be damaged or hostile.

use std::{
    cell::Cell,
    error::Error,
    io::{Cursor, Read as _, Write},
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::fs::MetadataExt as _,
    },
    path::{Path, PathBuf},
    ptr::NonNull,
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use amdgpu_fuzz::{
    reach::Reach,
    recordings::{Edit, assemble, edit, records},
};
use amdgpu_layers::{Recording, Replay, Submissions};
use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_winsys::{
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::VaRequest,
    winsys::{Binding, Bo, BoRequest, Deadline, Device, Kernel, Mapping, Syncobj, Until, UserMemory},
};
use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use nix::sys::{
    eventfd::EventFd,
    mman::{MapFlags, ProtFlags, mmap_anonymous},
    stat::fstat,
};

static DAMAGED: Reach = Reach::new("recordings::any_damage_to_a_recording_is_survived");
static EDITED: Reach = Reach::new("recordings::no_recording_touches_what_it_did_not_make");
static ANY: Reach = Reach::new("recordings::any_bytes_are_no_recording_or_one_that_ends");

thread_local! {
    /// `true` if the last life got as far as a device.
    static BORN: Cell<bool> = const { Cell::new(false) };
}

const PAGE: usize = 4096;
/// Pages of the arena, of which the client gives the GPU some.
const PAGES: usize = 8;
const CANARY: u8 = 0xc5;

/// A file in memory that any number of writers share.
#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Memory and descriptors of the client, which nothing else may touch.
struct Belongings {
    /// A file of the client alone, and its content.
    file: std::fs::File,
    identity: (u64, u64),
    arena: NonNull<u8>,
}

// SAFETY: the arena is plain memory that is never unmapped, and only reached through raw copies under the lock below.
#[expect(unsafe_code, reason = "memory of the client's own")]
unsafe impl Send for Belongings {}

const CONTENT: &[u8] = b"the client's own";

impl Belongings {
    #[expect(unsafe_code, reason = "memory of the client's own")]
    fn new() -> Self {
        let fd = nix::sys::memfd::memfd_create(c"client", nix::sys::memfd::MFdFlags::MFD_CLOEXEC).unwrap();
        let mut file = std::fs::File::from(fd);
        file.write_all(CONTENT).unwrap();
        let about = fstat(&file).unwrap();
        let (size, rights) = ((PAGES * PAGE).try_into().unwrap(), ProtFlags::PROT_READ | ProtFlags::PROT_WRITE);
        // SAFETY: no address is asked for, so nothing that exists is replaced.
        let arena = unsafe { mmap_anonymous(None, size, rights, MapFlags::MAP_PRIVATE) }.unwrap();
        Self { file, identity: (about.st_dev, about.st_ino), arena: arena.cast() }
    }

    fn page(&self, index: usize) -> NonNull<u8> {
        assert!(index < PAGES);
        NonNull::new(self.arena.as_ptr().wrapping_add(index * PAGE)).unwrap()
    }

    #[expect(unsafe_code, reason = "memory of the client's own")]
    fn fill(&self, pages: std::ops::Range<usize>) {
        for page in pages {
            // SAFETY: a page of the arena, to which there are no references.
            unsafe { self.page(page).as_ptr().write_bytes(CANARY, PAGE) };
        }
    }

    #[expect(unsafe_code, reason = "memory of the client's own")]
    fn is_whole(&self, mut pages: std::ops::Range<usize>) -> bool {
        pages.all(|page| {
            let mut bytes = [0; PAGE];
            // SAFETY: as above; the copy is ours.
            unsafe { self.page(page).as_ptr().copy_to_nonoverlapping(bytes.as_mut_ptr(), PAGE) };
            bytes == [CANARY; PAGE]
        })
    }

    fn file_is_whole(&self) -> bool {
        use std::os::unix::fs::FileExt as _;
        let mut bytes = [0; 64];
        let about = fstat(&self.file);
        about.is_ok_and(|about| (about.st_dev, about.st_ino) == self.identity)
            && self.file.read_at(&mut bytes, 0).is_ok_and(|len| &bytes[..len] == CONTENT)
    }

    /// A descriptor given to the client is a new one.
    fn check_fresh(&self, fd: &OwnedFd) {
        let number = fd.as_raw_fd();
        assert!(number > 2 && number != self.file.as_raw_fd(), "descriptor {number} is somebody else's");
        let link = std::fs::read_link(format!("/proc/self/fd/{number}")).expect("it is open");
        let link = link.to_string_lossy();
        assert!(link.contains("amdgpu-") || link.starts_with("socket:"), "{link} was given out");
    }
}

fn request(flags: GemCreateFlags) -> BoRequest {
    BoRequest { size: 2 * PAGE as u64, alignment: 0, domains: GemDomain::GTT, flags }
}

/// A life with memory that is the client's alone, memory that the GPU may write, pages of the client's own, descriptors that
/// come and go, and calls after everything was given back.
#[expect(unsafe_code, reason = "memory of the client's own")]
fn live(kernel: impl Kernel + 'static, mine: &Belongings) -> Result<(), Box<dyn Error>> {
    mine.fill(0..PAGES);
    let device = Device::new(kernel)?;
    BORN.set(true);
    let private = Bo::create(&device, request(GemCreateFlags::CPU_ACCESS_REQUIRED))?;
    let shared = Bo::create(&device, request(GemCreateFlags::CPU_ACCESS_REQUIRED))?;
    let (secret, open) = (Mapping::new(&private)?, Mapping::new(&shared)?);
    let pattern = vec![0x5a; 2 * PAGE];
    secret.write(0, &pattern)?;
    // A changed answer may leave the client without a window of addresses.
    let rest: Result<(), Box<dyn Error>> = (|| {
        open.write(0, &[1; 2 * PAGE])?;
        let lease = device.addresses().allocate(VaRequest::new(2 * PAGE as u64))?;
        let rights = VaFlags::READABLE | VaFlags::WRITEABLE;
        let binding = Binding::new(&shared, lease, rights).map_err(|(_, error)| error)?;
        // SAFETY: the pages are the arena's, without references to them, and stay.
        let pages = unsafe { Bo::from_user_memory(&device, UserMemory::new(mine.page(1), 2 * PAGE as u64)) }?;
        let pages = Arc::new(pages);
        let read_only = UserMemory { is_read_only: true, ..UserMemory::new(mine.page(4), 2 * PAGE as u64) };
        // SAFETY: as above.
        let lent = unsafe { Bo::from_user_memory(&device, read_only) }?;
        let lease = device.addresses().allocate(VaRequest::new(2 * PAGE as u64))?;
        let bound = Binding::new(&pages, lease, rights).map_err(|(_, error)| error)?;
        device.ping()?;
        assert!(mine.is_whole(0..1) && mine.is_whole(3..PAGES), "the GPU wrote beside the pages that are its own");
        drop((bound, pages));
        mine.fill(1..3);
        device.ping()?;
        drop(lent);
        let dma_buf = shared.export()?;
        mine.check_fresh(&dma_buf);
        drop(Bo::import(&device, &dma_buf)?);
        let syncobj = Syncobj::new(&device, true)?;
        for fd in [syncobj.export()?, syncobj.export_sync_file()?] {
            mine.check_fresh(&fd);
        }
        let counter = EventFd::new().expect("an eventfd");
        syncobj.notify(0, Until::Signalled, counter.as_fd())?;
        let _ = syncobj.notify(0, Until::Signalled, mine.file.as_fd());
        syncobj.wait(Deadline::POLL)?;
        open.write(0, &[2; 2 * PAGE])?;
        drop(binding);
        shared.wait_idle(Deadline::POLL)?;
        Ok(device.ping()?)
    })();
    let mut seen = vec![0; 2 * PAGE];
    secret.read(0, &mut seen)?;
    assert!(seen == pattern, "memory of the client's alone was changed");
    rest
}

/// Lives a life, and looks at what is left.
fn live_and_look(kernel: impl Kernel + 'static) -> Result<(), Box<dyn Error>> {
    static MINE: OnceLock<Mutex<Belongings>> = OnceLock::new();
    let mine =
        MINE.get_or_init(|| Mutex::new(Belongings::new())).lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let stdio: Vec<_> = [0, 1, 2].map(identity).into();
    let lived = live(kernel, &mine);
    assert!(mine.is_whole(0..1) && mine.is_whole(3..PAGES), "pages beside the GPU's were written");
    if lived.is_ok() {
        assert!(mine.is_whole(0..PAGES), "pages were written that the client has back");
    }
    assert!(mine.file_is_whole(), "a file of the client's was written or closed");
    assert_eq!([0, 1, 2].map(identity).to_vec(), stdio, "a standard stream was closed");
    lived
}

/// Returns what a descriptor leads to; `None` if it is closed. Asked by name, because a descriptor that may be closed cannot be
/// borrowed.
fn identity(fd: i32) -> Option<(u64, u64)> {
    let about = std::fs::metadata(format!("/proc/self/fd/{fd}")).ok()?;
    Some((about.dev(), about.ino()))
}

/// A recording of that life on a chip.
fn record(chip: &str) -> Vec<u8> {
    let tape = Tape::default();
    let gpu = SimDevice::new(profile(chip).unwrap(), SimOptions::default());
    let recording = Recording::new(tape.clone()).unwrap();
    live_and_look(recording.wrap(gpu.open())).unwrap();
    recording.finish().unwrap();
    tape.0.lock().unwrap().clone()
}

/// A recording of that life as it is now.
fn recorded() -> &'static [u8] {
    static RECORDED: OnceLock<Vec<u8>> = OnceLock::new();
    RECORDED.get_or_init(|| record("navi21"))
}

/// Chips of which the corpus has recordings.
const CHIPS: [&str; 3] = ["navi21", "renoir", "pitcairn"];

fn in_corpus(chip: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("corpus/recordings/{chip}.z"))
}

/// The recordings in the tree, of earlier lives.
fn corpus() -> &'static [Vec<u8>] {
    static CORPUS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    CORPUS.get_or_init(|| {
        let unpack = |chip| {
            let packed = std::fs::File::open(in_corpus(chip)).expect("a recording of the corpus");
            let mut bytes = Vec::new();
            ZlibDecoder::new(packed).read_to_end(&mut bytes).expect("a whole recording");
            bytes
        };
        CHIPS.into_iter().map(unpack).collect()
    })
}

/// `AMDGPU_FUZZ_WRITE_CORPUS=1` renews them, after the format of recordings changed.
#[test]
fn the_recordings_of_the_corpus_are_lived_on() {
    if std::env::var_os("AMDGPU_FUZZ_WRITE_CORPUS").is_some() {
        for chip in CHIPS {
            let path = in_corpus(chip);
            std::fs::create_dir_all(path.parent().expect("a folder")).unwrap();
            let mut packed = ZlibEncoder::new(std::fs::File::create(path).unwrap(), Compression::best());
            packed.write_all(&record(chip)).unwrap();
            packed.finish().unwrap();
        }
    }
    // A later library may ask something else in the midst of a life.
    assert!(corpus().iter().all(|recording| play(recording.clone()) >= Played::Partly));
}

/// Progress of a replay.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Played {
    /// It is none.
    No,
    /// It is one.
    Opened,
    /// A client had a device on it, and did something with it.
    Partly,
    /// To the end of the client's life.
    Wholly,
}

/// Plays it, as far as it goes.
fn play(bytes: Vec<u8>) -> Played {
    if let Ok(mut submissions) = Submissions::new(Cursor::new(&bytes)) {
        while submissions.next().is_some() {}
    }
    let Ok(replay) = Replay::new(Cursor::new(bytes)) else { return Played::No };
    let replay = replay.with_patience(Duration::from_millis(1));
    let Ok(file) = replay.open_file() else { return Played::Opened };
    BORN.set(false);
    let played = live_and_look(file).is_ok();
    if let Some(error) = replay.error() {
        assert!(!error.to_string().is_empty());
    }
    match (played, BORN.get()) {
        (true, _) => Played::Wholly,
        (false, true) => Played::Partly,
        (false, false) => Played::Opened,
    }
}

#[test]
fn any_damage_to_a_recording_is_survived() {
    assert!(play(recorded().to_vec()) == Played::Wholly, "undamaged it plays");
    bolero::check!().with_type::<(u16, Vec<(u16, u8)>)>().with_iterations(400).for_each(|(cut, changes)| {
        let mut bytes = recorded().to_vec();
        for &(at, value) in changes {
            let at = usize::from(at) % bytes.len();
            bytes[at] = value;
        }
        if cut % 4 == 0 {
            bytes.truncate(usize::from(*cut) % bytes.len());
        }
        DAMAGED.count(play(bytes) >= Played::Partly);
    });
    DAMAGED.report();
}

/// The checksums are right, so that whatever is said is acted upon.
#[test]
fn no_recording_touches_what_it_did_not_make() {
    assert!(play(recorded().to_vec()) == Played::Wholly, "unchanged it plays");
    bolero::check!().with_type::<(u8, Vec<Edit>)>().with_iterations(1_500).for_each(|(which, edits)| {
        let all = corpus();
        let recording = all.get(usize::from(which % 8)).map_or(recorded(), Vec::as_slice);
        // Few changes, most of them to what comes after the bring-up, get further than many.
        let few = edits.iter().take(1 + usize::from(which / 64));
        let few: Vec<Edit> =
            few.map(|&(what, record, at, value)| (what | (which & 8) << 4, record, at, value)).collect();
        EDITED.count(play(edit(recording, &few)) >= Played::Partly);
    });
    EDITED.report();
}

#[test]
fn any_bytes_are_no_recording_or_one_that_ends() {
    bolero::check!().with_type::<(u8, Vec<Vec<u8>>)>().with_iterations(2_000).for_each(|(which, any)| {
        let whole = recorded();
        let bytes = match which % 8 {
            0 => any.concat(),
            1 => [&whole[..12], &any.concat()].concat(),
            // Right frames, behind some of a life or none of it.
            _ => {
                let lived = records(whole);
                let kept = lived.len() * usize::from(which / 8) / 24;
                let kept = &lived[..kept.min(lived.len())];
                assemble(whole, kept.iter().copied().chain(any.iter().map(Vec::as_slice)))
            }
        };
        ANY.count(play(bytes) >= Played::Partly);
    });
    ANY.report();
}
