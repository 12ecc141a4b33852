//! The status of a page fault: which client of which address space accessed how.
//!
//! Source: Linux 6.12 `drivers/gpu/drm/amd/include/asic_reg`, GCVM_L2_PROTECTION_FAULT_STATUS of `gc/gc_10_1_0_sh_mask.h` and
//! VM_CONTEXT1_PROTECTION_FAULT_STATUS of `gmc/gmc_8_1_sh_mask.h`; status words of public reports, such as 0x00401031 of a load,
//! 0x00341051 of a store, 0x00501430 of a scalar load, 0x11088014 of a store of Polaris.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, assemble};
use amdgpu_sim::SimDevice;
use amdgpu_uapi::{GpuvmFault, VaFlags, VaOperation, query};
use amdgpu_winsys::winsys::Ip;

use crate::support::{DATA, Range, Rig, device};

/// An address at which nothing is mapped.
const NOWHERE: u64 = 0x7000_0000_0000;
/// The address at which the data are mapped for reading only.
const READ_ONLY: u64 = 0x6000_0000_0000;
/// Offset of the program in the data.
const PROGRAM: u64 = 0x4000;

fn last(rig: &Rig) -> GpuvmFault {
    rig.file.info(query::GPUVM_FAULT, [0; 4]).unwrap()
}

/// Returns the VMID in a status word since GFX9.
fn vmid(fault: &GpuvmFault) -> u32 {
    fault.status >> 20
}

/// Runs a program of 64 threads whose first scalar registers hold an address, and returns the fault.
fn shade(device: &SimDevice, level: GfxLevel, program: &[&str], address: u64) -> GpuvmFault {
    let rig = Rig::new(device);
    let at = Range { va: READ_ONLY, offset: 0, size: 0x1000 };
    rig.file.va(VaOperation::Map, VaFlags::READABLE, rig.data, at).unwrap();
    let words = program.iter().flat_map(|line| assemble(level, WaveSize::Wave64, line).unwrap().dwords().to_vec());
    for (at, word) in words.enumerate() {
        rig.poke(PROGRAM + 4 * at as u64, word);
    }
    let program = DATA + PROGRAM;
    let mut stream = vec![0xc002_7602, 0x20c, (program >> 8) as u32, (program >> 40) as u32];
    stream.extend([0xc002_7602, 0x212, 1 | 0xc0 << 12, 2 << 1 | 1 << 7]);
    stream.extend([0xc003_7602, 0x207, 64, 1, 1]);
    stream.extend([0xc002_7602, 0x240, address as u32, (address >> 32) as u32]);
    stream.extend([0xc003_1502, 1, 1, 1, 5]);
    let number = rig.run(Ip::Compute, 0, &stream).unwrap();
    let _ = rig.finish(Ip::Compute, 0, number);
    let fault = last(&rig);
    assert!((1..=7).contains(&vmid(&fault)), "{:#x}", fault.status);
    assert_eq!((fault.addr, fault.vmhub), (address & 0xffff_ffff_f000, 0));
    fault
}

#[test]
fn each_kind_of_access_of_a_shader_has_its_client_and_missing_permissions() {
    for (name, level) in [("navi21", GfxLevel::Gfx10_3), ("vega10", GfxLevel::Gfx9), ("navi31", GfxLevel::Gfx11)] {
        let device = device(name);
        let is_new = level >= GfxLevel::Gfx11;
        let load = if is_new { "global_load_b32 v1, v0, s[0:1]" } else { "global_load_dword v1, v0, s[0:1]" };
        let store = if is_new { "global_store_b32 v0, v0, s[0:1]" } else { "global_store_dword v0, v0, s[0:1]" };
        let atomic = if is_new { "global_atomic_add_u32 v0, v0, s[0:1]" } else { "global_atomic_add v0, v0, s[0:1]" };
        let scalar = if is_new { "s_load_b32 s4, s[0:1], null" } else { "s_load_dword s4, s[0:1], 0x0" };
        for (program, address, expected) in [
            (load, NOWHERE, 0x00_1031),
            (store, NOWHERE, 0x04_1051),
            (store, READ_ONLY, 0x04_1041),
            (atomic, NOWHERE, 0x0c_1051),
            (scalar, NOWHERE, 0x00_1430),
            ("s_setpc_b64 s[0:1]", NOWHERE, 0x00_1230),
        ] {
            let fault = shade(&device, level, &[program, "s_endpgm"], address);
            let status = fault.status & 0xf_ffff;
            assert_eq!(status, expected, "{name}: {program}: {status:#x}");
        }
    }
}

#[test]
fn addresses_of_the_upper_half_are_told_without_sign_extension() {
    let program = ["global_load_dword v1, v0, s[0:1]", "s_endpgm"];
    let fault = shade(&device("navi21"), GfxLevel::Gfx10_3, &program, 0xffff_9000_0000_1000);
    assert_eq!(fault.addr, 0x9000_0000_1000);
}

#[test]
fn packets_fault_as_the_engine_of_their_ring() {
    let cases = [
        ("navi21", Ip::Gfx, 0x0c30, 0),
        ("navi21", Ip::Compute, 0x0a30, 0),
        ("navi31", Ip::Gfx, 0x0c30, 0),
        ("navi21", Ip::Sdma, 0x1a30, 0),
        ("vega10", Ip::Gfx, 0x0c30, 0),
        // The copy engines of GFX9 are clients of the other hub.
        ("vega10", Ip::Sdma, 0x5c30, 1),
        ("renoir", Ip::Sdma, 0x3630, 1),
    ];
    for (name, ip, expected, hub) in cases {
        let rig = Rig::new(&device(name));
        let (from, to) = (NOWHERE, DATA);
        let dwords = match ip {
            Ip::Sdma => {
                let [from, to] = [from, to].map(|raw| amdgpu_hw::GpuVa::new(raw).unwrap());
                rig.encode_sdma(&amdgpu_packets::sdma::CopyLinear { to, from, bytes: 4, in_dwords: false })
            }
            _ => rig.copy(from, to),
        };
        let number = rig.run(ip, 0, &dwords).unwrap();
        rig.finish(ip, 0, number).unwrap();
        let fault = last(&rig);
        assert_eq!((fault.status & 0xf_ffff, fault.vmhub), (expected, hub), "{name} {ip:?}: {:#x}", fault.status);
        assert_ne!(vmid(&fault), 0);
    }
}

#[test]
fn a_fetch_of_an_ib_that_is_not_mapped_is_the_fetchers() {
    let rig = Rig::new(&device("navi21"));
    let call = [0xc002_3f00, NOWHERE as u32, (NOWHERE >> 32) as u32, 64];
    let number = rig.run(Ip::Gfx, 0, &call).unwrap();
    assert!(rig.finish(Ip::Gfx, 0, number).is_err());
    assert_eq!(last(&rig).status & 0xf_ffff, 0x0830);
}

#[test]
fn files_that_follow_each_other_have_address_spaces_of_their_own() {
    let device = device("navi21");
    let fault = |rig: &Rig| {
        let number = rig.run(Ip::Gfx, 0, &rig.copy(NOWHERE, DATA)).unwrap();
        rig.finish(Ip::Gfx, 0, number).unwrap();
        vmid(&last(rig))
    };
    let rigs = [Rig::new(&device), Rig::new(&device)];
    let seen = [&rigs[0], &rigs[1], &rigs[0]].map(fault);
    assert_eq!(seen[0], seen[2]);
    assert_ne!(seen[0], seen[1]);
}

#[test]
fn chips_before_gfx9_have_their_own_fields() {
    let rig = Rig::new(&device("polaris10"));
    let number = rig.run(Ip::Gfx, 0, &rig.copy(DATA, NOWHERE)).unwrap();
    rig.finish(Ip::Gfx, 0, number).unwrap();
    let status = last(&rig).status;
    assert_eq!((status & 0xff, status >> 24 & 1), (0x14, 1), "{status:#x}");
    assert!((1..=7).contains(&(status >> 25 & 0xf)), "{status:#x}");
}
