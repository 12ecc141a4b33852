//! R250 to R255: what the kernel keeps of a job that timed out.

use std::time::Duration;

use amdgpu_sim::{KernelRelease, LockupTimeout, SimDevice, SimOptions, profile, sysfs::coredump};
use amdgpu_winsys::winsys::Ip;

use crate::support::{Chunk, HANG, Job, Rig};

/// A card with a kernel that gives stuck rings up soon.
fn card(kernel: KernelRelease) -> SimDevice {
    let lockup_timeout = LockupTimeout::all(HANG);
    let options = SimOptions { strict: false, lockup_timeout, ..SimOptions::of_kernel(kernel) };
    SimDevice::new(profile("navi21").unwrap(), options)
}

/// Returns the core dump of the only job that hung.
fn dump(device: &SimDevice) -> Vec<u8> {
    let hangs = device.hangs();
    let [hang] = &hangs[..] else { panic!("{} hangs", hangs.len()) };
    assert!(hang.has_coredump(), "{:?}", hang.end);
    coredump(device, hang, Duration::new(12, 34))
}

// Checks R252 and R253.
#[test]
fn a_core_dump_has_its_sections_in_order_and_from_linux_7_2_on_the_contents_of_ibs() {
    let sections = [
        "**** AMDGPU Device Coredump ****\nversion: 1\nkernel: ",
        "\nmodule: amdgpu\ntime: 12.000000034\n",
        "\npasid: ",
        "\nvmid: ",
        "\nprocess_name: ",
        "\n\nSOC Information\nSOC Device id: ",
        "\n\nSOC Memory Information\nreal vram size: ",
        "\n\nHW IP Version Information\n",
        "\n\nIP Firmwares\n",
        "\n\nVBIOS Information: NA\n",
        "\n\nRing timed out details\nIP Type: 0 Ring Name: gfx_0.0.0\n",
        "\n\n[gfxhub] Page fault observed\nFaulty page starting at address: 0x0000000000000000\n",
        "\nVRAM lost check is skipped!\n",
        "\n\nIB #0 0x",
    ];
    for (kernel, is_new) in [(KernelRelease::V6_12, false), (KernelRelease::V7_0, false), (KernelRelease::V7_2, true)] {
        let device = card(kernel);
        let rig = Rig::new(&device);
        device.hang_next_job(Ip::Gfx, 0);
        let ib = rig.store(Ip::Gfx, 4, 1);
        let seq = rig.run(Ip::Gfx, 0, &ib).unwrap();
        rig.finish(Ip::Gfx, 0, seq).unwrap_err();
        let text = String::from_utf8(dump(&device)).unwrap();
        let mut rest = &text[..];
        for section in sections {
            let is_there = is_new || !["\npasid: ", "\nvmid: ", "\n\nIB #0 0x"].contains(&section);
            assert_eq!(rest.contains(section), is_there, "{kernel}: {section:?} in\n{rest}");
            if is_there {
                // Sections share a line break.
                rest = &rest[rest.find(section).unwrap() + section.len() - 1..];
            }
        }
        assert_eq!(text.matches(&format!("{:#010x}\n", ib[0])).count() > 0, is_new, "{kernel}: {text}");
    }
}

// Checks R255.
#[test]
fn an_ib_that_cannot_be_read_has_a_title_alone_and_the_core_dump_ends_in_nuls() {
    const DWORDS: usize = 16;
    let device = card(KernelRelease::V7_2);
    let rig = Rig::new(&device);
    let nowhere = Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, (0x7000_0000, 4 * DWORDS as u32)));
    let seq = nowhere.send(&rig.file).unwrap();
    rig.finish(Ip::Gfx, 0, seq).unwrap_err();
    let dump = dump(&device);
    let end = dump.iter().position(|&byte| byte == 0).unwrap();
    assert!(dump[..end].ends_with(b"\n\nIB #0 0x70000000 16 dw\n"));
    // Each dword would have been `0x`, eight digits and a line break.
    assert_eq!((dump.len() - end, dump[end..].iter().all(|&byte| byte == 0)), (11 * DWORDS, true));
}

// Checks R254.
#[test]
fn a_core_dump_has_the_stuck_ring_and_the_busy_ones_and_before_linux_7_2_all_of_them() {
    for (kernel, expected) in [
        (KernelRelease::V6_12, &["gfx_0.0.0", "comp_1.0.0", "comp_1.1.0", "sdma0", "sdma1"][..]),
        (KernelRelease::V7_2, &["gfx_0.0.0", "comp_1.0.0"]),
    ] {
        let lockup_timeout = LockupTimeout { gfx: HANG, ..LockupTimeout::all(Duration::from_mins(1)) };
        let options = SimOptions { strict: false, lockup_timeout, ..SimOptions::of_kernel(kernel) };
        let device = SimDevice::new(profile("navi21").unwrap(), options);
        let rig = Rig::new(&device);
        let done = rig.run(Ip::Sdma, 0, &rig.store(Ip::Sdma, 8, 1)).unwrap();
        rig.finish(Ip::Sdma, 0, done).unwrap();
        let waits = [rig.store(Ip::Compute, 12, 1), rig.wait_value(Ip::Compute, 0, 1)].concat();
        let waits = rig.run(Ip::Compute, 0, &waits).unwrap();
        rig.await_value(12, 1);
        device.hang_next_job(Ip::Gfx, 0);
        let ib = rig.ib(&rig.store(Ip::Gfx, 4, 1));
        let job = Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, ib)).with(Chunk::bos(&[rig.ibs, rig.data]));
        let hung = job.send(&rig.file).unwrap();
        rig.finish(Ip::Gfx, 0, hung).unwrap_err();
        rig.poke(0, 1);
        // A full reset has taken it with Linux 6.12.
        let _ = rig.finish(Ip::Compute, 0, waits);
        let text = String::from_utf8(dump(&device)).unwrap();
        let (_, rings) = text.split_once("\nRing buffer information\nring name: ").unwrap();
        let (rings, _) = rings.split_once("\nVRAM lost check is skipped!\n").unwrap();
        let rings: Vec<_> = rings.split("\nring name: ").collect();
        let named = |name: &str| rings.iter().find(|ring| ring.lines().next() == Some(name)).copied();
        for name in expected {
            assert!(named(name).is_some(), "{kernel}: {name}");
        }
        assert_eq!(rings.len() == expected.len(), kernel == KernelRelease::V7_2, "{kernel}: {}", rings.len());
        let stuck: Vec<_> = named("gfx_0.0.0").unwrap().lines().skip(1).collect();
        assert_eq!(stuck[0], "Rptr: 0x0 Wptr: 0x100 RB mask: 7ff", "{kernel}");
        assert_eq!(stuck[1..4], ["Ring size in dwords: 2048", "Ring contents", "Offset \t Value"]);
        let (va, bytes) = ib;
        let vmid = device.hangs()[0].vmid;
        let packet = ["0x0 \t 0xc0023f00".to_owned(), format!("0x4 \t {va:#x}"), "0x8 \t 0x0".to_owned()];
        assert_eq!(stuck[4..7], packet);
        assert_eq!(stuck[7], format!("0xc \t {:#x}", (bytes / 4) | (vmid << 24)));
        assert_eq!((stuck[8], stuck.len()), ("0x10 \t 0xffff1000", 4 + 2048));
        if let Some(idle) = named("sdma0") {
            assert!(idle.contains("Rptr: 0x100 Wptr: 0x100 RB mask: 7ff"), "{kernel}: one job has ended");
        }
    }
}
