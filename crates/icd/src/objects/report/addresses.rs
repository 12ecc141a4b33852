//! Messages about the GPU addresses of objects.

use std::sync::Arc;

use ash::vk::{self, DeviceAddressBindingFlagsEXT as Flags, DeviceAddressBindingTypeEXT as Kind, Handle};

use crate::{border::chain, objects::Program};

/// The messages of a device about the GPU addresses of its objects (`VK_EXT_device_address_binding_report`).
///
/// As in RADV, memory has addresses from its allocation on, and a buffer or an image those of its part from the moment when it is
/// bound to memory.
///
/// Source: Mesa 25.0.7 `src/vulkan/runtime/vk_debug_utils.c`, `vk_address_binding_report`, and its callers in `src/amd/vulkan`.
#[derive(Default)]
pub(crate) struct AddressReports(Option<Arc<Program>>);

impl AddressReports {
    /// Creates the messages of a device, if the program enables the feature.
    pub(super) fn new(info: &vk::DeviceCreateInfo<'_>, program: &Arc<Program>) -> Self {
        let feature = chain::find::<vk::PhysicalDeviceAddressBindingReportFeaturesEXT<'_>>(info);
        let is_on = feature.is_some_and(|feature| feature.report_address_binding == vk::TRUE);
        Self(is_on.then(|| Arc::clone(program)))
    }

    /// Returns `true` if the program enabled the feature.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Reports that an object has addresses from now on. `place` is the address and the size in bytes; without one nothing is
    /// reported.
    #[inline]
    pub(crate) fn bound(&self, object: impl Handle, place: Option<(u64, u64)>) {
        self.send(object, place, Kind::BIND, Flags::empty());
    }

    /// Reports that an object no longer has addresses.
    #[inline]
    pub(crate) fn unbound(&self, object: impl Handle, place: Option<(u64, u64)>) {
        self.send(object, place, Kind::UNBIND, Flags::empty());
    }

    /// Reports addresses of the library's memory, which is internal to the device.
    pub(super) fn library(&self, device: vk::Device, place: (u64, u64), kind: Kind) {
        self.send(device, Some(place), kind, Flags::INTERNAL_OBJECT);
    }

    fn send<T: Handle>(&self, object: T, place: Option<(u64, u64)>, kind: Kind, flags: Flags) {
        if let (Some(program), Some((base_address, size))) = (&self.0, place) {
            let mut binding = vk::DeviceAddressBindingCallbackDataEXT::default()
                .flags(flags)
                .base_address(base_address)
                .size(size)
                .binding_type(kind);
            program.tell_of_addresses((T::TYPE, object.as_raw()), &mut binding);
        }
    }
}
