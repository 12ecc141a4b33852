//! R264 and R265: the memory of APUs.

use amdgpu_sim::{KernelRelease, SimDevice, SimOptions, profile, sysfs::carve_out_files};
use amdgpu_uapi::Errno;

fn apu(changes: &str, kernel: KernelRelease) -> SimDevice {
    let changed = profile("renoir").unwrap().changed(&changes.parse().unwrap()).unwrap();
    SimDevice::new(changed, SimOptions::of_kernel(kernel))
}

// Checks R264.
#[test]
fn gtt_of_an_apu_is_not_larger_than_the_memory() {
    let gtt = |changes: &str, kernel| apu(changes, kernel).memory_info().gtt.total_heap_size;
    let more = "memory=8G:gtt=12G";
    assert_eq!(gtt(more, KernelRelease::V7_0), 12 << 30);
    assert_eq!(gtt(more, KernelRelease::V7_2), 8 << 30);
    assert_eq!(gtt("memory=8G:gtt=6G", KernelRelease::V7_2), 6 << 30);
    assert_eq!(gtt("gtt=12G", KernelRelease::V7_2), 12 << 30);
    let card = profile("navi21").unwrap().changed(&more.parse().unwrap()).unwrap();
    let card = SimDevice::new(card, SimOptions::of_kernel(KernelRelease::V7_2));
    assert_eq!(card.memory_info().gtt.total_heap_size, 12 << 30, "a card");
}

// Checks R265.
#[test]
fn a_chosen_carve_out_reads_back_at_once_and_is_there_after_the_next_start() {
    let device = apu("carve-out=512M:memory=15872M", KernelRelease::V7_2);
    let chosen = || carve_out_files(&device).pop().unwrap();
    let options = "0: Minimum (512 MB)\n1:  (1 GB)\n2:  (2 GB)\n3:  (4 GB)\n4: High (8 GB)\n";
    assert_eq!(carve_out_files(&device)[0], ("uma/carveout_options", options.to_owned()));
    assert_eq!(chosen(), ("uma/carveout", "0\n".to_owned()));
    let before = device.memory_info();
    for wrong in [&b"5"[..], b"-1", b"", b"\n", b"1 GB", b"0x1", b"99999999999999999999", b"\xff", b"1\n\n"] {
        assert_eq!(device.write_carve_out(wrong), Err(Errno::EINVAL), "{wrong:?}");
    }
    assert_eq!(chosen().1, "0\n");
    device.write_carve_out(b"3\n").unwrap();
    assert_eq!((chosen().1.as_str(), device.memory_info()), ("3\n", before));
    let after = device.restarted();
    let memory = after.memory_info();
    assert_eq!((memory.vram.total_heap_size, memory.gtt.total_heap_size), (4 << 30, 6 << 30));
    assert_eq!(carve_out_files(&after).pop().unwrap().1, "3\n");
    assert_eq!(after.restarted().memory_info(), memory, "nothing was chosen");
    // Older kernels and cards have no such files.
    let card = SimDevice::new(profile("navi21").unwrap(), SimOptions::of_kernel(KernelRelease::V7_2));
    for without in [apu("carve-out=512M", KernelRelease::V6_19), card] {
        assert_eq!(carve_out_files(&without), []);
        assert_eq!((without.write_carve_out(b"0"), without.has_carve_outs()), (Err(Errno::ENOENT), false));
    }
}
