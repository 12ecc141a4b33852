//! Facts about a device, and those that the kernel did not answer.

use std::{
    ffi::CStr,
    mem::{offset_of, size_of},
};

use amdgpu_sim::{Profile, SimDevice, SimOptions, profile};
use amdgpu_winsys_c::{border::*, objects::*};

use super::{last_error, ok};

fn device_of(profile: Profile, options: SimOptions) -> *mut agw_device {
    device_of_kernel(SimDevice::new(profile, options).open()).unwrap()
}

fn chip(name: &str) -> Profile {
    profile(name).unwrap().clone()
}

/// The facts that a caller knows whose structure has `size` bytes; all bits of the others are set.
fn facts(device: *const agw_device, size: usize) -> agw_device_info {
    // SAFETY: integers, which all bits are values of.
    let mut info: agw_device_info = unsafe { std::mem::transmute([0xffu8; size_of::<agw_device_info>()]) };
    info.struct_size = u32::try_from(size).unwrap();
    ok!(agw_device_get_info(device, &raw mut info));
    info
}

fn is_answered(device: *const agw_device, field: &CStr) -> bool {
    let mut is_answered = false;
    ok!(agw_device_answered(device, field.as_ptr(), &raw mut is_answered));
    is_answered
}

#[test]
fn caches_clocks_and_areas_are_those_of_the_chip() {
    let device = device_of(chip("navi21"), SimOptions::default());
    let info = facts(device, size_of::<agw_device_info>());
    let caches = [info.vector_cache, info.shader_array_cache, info.l2_cache, info.infinity_cache];
    assert_eq!(caches, [16 << 10, 128 << 10, 4 << 20, 128 << 20]);
    assert_eq!((info.scalar_cache, info.instruction_cache, info.scalar_caches_per_wgp), (0, 0, 0), "not told");
    let clocks = &chip("navi21").dev_info;
    assert_eq!(u64::from(info.max_shader_clock), clocks.max_engine_clock / 1000);
    assert_eq!(u64::from(info.max_memory_clock), clocks.max_memory_clock / 1000);
    assert_eq!([info.shadow_size, info.shadow_alignment, info.csa_size, info.csa_alignment], [0; 4]);

    let mut shadowed = chip("navi31");
    let dev = &mut shadowed.dev_info;
    (dev.shadow_size, dev.shadow_alignment, dev.csa_size, dev.csa_alignment) = (0x3a000, 256, 0x10000, 4096);
    (dev.min_engine_clock, dev.min_memory_clock) = (500_000, 96_000);
    let with_areas = device_of(shadowed, SimOptions::default());
    let info = facts(with_areas, size_of::<agw_device_info>());
    let areas = [info.shadow_size, info.shadow_alignment, info.csa_size, info.csa_alignment];
    assert_eq!(areas, [0x3a000, 256, 0x10000, 4096]);
    assert_eq!((info.min_shader_clock, info.min_memory_clock), (500, 96));
    // SAFETY: one reference each.
    unsafe {
        agw_device_unref(device);
        agw_device_unref(with_areas);
    }
}

#[test]
fn a_kernel_tells_which_facts_it_answered() {
    let (new, old) = (SimOptions::default(), SimOptions { drm_minor: 49, ..SimOptions::default() });
    for (options, knows) in [(new, true), (old, false)] {
        let device = device_of(chip("navi31"), options);
        for field in [c"min_engine_clock", c"mall_size", c"shadow_size"] {
            assert_eq!(is_answered(device, field), knows, "{field:?}");
        }
        assert!(is_answered(device, c"device_id") && !is_answered(device, c"no_such_field"));
        let info = facts(device, size_of::<agw_device_info>());
        assert!(info.device_answer > 0 && (knows || info.min_shader_clock == 0));
        let mut answer = true;
        // SAFETY: a live device, texts, and a variable of this test.
        unsafe {
            let refused = [
                agw_device_answered(device, std::ptr::null(), &raw mut answer),
                agw_device_answered(device, c"\xff".as_ptr(), &raw mut answer),
                agw_device_answered(device, c"device_id".as_ptr(), std::ptr::null_mut()),
            ];
            assert_eq!(refused, [AGW_ERROR_INVALID_ARGUMENT; 3], "{}", last_error());
            assert!(answer, "a call that fails writes nothing");
            agw_device_unref(device);
        }
    }
}

#[test]
fn a_caller_of_the_first_version_gets_its_facts_and_no_more() {
    let device = device_of(chip("navi21"), SimOptions::default());
    let (first, whole) = (offset_of!(agw_device_info, vector_cache), size_of::<agw_device_info>());
    let (old, new) = (facts(device, first), facts(device, whole));
    assert_eq!((old.vram, old.max_ibs), (new.vram, new.max_ibs));
    assert_eq!((old.vector_cache, old.device_answer), (u64::MAX, u32::MAX), "written behind its end");
    assert_ne!((new.vector_cache, new.device_answer), (u64::MAX, u32::MAX));
    // SAFETY: its one reference.
    unsafe { agw_device_unref(device) };
}
