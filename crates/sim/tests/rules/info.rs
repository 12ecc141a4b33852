//! R111 to R117 and R124: questions.

use std::time::{Duration, Instant};

use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{
        DevInfo, GpuvmFault, Info, InfoFirmware, InfoGds, InfoHwIp, InfoMaxIbs, InfoVramGtt, MemoryInfo, firmware,
        query,
    },
    winsys::Ip,
};
use zerocopy::IntoBytes;

use crate::support::{DATA, File, Rig, card, device, file, hanging_for, open};

const NOTHING: [u32; 4] = [0; 4];

// Checks R111.
#[test]
fn answers_are_cut_to_the_buffer() {
    let file = file();
    let mut out = [0x55; 500];
    file.info_into(query::DEV_INFO, NOTHING, &mut out).unwrap();
    assert_eq!(&out[..440], card().profile().dev_info.as_bytes());
    assert!(out[440..].iter().all(|&byte| byte == 0x55));
    let empty = Info { return_pointer: 8, return_size: 0, query: query::DEV_INFO, input: NOTHING };
    assert_eq!(file.send(&mut { empty }), Err(Errno::EINVAL));
    assert_eq!(file.send(&mut Info { return_pointer: 0, return_size: 4, ..empty }), Err(Errno::EINVAL));
    for unknown in [0x04, 0x06, 0x0d, 0x12, 0x24, u32::MAX] {
        assert_eq!(file.info::<u32>(unknown, NOTHING), Err(Errno::EINVAL), "{unknown:#x}");
    }
    assert!(file.complaints().contains("unknown query 0x24"));
}

// Checks R112.
#[test]
fn blocks_the_chip_lacks() {
    let file = file();
    for ip in Ip::ALL {
        let info: InfoHwIp = file.info(query::HW_IP_INFO, [ip as u32, 0, 0, 0]).unwrap();
        let count = file.info::<u32>(query::HW_IP_COUNT, [ip as u32, 0, 0, 0]);
        match ip {
            Ip::Gfx => assert_eq!((info.available_rings, count), (1, Ok(1))),
            Ip::Compute => assert_eq!((info.available_rings, count), (0xf, Ok(1))),
            Ip::Sdma => assert_eq!((info.available_rings, count), (3, Ok(card().profile().sdma_engines))),
            _ => assert_eq!((info, count), (InfoHwIp::ZEROED, Err(Errno::EINVAL)), "{ip}"),
        }
    }
    assert_eq!(file.info::<InfoHwIp>(query::HW_IP_INFO, [10, 0, 0, 0]), Err(Errno::EINVAL));
    assert_eq!(file.info::<InfoHwIp>(query::HW_IP_INFO, [0, 1, 0, 0]), Err(Errno::EINVAL));
    assert_eq!(file.info::<u32>(query::HW_IP_COUNT, [10, 0, 0, 0]), Err(Errno::EINVAL));
}

fn register(file: &File, offset: u32, count: u32, instance: u32) -> Result<u32, Errno> {
    file.info(query::READ_MMR_REG, [offset, count, instance, 0])
}

// Checks R113.
#[test]
fn registers_on_the_list_are_read_and_others_are_efault() {
    let file = file();
    assert_eq!(register(&file, 0x263e, 1, u32::MAX), Ok(0x444));
    assert_eq!(register(&file, 0x263e, 0, u32::MAX), Ok(0), "none is fine");
    assert_eq!(register(&file, 0x263f, 1, u32::MAX), Err(Errno::EFAULT));
    assert_eq!(register(&file, 0x263e, 2, u32::MAX), Err(Errno::EFAULT));
    assert_eq!(register(&file, u32::MAX, 2, u32::MAX), Err(Errno::EFAULT));
    assert_eq!(register(&file, 0x263e, 1, 0xff04), Err(Errno::EINVAL));
    assert_eq!(register(&file, 0x263e, 1, 0x02ff), Err(Errno::EINVAL));
    assert_eq!(register(&file, 0x263e, 129, u32::MAX), Err(Errno::EINVAL));
    let old = open(&device("pitcairn"));
    assert_eq!(register(&old, 0xa0d4, 1, 0xff01), Ok(0x2a00_1260));
}

// Checks R113.
#[test]
fn the_status_register_tells_whether_a_ring_is_busy() {
    const GRBM_STATUS: u32 = 0x2004;
    let device = card();
    let rig = Rig::new(&device);
    assert_eq!(register(&rig.file, GRBM_STATUS, 1, u32::MAX), Ok(0));
    let held = device.hold_ring(Ip::Compute, 0);
    let seq = rig.job_of(rig.context, Ip::Compute, 0, &[]).send(&rig.file).unwrap();
    assert_eq!(register(&rig.file, GRBM_STATUS, 1, u32::MAX).map(|status| status >> 31), Ok(1));
    drop(held);
    rig.finish(Ip::Compute, 0, seq).unwrap();
}

// Checks R114.
#[test]
fn dev_info_may_be_read_in_part() {
    assert_eq!(file().info::<u32>(query::DEV_INFO, NOTHING), Ok(card().profile().dev_info.device_id));
    assert_eq!(size_of::<DevInfo>(), 440);
}

// Checks R115.
#[test]
fn firmware_that_a_chip_lacks_is_version_0() {
    let file = file();
    let ask = |kind, instance, index| file.info::<InfoFirmware>(query::FW_VERSION, [kind, instance, index, 0]);
    assert_eq!(ask(firmware::VCE, 0, 0), Ok(InfoFirmware::ZEROED));
    assert_eq!(ask(firmware::GFX_ME, 0, 0), Ok(card().profile().firmware.me));
    assert_eq!(ask(firmware::GFX_ME, 1, 0), Err(Errno::EINVAL));
    assert_eq!(
        (ask(firmware::GFX_MEC, 0, 1), ask(firmware::GFX_MEC, 0, 2)),
        (Ok(InfoFirmware::ZEROED), Err(Errno::EINVAL))
    );
    assert_eq!(ask(firmware::SDMA, 0, card().profile().sdma_engines), Err(Errno::EINVAL));
    for unknown in [0, 9, 0x1d, u32::MAX] {
        assert_eq!(ask(unknown, 0, 0), Err(Errno::EINVAL), "{unknown}");
    }
}

// Checks R116.
#[test]
fn without_power_management_no_sensor_exists() {
    for kind in [1, 3, 99] {
        assert_eq!(file().info::<u32>(query::SENSOR, [kind, 0, 0, 0]), Err(Errno::ENOENT));
    }
}

// Checks R145.
#[test]
fn sensors_follow_what_the_rings_do() {
    let options = SimOptions { power: true, strict: false, ..hanging_for(Duration::from_mins(1)) };
    let device = SimDevice::new(card().profile(), options);
    let rig = Rig::new(&device);
    let sensor = |kind| rig.file.info::<u32>(query::SENSOR, [kind, 0, 0, 0]);
    assert_eq!([1, 4, 5].map(sensor), [Ok(500), Ok(0), Ok(7)], "idle");
    assert_eq!([7, 8, 9, 10, 11].map(sensor), [Ok(700), Ok(1487), Ok(548), Ok(2475), Ok(1000)]);
    for unknown in [0, 6, 12, 13, u32::MAX] {
        assert_eq!(sensor(unknown), Err(Errno::EINVAL), "{unknown}");
    }
    let seq = rig.run(Ip::Compute, 0, &rig.wait_value(Ip::Compute, 0, 1)).unwrap();
    let begun = Instant::now();
    while sensor(4).unwrap() < 20 {
        assert!(begun.elapsed() < Duration::from_secs(30), "a ring that works shows no load");
    }
    let (clock, heat) = (sensor(1).unwrap(), sensor(3).unwrap());
    assert!(clock > 800 && heat > 45_000, "{clock} MHz, {heat}");
    rig.poke(0, 1);
    rig.finish(Ip::Compute, 0, seq).unwrap();
    while sensor(4).unwrap() > 0 {
        assert!(begun.elapsed() < Duration::from_mins(1), "the load does not end");
    }
}

// Checks R117.
#[test]
fn ibs_per_submission() {
    let answer: InfoMaxIbs = file().info(query::MAX_IBS, NOTHING).unwrap();
    assert_eq!(answer.max_ibs, [192, 125, 49, 49, 49, 49, 49, 49, 16, 49]);
}

#[test]
fn queries_of_later_drivers_do_not_exist_on_the_recorded_one() {
    let recorded = open(&SimDevice::new(card().profile(), SimOptions::RECORDING));
    assert_eq!(recorded.info::<InfoMaxIbs>(query::MAX_IBS, NOTHING), Err(Errno::EINVAL));
    assert_eq!(recorded.info::<GpuvmFault>(query::GPUVM_FAULT, NOTHING), Err(Errno::EINVAL));
}

#[test]
fn vram_gtt_repeats_the_usable_sizes_and_gds_follows_the_generation() {
    let file = file();
    let memory: MemoryInfo = file.info(query::MEMORY, NOTHING).unwrap();
    let short: InfoVramGtt = file.info(query::VRAM_GTT, NOTHING).unwrap();
    let usable = [memory.vram, memory.cpu_accessible_vram, memory.gtt].map(|heap| heap.usable_heap_size);
    assert_eq!([short.vram_size, short.vram_cpu_accessible_size, short.gtt_size], usable);
    let gds: InfoGds = file.info(query::GDS_CONFIG, NOTHING).unwrap();
    assert_eq!((gds.gds_total_size, gds.gws_per_compute_partition), (65536, 64));
    let gds: InfoGds = open(&device("navi31")).info(query::GDS_CONFIG, NOTHING).unwrap();
    assert_eq!(gds.gds_total_size, 4096);
}

#[test]
fn the_timestamp_goes_forward() {
    let file = file();
    let ticks = || file.info::<u64>(query::TIMESTAMP, NOTHING).unwrap();
    let first = ticks();
    std::thread::sleep(std::time::Duration::from_micros(50));
    assert!(ticks() > first);
}

// Checks R124.
#[test]
fn the_last_page_fault_is_the_files_own() {
    let device = card();
    let (one, other) = (Rig::new(&device), Rig::new(&device));
    let fault = |rig: &Rig| rig.file.info::<GpuvmFault>(query::GPUVM_FAULT, NOTHING).unwrap();
    assert_eq!(fault(&one), GpuvmFault::ZEROED);
    for va in [0x7000_0123_4564, 0xffff_9000_0000_1004] {
        let seq = one.run(Ip::Gfx, 0, &one.copy(va, DATA)).unwrap();
        assert_eq!(one.finish(Ip::Gfx, 0, seq), Ok(()), "a fault does not fail the job");
        let seen = fault(&one);
        assert_eq!(seen.addr, va & 0xffff_ffff_f000);
        assert_ne!(seen.status, 0);
        assert_eq!(seen.vmhub & 0xff, 0);
    }
    assert_eq!(fault(&other), GpuvmFault::ZEROED);
}
