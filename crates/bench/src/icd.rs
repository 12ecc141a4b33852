//! The rows of `amdgpu-bench icd`: our Vulkan driver beside RADV, through the same loader and on the same null kernel.

use std::{env, ffi::OsString, fs, path::Path, process};

use amdgpu_bench::measure::in_turn;
use ash::vk;

use crate::{
    child::{Wanted, built, on_the_null_kernel_with},
    contest::traces::random,
    peers::radv::{Missing, Radv},
    row::{Goal, Row},
};

/// The driver, as cargo builds it.
const DRIVER: &str = "libvulkan_amdgpu_winsys.so";
const RADV: &str = "RADV";
/// The manifest that Debian's package installs.
const RADV_MANIFEST: &str = "/usr/share/vulkan/icd.d/radeon_icd.json";
/// Variables by which the child learns of both manifests.
const OURS_VARIABLE: &str = "AMDGPU_BENCH_ICD";
const RADV_VARIABLE: &str = "AMDGPU_BENCH_RADV_ICD";
/// End of the names of our driver's devices.
const SUFFIX: &str = "(amdgpu-winsys)";

const PAGE: u64 = 4096;
const SIZE: u64 = 64 << 10;
/// Memories alive while pairs are timed.
const LIVE: [u64; 3] = [0, 1_000, 10_000];
/// Copies in a command buffer.
const COPIES: u32 = 10_000;
const HALF: Goal = Goal::RatioAtMost(0.5);

/// Starts the child with both drivers.
pub(crate) fn all(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    let Some(driver) = built(DRIVER) else {
        let why = format!("no {DRIVER} beside this program: cargo build --release -p amdgpu-winsys-icd");
        return add(Row::missing("icd", RADV, why));
    };
    if !Path::new(RADV_MANIFEST).exists() {
        return add(Row::missing("icd", RADV, format!("no {RADV_MANIFEST}")));
    }
    let manifest = env::temp_dir().join(format!("amdgpu-bench-{}.json", process::id()));
    let text = format!(
        r#"{{"file_format_version": "1.0.1", "ICD": {{"library_path": "{}", "api_version": "1.3.281"}}}}"#,
        driver.display()
    );
    if let Err(error) = fs::write(&manifest, text) {
        return add(Row::missing("icd", RADV, error));
    }
    let both: OsString = format!("{}:{RADV_MANIFEST}", manifest.display()).into();
    let more = [
        ("VK_DRIVER_FILES", both.clone()),
        ("VK_ICD_FILENAMES", both),
        ("AMDGPU_WINSYS_ICD", "full".into()),
        (OURS_VARIABLE, manifest.clone().into()),
        (RADV_VARIABLE, RADV_MANIFEST.into()),
    ];
    on_the_null_kernel_with("icd", wanted, &more, add);
    // A file in the folder for temporary ones that is left behind hurts nobody.
    let _ = fs::remove_file(manifest);
}

/// Every row.
pub(crate) fn on_null(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    let is_ours = |found: &vk::PhysicalDeviceProperties| {
        found.device_name_as_c_str().is_ok_and(|name| name.to_string_lossy().ends_with(SUFFIX))
    };
    let opened = Radv::open_where(is_ours).and_then(|ours| {
        let theirs = Radv::open_where(|found| found.vendor_id == 0x1002 && !is_ours(found))?;
        Ok((ours, theirs, Radv::open_where(is_ours)?))
    });
    let (ours, theirs, empty) = match opened {
        Ok(opened) => opened,
        Err(why) => return add(Row::missing("icd", RADV, why)),
    };
    if wanted.has("icd-submit") {
        submissions(&ours, &theirs, add);
    }
    if wanted.has("icd-record-copy") {
        copies(&ours, &theirs, add);
    }
    if wanted.has("icd-device") {
        let [mine, its] = in_turn(
            2,
            [&mut |n| (0..n).for_each(|_| ours.another_device()), &mut |n| {
                (0..n).for_each(|_| theirs.another_device());
            }],
        );
        add(Row::times("icd-device", 1, mine, RADV, its, HALF));
    }
    if wanted.has("icd-allocate") {
        allocations(&ours, &theirs, &empty, add);
    }
    // Last, for it changes what the loader finds.
    if wanted.has("icd-instance") {
        instances(add);
    }
}

/// A driver's memories: of `2 * live` of random sizes a random half is freed.
fn fragmented(driver: &Radv, live: u64) -> Vec<vk::DeviceMemory> {
    let mut draws = random(0x5EED_1000 + live);
    let mut all: Vec<_> = (0..2 * live).map(|_| driver.allocate(0, PAGE << (draws() % 7))).collect();
    for _ in 0..live {
        driver.free(all.swap_remove((draws() % all.len() as u64) as usize));
    }
    all
}

/// Allocates and frees.
fn pairs(driver: &Radv, count: usize) {
    for _ in 0..count {
        let memory = driver.allocate(0, SIZE);
        driver.free(memory);
    }
}

fn allocations(ours: &Radv, theirs: &Radv, empty: &Radv, add: &mut impl FnMut(Row)) {
    for live in LIVE {
        let kept = (fragmented(ours, live), fragmented(theirs, live));
        let batch = if live > 1000 { 30 } else { 200 };
        let [mine, its] = in_turn(batch, [&mut |n| pairs(ours, n), &mut |n| pairs(theirs, n)]);
        add(Row::times("icd-allocate", live, mine, RADV, its, HALF));
        if live == LIVE[2] {
            let [many, none] = in_turn(500, [&mut |n| pairs(ours, n), &mut |n| pairs(empty, n)]);
            add(Row::times("icd-allocate-flat", live, many, "ours with nothing alive", none, Goal::RatioAtMost(1.1)));
        }
        kept.0.into_iter().for_each(|memory| ours.free(memory));
        kept.1.into_iter().for_each(|memory| theirs.free(memory));
    }
}

fn submissions(ours: &Radv, theirs: &Radv, add: &mut impl FnMut(Row)) {
    let [mine, its] = in_turn(
        200,
        [&mut |n| (0..n).for_each(|_| ours.submit_nothing()), &mut |n| (0..n).for_each(|_| theirs.submit_nothing())],
    );
    add(Row::times("icd-submit-nothing", 0, mine, RADV, its, HALF).noting("no command buffer".into()));
    let two_empty = |driver: &Radv| -> Result<_, Missing> {
        let two = [driver.command_buffer()?, driver.command_buffer()?];
        for commands in two {
            driver.begin(commands);
            driver.end(commands);
        }
        Ok(two)
    };
    let [Ok(mine), Ok(its)] = [two_empty(ours), two_empty(theirs)] else {
        return add(Row::missing("icd-submit-empty", RADV, "no command buffer"));
    };
    for (name, used, note) in [
        ("icd-submit-empty", 1, "an empty command buffer"),
        ("icd-submit-in-turn", 2, "two empty command buffers, one after the other"),
    ] {
        let submit = |driver: &Radv, two: &[vk::CommandBuffer], count: usize| {
            two.iter().take(used).cycle().take(count).for_each(|&commands| driver.submit(commands));
        };
        let [mine, its] = in_turn(200, [&mut |n| submit(ours, &mine, n), &mut |n| submit(theirs, &its, n)]);
        add(Row::times(name, used as u64, mine, RADV, its, HALF).noting(note.into()));
    }
}

fn copies(ours: &Radv, theirs: &Radv, add: &mut impl FnMut(Row)) {
    let made = [ours, theirs].map(|driver| {
        Some((driver, [driver.buffer(SIZE).ok()?, driver.buffer(SIZE).ok()?], driver.command_buffer().ok()?))
    });
    let [Some(mine), Some(its)] = made else { return add(Row::missing("icd-record-copy", RADV, "no buffers")) };
    let record = |(driver, [from, to], commands): (&Radv, [vk::Buffer; 2], vk::CommandBuffer), count: usize| {
        for _ in 0..count {
            driver.begin(commands);
            (0..COPIES).for_each(|_| driver.copy(commands, from, to, 256));
            driver.end(commands);
        }
    };
    let [mine, its] = in_turn(1, [&mut |n| record(mine, n), &mut |n| record(its, n)]);
    let each = f64::from(COPIES);
    add(Row::times("icd-record-copy", u64::from(COPIES), mine / each, RADV, its / each, HALF).noting("a copy".into()));
}

fn instances(add: &mut impl FnMut(Row)) {
    let (Ok(entry), Some(ours), Some(theirs)) = (Radv::entry(), env::var_os(OURS_VARIABLE), env::var_os(RADV_VARIABLE))
    else {
        return add(Row::missing("icd-instance", RADV, "no loader"));
    };
    let [mine, its] = in_turn(
        2,
        [&mut |n| (0..n).for_each(|_| Radv::another_instance(&entry, &ours)), &mut |n| {
            (0..n).for_each(|_| Radv::another_instance(&entry, &theirs));
        }],
    );
    add(Row::times("icd-instance", 1, mine, RADV, its, HALF).noting("the loader's part included".into()));
}
