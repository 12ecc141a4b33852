//! The rows of `amdgpu-bench sim`: the simulated kernel as a client meets it, in its own process and through the preload library.
//!
//! A client that the launcher starts is this program once more, which uses the node as any other. The minima of several clients
//! count. Beside another build's launcher both are started in turn.

use std::{
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use amdgpu_bench::measure::{first_decile, timed};
use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_winsys::{
    uapi::{
        Answered, Argument, BoList, BoListEntry, Cs, CsChunk, CsChunkIb, Ctx, GemClose, GemCreate, GemDomain, GemMmap,
        GemVa, VaFlags, VaOperation, WaitCs, chunk_id, ctx_op,
    },
    winsys::{Ip, Kernel, Protection, RenderNode},
};

use crate::{
    child::{NODE, Wanted, rows_of},
    row::{Goal, Row},
};

const CHIP: &str = "navi21";
/// Repetitions of a batch, and batches.
const BATCH: u32 = 50;
const BATCHES: usize = 60;
/// Clients of each launcher, and starts of an empty program.
const CLIENTS: usize = 5;
const STARTS: usize = 20;
/// Clients of one world, and how long they work.
const CROWD: usize = 100;
const CROWDED: Duration = Duration::from_secs(10);
/// The word of a client of a crowd that has opened the node.
const READY: &str = "ready\n";
/// The largest ratio of the fastest client of a crowd to its slowest.
const FAIR: f64 = 3.0;
/// Longest start of an empty program, ns.
const START: f64 = 40e6;
/// More than measurements of the same thing differ.
const SLOWER: f64 = 1.15;
const PAGE: u64 = 4096;
const VA: u64 = 0x1_0000_0000;

/// The part of a process.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Part {
    /// Launcher to measure, instead of the one beside this program.
    #[arg(long)]
    launcher: Option<PathBuf>,
    /// Launcher of another build to compare with.
    #[arg(long)]
    beside: Option<PathBuf>,
    /// Only a client's measurements: for the process that the launcher starts.
    #[arg(long, hide = true)]
    as_client: bool,
    /// Only clients of a crowd: for the process that the launcher starts.
    #[arg(long, hide = true)]
    as_crowd: bool,
    /// Only one client of a crowd, which prints its repetitions.
    #[arg(long, hide = true)]
    pub(crate) as_one: bool,
}

/// One open file, with a context.
struct File<K> {
    kernel: K,
    context: u32,
}

impl<K: Kernel> File<K> {
    fn new(kernel: K) -> Self {
        let mut file = Self { kernel, context: 0 };
        let mut request = Ctx { op: ctx_op::ALLOC_CTX, ..Ctx::ZEROED };
        file.send(&mut request);
        // `union drm_amdgpu_ctx`: the answer's first word is the context.
        file.context = request.op;
        file
    }

    #[expect(unsafe_code, reason = "the seam is unsafe; here it gets arguments of its own requests")]
    fn send<A: Argument>(&self, argument: &mut A) {
        // SAFETY: the argument is the request's own structure; addresses in it are of live buffers of the right length.
        let sent = unsafe { self.kernel.ioctl(A::REQUEST, std::ptr::from_mut(argument).cast()) };
        sent.expect(A::NAME);
    }

    fn ask<A: Answered>(&self, mut question: A) -> A::Answer {
        self.send(&mut question);
        question.answer()
    }

    fn create(&self, bo_size: u64) -> u32 {
        let domains = GemDomain::GTT.bits();
        self.ask(GemCreate { bo_size, alignment: 0, domains, domain_flags: 0 }).handle
    }

    fn close(&self, handle: u32) {
        self.send(&mut GemClose { handle, pad: 0 });
    }

    fn va(&self, operation: VaOperation, handle: u32, va_address: u64) {
        let flags = (VaFlags::READABLE | VaFlags::WRITEABLE | VaFlags::EXECUTABLE).bits();
        let operation = operation as u32;
        self.send(&mut GemVa { handle, pad: 0, operation, flags, va_address, offset_in_bo: 0, map_size: PAGE });
    }

    #[expect(unsafe_code, reason = "the seam maps memory")]
    fn fill(&self, handle: u32, dword: u32) {
        let offset = self.ask(GemMmap { handle, pad: 0 }).addr_ptr;
        // SAFETY: without a wanted address nothing is replaced.
        let base = unsafe { self.kernel.mmap(PAGE as usize, Protection::ReadWrite, None, offset) }.expect("mmap");
        let dwords = dword.to_le_bytes().repeat(PAGE as usize / 4);
        // SAFETY: mmap mapped that many bytes, and no other code knows where.
        unsafe { std::ptr::copy_nonoverlapping(dwords.as_ptr(), base.as_ptr(), dwords.len()) };
        // SAFETY: the mapping is this one, and nothing borrows from it.
        unsafe { self.kernel.munmap(base, PAGE as usize) }.expect("munmap");
    }

    /// Submits an IB of NOPs and waits for it.
    fn submit(&self, bo_handle: u32) {
        let ib = CsChunkIb { va_start: VA, ib_bytes: 64, ip_type: Ip::Gfx as u32, ..CsChunkIb::ZEROED };
        let bos = [BoListEntry { bo_handle, bo_priority: 0 }];
        let address = |pointer: *const u8| pointer.expose_provenance() as u64;
        let list = BoList {
            bo_number: 1,
            bo_info_size: size_of::<BoListEntry>() as u32,
            bo_info_ptr: address(bos.as_ptr().cast()),
            ..BoList::ZEROED
        };
        let chunk = |chunk_id, bytes, chunk_data| CsChunk { chunk_id, length_dw: bytes as u32 / 4, chunk_data };
        let headers = [
            chunk(chunk_id::IB, size_of_val(&ib), address((&raw const ib).cast())),
            chunk(chunk_id::BO_HANDLES, size_of_val(&list), address((&raw const list).cast())),
        ];
        let pointers = [address((&raw const headers[0]).cast()), address((&raw const headers[1]).cast())];
        let chunks = address(pointers.as_ptr().cast());
        let handle = self.ask(Cs { ctx_id: self.context, bo_list_handle: 0, num_chunks: 2, flags: 0, chunks }).handle;
        let (ip_type, ctx_id) = (Ip::Gfx as u32, self.context);
        self.ask(WaitCs { handle, timeout: u64::MAX, ip_type, ip_instance: 0, ring: 0, ctx_id });
    }

    /// The rows of one client.
    fn rows(&self) -> Vec<Row> {
        let nop = 0xffff_1000;
        let ib = self.create(PAGE);
        self.fill(ib, nop);
        self.va(VaOperation::Map, ib, VA);
        let other = self.create(PAGE);
        let row = |bench: &str, work: &dyn Fn()| {
            let mut times: Vec<f64> =
                (0..BATCHES).map(|_| timed(|| (0..BATCH).for_each(|_| work())) / f64::from(BATCH)).collect();
            Row::alone(bench, 1, first_decile(&mut times), Goal::None)
        };
        vec![
            row("bo.create-close", &|| self.close(self.create(PAGE))),
            row("va.map-unmap", &|| {
                self.va(VaOperation::Map, other, VA + PAGE);
                self.va(VaOperation::Unmap, other, VA + PAGE);
            }),
            row("submit.nop-wait", &|| self.submit(ib)),
        ]
    }
}

/// The file of the node that the launcher leads to.
fn node() -> File<RenderNode> {
    File::new(RenderNode::open(Path::new(NODE)).expect("a node"))
}

/// Adds the rows.
pub(crate) fn all(part: &Part, wanted: &Wanted, add: &mut dyn FnMut(Row)) {
    if part.as_crowd {
        return add(crowd());
    }
    if part.as_client {
        return node().rows().into_iter().for_each(add);
    }
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join("amdgpu-sim")));
    let own = part.launcher.clone().or(beside).unwrap_or_else(|| PathBuf::from("amdgpu-sim"));
    let launchers: Vec<&Path> = std::iter::once(own.as_path()).chain(part.beside.as_deref()).collect();
    if wanted.has("client") {
        let device = SimDevice::new(profile(CHIP).expect("a chip"), SimOptions::default());
        let in_process = File::new(device.open()).rows();
        for row in in_turn(CLIENTS, &launchers, |launcher| of_client(launcher, "--as-client")) {
            add(row);
        }
        for row in in_process {
            add(row.noting("in process".to_owned()));
        }
    }
    if wanted.has("start") {
        for row in in_turn(STARTS, &launchers, |launcher| Ok(vec![start(launcher)])) {
            add(row);
        }
    }
    if wanted.has("crowd") {
        for launcher in launchers {
            match of_client(launcher, "--as-crowd") {
                Ok(rows) => rows.into_iter().for_each(&mut *add),
                Err(why) => add(Row::missing("crowd.slowest", &launcher.display().to_string(), why)),
            }
        }
    }
}

/// Measures launchers in turn, and returns the minima of the first beside those of the second.
fn in_turn(rounds: usize, launchers: &[&Path], measure: impl Fn(&Path) -> Result<Vec<Row>, String>) -> Vec<Row> {
    let mut least: Vec<Vec<Row>> = vec![Vec::new(); launchers.len()];
    for _ in 0..rounds {
        for (launcher, least) in launchers.iter().zip(&mut least) {
            let rows = match measure(launcher) {
                Ok(rows) => rows,
                Err(why) => return vec![Row::missing("client", &launcher.display().to_string(), why)],
            };
            if least.is_empty() {
                *least = rows;
                continue;
            }
            for (least, row) in least.iter_mut().zip(rows) {
                least.ours = least.ours.min(row.ours);
            }
        }
    }
    let mut least = least.into_iter();
    let ours = least.next().unwrap_or_default();
    let Some(theirs) = least.next() else { return ours };
    let beside = |(ours, theirs): (Row, Row)| {
        Row::times(&ours.bench, 1, ours.ours, "the other launcher", theirs.ours, Goal::RatioAtMost(SLOWER))
    };
    ours.into_iter().zip(theirs).map(beside).collect()
}

/// The launcher with this program as its client.
fn under(launcher: &Path, part: &str) -> Result<Command, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(launcher);
    command.args(["run", "--gpu", CHIP, "--"]).arg(own).args(["sim", part]);
    Ok(command)
}

fn of_client(launcher: &Path, part: &str) -> Result<Vec<Row>, String> {
    rows_of(under(launcher, part)?, &Wanted(None), &[])
}

/// The time that the launcher takes for a program that does nothing.
fn start(launcher: &Path) -> Row {
    let time = timed(|| {
        let ended = Command::new(launcher).args(["run", "--gpu", CHIP, "--", "true"]).status();
        assert!(ended.expect("a launcher").success(), "a program that does nothing ends well");
    });
    Row::alone("start.true", 1, time, Goal::Below(START))
}

/// Lets many clients of one world work at once. The row is of the slowest's repetitions, in ns for one, beside the fastest's.
fn crowd() -> Row {
    let own = std::env::current_exe().expect("this program");
    let start = |_| -> Child {
        let mut command = Command::new(&own);
        command.args(["sim", "--as-one"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a client")
    };
    let mut clients: Vec<Child> = (0..CROWD).map(start).collect();
    // All have opened the node before any begins.
    for client in &mut clients {
        client.stdout.as_mut().expect("a pipe").read_exact(&mut [0; READY.len()]).expect("a client that is ready");
    }
    for client in &mut clients {
        drop(client.stdin.take());
    }
    let ended = |mut client: Child| -> f64 {
        let mut text = String::new();
        client.stdout.take().expect("a pipe").read_to_string(&mut text).expect("a number");
        client.wait().expect("an end");
        text.trim().parse().expect("a number")
    };
    let times: Vec<f64> = clients.into_iter().map(ended).collect();
    let (fastest, slowest) =
        times.iter().fold((f64::MAX, 0_f64), |(low, high), time| (low.min(*time), high.max(*time)));
    Row::times("crowd.create-close", CROWD as u64, slowest, "the fastest of them", fastest, Goal::RatioAtMost(FAIR))
}

/// Makes and closes BOs for a while once its standard input is closed, and prints the ns that one took.
pub(crate) fn one_of_a_crowd() {
    let file = node();
    // A pipe that is closed starts all at once.
    print!("{READY}");
    std::io::stdout().flush().expect("a pipe");
    std::io::stdin().read_to_end(&mut Vec::new()).expect("a pipe");
    let start = Instant::now();
    let mut done = 0_u32;
    while start.elapsed() < CROWDED {
        file.close(file.create(PAGE));
        done += 1;
    }
    println!("{}", start.elapsed().as_secs_f64() * 1e9 / f64::from(done));
}
