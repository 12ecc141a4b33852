//! Machines that lack files, contradict themselves, or are not AMD's.

mod support;

use amdgpu_pool::{
    Cgroup, LookError, Options, PoolInfo, Verdict,
    files::{Entry, Memory},
    look,
};
use support::{Fake, GIB, pool};

fn card() -> Fake {
    Fake::new(false, pool(8 * GIB, GIB), pool(16 * GIB, 0), 32 * GIB, 20 * GIB)
}

fn reasons(gpu: &amdgpu_pool::Gpu) -> String {
    let reasons = gpu.missing.iter().map(|missing| format!("{}: {}", missing.source, missing.reason));
    reasons.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_sleeping_gpu_is_opened_only_when_asked() {
    for power in ["suspended", "suspending"] {
        let mut machine = card();
        machine.files.put("sys/class/drm/renderD128/device/power/runtime_status", format!("{power}\n"));
        let gpu = machine.gpu();
        assert_eq!((machine.opened.get(), gpu.is_asleep), (0, true), "{power}");
        assert_eq!((gpu.domains.vram.total, gpu.apu, gpu.heaps.is_none()), (Some(8 * GIB), Some(false), true));
        assert!(reasons(&gpu).contains("INFO: the GPU is asleep"), "{}", reasons(&gpu));
        assert_eq!(gpu.fits(GIB).verdict, Verdict::Fits, "sysfs knows what is free");
        let woken = machine.gpu_with(Options { wake: true, ..Options::default() });
        assert_eq!((machine.opened.get(), woken.heaps.is_some()), (1, true));
    }
}

#[test]
fn a_container_without_sys_is_told_so() {
    let mut machine = card();
    machine.files = Memory::default();
    machine.files.put("proc/meminfo", "MemTotal: 1 kB\n");
    let error = look(&machine, &Options::default()).unwrap_err();
    assert_eq!(error, LookError::NoGpu("/sys/class/drm: not there".to_owned()));
    machine.files.put_entry("sys/class/drm", Entry::Denied);
    let error = look(&machine, &Options::default()).unwrap_err();
    assert!(error.to_string().starts_with("nothing may be read: /sys/class/drm"), "{error}");
}

#[test]
fn gpus_of_others_are_named_and_have_no_figures() {
    let mut machine = card();
    machine.files.put("sys/class/drm/renderD129/device/uevent", "DRIVER=i915\nPCI_SLOT_NAME=0000:00:02.0\n");
    machine.files.put("sys/class/drm/renderD130/device/uevent", "OF_NAME=gpu\n");
    let report = look(&machine, &Options::default()).unwrap();
    assert_eq!(report.gpus.len(), 1);
    let others: Vec<_> = report.others.iter().map(|one| (one.node.as_str(), one.driver.as_deref())).collect();
    assert_eq!(others, [("renderD129", Some("i915")), ("renderD130", None)]);
    machine.files.remove("sys/class/drm/renderD128");
    let error = look(&machine, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("is one of driver amdgpu"), "{error}");
}

#[test]
fn a_gpu_that_must_not_be_opened_keeps_the_figures_of_sysfs() {
    let mut machine = card();
    machine.memory = None;
    let gpu = machine.gpu();
    assert!(reasons(&gpu).contains("INFO MEMORY: permission denied"), "{}", reasons(&gpu));
    assert_eq!((gpu.domains.vram.total, gpu.domains.vram.usable), (Some(8 * GIB), None));
    assert_eq!(gpu.effective.available, Some(7 * GIB));
}

#[test]
fn figures_that_contradict_each_other_are_named() {
    let mut machine = card();
    let memory = machine.memory.as_mut().unwrap();
    memory.vram = PoolInfo { total: 8 * GIB, usable: 9 * GIB, used: 10 * GIB, max_allocation: 1 << 60 };
    memory.visible_vram = pool(12 * GIB, 0);
    (memory.gtt.total, memory.gtt.usable) = (1 << 60, 1 << 60);
    machine.facts.is_apu = true;
    let gpu = machine.gpu();
    for expected in [
        "INFO MEMORY vram.usable: 9663676416 bytes are more than the total",
        "vram.used: 10737418240 bytes are more than the total",
        "visible_vram.total: 12884901888 bytes are more than all VRAM",
        "INFO MEMORY vram.max_allocation: 1152921504606846976 bytes cannot be",
        "kind: INFO tells an APU, the PCI device ID is that of a card",
        "heaps: the size of GTT is unknown",
    ] {
        assert!(reasons(&gpu).contains(expected), "{expected} is not in\n{}", reasons(&gpu));
    }
    assert_eq!((gpu.effective.available, gpu.domains.vram.free()), (None, Some(0)));
    assert_eq!(gpu.fits(GIB).verdict, Verdict::Unknown);
    assert_eq!(gpu.largest.now, None);
}

#[test]
fn half_a_report_is_half_known() {
    let mut machine = card();
    machine.memory = None;
    machine.files.remove("sys/class/drm/renderD128/device/mem_info_vram_used");
    machine.files.put("sys/class/drm/renderD128/device/mem_info_gtt_used", "many\n");
    machine.files.remove("proc/meminfo");
    machine.files.remove("proc/self");
    machine.process(7, 3, "drm-memory-vram:\t12");
    let report = look(&machine, &Options::default()).unwrap();
    let gpu = &report.gpus[0];
    assert!(reasons(gpu).contains("mem_info_vram_used: not there"), "{}", reasons(gpu));
    assert!(reasons(gpu).contains("mem_info_gtt_used: 'many' is no size"), "{}", reasons(gpu));
    assert_eq!((gpu.effective.total, gpu.effective.available), (Some(8 * GIB), None));
    assert_eq!((gpu.fits(1).verdict, gpu.others.vram), (Verdict::Unknown, None));
    assert!(matches!(&report.cgroup, Cgroup::Unknown(reason) if reason.contains("not there")));
    assert_eq!(gpu.processes.as_ref().unwrap()[0].vram, Some(12), "a line that was cut counts as what it says");
}

#[test]
fn cgroup_v1_has_no_limit_and_says_so() {
    let mut machine = card();
    machine.files.put("proc/self/cgroup", "5:memory:/docker/1\n1:name=systemd:/docker/1\n");
    let gpu = machine.gpu();
    let limit = gpu.limits.iter().find(|limit| limit.name == "cgroup_dmem").unwrap();
    assert!(limit.bytes.is_none() && limit.why.contains("only cgroup v1"), "{limit:?}");
    assert_eq!(gpu.cgroup_limit, None);
}

#[test]
fn a_gpu_of_unknown_kind_has_no_pool() {
    let mut machine = card();
    machine.memory = None;
    let uevent = "DRIVER=amdgpu\nPCI_ID=1002:0001\nPCI_SLOT_NAME=0000:03:00.0\n";
    machine.files.put("sys/class/drm/renderD128/device/uevent", uevent);
    machine.files.put("sys/class/drm/renderD128/device/power/runtime_status", "suspended\n");
    let gpu = machine.gpu();
    assert_eq!((gpu.apu, gpu.effective.rule.as_str(), gpu.fits(1).verdict), (None, "unknown", Verdict::Unknown));
}
