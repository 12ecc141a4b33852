//! Page faults as `VK_EXT_device_fault` tells them, and `VK_KHR_device_fault`, whose structures and functions `ash` does not have.

use std::{
    ffi::{c_char, c_void},
    ptr,
};

use ash::vk;

use crate::gpu::{CHIPS, Gpu};

const EXTENSION: &std::ffi::CStr = c"VK_KHR_device_fault";
/// `VK_DEVICE_FAULT_FLAG_DEVICE_LOST_KHR`.
const LOST: u32 = 1;
/// `VK_DEVICE_FAULT_FLAG_MEMORY_ADDRESS_KHR` and `VK_DEVICE_FAULT_FLAG_VENDOR_KHR`.
const ADDRESS_AND_VENDOR: u32 = 2 | 8;
/// More nanoseconds than any fault takes to be told.
const SOON: u64 = 5_000_000_000;

/// `VkPhysicalDeviceFaultFeaturesKHR`.
#[repr(C)]
struct Features {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    device_fault: vk::Bool32,
    vendor_binary: vk::Bool32,
    report_masked: vk::Bool32,
    lost_on_masked: vk::Bool32,
}

/// `VkPhysicalDeviceFaultPropertiesKHR`.
#[repr(C)]
struct Properties {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    max_count: u32,
}

/// `VkDeviceFaultInfoKHR`.
#[repr(C)]
struct Info {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    flags: u32,
    group: u64,
    description: [c_char; 256],
    access: vk::DeviceFaultAddressInfoEXT,
    instruction: vk::DeviceFaultAddressInfoEXT,
    vendor: vk::DeviceFaultVendorInfoEXT,
}

/// `VkDeviceFaultDebugInfoKHR`.
#[repr(C)]
struct DebugInfo {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    size: u32,
    data: *mut c_void,
}

type GetReports = unsafe extern "system" fn(vk::Device, u64, *mut u32, *mut Info) -> vk::Result;
type GetDebugInfo = unsafe extern "system" fn(vk::Device, *mut DebugInfo) -> vk::Result;

fn features(masked: bool) -> Features {
    Features {
        s_type: vk::StructureType::from_raw(1_000_573_000),
        p_next: ptr::null_mut(),
        device_fault: vk::TRUE,
        vendor_binary: vk::FALSE,
        report_masked: masked.into(),
        lost_on_masked: vk::FALSE,
    }
}

/// Opens a chip with the extension.
fn open(chip: &str, masked: bool) -> Gpu {
    let mut wanted = features(masked);
    Gpu::with(chip, &[EXTENSION], (&raw mut wanted).cast())
}

/// Returns a function of the device.
fn function(gpu: &Gpu, name: &std::ffi::CStr) -> unsafe extern "system" fn() {
    // SAFETY: the device is live, and the name is a string.
    unsafe { gpu.instance.get_device_proc_addr(gpu.device.handle(), name.as_ptr()) }.unwrap()
}

/// Asks for the number of reports, or for one.
fn ask(gpu: &Gpu, timeout: u64, out: Option<&mut Info>) -> (vk::Result, u32) {
    let function = function(gpu, c"vkGetDeviceFaultReportsKHR");
    // SAFETY: this is the type of the function.
    let function = unsafe { std::mem::transmute::<unsafe extern "system" fn(), GetReports>(function) };
    let mut count = u32::from(out.is_some());
    let out = out.map_or(ptr::null_mut(), ptr::from_mut);
    // SAFETY: the array has as many structures as the count says.
    let result = unsafe { function(gpu.device.handle(), timeout, &raw mut count, out) };
    (result, count)
}

fn empty() -> Info {
    Info {
        s_type: vk::StructureType::from_raw(1_000_573_002),
        p_next: ptr::null_mut(),
        flags: 0,
        group: u64::MAX,
        description: [0; 256],
        access: vk::DeviceFaultAddressInfoEXT::default(),
        instruction: vk::DeviceFaultAddressInfoEXT::default(),
        vendor: vk::DeviceFaultVendorInfoEXT::default(),
    }
}

/// Fills a buffer that was freed. Returns its addresses.
fn fault(gpu: &Gpu) -> std::ops::Range<u64> {
    let both = gpu.buffer(gpu.host_type(), 1 << 16);
    let asked = vk::BufferDeviceAddressInfo::default().buffer(both.0);
    // SAFETY: the buffer is bound.
    let address = unsafe { gpu.device.get_buffer_device_address(&asked) };
    // SAFETY: the buffer is bound and long enough.
    let fill = |device: &ash::Device, it| unsafe { device.cmd_fill_buffer(it, both.0, 0, vk::WHOLE_SIZE, 7) };
    let (pool, commands) = gpu.recorded(0, fill);
    gpu.discard(both);
    let commands = [commands];
    let submit = vk::SubmitInfo::default().command_buffers(&commands);
    // SAFETY: the mistake that the test is about: the driver and the GPU cope with it, as no CPU address is involved.
    unsafe { gpu.device.queue_submit(gpu.queue(0), &[submit], vk::Fence::null()) }.unwrap();
    // SAFETY: the queue is live. The fault may or may not lose the device.
    let _ = unsafe { gpu.device.queue_wait_idle(gpu.queue(0)) };
    // SAFETY: the queue is idle.
    unsafe { gpu.device.destroy_command_pool(pool, None) };
    address..address + (1 << 16)
}

#[test]
fn no_fault_is_told_where_none_was() {
    let gpu = Gpu::new("navi21");
    let extension = ash::ext::device_fault::Device::new(&gpu.instance, &gpu.device);
    let mut counts = vk::DeviceFaultCountsEXT::default();
    let function = extension.fp().get_device_fault_info_ext;
    // SAFETY: the structure is valid, and a null is allowed.
    let result = unsafe { function(gpu.device.handle(), &raw mut counts, std::ptr::null_mut()) };
    assert_eq!((result, counts.address_info_count), (vk::Result::SUCCESS, 0));
}

#[test]
fn a_store_to_freed_memory_is_explained_by_what_was_there() {
    for chip in CHIPS {
        let gpu = Gpu::new(chip);
        let extension = ash::ext::device_fault::Device::new(&gpu.instance, &gpu.device);
        let function = extension.fp().get_device_fault_info_ext;
        let place = fault(&gpu);
        let mut counts = vk::DeviceFaultCountsEXT::default();
        // SAFETY: the structure is valid, and a null is allowed.
        let result = unsafe { function(gpu.device.handle(), &raw mut counts, std::ptr::null_mut()) };
        assert_eq!(result, vk::Result::SUCCESS, "{chip}");
        let found = (counts.address_info_count, counts.vendor_info_count, counts.vendor_binary_size);
        assert_eq!(found, (1, 1, 0), "{chip}");
        let (mut places, mut words) =
            ([vk::DeviceFaultAddressInfoEXT::default()], [vk::DeviceFaultVendorInfoEXT::default()]);
        let mut info = vk::DeviceFaultInfoEXT::default();
        (info.p_address_infos, info.p_vendor_infos) = (places.as_mut_ptr(), words.as_mut_ptr());
        // SAFETY: the arrays are as long as the counts say.
        let result = unsafe { function(gpu.device.handle(), &raw mut counts, &raw mut info) };
        assert_eq!(result, vk::Result::SUCCESS, "{chip}");
        let told = places[0];
        assert!(told.address_type == vk::DeviceFaultAddressTypeEXT::WRITE_INVALID, "{chip}");
        assert!(place.contains(&told.reported_address), "{chip}: {:#x}", told.reported_address);
        assert_eq!(told.address_precision, 4096, "{chip}");
        assert_ne!(words[0].vendor_fault_code, 0, "{chip}");
        let text = info.description_as_c_str().unwrap().to_str().unwrap();
        assert!(text.contains("use after free"), "{chip}: {text}");

        let mut counts = vk::DeviceFaultCountsEXT::default();
        // SAFETY: the counts say that there are no arrays.
        let result = unsafe { function(gpu.device.handle(), &raw mut counts, &raw mut info) };
        assert_eq!((result, counts.address_info_count), (vk::Result::INCOMPLETE, 0), "{chip}");
    }
}

#[test]
fn each_page_fault_is_reported_once_with_its_access_and_the_object_that_was_there() {
    for chip in CHIPS {
        let gpu = open(chip, true);
        assert_eq!(ask(&gpu, 0, None), (vk::Result::TIMEOUT, 0), "{chip}: none yet");
        assert_eq!(ask(&gpu, 3_000_000, Some(&mut empty())), (vk::Result::TIMEOUT, 0), "{chip}: none in 3 ms");
        let place = fault(&gpu);
        // A count takes nothing.
        assert_eq!(ask(&gpu, SOON, None), (vk::Result::SUCCESS, 1), "{chip}");
        let mut info = empty();
        assert_eq!(ask(&gpu, 0, Some(&mut info)), (vk::Result::SUCCESS, 1), "{chip}");
        assert_eq!((info.flags, info.group), (ADDRESS_AND_VENDOR, 0), "{chip}");
        assert!(info.access.address_type == vk::DeviceFaultAddressTypeEXT::WRITE_INVALID, "{chip}");
        assert!(place.contains(&info.access.reported_address), "{chip}: {:#x}", info.access.reported_address);
        assert_eq!((info.access.address_precision, info.instruction.reported_address), (4096, 0), "{chip}");
        assert_ne!(info.vendor.vendor_fault_code, 0, "{chip}");
        let text: Vec<u8> = info.description.iter().map(|&letter| letter.cast_unsigned()).collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(text.contains("use after free"), "{chip}: {text}");
        // It is not told again. If it lost the device, that is the last report.
        let mut info = empty();
        match ask(&gpu, 0, Some(&mut info)) {
            (vk::Result::SUCCESS, 1) => assert_eq!((info.flags, info.group), (LOST, 1), "{chip}"),
            other => assert_eq!(other, (vk::Result::TIMEOUT, 0), "{chip}"),
        }
        assert_eq!(ask(&gpu, 0, Some(&mut empty())), (vk::Result::TIMEOUT, 0), "{chip}");
    }
}

#[test]
fn there_is_no_crash_dump_of_the_vendor() {
    let gpu = open("navi21", true);
    let function = function(&gpu, c"vkGetDeviceFaultDebugInfoKHR");
    // SAFETY: this is the type of the function.
    let function = unsafe { std::mem::transmute::<unsafe extern "system" fn(), GetDebugInfo>(function) };
    let s_type = vk::StructureType::from_raw(1_000_573_003);
    let mut info = DebugInfo { s_type, p_next: ptr::null_mut(), size: 99, data: ptr::null_mut() };
    // SAFETY: the structure is valid.
    let result = unsafe { function(gpu.device.handle(), &raw mut info) };
    assert_eq!((result, info.size), (vk::Result::SUCCESS, 0));
}

#[test]
fn faults_that_lose_no_device_are_told_to_programs_that_ask_for_them_alone() {
    let gpu = open("navi21", false);
    fault(&gpu);
    // SAFETY: the device is live.
    let is_lost = unsafe { gpu.device.device_wait_idle() }.is_err();
    let expected = if is_lost { (vk::Result::SUCCESS, 1) } else { (vk::Result::TIMEOUT, 0) };
    assert_eq!(ask(&gpu, 0, None), expected);
}

#[test]
fn the_features_and_the_one_report_that_is_kept_are_told_and_others_cannot_be_enabled() {
    let gpu = Gpu::new("navi21");
    let mut found = features(false);
    (found.device_fault, found.vendor_binary, found.lost_on_masked) = (0, 9, 9);
    let mut all =
        vk::PhysicalDeviceFeatures2 { p_next: (&raw mut found).cast(), ..vk::PhysicalDeviceFeatures2::default() };
    // SAFETY: the structures are valid.
    unsafe { gpu.instance.get_physical_device_features2(gpu.physical, &mut all) };
    let told = [found.device_fault, found.vendor_binary, found.report_masked, found.lost_on_masked];
    assert_eq!(told, [vk::TRUE, vk::FALSE, vk::TRUE, vk::FALSE]);
    let s_type = vk::StructureType::from_raw(1_000_573_001);
    let mut kept = Properties { s_type, p_next: ptr::null_mut(), max_count: 0 };
    let mut all =
        vk::PhysicalDeviceProperties2 { p_next: (&raw mut kept).cast(), ..vk::PhysicalDeviceProperties2::default() };
    // SAFETY: the structures are valid.
    unsafe { gpu.instance.get_physical_device_properties2(gpu.physical, &mut all) };
    assert_eq!(kept.max_count, 1);

    let mut wanted = features(true);
    wanted.vendor_binary = vk::TRUE;
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let names = [EXTENSION.as_ptr()];
    let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
    info.p_next = (&raw const wanted).cast();
    // SAFETY: the structures are valid.
    let result = unsafe { gpu.instance.create_device(gpu.physical, &info, None) };
    assert_eq!(result.err(), Some(vk::Result::ERROR_FEATURE_NOT_PRESENT));
}
