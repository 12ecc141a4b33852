//! R270 to R277: cgroups that limit and protect VRAM.

use amdgpu_sim::{Features, KernelRelease, Pressed, SimDevice, SimMachine, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{GemCreateFlags, GemDomain, MemoryInfo, query},
    winsys::Ip,
};

use super::card_with;
use crate::support::{Chunk, File, Job, Rig, open};

const VRAM: GemDomain = GemDomain::VRAM;
const GTT: GemDomain = GemDomain::GTT;
const PLAIN: GemCreateFlags = GemCreateFlags::empty();
const GIB: u64 = 1 << 30;
/// The region of the card.
const REGION: &str = "drm/0000:03:00.0/vram";
/// The whole GiB of VRAM that BOs can have: the card has 16, less what the driver reserves.
const WHOLE: u64 = 15;

/// A card whose kernel has the controller, and all else of Linux 6.12; with `later`, as in Linux 7.3.
fn card(later: bool) -> SimDevice {
    card_with(if later { Features::DMEM | Features::DMEM_RECLAIM } else { Features::DMEM })
}

/// A client in a group.
fn client(device: &SimDevice, path: &str) -> File {
    let file = open(device);
    file.0.join_cgroup(path);
    file
}

impl File {
    /// Creates BOs of 1 GiB in VRAM.
    fn fill(&self, count: u64) -> Vec<u32> {
        (0..count).map(|_| self.try_create(GIB, 0, VRAM, PLAIN).unwrap()).collect()
    }

    fn memory(&self) -> MemoryInfo {
        self.info(query::MEMORY, [0; 4]).unwrap()
    }
}

fn set(machine: &SimMachine, path: &str, file: &str, value: &str) {
    machine.write_cgroup(path, file, &format!("{REGION} {value}")).unwrap();
}

/// Submits a job with these BOs listed beside the rig's own.
fn submit(rig: &Rig, bos: &[u32]) -> Result<u64, Errno> {
    let listed = [&[rig.ibs, rig.data], bos].concat();
    let ib = rig.ib(&rig.store(Ip::Gfx, 0, 1));
    Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, ib)).with(Chunk::bos(&listed)).send(&rig.file)
}

/// A figure of a group in GiB.
fn gib(machine: &SimMachine, path: &str, file: &str) -> u64 {
    let text = machine.read_cgroup(path, file).unwrap();
    let bytes: u64 = text.strip_prefix(REGION).unwrap().trim().parse().unwrap();
    assert_eq!(bytes % GIB, 0, "{text}");
    bytes / GIB
}

fn used(machine: &SimMachine, path: &str) -> u64 {
    gib(machine, path, "dmem.current")
}

fn gtt(device: &SimDevice) -> u64 {
    device.census().gtt_bytes / GIB
}

// Checks R270.
#[test]
fn each_card_is_a_region_with_files_where_the_kernel_has_them() {
    let machine = card(true).machine();
    assert_eq!(machine.read_cgroup("/", "dmem.capacity"), Err(Errno::ENOENT), "the card is gone");
    let device = card(true);
    let machine = device.machine();
    let real = open(&device).memory().vram.total_heap_size;
    assert_eq!(machine.read_cgroup("/", "dmem.capacity").unwrap(), format!("{REGION} {real}\n"));
    for (file, text) in [("current", "0"), ("min", "0"), ("low", "0"), ("max", "max"), ("peak", "0")]
        .map(|(file, text)| (format!("dmem.{file}"), text))
    {
        assert_eq!(machine.read_cgroup("/never/used", &file).unwrap(), format!("{REGION} {text}\n"));
        assert_eq!(machine.read_cgroup("/", &file).is_ok(), file == "dmem.current", "{file}");
    }
    assert_eq!(machine.read_cgroup("/a", "dmem.capacity"), Err(Errno::ENOENT));
    assert_eq!(card(false).machine().read_cgroup("/a", "dmem.peak"), Err(Errno::ENOENT));
    assert_eq!(card_with(Features::empty()).machine().read_cgroup("/", "dmem.current"), Err(Errno::ENOENT));
    assert_eq!(machine.write_cgroup("/a", "dmem.current", "1"), Err(Errno::EACCES));
}

// Checks R271.
#[test]
fn vram_is_charged_to_the_group_of_the_client_that_causes_it_and_those_above() {
    let device = card(false);
    let machine = device.machine();
    let rig = Rig::new(&device);
    rig.file.0.join_cgroup("/a/b");
    let other = client(&device, "/a");
    let bos = rig.file.fill(2);
    other.try_create(3 * GIB, 0, GTT, PLAIN).unwrap();
    other.fill(1);
    assert_eq!(["/a/b", "/a", "/"].map(|path| used(&machine, path)), [2, 3, 3], "GTT is charged to nobody");
    rig.file.close(bos[0]).unwrap();
    // Evicted memory is charged to nobody.
    let pressure = device.press(Pressed::Vram, WHOLE * GIB).unwrap();
    assert_eq!(["/a/b", "/a", "/"].map(|path| used(&machine, path)), [0, 0, 0]);
    drop(pressure);
    // It is charged to the group of the submission that brings it back, wherever it was before.
    rig.file.0.join_cgroup("/c");
    submit(&rig, &bos[1..]).unwrap();
    assert_eq!(["/a/b", "/c", "/"].map(|path| used(&machine, path)), [0, 1, 1]);
}

// Checks R272.
#[test]
fn at_its_limit_a_group_evicts_its_own_oldest_memory_and_nobody_elses() {
    let device = card(false);
    let machine = device.machine();
    let (own, below, other) = (client(&device, "/a"), client(&device, "/a/b"), client(&device, "/c"));
    set(&machine, "/a", "dmem.max", "3G");
    other.fill(2);
    below.fill(1);
    own.fill(2);
    assert_eq!(gtt(&device), 0);
    own.fill(1);
    assert_eq!(["/a/b", "/a", "/c"].map(|path| used(&machine, path)), [0, 3, 2], "the oldest was that below");
    assert_eq!(gtt(&device), 1);
    below.fill(1);
    assert_eq!(["/a/b", "/a", "/c"].map(|path| used(&machine, path)), [1, 3, 2]);
    // What may be in GTT as well goes there silently.
    own.try_create(GIB, 0, VRAM | GTT, PLAIN).unwrap();
    assert_eq!((used(&machine, "/a"), gtt(&device)), (3, 3));
    // What is larger than the limit evicts all that the group has before it lands in GTT.
    own.try_create(4 * GIB, 0, VRAM, PLAIN).unwrap();
    assert_eq!((used(&machine, "/a"), used(&machine, "/c"), gtt(&device)), (0, 2, 10));
}

// Checks R260 and R272.
#[test]
fn a_submission_without_room_within_the_limit_is_enomem_and_can_be_repeated() {
    let device = card(false);
    let machine = device.machine();
    let rig = Rig::new(&device);
    rig.file.0.join_cgroup("/a");
    let bo = rig.file.fill(1);
    set(&machine, "/a", "dmem.max", "1G");
    // Neither VRAM nor GTT has room, so that the BO ends in memory that the GPU cannot reach.
    let full = device.press(Pressed::Gtt, rig.file.memory().gtt.usable_heap_size - device.census().gtt_bytes).unwrap();
    let vram = device.press(Pressed::Vram, WHOLE * GIB).unwrap();
    assert_eq!(used(&machine, "/a"), 0);
    drop(vram);
    let status = machine.write_cgroup("/a", "dmem.max", &format!("{REGION} 512M"));
    assert_eq!(status, Ok(()), "nothing is in use");
    assert_eq!(submit(&rig, &bo), Err(Errno::ENOMEM));
    set(&machine, "/a", "dmem.max", "max");
    let job = submit(&rig, &bo).unwrap();
    rig.finish(Ip::Gfx, 0, job).unwrap();
    assert_eq!(used(&machine, "/a"), 1);
    drop(full);
}

// Checks R273.
#[test]
fn a_limit_below_the_usage_is_not_taken_or_evicts() {
    for later in [false, true] {
        let device = card(later);
        let machine = device.machine();
        let (own, other) = (client(&device, "/a"), client(&device, "/b"));
        own.fill(3);
        other.fill(1);
        set(&machine, "/a", "dmem.max", "4G");
        set(&machine, "/a", "dmem.max", "1G");
        let (limit, left) = if later { (1, 1) } else { (4, 3) };
        assert_eq!((gib(&machine, "/a", "dmem.max"), used(&machine, "/a")), (limit, left));
        assert_eq!((used(&machine, "/b"), gtt(&device)), (1, 3 - left));
        if later {
            assert_eq!(gib(&machine, "/a", "dmem.peak"), 3);
        }
    }
}

// Checks R274.
#[test]
fn a_minimum_is_never_evicted_and_a_low_one_last() {
    let device = card(false);
    let machine = device.machine();
    let [kept, low, plain, grows] = ["/kept", "/low", "/plain", "/grows"].map(|path| client(&device, path));
    set(&machine, "/kept", "dmem.min", "4G");
    set(&machine, "/low", "dmem.low", "4G");
    for file in [&kept, &low, &plain] {
        file.fill(4);
    }
    let all = || ["/kept", "/low", "/plain", "/grows"].map(|path| used(&machine, path));
    grows.fill(WHOLE - 8);
    assert_eq!(all(), [4, 4, 0, WHOLE - 8], "the oldest were spared");
    // Its own are the only ones without protection.
    grows.fill(2);
    assert_eq!(all(), [4, 4, 0, WHOLE - 8]);
    // With a protection of its own, only the low one's are left.
    set(&machine, "/grows", "dmem.min", "12G");
    grows.fill(2);
    assert_eq!(all(), [4, 2, 0, WHOLE - 6]);
    // A group with more than its protection may lose one BO more than that: usage is looked at before each eviction.
    set(&machine, "/kept", "dmem.min", "3584M");
    set(&machine, "/low", "dmem.min", "2G");
    grows.fill(1);
    assert_eq!(all(), [3, 2, 0, WHOLE - 5]);
}

// Checks R275.
#[test]
fn children_share_the_protection_of_their_parent() {
    let device = card(false);
    let machine = device.machine();
    let [one, two, grows] = ["/p/one", "/p/two", "/grows"].map(|path| client(&device, path));
    set(&machine, "/p", "dmem.min", "4G");
    for path in ["/p/one", "/p/two"] {
        set(&machine, path, "dmem.min", "6G");
    }
    for _ in 0..6 {
        one.fill(1);
        two.fill(1);
    }
    grows.fill(WHOLE);
    // Each claims 6 of the 4 that there are. The oldest are evicted in turn, and in the end both have 2.
    assert_eq!(["/p/one", "/p/two", "/p"].map(|path| used(&machine, path)), [2, 2, 4]);
    // A share is of what is in use: who has less claims less.
    let device = card(false);
    let machine = device.machine();
    let [one, two, grows] = ["/p/one", "/p/two", "/grows"].map(|path| client(&device, path));
    for path in ["/p", "/p/one", "/p/two"] {
        set(&machine, path, "dmem.min", "4G");
    }
    one.fill(6);
    two.fill(6);
    grows.fill(WHOLE);
    assert_eq!(
        ["/p/one", "/p/two", "/p"].map(|path| used(&machine, path)),
        [0, 4, 4],
        "the oldest were all of one group"
    );
}

// Checks R276.
#[test]
fn malformed_settings_are_einval_and_lines_before_them_are_done() {
    for later in [false, true] {
        let device = card(later);
        let machine = device.machine();
        let write = |text: &str| machine.write_cgroup("/a", "dmem.max", text);
        let max = || machine.read_cgroup("/a", "dmem.max").unwrap();
        for wrong in [
            "drm/0000:04:00.0/vram 5",
            REGION,
            "5",
            &format!("{REGION}  5"),
            &format!("{REGION} 5x"),
            &format!("{REGION} -1"),
        ] {
            assert_eq!(write(wrong), Err(Errno::EINVAL), "{wrong:?}");
            assert_eq!(max(), format!("{REGION} max\n"));
        }
        write(&format!("  {REGION} 0x10K \n")).unwrap();
        assert_eq!(max(), format!("{REGION} 16384\n"));
        let two = format!("\n{REGION} 4096\n\n{REGION} 8192\n");
        assert_eq!(write(&two), if later { Err(Errno::EINVAL) } else { Ok(()) });
        let half = format!("{REGION} 1M\nnonsense 1\n");
        assert_eq!(write(&half), Err(Errno::EINVAL));
        assert_eq!(max(), format!("{REGION} {}\n", if later { 16384 } else { 1 << 20 }));
    }
}

// Checks R277.
#[test]
fn a_protected_group_takes_vram_of_others_before_it_uses_gtt() {
    for later in [false, true] {
        let device = card(later);
        let machine = device.machine();
        let [kept, plain] = ["/kept", "/plain"].map(|path| client(&device, path));
        set(&machine, "/kept", "dmem.low", "2G");
        plain.fill(WHOLE);
        for _ in 0..3 {
            kept.try_create(GIB, 0, VRAM | GTT, PLAIN).unwrap();
        }
        let (own, others) = if later { (2, WHOLE - 2) } else { (0, WHOLE) };
        assert_eq!(["/kept", "/plain"].map(|path| used(&machine, path)), [own, others]);
        assert_eq!(gtt(&device), 3);
    }
}

/// A game that renders with 10 GiB, and a browser that wants the rest and more. Returns what each has in VRAM.
fn game_and_browser(device: &SimDevice) -> [u64; 2] {
    let machine = device.machine();
    let (game, browser) = (Rig::new(device), client(device, "/browser"));
    game.file.0.join_cgroup("/game");
    let textures = game.file.fill(10);
    for _ in 0..10 {
        // The browser opens a page between two frames.
        browser.fill(1);
        let frame = submit(&game, &textures[..2]).unwrap();
        game.finish(Ip::Gfx, 0, frame).unwrap();
    }
    ["/game", "/browser"].map(|path| used(&machine, path))
}

// Checks R274.
#[test]
fn the_game_keeps_its_vram_while_the_browser_grows() {
    for release in [KernelRelease::V6_18, KernelRelease::V7_2, KernelRelease::V7_3] {
        let new = || SimDevice::new(profile("navi21").unwrap(), SimOptions::of_kernel(release));
        let device = new();
        let [game, browser] = game_and_browser(&device);
        assert!(
            game < 10 && browser == 10,
            "{release}: without protection the browser takes what the game does not use in each frame"
        );
        for setting in ["dmem.min", "dmem.low"] {
            let device = new();
            set(&device.machine(), "/game", setting, "10G");
            assert_eq!(game_and_browser(&device), [10, WHOLE - 10], "{release}: {setting}");
        }
        let device = new();
        set(&device.machine(), "/browser", "dmem.max", "3G");
        assert_eq!(game_and_browser(&device), [10, 3], "{release}: a limit does it as well");
    }
}
