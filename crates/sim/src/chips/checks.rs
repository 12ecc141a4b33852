//! Rules that hold for every GPU. A capture that breaks one is refused, because user space would refuse such a device.

use std::ops::RangeInclusive;

use amdgpu_uapi::{DevInfo, HeapInfo, InfoHwIp, MemoryInfo};

use super::{
    error::CaptureError,
    json::Node,
    profile::{Profile, Register},
};

/// The most copy engines that the driver supports.
///
/// Source: Linux 6.12 `amdgpu_sdma.h`, `AMDGPU_MAX_SDMA_INSTANCES`.
pub(super) const MOST_ENGINES: u32 = 16;
/// The first family of GFX7.
const FAMILY_CI: u32 = 120;
/// The first family of GFX9.
const FAMILY_AI: u32 = 141;
/// The largest size of a heap in bytes, more than any GPU of these generations has.
const HEAP: u64 = 1 << 44;
/// The least VRAM in bytes: twice what the kernel keeps for itself.
const LEAST_VRAM: u64 = 16 << 20;
const PAGE: u64 = 4096;
/// The size of the address space: GPU addresses have 48 bits.
const ADDRESSES: u64 = 1 << 48;
/// The first address of the high half.
const HIGH_HALF: u64 = 0xffff_8000_0000_0000;
/// The range of clocks in kHz. Clocks are below 100 GHz.
const CLOCK: RangeInclusive<u64> = 0..=100_000_000;

/// A field, its value, the range of valid values, and the error's text.
type Range = (&'static str, u64, RangeInclusive<u64>, &'static str);

/// Checks the fields of DEV_INFO that the driver limits or that user space depends on.
pub(super) fn dev_info(node: &Node<'_>, dev: &DevInfo) -> Result<(), CaptureError> {
    ranges(
        node,
        &[
            ("device_id", dev.device_id.into(), 1..=0xffff, "no PCI device id"),
            ("pci_rev", dev.pci_rev.into(), 0..=0xff, "no PCI revision"),
            ("num_shader_engines", dev.num_shader_engines.into(), 1..=8, "1 to 8 have room in cu_bitmap"),
            ("num_shader_arrays_per_engine", dev.num_shader_arrays_per_engine.into(), 1..=2, "1 or 2 per engine"),
            ("gpu_counter_freq", dev.gpu_counter_freq.into(), 1..=*CLOCK.end(), "no frequency in kHz"),
            ("max_engine_clock", dev.max_engine_clock, CLOCK, "no clock in kHz"),
            ("max_memory_clock", dev.max_memory_clock, CLOCK, "no clock in kHz"),
            ("min_engine_clock", dev.min_engine_clock, CLOCK, "no clock in kHz"),
            ("min_memory_clock", dev.min_memory_clock, CLOCK, "no clock in kHz"),
            ("cu_active_number", dev.cu_active_number.into(), 0..=512, "16 arrays of 32 units are the most"),
            ("num_cu_per_sh", dev.num_cu_per_sh.into(), 0..=32, "an array's bitmap has 32 bits"),
            ("num_rb_pipes", dev.num_rb_pipes.into(), 0..=64, "the masks have 64 bits"),
            ("num_tcc_blocks", dev.num_tcc_blocks.into(), 0..=64, "the mask has 64 bits"),
            ("num_hw_gfx_contexts", dev.num_hw_gfx_contexts.into(), 0..=64, "no chip has so many"),
            ("vram_bit_width", dev.vram_bit_width.into(), 0..=65_536, "no bus is so wide"),
            ("pcie_num_lanes", dev.pcie_num_lanes.into(), 0..=32, "a link has 32 lanes at most"),
        ],
    )?;
    // Zero where the capture does not say.
    if ![0, 32, 64].contains(&dev.wave_front_size) {
        return Err(out_of_range(node, "wave_front_size", dev.wave_front_size.into(), "a wave has 32 or 64 lanes"));
    }
    if dev.tcc_disabled_mask.count_ones() > dev.num_tcc_blocks {
        let reason = "disables more L2 slices than num_tcc_blocks";
        return Err(out_of_range(node, "tcc_disabled_mask", dev.tcc_disabled_mask, reason));
    }
    addresses(node, dev)
}

fn addresses(node: &Node<'_>, dev: &DevInfo) -> Result<(), CaptureError> {
    for (field, value, range) in [
        ("virtual_address_alignment", u64::from(dev.virtual_address_alignment), PAGE..=1 << 21),
        ("pte_fragment_size", dev.pte_fragment_size.into(), PAGE..=1 << 31),
        ("gart_page_size", dev.gart_page_size.into(), PAGE..=1 << 21),
    ] {
        if !value.is_power_of_two() || !range.contains(&value) {
            return Err(out_of_range(node, field, value, "no power of two from a page on"));
        }
    }
    let granule = u64::from(dev.virtual_address_alignment);
    let reason = "not aligned, or beyond 48 bits";
    ranges(node, &[("virtual_address_max", dev.virtual_address_max, granule..=ADDRESSES, reason)])?;
    let aligned = [
        ("virtual_address_offset", dev.virtual_address_offset),
        ("virtual_address_max", dev.virtual_address_max),
        ("high_va_offset", dev.high_va_offset),
        ("high_va_max", dev.high_va_max),
    ];
    for (field, value) in aligned {
        if !value.is_multiple_of(granule) {
            return Err(out_of_range(node, field, value, reason));
        }
    }
    if dev.virtual_address_offset >= dev.virtual_address_max {
        let reason = "not below virtual_address_max";
        return Err(out_of_range(node, "virtual_address_offset", dev.virtual_address_offset, reason));
    }
    if (dev.high_va_offset, dev.high_va_max) == (0, 0) {
        return Ok(());
    }
    let reason = "not in the high half";
    ranges(node, &[("high_va_offset", dev.high_va_offset, HIGH_HALF..=u64::MAX, reason)])?;
    if dev.high_va_max <= dev.high_va_offset {
        return Err(out_of_range(node, "high_va_max", dev.high_va_max, "not above high_va_offset"));
    }
    Ok(())
}

/// Checks the sizes of the heaps.
pub(super) fn memory(node: &Node<'_>, memory: &MemoryInfo) -> Result<(), CaptureError> {
    let heaps = [
        ("vram", &memory.vram, LEAST_VRAM),
        ("cpu_accessible_vram", &memory.cpu_accessible_vram, PAGE),
        ("gtt", &memory.gtt, PAGE),
    ];
    for (name, heap, least) in heaps {
        let HeapInfo { total_heap_size: total, usable_heap_size, max_allocation, .. } = *heap;
        let node = node.need(name)?;
        // Real kernels count what they reserved in the invisible part as visible.
        let most = if name == "gtt" { total } else { memory.vram.total_heap_size };
        ranges(
            &node,
            &[
                ("total_heap_size", total, least..=HEAP, "no size of such a heap in bytes"),
                ("usable_heap_size", usable_heap_size, 0..=most, "more than the total"),
                ("max_allocation", max_allocation, 0..=most, "more than the total"),
            ],
        )?;
    }
    let visible = memory.cpu_accessible_vram.total_heap_size;
    let reason = "more than memory.vram.total_heap_size";
    ranges(&node.need("cpu_accessible_vram")?, &[("total_heap_size", visible, 0..=memory.vram.total_heap_size, reason)])
}

/// Checks a block's rings, and the alignment of IBs for it.
pub(super) fn block(node: &Node<'_>, block: &InfoHwIp) -> Result<(), CaptureError> {
    for (field, value) in
        [("ib_start_alignment", block.ib_start_alignment), ("ib_size_alignment", block.ib_size_alignment)]
    {
        if value > 1 << 20 || (value != 0 && !value.is_power_of_two()) {
            return Err(out_of_range(node, field, value.into(), "no power of two of at most 1 MiB"));
        }
    }
    let rings = block.available_rings.into();
    ranges(node, &[("available_rings", rings, 0..=0xff, "a block has 8 rings for user space at most")])
}

/// Checks the shader engine and array of a register.
///
/// Source: Linux 6.12 `amdgpu_kms.c`, `amdgpu_info_ioctl`, READ_MMR_REG.
pub(super) fn instance(node: &Node<'_>, instance: u32) -> Result<(), CaptureError> {
    let (engine, array) = (instance & 0xff, instance >> 8 & 0xff);
    if (engine < 4 || engine == 0xff) && (array < 2 || array == 0xff) {
        return Ok(());
    }
    Err(out_of_range(node, "instance", instance.into(), "no shader engine and array"))
}

/// Checks that the capture has the registers that user space of the generation reads first.
///
/// Source: libdrm 2.4.124 `amdgpu_gpu_info.c`, `amdgpu_query_gpu_info_init`.
pub(super) fn registers(profile: &Profile) -> Result<(), CaptureError> {
    const GB_ADDR_CONFIG: u32 = 0x263e;
    let dev = &profile.dev_info;
    needs(profile, GB_ADDR_CONFIG, Register::BROADCAST)?;
    if dev.family >= FAMILY_AI {
        return Ok(());
    }
    let has_ci_registers = dev.family >= FAMILY_CI;
    let (per_engine, modes): (&[u32], _) = if has_ci_registers {
        (&[0x263d, 0xa0d4, 0xa0d5], 0x2644..0x2674)
    } else {
        (&[0x263d, 0xa0d4], 0x2644..0x2664)
    };
    for engine in 0..dev.num_shader_engines.min(4) {
        per_engine.iter().try_for_each(|&register| needs(profile, register, engine | 0xff00))?;
    }
    modes.chain([0x9d8]).try_for_each(|register| needs(profile, register, Register::BROADCAST))
}

fn needs(profile: &Profile, dword_offset: u32, instance: u32) -> Result<(), CaptureError> {
    match profile.register(dword_offset, instance) {
        Some(_) => Ok(()),
        None => Err(CaptureError::NoRegister { dword_offset, instance }),
    }
}

fn ranges(node: &Node<'_>, ranges: &[Range]) -> Result<(), CaptureError> {
    match ranges.iter().find(|(_, value, range, _)| !range.contains(value)) {
        Some(&(field, value, _, reason)) => Err(out_of_range(node, field, value, reason)),
        None => Ok(()),
    }
}

fn out_of_range(node: &Node<'_>, field: &str, value: u64, reason: &'static str) -> CaptureError {
    CaptureError::OutOfRange { key: node.path(field), value, reason }
}
