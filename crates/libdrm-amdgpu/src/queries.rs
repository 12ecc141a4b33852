//! Queries about the GPU: thin calls of INFO, and what initialisation kept.

use std::ffi::{c_int, c_uint};

use amdgpu_winsys::uapi::{
    Info, InfoFirmware, InfoGds, InfoHwIp, InfoVramGtt, UqFwAreas, VM_OP_RESERVE_VMID, VM_OP_UNRESERVE_VMID, Vm, query,
};

use crate::{
    border::{Answer, Array, CValue, Failure, Handle, Out, entry},
    device::{Device, GpuInfo, report_fault},
};

/// The kinds of `amdgpu_query_sw_info`.
mod software {
    use std::ffi::c_uint;

    pub(super) const ADDRESS32_HI: c_uint = 0;
    pub(super) const PRT_CONTROL_BIT: c_uint = 1;
}

/// The domains of `amdgpu_query_heap_info`.
const GTT: u32 = 2;
const VRAM: u32 = 4;
/// The flag of a BO that the CPU maps.
const CPU_ACCESS_REQUIRED: u32 = 1;

/// The structure `amdgpu_buffer_size_alignments` of the header.
#[repr(C)]
#[derive(Clone, Copy)]
struct SizeAlignments {
    size_local: u64,
    size_remote: u64,
}

/// The structure `amdgpu_gds_resource_info` of the header: sizes of GDS, GWS and OA.
type GdsInfo = [u32; 7];

// SAFETY: integers.
unsafe impl CValue for SizeAlignments {}
// SAFETY: integers.
unsafe impl CValue for GdsInfo {}

/// Makes a query whose answer goes to an address of the caller's.
fn ask(device: Handle<Device>, question: u32, input: [u32; 4], size: u32, address: u64) -> Answer {
    let mut argument = Info { return_pointer: address, return_size: size, query: question, input };
    // SAFETY: the address is one that the caller passed, with its size, for the kernel to write to.
    unsafe { device.get()?.kernel()?.follow(&mut argument) }?;
    Ok(())
}

/// Makes a query whose answer is a structure of a known size.
fn ask_for<T: CValue>(device: Handle<Device>, question: u32, input: [u32; 4], place: Out<T>) -> Answer {
    place.check()?;
    ask(device, question, input, size_of::<T>() as u32, place.address())
}

/// Makes a query and returns the answer; zero where the kernel writes nothing.
fn answer<T: CValue + Default>(device: Handle<Device>, question: u32, input: [u32; 4]) -> Answer<T> {
    let mut answer = T::default();
    ask(device, question, input, size_of::<T>() as u32, (&raw mut answer).expose_provenance() as u64)?;
    Ok(answer)
}

/// Makes any INFO query without inputs.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_query_info(device: Handle<Device>, question: c_uint, size: c_uint, place: Out<u8>) -> c_int {
    entry(|| ask(device, question, [0; 4], size, place.address()))
}

/// Returns a fact of software: the high half of 32-bit addresses, or the bit by which the halves of sparse memory differ.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_query_sw_info(device: Handle<Device>, what: c_uint, place: Out<u32>) -> c_int {
    entry(|| {
        let addresses = &device.get()?.addresses;
        place.check()?;
        place.put(match what {
            software::ADDRESS32_HI => addresses.address32_hi(),
            software::PRT_CONTROL_BIT => addresses.control_bit(),
            _ => return Err(Failure::INVALID),
        });
        Ok(())
    })
}

/// Returns the index of a CRTC.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_query_crtc_from_id(device: Handle<Device>, id: c_uint, index: Out<i32>) -> c_int {
    entry(|| ask_for(device, query::CRTC_FROM_ID, [id, 0, 0, 0], index))
}

/// Returns the number of instances of an IP.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_query_hw_ip_count(device: Handle<Device>, ip: c_uint, count: Out<u32>) -> c_int {
    entry(|| ask_for(device, query::HW_IP_COUNT, [ip, 0, 0, 0], count))
}

/// Describes an instance of an IP.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_query_hw_ip_info(
    device: Handle<Device>,
    ip: c_uint,
    instance: c_uint,
    place: Out<InfoHwIp>,
) -> c_int {
    entry(|| ask_for(device, query::HW_IP_INFO, [ip, instance, 0, 0], place))
}

/// Describes the areas that the firmware needs for a user queue.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_query_uq_fw_area_info(
    device: Handle<Device>,
    ip: c_uint,
    instance: c_uint,
    place: Out<UqFwAreas>,
) -> c_int {
    entry(|| ask_for(device, query::UQ_FW_AREAS, [ip, instance, 0, 0], place))
}

/// Returns the version of a firmware.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_query_firmware_version(
    device: Handle<Device>,
    firmware: c_uint,
    instance: c_uint,
    index: c_uint,
    version: Out<u32>,
    feature: Out<u32>,
) -> c_int {
    entry(|| {
        let found: InfoFirmware = answer(device, query::FW_VERSION, [firmware, instance, index, 0])?;
        version.put(found.ver);
        feature.put(found.feature);
        Ok(())
    })
}

// SAFETY: integers, as the layout of the kernel's header.
unsafe impl CValue for InfoFirmware {}
// SAFETY: integers, as the layout of the kernel's header.
unsafe impl CValue for InfoGds {}
// SAFETY: integers, as the layout of the kernel's header.
unsafe impl CValue for InfoVramGtt {}

/// Copies what initialisation collected.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_query_gpu_info(device: Handle<Device>, place: Out<GpuInfo>) -> c_int {
    entry(|| {
        let info = device.get()?.info;
        place.check()?;
        place.put(info);
        Ok(())
    })
}

/// Describes a heap in the three numbers of `amdgpu_heap_info`: size, usage, greatest allocation. The last is the size of visible VRAM
/// for every heap, as in libdrm. The usage is written last, and only if the kernel tells it.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_query_heap_info(device: Handle<Device>, heap: u32, flags: u32, place: Array<u64>) -> c_int {
    entry(|| {
        let numbers = place.of(3)?;
        let sizes: InfoVramGtt = answer(device, query::VRAM_GTT, [0; 4])?;
        let (size, question) = match heap {
            VRAM if flags & CPU_ACCESS_REQUIRED != 0 => (sizes.vram_cpu_accessible_size, query::VIS_VRAM_USAGE),
            VRAM => (sizes.vram_size, query::VRAM_USAGE),
            GTT => (sizes.gtt_size, query::GTT_USAGE),
            _ => return Err(Failure::INVALID),
        };
        numbers.put(0, size);
        numbers.put(2, sizes.vram_cpu_accessible_size);
        numbers.put(1, answer(device, question, [0; 4])?);
        Ok(())
    })
}

/// Returns the sizes to which allocations are best rounded.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_query_buffer_size_alignment(device: Handle<Device>, place: Out<SizeAlignments>) -> c_int {
    entry(|| {
        let dev = &device.get()?.dev_info.known;
        place.check()?;
        place.put(SizeAlignments { size_local: dev.pte_fragment_size.into(), size_remote: dev.gart_page_size.into() });
        Ok(())
    })
}

/// Returns the sizes of GDS, GWS and OA.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_query_gds_info(device: Handle<Device>, place: Out<GdsInfo>) -> c_int {
    entry(|| {
        place.check()?;
        let found: InfoGds = answer(device, query::GDS_CONFIG, [0; 4])?;
        place.put([
            found.gds_gfx_partition_size,
            found.compute_partition_size,
            found.gds_total_size,
            found.gws_per_gfx_partition,
            found.gws_per_compute_partition,
            found.oa_per_gfx_partition,
            found.oa_per_compute_partition,
        ]);
        Ok(())
    })
}

/// Reads a sensor.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_query_sensor_info(device: Handle<Device>, sensor: c_uint, size: c_uint, place: Out<u8>) -> c_int {
    entry(|| ask(device, query::SENSOR, [sensor, 0, 0, 0], size, place.address()))
}

/// Returns the limits of video codecs.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_query_video_caps_info(
    device: Handle<Device>,
    direction: c_uint,
    size: c_uint,
    place: Out<u8>,
) -> c_int {
    entry(|| ask(device, query::VIDEO_CAPS, [direction, 0, 0, 0], size, place.address()))
}

/// Returns the last fault of the file's address space.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_query_gpuvm_fault_info(device: Handle<Device>, size: c_uint, place: Out<u8>) -> c_int {
    entry(|| {
        ask(device, query::GPUVM_FAULT, [0; 4], size, place.address())?;
        report_fault(device.get()?);
        Ok(())
    })
}

/// Reads registers.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_read_mm_registers(
    device: Handle<Device>,
    register: c_uint,
    count: c_uint,
    instance: u32,
    flags: u32,
    values: Out<u32>,
) -> c_int {
    entry(|| {
        let input = [register, count, instance, flags];
        ask(device, query::READ_MMR_REG, input, count.wrapping_mul(4), values.address())
    })
}

/// Reserves a VMID for the file.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_vm_reserve_vmid(device: Handle<Device>, flags: u32) -> c_int {
    entry(|| vmid(device, VM_OP_RESERVE_VMID, flags))
}

/// Releases the reserved VMID.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_vm_unreserve_vmid(device: Handle<Device>, flags: u32) -> c_int {
    entry(|| vmid(device, VM_OP_UNRESERVE_VMID, flags))
}

fn vmid(device: Handle<Device>, op: u32, flags: u32) -> Answer {
    Ok(device.get()?.kernel()?.plain(&mut Vm { op, flags })?)
}
