//! R163: registers that the firmware keeps in memory.

use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    cs::{Target, pm4},
    uapi::{CP_GFX_SHADOW_INIT, CsChunkCpGfxShadow, GpuvmFault, chunk_id, query},
    vamgr::GpuVa,
    winsys::Ip,
};

use crate::support::{Chunk, DATA, Job, Rig, encode, long, reference};

/// Bytes of the area, as Linux tells it of GFX11 (`MQD_SHADOW_BASE_SIZE` of `gfx_v11_0.c`).
const SIZE: u64 = 73_728;
/// The areas are at the end of the rig's data.
const AREA: u64 = DATA + 0x10_0000 - 0x4_0000;
/// An address without a binding.
const NOWHERE: u64 = 0x4000_0000;

/// A GFX11 chip, with microcode that shadows registers or with that of the capture, which does not.
fn chip(shadows: bool) -> SimDevice {
    let mut profile = profile("navi31").unwrap().clone();
    if shadows {
        let info = &mut profile.dev_info;
        (info.shadow_size, info.shadow_alignment) = (SIZE as u32, 256);
        (info.csa_size, info.csa_alignment) = (484, 256);
    }
    SimDevice::new(profile, SimOptions { strict: false, ..reference() })
}

fn register() -> pm4::Register {
    // GRBM_GFX_INDEX, which every stream may write.
    pm4::Register::at_byte(0x30800).unwrap()
}

/// An IB that writes a register.
fn write(rig: &Rig, value: u32) -> Vec<u32> {
    pm4_of(
        rig,
        &pm4::CopyData::new(
            pm4::CopySource::Immediate(value.into()),
            pm4::CopyTo::Register(register()),
            pm4::CopySize::Dword,
        ),
    )
}

/// An IB that stores the register at a byte of the data.
fn read(rig: &Rig, at: u64) -> Vec<u32> {
    let to = pm4::CopyTo::Memory(GpuVa::new(DATA + at).unwrap());
    pm4_of(rig, &pm4::CopyData::new(pm4::CopySource::Register(register()), to, pm4::CopySize::Dword))
}

fn pm4_of(rig: &Rig, packet: &pm4::CopyData) -> Vec<u32> {
    let Target::Pm4(target) = rig.target(Ip::Gfx) else { unreachable!("a graphics ring speaks PM4") };
    encode(packet, target)
}

fn shadow(shadow_va: u64, flags: u64) -> Chunk {
    Chunk::new(chunk_id::CP_GFX_SHADOW, &[CsChunkCpGfxShadow { shadow_va, csa_va: AREA + 0x3_0000, gds_va: 0, flags }])
}

/// Runs an IB to its end, with a shadow chunk.
fn run(rig: &Rig, ip: Ip, dwords: &[u32], chunk: Chunk) -> Result<(), Errno> {
    let seq = rig.job(ip, 0, dwords).with(chunk).send(&rig.file)?;
    rig.finish(ip, 0, seq)
}

// Checks R163.
#[test]
fn shadowed_registers_live_in_the_area_of_the_job() {
    let rig = Rig::new(&chip(true));
    run(&rig, Ip::Gfx, &write(&rig, 5), shadow(AREA, CP_GFX_SHADOW_INIT)).unwrap();
    // Another context with the same area has the same registers.
    let other = rig.file.context();
    let job = rig.job_of(other, Ip::Gfx, 0, &read(&rig, 0)).with(shadow(AREA, 0));
    let seq = job.send(&rig.file).unwrap();
    assert_eq!(rig.wait_until(other, Ip::Gfx, 0, seq, long()), Ok(true));
    assert_eq!(rig.load(0), 5);
    run(&rig, Ip::Gfx, &read(&rig, 4), shadow(AREA + SIZE.next_multiple_of(256), CP_GFX_SHADOW_INIT)).unwrap();
    assert_eq!(rig.load(4), 0, "a new area has registers of its own");
    run(&rig, Ip::Gfx, &read(&rig, 8), shadow(AREA, CP_GFX_SHADOW_INIT)).unwrap();
    assert_eq!(rig.load(8), 0, "initialised once more");
    assert_eq!(rig.file.complaints(), "");
}

// Checks R163.
#[test]
fn an_area_that_is_not_mapped_is_a_page_fault() {
    for flags in [0, CP_GFX_SHADOW_INIT] {
        let rig = Rig::new(&chip(true));
        run(&rig, Ip::Gfx, &rig.store(Ip::Gfx, 0, 1), shadow(NOWHERE, flags)).unwrap();
        let fault: GpuvmFault = rig.file.info(query::GPUVM_FAULT, [0; 4]).unwrap();
        assert_eq!((fault.addr, rig.load(0)), (NOWHERE, 1), "the job goes on");
        assert!(rig.file.complaints().contains("page fault"), "{}", rig.file.complaints());
    }
}

// Checks R163.
#[test]
fn shadowing_is_of_graphics_rings_and_of_firmware_that_has_it() {
    for (shadows, ip) in [(true, Ip::Compute), (true, Ip::Sdma), (false, Ip::Gfx)] {
        let rig = Rig::new(&chip(shadows));
        run(&rig, ip, &rig.store(ip, 0, 1), shadow(NOWHERE, CP_GFX_SHADOW_INIT)).unwrap();
        assert_eq!((rig.load(0), rig.file.complaints().as_str()), (1, ""), "{ip}: the chunk does nothing");
    }
    let rig = Rig::new(&chip(true));
    run(&rig, Ip::Gfx, &rig.store(Ip::Gfx, 0, 1), shadow(0, 0)).unwrap();
    assert_eq!(rig.file.complaints(), "", "the null address turns it off");
}

// Checks R163.
#[test]
fn of_several_shadow_chunks_the_last_counts_and_other_flags_are_refused() {
    for shadows in [false, true] {
        let rig = Rig::new(&chip(shadows));
        for flags in [2, CP_GFX_SHADOW_INIT | 1 << 63] {
            assert_eq!(run(&rig, Ip::Gfx, &[], shadow(AREA, flags)), Err(Errno::EINVAL));
        }
        let job: Job = rig.job(Ip::Gfx, 0, &write(&rig, 7)).with(shadow(NOWHERE, 1)).with(shadow(AREA, 1));
        let seq = job.send(&rig.file).unwrap();
        rig.finish(Ip::Gfx, 0, seq).unwrap();
        assert_eq!(rig.file.complaints(), "");
    }
}
