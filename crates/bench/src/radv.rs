//! The rows of `amdgpu-bench radv`: RADV with this library's winsys beside RADV with its own, as `.ci/vulkan/radv-swap` builds them, through
//! the same loader and on the same null kernel. RADV's part of an operation is the same in both.

use std::{env, ffi::OsStr, path::PathBuf};

use amdgpu_bench::measure::{Work, in_turn};
use ash::vk;

use crate::{
    child::{Wanted, on_the_null_kernel_with},
    counting_requests::requests,
    peers::{
        radv::{Missing, Radv},
        sparse::SparseBuffer,
    },
    row::{Goal, Row},
};

/// The folder in which `.ci/vulkan/radv-swap` keeps what it builds.
const FOLDER_VARIABLE: &str = "AMDGPU_RADV_SWAP";
/// Manifests in that folder: of RADV with this library's winsys, and with its own.
const MANIFESTS: [&str; 2] = ["swap.json", "own.json"];
/// Variable by which the child learns of the folder.
const CHILD_VARIABLE: &str = "AMDGPU_BENCH_RADV_SWAP";
const OWN: &str = "RADV's own winsys";

const SIZE: u64 = 64 << 10;
/// Memories that are alive, and resident for every submission.
const LIVE: [u64; 3] = [0, 1_000, 10_000];
/// Commands in a command buffer that is recorded.
const RECORDED: usize = 10_000;
/// Commands in a command buffer that is submitted.
const SUBMITTED: usize = 100;
/// Pages of a sparse buffer.
const PAGES: u64 = 1_000;
/// Times that all of its pages are bound to other memory.
const BINDS: usize = 20;
/// Repetitions of an operation whose requests are counted.
const COUNTED: usize = 20;

/// The rows of submissions: of a command buffer without commands, and of one with [`SUBMITTED`].
const SUBMISSIONS: [&str; 2] = ["radv-submit-empty", "radv-submit-100"];

/// The row of submissions of both in turn, none of which runs what the one before ran.
const IN_TURN: &str = "radv-submit-in-turn";

/// Equal but for noise.
const NOT_SLOWER: Goal = Goal::RatioAtMost(1.03);

/// The goal of allocations and submissions with so many memories alive.
fn goal(live: u64) -> Goal {
    Goal::RatioAtMost(if live < 1_000 { 0.6 } else { 0.05 })
}

/// Starts the child with both drivers.
pub(crate) fn all(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    let cached = || env::home_dir().unwrap_or_default().join(".cache/amdgpu-radv-swap");
    let folder = env::var_os(FOLDER_VARIABLE).map_or_else(cached, PathBuf::from);
    let missing = MANIFESTS.iter().map(|name| folder.join(name)).find(|manifest| !manifest.exists());
    if let Some(manifest) = missing {
        let why = format!("no {}: .ci/vulkan/radv-swap makes it", manifest.display());
        return add(Row::missing("radv", OWN, why));
    }
    on_the_null_kernel_with("radv", wanted, &[(CHILD_VARIABLE, folder.into_os_string())], add);
}

/// Both drivers, ours first.
type Both<'a> = [&'a Radv; 2];

/// Every row.
pub(crate) fn on_null(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    let folder = PathBuf::from(env::var_os(CHILD_VARIABLE).unwrap_or_default());
    let open = |name: &&str| Radv::open_from(OsStr::new(&folder.join(name)));
    let measured = MANIFESTS.each_ref().map(open);
    let measured = match &measured {
        [Ok(ours), Ok(own)] => rows(wanted, [ours, own], add),
        [Err(why), _] | [_, Err(why)] => return add(Row::missing("radv", OWN, why)),
    };
    if let Err(why) = measured {
        add(Row::missing("radv", OWN, why));
    }
}

fn rows(wanted: &Wanted, both: Both<'_>, add: &mut impl FnMut(Row)) -> Result<(), Missing> {
    if wanted.has("radv-buffer") {
        let create = |driver: &Radv, count: usize| (0..count).for_each(|_| driver.another_buffer(SIZE));
        row("radv-buffer", 0, NOT_SLOWER, 200, both.map(|driver| move |count| create(driver, count)), add);
    }
    if wanted.has("radv-record") {
        recording(both, add)?;
    }
    with_memories_alive(wanted, both, add)?;
    // Last, for it leaves memory behind.
    sparse(wanted, both, add);
    Ok(())
}

/// Measures an operation of both drivers in turns, and counts its requests.
fn row(name: &str, n: u64, goal: Goal, batch: usize, sides: [impl FnMut(usize); 2], add: &mut impl FnMut(Row)) {
    let [mut ours, mut own] = sides;
    let [mine, its] = in_turn(batch, [&mut ours as &mut Work<'_>, &mut own]);
    add(Row::times(name, n, mine, OWN, its, goal));
    let [mine, its] = [requests(|| ours(COUNTED)), requests(|| own(COUNTED))];
    if let (Some(mine), Some(its)) = (mine, its) {
        let [mine, its] = [mine, its].map(|count| count as f64 / COUNTED as f64);
        add(Row::requests(name, n, mine, OWN, its));
    }
}

fn recording(both: Both<'_>, add: &mut impl FnMut(Row)) -> Result<(), Missing> {
    let [ours, own] = both.map(|driver| Ok::<_, Missing>((driver, commands(driver)?)));
    let sides = [ours?, own?]
        .map(|(driver, recorded)| move |count: usize| (0..count).for_each(|_| recorded.record(driver, RECORDED)));
    row("radv-record", RECORDED as u64, NOT_SLOWER, 1, sides, add);
    Ok(())
}

/// A command buffer, and what is copied in it.
#[derive(Clone, Copy)]
struct Commands {
    buffer: vk::CommandBuffer,
    from: vk::Buffer,
    to: vk::Buffer,
}

fn commands(driver: &Radv) -> Result<Commands, Missing> {
    Ok(Commands { buffer: driver.command_buffer()?, from: driver.buffer(SIZE)?, to: driver.buffer(SIZE)? })
}

impl Commands {
    /// Records so many copies.
    fn record(&self, driver: &Radv, count: usize) {
        driver.begin(self.buffer);
        (0..count).for_each(|_| driver.copy(self.buffer, self.from, self.to, 256));
        driver.end(self.buffer);
    }
}

/// The binds of all pages of a sparse buffer, to one of its two memories.
type Binds = fn(&SparseBuffer, usize) -> Vec<vk::SparseMemoryBind>;

/// Measures binds of all pages, of which a device gets some in a row; the time of a device without binds is taken off.
fn sparse(wanted: &Wanted, both: Both<'_>, add: &mut impl FnMut(Row)) {
    let kinds: [(&str, Binds); 2] =
        [("radv-sparse-scattered", SparseBuffer::scattered), ("radv-sparse-whole", SparseBuffer::whole)];
    for (name, binds_of) in kinds.into_iter().filter(|(name, _)| wanted.has(name)) {
        let device_with = |driver: &Radv, count: usize| {
            let buffer = SparseBuffer::new(driver, PAGES).expect("the null kernel refuses nothing");
            let binds = [0, 1].map(|which| binds_of(&buffer, which));
            binds.iter().cycle().take(count).for_each(|binds| buffer.bind(binds));
        };
        let work = |driver, count| move |times: usize| (0..times).for_each(|_| device_with(driver, count));
        let [ours, own] = both;
        let times = in_turn(
            1,
            [&mut work(ours, BINDS), &mut work(own, BINDS), &mut work(ours, 0), &mut work(own, 0)]
                as [&mut Work<'_>; 4],
        );
        let counts = [(ours, BINDS), (own, BINDS), (ours, 0), (own, 0)]
            .map(|(driver, count)| requests(|| device_with(driver, count)).map(|count| count as f64));
        let [mine, its] = of_one_bind(times);
        add(Row::times(name, PAGES, mine, OWN, its, NOT_SLOWER));
        if let [Some(mine), Some(its), Some(my_rest), Some(its_rest)] = counts {
            let [mine, its] = of_one_bind([mine, its, my_rest, its_rest]);
            add(Row::requests(name, PAGES, mine, OWN, its));
        }
    }
}

/// Returns the part of one bind in figures of a device with [`BINDS`] and of one without, each ours first.
fn of_one_bind([mine, its, my_rest, its_rest]: [f64; 4]) -> [f64; 2] {
    [(mine - my_rest) / BINDS as f64, (its - its_rest) / BINDS as f64]
}

/// Measures what may depend on the number of memories that are alive.
fn with_memories_alive(wanted: &Wanted, both: Both<'_>, add: &mut impl FnMut(Row)) -> Result<(), Missing> {
    if !["radv-allocate", "radv-map", SUBMISSIONS[0], SUBMISSIONS[1], IN_TURN].iter().any(|name| wanted.has(name)) {
        return Ok(());
    }
    let [ours, own] = both.map(|driver| {
        let local = driver.memory_type(vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
        let mapped = driver.memory_type(vk::MemoryPropertyFlags::HOST_VISIBLE)?;
        let [empty, full] = [commands(driver)?, commands(driver)?];
        empty.record(driver, 0);
        full.record(driver, SUBMITTED);
        Ok::<_, Missing>((driver, local, mapped, [empty.buffer, full.buffer]))
    });
    let sides = [ours?, own?];
    let mut alive = [Vec::new(), Vec::new()];
    for live in LIVE {
        for ((driver, local, ..), alive) in sides.iter().zip(&mut alive) {
            alive.resize_with(live as usize, || driver.allocate_exported(*local, 4096));
        }
        let batch = if live > 1_000 { 30 } else { 200 };
        if wanted.has("radv-allocate") {
            let sides = sides.map(|(driver, local, ..)| {
                move |count| (0..count).for_each(|_| driver.free(driver.allocate(local, SIZE)))
            });
            row("radv-allocate", live, goal(live), batch, sides, add);
        }
        if wanted.has("radv-map") {
            let sides = sides.map(|(driver, _, mapped, _)| {
                let memory = driver.allocate(mapped, SIZE);
                move |count| {
                    for _ in 0..count {
                        driver.map(memory);
                        driver.unmap(memory);
                    }
                }
            });
            row("radv-map", live, NOT_SLOWER, batch, sides, add);
        }
        for (index, name) in SUBMISSIONS.into_iter().enumerate().filter(|(_, name)| wanted.has(name)) {
            let sides = sides.map(|(driver, .., buffers)| {
                let buffer = buffers.get(index).copied().unwrap_or_default();
                move |count| (0..count).for_each(|_| driver.submit(buffer))
            });
            row(name, live, goal(live), batch, sides, add);
        }
        if wanted.has(IN_TURN) {
            let sides = sides.map(|(driver, .., buffers)| {
                move |count| buffers.iter().cycle().take(count).for_each(|&buffer| driver.submit(buffer))
            });
            row(IN_TURN, live, NOT_SLOWER, batch, sides, add);
        }
    }
    Ok(())
}
