//! Facts about a GPU whose kernel or chip is older, or that no capture holds: features 5, 10, 15 and 16.

use crate::listener::{Change, Listener};
use crate::support::{chip, chips, host_memory, number};
use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_winsys::{
    uapi::{DevInfo, InfoHwIp, InfoMaxIbs, MemoryInfo, query},
    winsys::{Capabilities, DevInfoAnswer, Device, GfxLevel, GpuInfo, RawInfo, RegisterValue, Sensor},
};
use serde_json::Value;

fn gpu(name: &str) -> SimDevice {
    SimDevice::new(chip(name), SimOptions::default())
}

/// Row 5: wherever an older kernel ends an answer, the rest of it is zero, and not what was in the buffer before.
#[test]
fn a_short_answer_is_completed_with_zeros() {
    for name in ["navi21", "polaris10", "renoir"] {
        let (gpu, mut differing) = (gpu(name), 0);
        for (query, size) in [
            (query::DEV_INFO, size_of::<DevInfo>()),
            (query::HW_IP_INFO, size_of::<InfoHwIp>()),
            (query::MEMORY, size_of::<MemoryInfo>()),
            (query::MAX_IBS, size_of::<InfoMaxIbs>()),
        ] {
            let facts = |change| {
                let (kernel, _) = Listener::changing(&gpu, query, change);
                // Which part was answered is the one difference.
                let unanswered = |info: &GpuInfo| GpuInfo { answered: DevInfoAnswer::default(), ..info.clone() };
                Device::new(kernel).map(|device| format!("{:?}", unanswered(device.info())))
            };
            let whole = facts(Change::Cut(u32::MAX)).unwrap();
            let cuts = (4..size as u32).step_by(4).filter(|&bytes| {
                let (cut, zeroed) = (facts(Change::Cut(bytes)), facts(Change::Zero(bytes)));
                assert_eq!(cut, zeroed, "{name}: query {query:#x} of {bytes} bytes");
                cut.is_ok_and(|facts| facts != whole)
            });
            differing += cuts.count();
        }
        assert!(differing > 30, "{name}: only {differing} lengths leave something out");
    }
}

/// An older kernel's answer is short, and its version gives some fields no meaning yet: the facts say which.
#[test]
fn fields_that_the_kernel_did_not_answer_are_told() {
    let of = |name: &str, change| {
        let (kernel, _) = Listener::changing(&gpu(name), query::DEV_INFO, change);
        Device::new(kernel).unwrap().info().clone()
    };
    let whole = of("navi31", Change::Cut(u32::MAX));
    assert_eq!((whole.answered.bytes(), whole.answered.missing().count()), (size_of::<DevInfo>(), 0));
    assert_eq!((whole.caches.scalar, whole.caches.infinity), (Some(16 << 10), Some(96 << 20)));
    assert_eq!((whole.min_engine_clock_mhz, whole.min_memory_clock_mhz), (500, 96));
    for bytes in (352..440).step_by(4) {
        let cut = of("navi31", Change::Cut(bytes));
        assert_eq!(cut.answered.bytes(), bytes as usize);
        assert_eq!(cut.answered.has("mall_size"), bytes >= 416, "{bytes}");
        assert_eq!(cut.answered.missing().any(|field| field == "min_engine_clock"), bytes < 376, "{bytes}");
        assert_eq!(cut.caches.scalar.is_some(), bytes >= 396, "{bytes}");
    }
    let cut = of("navi31", Change::Cut(352));
    assert_eq!((cut.min_engine_clock_mhz, cut.caches.l2, cut.caches.vector), (0, 6 << 20, 32 << 10), "from tables");
    let zeroed = of("navi31", Change::Zero(352));
    assert_eq!(zeroed.answered.bytes(), size_of::<DevInfo>(), "zeros are an answer");
}

/// Row 5: zero is what the fields of the upper address half mean where there is none.
#[test]
fn without_an_upper_half_the_lower_one_serves() {
    // Where the upper half of the address space is told; Linux learnt it with minor 25.
    let (kernel, _) = Listener::changing(&gpu("navi21"), query::DEV_INFO, Change::Cut(336));
    let device = Device::new(kernel).unwrap();
    assert_eq!((device.info().high_va_offset, device.info().high_va_max), (0, 0));
    let memory = host_memory(&device, 4096);
    assert!(memory.address().as_u64() < device.info().va_max, "the lower half serves");
}

/// The registers that a capture keeps are those that the library's facts are made of.
#[test]
fn raw_registers_are_those_of_the_facts() {
    for name in chips() {
        let device = Device::new(gpu(name).open()).unwrap();
        let (raw, facts) = (RawInfo::query(device.kernel()).unwrap(), device.info());
        let all = |name: &str| -> Vec<u32> {
            raw.registers.iter().filter(|register| register.name == name).map(|register| register.value).collect()
        };
        let tiling = &facts.tiling;
        assert_eq!(all("GB_ADDR_CONFIG"), [tiling.gb_addr_config], "{name}");
        if facts.gfx_level >= GfxLevel::Gfx9 {
            assert_eq!(raw.registers.len(), 1, "{name}: the others are no user's on this generation");
            continue;
        }
        let (engines, is_new) = (raw.dev_info.num_shader_engines.min(4) as usize, facts.gfx_level >= GfxLevel::Gfx7);
        assert_eq!(all("MC_ARB_RAMCFG"), [tiling.mc_arb_ramcfg], "{name}");
        assert_eq!(all("GB_TILE_MODE"), tiling.tile_modes, "{name}");
        // Of this one the facts have one field.
        let disabled: Vec<u32> = all("CC_RB_BACKEND_DISABLE").iter().map(|value| value >> 16 & 0xff).collect();
        assert_eq!(disabled, tiling.backend_disable[..engines], "{name}");
        assert_eq!(all("PA_SC_RASTER_CONFIG"), tiling.raster_config[..engines], "{name}");
        let only_new = |name: &str, values: &[u32]| assert_eq!(all(name), if is_new { values } else { &[] }, "{name}");
        only_new("PA_SC_RASTER_CONFIG_1", &tiling.raster_config_1[..engines]);
        only_new("GB_MACROTILE_MODE", &tiling.macro_tile_modes);
        let places: Vec<u32> = raw.registers.iter().filter_map(|register| register.index).collect();
        assert!(places.iter().copied().eq((0..32).chain(0..if is_new { 16 } else { 0 })), "{name}");
        // Source: libdrm 2.4.124 `amdgpu_gpu_info.c`, `amdgpu_query_gpu_info_init`.
        for register in &raw.registers {
            let (first, is_of_engine) = match register.name {
                "GB_ADDR_CONFIG" => (0x263e, false),
                "CC_RB_BACKEND_DISABLE" => (0x263d, true),
                "PA_SC_RASTER_CONFIG" => (0xa0d4, true),
                "PA_SC_RASTER_CONFIG_1" => (0xa0d5, true),
                "MC_ARB_RAMCFG" => (0x09d8, false),
                "GB_TILE_MODE" => (0x2644, false),
                "GB_MACROTILE_MODE" => (0x2664, false),
                other => panic!("{name}: {other}"),
            };
            assert_eq!(register.dword_offset, first + register.index.unwrap_or(0), "{name}: {register:?}");
            assert_eq!(register.instance != u32::MAX, is_of_engine, "{name}: {register:?}");
        }
        let of_engines = |register: &&RegisterValue| register.name == "PA_SC_RASTER_CONFIG";
        let instances = raw.registers.iter().filter(of_engines).map(|register| register.instance);
        assert!(instances.eq((0..engines as u32).map(|engine| engine | 0xff00)), "{name}");
    }
}

/// Row 10: each capability with the minor version that brought it; nothing else changes with the version.
///
/// Source: the version history in Linux 6.12 `amdgpu_drv.c`; Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`.
#[test]
fn capabilities_come_with_their_minor_version() {
    let brought = [
        (28, Capabilities::SCHEDULED_DEPENDENCY),
        (38, Capabilities::EMIT_MEM_SYNC),
        (45, Capabilities::STABLE_PSTATE),
        (47, Capabilities::DISCARDABLE),
        (49, Capabilities::GANG_SUBMIT),
        (54, Capabilities::RESET_IN_PROGRESS),
        (55, Capabilities::GPUVM_FAULT_QUERY),
        (59, Capabilities::ZEROED_VRAM),
    ];
    for name in ["pitcairn", "vega10", "navi31"] {
        let at = |drm_minor| {
            let gpu = SimDevice::new(chip(name), SimOptions { drm_minor, ..SimOptions::default() });
            Device::new(gpu.open()).unwrap().info().capabilities
        };
        let mut before = at(27);
        assert!(brought.iter().all(|&(_, capability)| !before.intersects(capability)), "{name}: {before:?}");
        for minor in 28..=60 {
            let (now, expected) = (at(minor), brought.iter().filter(|(first, _)| *first == minor));
            let expected = expected.fold(Capabilities::empty(), |all, &(_, capability)| all | capability);
            assert_eq!((now - before, before - now), (expected, Capabilities::empty()), "{name}: minor {minor}");
            before = now;
        }
    }
}

/// Row 15: GFX6 to GFX8 describe their tiling in registers, which later chips do not have.
#[test]
fn tiling_registers_are_the_captured_ones() {
    let mut compared = 0;
    for name in chips() {
        let device = crate::support::device_like_the_recording(name);
        let (info, tiling) = (device.info(), device.info().tiling);
        let path = format!("{}/crates/sim/data/devices/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let capture: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for register in capture["mmr_regs"].as_array().unwrap() {
            let (value, offset) = (number(&register["value"]) as u32, number(&register["dword_offset"]) as usize);
            let engine = (number(&register["instance"]) & 0xff) as usize;
            let found = match offset {
                0x263e => tiling.gb_addr_config,
                0x2644..0x2664 => tiling.tile_modes[offset - 0x2644],
                0x2664..0x2674 => tiling.macro_tile_modes[offset - 0x2664],
                0x09d8 => tiling.mc_arb_ramcfg,
                // Of a register with a bit for each of eight backends in bits 23..16.
                0x263d => tiling.backend_disable[engine] << 16,
                0xa0d4 => tiling.raster_config[engine],
                0xa0d5 => tiling.raster_config_1[engine],
                other => panic!("{name}: register {other:#x}"),
            };
            let known = if offset == 0x263d { value & 0xff_0000 } else { value };
            assert_eq!(found, known, "{name}: register {offset:#x} of {engine:#x}");
            compared += 1;
        }
        if info.gfx_level >= GfxLevel::Gfx9 {
            assert_eq!((tiling.tile_modes, tiling.raster_config), ([0; 32], [0; 4]), "{name}");
        }
    }
    assert!(compared >= chips().len(), "only {compared} registers");
}

/// Row 16: every sensor is asked for by its own number.
///
/// Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`, `AMDGPU_INFO_SENSOR_GFX_SCLK` and the eleven after it.
#[test]
fn every_sensor_is_asked_for_by_its_number() {
    let (kernel, heard) = Listener::changing(&gpu("navi21"), query::SENSOR, Change::Echo(1000));
    let device = Device::new(kernel).unwrap();
    heard.queries.lock().unwrap().clear();
    let told = Sensor::ALL.map(|sensor| device.sensor(sensor).unwrap());
    assert_eq!(told, [1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012].map(Some));
    assert_eq!(*heard.queries.lock().unwrap(), [query::SENSOR; 12]);
    let names = [Sensor::ShaderClock, Sensor::Temperature, Sensor::AveragePower, Sensor::InputPower];
    assert_eq!(names.map(|sensor| device.sensor(sensor).unwrap()), [1001, 1003, 1005, 1012].map(Some));
}
