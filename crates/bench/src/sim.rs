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

use amdgpu_bench::{
    client::Client,
    measure::{first_decile, timed},
};
use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_winsys::{
    uapi::{BoListEntry, VaOperation},
    winsys::{Ip, Kernel, RenderNode},
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

/// Submits an IB of NOPs and waits for it.
fn submit<K: Kernel>(client: &Client<K>, bo_handle: u32) {
    let bos = [BoListEntry { bo_handle, bo_priority: 0 }];
    let number = client.submit(client.context, Ip::Gfx, (VA, 64), &bos);
    client.wait(client.context, Ip::Gfx, number);
}

/// The rows of one client.
fn rows<K: Kernel>(client: &Client<K>) -> Vec<Row> {
    let nop = 0xffff_1000;
    let ib = client.bound(VA, PAGE);
    client.store(ib, &[nop; PAGE as usize / 4]);
    let other = client.create(PAGE);
    let row = |bench: &str, work: &dyn Fn()| {
        let mut times: Vec<f64> =
            (0..BATCHES).map(|_| timed(|| (0..BATCH).for_each(|_| work())) / f64::from(BATCH)).collect();
        Row::alone(bench, 1, first_decile(&mut times), Goal::None)
    };
    vec![
        row("bo.create-close", &|| client.close(client.create(PAGE))),
        row("va.map-unmap", &|| {
            client.va(VaOperation::Map, other, VA + PAGE, PAGE);
            client.va(VaOperation::Unmap, other, VA + PAGE, PAGE);
        }),
        row("submit.nop-wait", &|| submit(client, ib)),
    ]
}

/// A client of the node that the launcher leads to.
fn node() -> Client<RenderNode> {
    Client::new(RenderNode::open(Path::new(NODE)).expect("a node"))
}

/// Adds the rows.
pub(crate) fn all(part: &Part, wanted: &Wanted, add: &mut dyn FnMut(Row)) {
    if part.as_crowd {
        return add(crowd());
    }
    if part.as_client {
        return rows(&node()).into_iter().for_each(add);
    }
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join("amdgpu-sim")));
    let own = part.launcher.clone().or(beside).unwrap_or_else(|| PathBuf::from("amdgpu-sim"));
    let launchers: Vec<&Path> = std::iter::once(own.as_path()).chain(part.beside.as_deref()).collect();
    if wanted.has("client") {
        let device = SimDevice::new(profile(CHIP).expect("a chip"), SimOptions::default());
        let in_process = rows(&Client::new(device.open()));
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
    rows_of(under(launcher, part)?, &Wanted::default(), &[])
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
    let client = node();
    // A pipe that is closed starts all at once.
    print!("{READY}");
    std::io::stdout().flush().expect("a pipe");
    std::io::stdin().read_to_end(&mut Vec::new()).expect("a pipe");
    let start = Instant::now();
    let mut done = 0_u32;
    while start.elapsed() < CROWDED {
        client.close(client.create(PAGE));
        done += 1;
    }
    println!("{}", start.elapsed().as_secs_f64() * 1e9 / f64::from(done));
}
