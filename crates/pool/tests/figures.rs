//! The figures of machines from public reports, and of rules that such machines follow.

mod support;

use amdgpu_pool::{Place, State, Verdict};
use support::{Fake, GIB, PCI, pool};

fn state(gpu: &amdgpu_pool::Gpu, name: &str) -> Option<State> {
    gpu.limits.iter().find(|limit| limit.name == name).map(|limit| limit.state)
}

/// A carve-out of 2 GiB beside GTT of 82000 MiB, as `amdgpu.gttsize` made it.
#[test]
fn heaps_and_budgets_of_a_raven_with_much_gtt_are_those_of_radv() {
    let mut machine = Fake::new(true, pool(2 * GIB, 9_454_336), pool(82_000 << 20, 20_000_000), 90 * GIB, 80 * GIB);
    machine.files.put("sys/module/amdgpu/parameters/gttsize", "82000\n");
    let gpu = machine.gpu();
    let heaps = gpu.heaps.as_ref().unwrap();
    let figures: Vec<_> = heaps.iter().map(|heap| (heap.kind.as_str(), heap.size, heap.budget)).collect();
    assert_eq!(figures, [("gtt", 29_376_905_216, 29_367_087_104), ("visible_vram", 58_753_810_432, 58_734_174_208)]);
    assert_eq!((&*heaps[0].shares_with, &*heaps[1].shares_with), (&[1][..], &[0][..]));
    let gtt = gpu.limits.iter().find(|limit| limit.name == "gtt").unwrap();
    assert!(gtt.why.contains("amdgpu.gttsize was set, which is deprecated"), "{}", gtt.why);
}

/// A Polaris card whose VRAM is all visible: no third heap of what rounding adds.
#[test]
fn a_card_with_a_full_bar_has_two_heaps() {
    let gpu = Fake::new(false, pool(8_573_157_376, 0), pool(8_573_157_376, 0), 16 * GIB, 12 * GIB).gpu();
    let sizes: Vec<_> = gpu.heaps.unwrap().iter().map(|heap| heap.size).collect();
    assert_eq!(sizes, [8_573_157_376, 8_573_157_376]);
}

/// A machine with 128 GB, of which a tool reported 132 GB as usable: half is carved out, and GTT is larger than the rest.
#[test]
fn an_apu_has_no_more_than_its_machine() {
    let gpu = Fake::new(true, pool(64 * GIB, 0), pool(68 * GIB, 0), 62 * GIB, 60 * GIB).gpu();
    assert_eq!((gpu.effective.total, gpu.effective.available), (Some(126 * GIB), Some(124 * GIB)));
    assert_eq!((state(&gpu, "mem_available"), state(&gpu, "gtt")), (Some(State::Counts), Some(State::Slack)));
    assert_eq!(gpu.fits(124 * GIB).verdict, Verdict::Fits);
    let more = gpu.fits(124 * GIB + 1);
    assert_eq!((more.verdict, more.lacking), (Verdict::TooMuch, 1));
    assert!(more.reason.contains("memory that the machine has available"), "{}", more.reason);
}

/// A carve-out of 2 GiB that is 99 % full, while 98 GB are free: programs evicted models for nothing.
#[test]
fn a_full_carve_out_leaves_the_rest_of_an_apu() {
    let gpu = Fake::new(true, pool(2 * GIB, 2 * GIB - 4096), pool(100 * GIB, 0), 124 * GIB, 98 * GIB).gpu();
    let fit = gpu.fits(90 * GIB);
    assert_eq!((fit.verdict, fit.in_one_piece), (Verdict::Fits, true));
    assert_eq!(fit.parts.iter().map(|part| part.place).collect::<Vec<_>>(), [Place::CarveOut, Place::Gtt]);
    assert_eq!(fit.parts.iter().map(|part| part.bytes).sum::<u64>(), 90 * GIB);
}

#[test]
fn one_allocation_lies_in_one_place() {
    let gpu = Fake::new(true, pool(32 * GIB, 0), pool(48 * GIB, 0), 90 * GIB, 80 * GIB).gpu();
    assert_eq!(gpu.effective.available, Some(80 * GIB));
    assert_eq!(gpu.largest.now, Some(48 * GIB - 4096), "the kernel refuses a buffer as large as GTT");
    let fit = gpu.fits(60 * GIB);
    assert_eq!((fit.verdict, fit.in_one_piece), (Verdict::Fits, false));
    assert!(fit.reason.contains("several allocations"), "{}", fit.reason);
}

#[test]
fn what_a_card_lacks_spills_to_system_memory() {
    let gpu = Fake::new(false, pool(16 * GIB, 6 * GIB), pool(32 * GIB, 0), 64 * GIB, 20 * GIB).gpu();
    assert_eq!(gpu.fits(10 * GIB).verdict, Verdict::Fits);
    let fit = gpu.fits(12 * GIB);
    assert_eq!(fit.verdict, Verdict::Spills);
    assert_eq!(
        fit.parts.iter().map(|part| (part.place, part.bytes)).collect::<Vec<_>>(),
        [(Place::Vram, 10 * GIB), (Place::Gtt, 2 * GIB)]
    );
    assert_eq!(gpu.fits(31 * GIB).verdict, Verdict::TooMuch, "no more than the machine has available");
    assert_eq!((gpu.fits(0).verdict, gpu.fits(0).parts), (Verdict::Fits, Vec::new()));
    assert_eq!(gpu.fits(u64::MAX).verdict, Verdict::TooMuch);
}

#[test]
fn ttm_limits_what_gttsize_only_promises() {
    let mut machine = Fake::new(true, pool(GIB / 2, 0), pool(96 * GIB, GIB), 124 * GIB, 110 * GIB);
    machine.files.put("sys/module/amdgpu/parameters/gttsize", format!("{}\n", 96 << 10));
    let page = rustix::param::page_size() as u64;
    machine.files.put("sys/module/ttm/parameters/pages_limit", format!("{}\n", 62 * GIB / page));
    let gpu = machine.gpu();
    assert_eq!(gpu.effective.limited_by.as_deref(), Some("ttm_pages_limit"));
    assert_eq!(gpu.effective.available, Some(61 * GIB + GIB / 2));
    assert_eq!((state(&gpu, "ttm_pages_limit"), state(&gpu, "gtt")), (Some(State::Counts), Some(State::Slack)));
    let gtt = gpu.limits.iter().find(|limit| limit.name == "gtt").unwrap();
    assert!(gtt.why.contains("more than ttm.pages_limit"), "{}", gtt.why);
    machine.files.put("sys/module/amdgpu/parameters/gttsize", "-1\n");
    assert_eq!(state(&machine.gpu(), "gttsize"), None, "it is not set");
}

#[test]
fn the_own_usage_is_in_the_budget_and_the_rest_is_the_others() {
    let mut machine = Fake::new(false, pool(8 * GIB, 5 * GIB), pool(16 * GIB, GIB), 32 * GIB, 20 * GIB);
    machine.own = Some(40);
    // The same client in two processes: it is charged to the first, and is the own of each.
    for pid in [30, 40] {
        machine.process(pid, 9, "drm-memory-vram:\t2097152 KiB\namd-memory-visible-vram:\t1048576 KiB\n");
    }
    machine.process(50, 10, "drm-memory-vram:\t1048576 KiB\ndrm-shared-vram:\t64 KiB\n");
    let gpu = machine.gpu();
    let own = gpu.own.unwrap();
    assert_eq!((own.visible_vram, own.invisible_vram), (GIB, GIB));
    assert_eq!((gpu.others.vram, gpu.others.gtt), (Some(3 * GIB), Some(GIB)));
    let heap = gpu.heaps.unwrap().into_iter().find(|heap| heap.kind == "visible_vram").unwrap();
    assert_eq!((heap.usage, heap.budget), (2 * GIB, 5 * GIB), "3 GiB are free, and 2 GiB are its own");
    let rest = gpu.unattributed.unwrap();
    assert_eq!((rest.shared.vram, rest.vram), (Some(64 << 10), Some(2 * GIB)));
}

#[test]
fn a_cgroup_takes_from_the_gpus_own_memory_and_says_which() {
    let mut machine = Fake::new(false, pool(16 * GIB, 0), pool(32 * GIB, 0), 64 * GIB, 40 * GIB);
    for (level, max, current) in [("/user.slice", 6 * GIB, GIB), ("/user.slice/app.scope", 8 * GIB, GIB)] {
        machine.files.put(format!("sys/fs/cgroup{level}/dmem.max"), format!("drm/{PCI}/vram {max}\n"));
        machine.files.put(format!("sys/fs/cgroup{level}/dmem.current"), format!("drm/{PCI}/vram {current}\n"));
    }
    machine.files.put("sys/fs/cgroup/user.slice/app.scope/memory.max", "1073741824\n");
    let gpu = machine.gpu();
    assert_eq!((gpu.effective.available, gpu.effective.limited_by.as_deref()), (Some(5 * GIB), Some("cgroup")));
    assert_eq!(gpu.fits(5 * GIB).verdict, Verdict::Fits);
    assert_eq!(gpu.fits(6 * GIB).verdict, Verdict::Spills, "what the cgroup refuses lands in GTT");
    let limit = gpu.limits.iter().find(|limit| limit.name == "cgroup_dmem").unwrap();
    assert!(limit.state == State::Counts && limit.why.contains("dmem.max of /user.slice leaves"), "{limit:?}");
    assert_eq!(state(&gpu, "cgroup_memory"), Some(State::Apart), "GTT is charged to no cgroup");
}

#[test]
fn a_carve_out_for_the_next_boot_is_told_apart_from_the_present_one() {
    let mut machine = Fake::new(true, pool(GIB / 2, 0), pool(60 * GIB, 0), 120 * GIB, 100 * GIB);
    let uma = "sys/class/drm/renderD128/device/uma";
    machine.files.put(format!("{uma}/carveout_options"), "0: Minimum (512 MB)\n1: High (96 GB)\n");
    machine.files.put(format!("{uma}/carveout"), "0\n");
    assert_eq!(state(&machine.gpu(), "carve_out_next_boot"), None);
    machine.files.put(format!("{uma}/carveout"), "1\n");
    let gpu = machine.gpu();
    assert_eq!(state(&gpu, "carve_out_next_boot"), Some(State::Apart));
    assert_eq!(gpu.effective.total, Some(60 * GIB + GIB / 2), "the present one counts");
}
