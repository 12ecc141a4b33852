//! Features. Features that need shaders are `false`.

use amdgpu_winsys::winsys::Capabilities;
use ash::vk;

use crate::{
    border::{Failure, chain, fault::FaultFeatures, switches, zero::ZeroInitializeFeatures},
    objects::Gpu,
};

/// Returns the features of Vulkan 1.0.
pub(crate) fn core(gpu: &Gpu) -> vk::PhysicalDeviceFeatures {
    let sparse = vk::Bool32::from(gpu.device.info().capabilities.contains(Capabilities::SPARSE));
    vk::PhysicalDeviceFeatures {
        robust_buffer_access: vk::TRUE, // no command reaches past a buffer: ranges are checked when it is recorded
        sparse_binding: sparse,
        sparse_residency_buffer: sparse,
        sparse_residency_aliased: sparse,
        ..vk::PhysicalDeviceFeatures::default()
    }
}

/// Declares the known feature structures with their supported features.
///
/// The same table is used to answer queries and to check the features that a program enables. Zeroed memory and reports of
/// faults, which all GPUs support, are not in the table, because `ash` does not have their structures.
macro_rules! known {
    ($($Structure:ident { $($field:ident: $value:expr),* })*) => {
        /// Fills in every known feature structure in the chain after `head`. Features that the table does not list are `false`.
        pub(crate) fn fill(gpu: &Gpu, head: &mut vk::PhysicalDeviceFeatures2<'_>) {
            head.features = core(gpu);
            if let Some(out) = chain::find_mut::<ZeroInitializeFeatures<'_>>(head) {
                out.zero_initialize_device_memory = vk::TRUE;
            }
            if let Some(out) = chain::find_mut::<FaultFeatures<'_>>(head) {
                (out.device_fault, out.report_masked) = (vk::TRUE, vk::TRUE);
                (out.vendor_binary, out.lost_on_masked) = (vk::FALSE, vk::FALSE);
            }
            $(if let Some(out) = chain::find_mut::<vk::$Structure<'_>>(head) {
                *out = vk::$Structure { p_next: out.p_next, $($field: $value,)* ..vk::$Structure::default() };
            })*
        }

        /// Checks the features that a program enables.
        ///
        /// # Errors
        ///
        /// `VK_ERROR_FEATURE_NOT_PRESENT` if [`fill`] reports a feature as `false`.
        pub(crate) fn check(gpu: &Gpu, info: &vk::DeviceCreateInfo<'_>, core_ones: Option<&vk::PhysicalDeviceFeatures>) -> Result<(), Failure> {
            let mut all_present = true;
            let mut both = |wanted: &[vk::Bool32], present: &[vk::Bool32]| {
                all_present &= wanted.iter().zip(present).all(|(wanted, present)| *wanted == vk::FALSE || *present == vk::TRUE);
            };
            let present = vk::PhysicalDeviceFeatures2::default().features(core(gpu));
            let wanted = core_ones.map(|features| vk::PhysicalDeviceFeatures2::default().features(*features));
            for wanted in wanted.iter().chain(chain::find::<vk::PhysicalDeviceFeatures2<'_>>(info)) {
                both(switches(wanted), switches(&present));
            }
            $(if let Some(wanted) = chain::find::<vk::$Structure<'_>>(info) {
                let present = vk::$Structure { $($field: $value,)* ..vk::$Structure::default() };
                both(switches(wanted), switches(&present));
            })*
            if let Some(wanted) = chain::find::<FaultFeatures<'_>>(info) {
                both(&[wanted.vendor_binary, wanted.lost_on_masked], &[vk::FALSE, vk::FALSE]);
            }
            if all_present { Ok(()) } else { Err(Failure(vk::Result::ERROR_FEATURE_NOT_PRESENT)) }
        }
    };
}

known! {
    PhysicalDeviceVulkan11Features {}
    PhysicalDeviceVulkan12Features {
        timeline_semaphore: vk::TRUE,
        host_query_reset: vk::TRUE,
        buffer_device_address: vk::TRUE,
        buffer_device_address_capture_replay: vk::TRUE
    }
    PhysicalDeviceVulkan13Features { synchronization2: vk::TRUE, maintenance4: vk::TRUE, private_data: vk::TRUE }
    PhysicalDeviceTimelineSemaphoreFeatures { timeline_semaphore: vk::TRUE }
    PhysicalDeviceHostQueryResetFeatures { host_query_reset: vk::TRUE }
    PhysicalDeviceBufferDeviceAddressFeatures {
        buffer_device_address: vk::TRUE,
        buffer_device_address_capture_replay: vk::TRUE
    }
    PhysicalDeviceSynchronization2Features { synchronization2: vk::TRUE }
    PhysicalDeviceMaintenance4Features { maintenance4: vk::TRUE }
    PhysicalDevicePrivateDataFeatures { private_data: vk::TRUE }
    PhysicalDeviceMemoryPriorityFeaturesEXT { memory_priority: vk::TRUE }
    PhysicalDevicePageableDeviceLocalMemoryFeaturesEXT { pageable_device_local_memory: vk::TRUE }
    PhysicalDeviceFaultFeaturesEXT { device_fault: vk::TRUE }
    PhysicalDeviceMapMemoryPlacedFeaturesEXT {
        memory_map_placed: vk::TRUE,
        memory_map_range_placed: vk::FALSE,
        memory_unmap_reserve: vk::TRUE
    }
    PhysicalDeviceCoherentMemoryFeaturesAMD { device_coherent_memory: vk::TRUE }
    PhysicalDeviceAddressBindingReportFeaturesEXT { report_address_binding: vk::TRUE }
    PhysicalDeviceDeviceMemoryReportFeaturesEXT { device_memory_report: vk::TRUE }
    PhysicalDeviceHostImageCopyFeaturesEXT { host_image_copy: vk::TRUE }
    PhysicalDeviceGlobalPriorityQueryFeaturesKHR { global_priority_query: vk::TRUE }
}

/// Returns `true` if a program enables the reports of faults that do not lose the device.
pub(crate) fn wants_masked_faults(info: &vk::DeviceCreateInfo<'_>) -> bool {
    chain::find::<FaultFeatures<'_>>(info).is_some_and(|wanted| wanted.report_masked == vk::TRUE)
}

/// Returns `true` if a program enables the memory types that the device does not cache.
pub(crate) fn wants_coherent_memory(info: &vk::DeviceCreateInfo<'_>) -> bool {
    chain::find::<vk::PhysicalDeviceCoherentMemoryFeaturesAMD<'_>>(info)
        .is_some_and(|wanted| wanted.device_coherent_memory == vk::TRUE)
}
