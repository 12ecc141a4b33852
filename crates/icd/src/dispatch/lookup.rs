//! Look-up of commands by name.

use std::ffi::CStr;

use ash::vk;

use super::{
    command::{Command, Level},
    commands::COMMANDS,
    entries,
    later::LATER,
};
use crate::{
    border::{Name, adapter::two},
    facts::extensions::api_version,
    objects::{Device, Face, Instance},
};

impl Command {
    /// Returns the command with a name; `None` if Vulkan has no such command.
    fn find(name: &CStr) -> Option<&'static Self> {
        let name = name.to_str().ok()?;
        let known = COMMANDS.binary_search_by_key(&name, |command| command.name).ok();
        let later = || LATER.iter().map(|(command, _)| command).find(|command| command.name == name);
        known.and_then(|index| COMMANDS.get(index)).or_else(later)
    }

    /// Returns the function of the command, or of its alias, in a face; `None` if the driver does not implement it.
    fn function(&self, face: Face) -> vk::PFN_vkVoidFunction {
        let later = || LATER.iter().find(|(command, _)| command.name == self.name).map(|(_, function)| *function);
        proc_addr(self.name)
            .or_else(|| entries::find(self.name, face))
            .or_else(|| entries::find(self.alias, face))
            .or_else(later)
    }

    /// Returns `true` if the command belongs to the device's version, or to an enabled extension of the device or of the instance.
    fn is_enabled(&self, device: &Device) -> bool {
        let version = api_version(device.gpu.face);
        let is_brought = |by: &str| match by.strip_prefix("VK_VERSION_1_") {
            Some(minor) => minor.parse().is_ok_and(|minor: u32| minor <= vk::api_version_minor(version)),
            None => device.extensions.contains(&by) || device.program.extensions.contains(&by),
        };
        self.by.iter().any(|by| is_brought(by))
    }
}

/// Returns the two commands that look commands up.
fn proc_addr(name: &str) -> vk::PFN_vkVoidFunction {
    match name {
        "vkGetDeviceProcAddr" => Some(two(of_device, None::<vk::PFN_vkGetDeviceProcAddr>)),
        "vkGetInstanceProcAddr" => Some(two(of_instance, None::<vk::PFN_vkGetInstanceProcAddr>)),
        _ => None,
    }
}

/// Returns a function of the driver. Without an instance, only functions that do not need one are found.
pub(crate) fn of_instance(instance: Option<&Instance>, name: Name<'_>) -> vk::PFN_vkVoidFunction {
    let command = name.0.and_then(Command::find)?;
    (instance.is_some() || command.level == Level::Global)
        .then(|| command.function(instance.map_or(Face::Transfer, Instance::face)))?
}

/// Returns a function whose first argument is a physical device.
pub(crate) fn of_physical_device(instance: Option<&Instance>, name: Name<'_>) -> vk::PFN_vkVoidFunction {
    name.0
        .and_then(Command::find)
        .filter(|command| command.level == Level::PhysicalDevice)?
        .function(instance.map_or(Face::Transfer, Instance::face))
}

/// Returns a function of a device; `None` for commands of extensions that are not enabled.
pub(crate) fn of_device(device: &Device, name: Name<'_>) -> vk::PFN_vkVoidFunction {
    let command = name.0.and_then(Command::find)?;
    (command.level == Level::Device && command.is_enabled(device)).then(|| command.function(device.gpu.face))?
}

#[cfg(test)]
mod tests {
    use super::{
        super::{entries::ENTRIES, full::FULL},
        *,
    };

    #[test]
    fn both_tables_are_sorted_and_every_function_has_a_command() {
        assert!(COMMANDS.is_sorted_by_key(|command| command.name));
        assert!(ENTRIES.is_sorted_by_key(|(name, _)| name) && FULL.is_sorted_by_key(|(name, _)| name));
        for (name, _) in ENTRIES.iter().chain(FULL) {
            assert!(COMMANDS.iter().any(|command| command.name == *name), "{name} is no command of Vulkan");
        }
    }

    #[test]
    fn every_command_of_an_extension_that_is_listed_has_a_function() {
        use crate::facts::extensions::{DEVICE, INSTANCE};
        for (extension, _) in DEVICE.iter().chain(INSTANCE) {
            let name = extension.to_str().unwrap();
            let missing: Vec<_> = COMMANDS
                .iter()
                .filter(|command| command.by.contains(&name) && command.function(Face::Full).is_none())
                .map(|command| command.name)
                .filter(|name| !ABSENT.contains(name))
                .collect();
            assert!(missing.is_empty(), "{name} without {missing:?}");
        }
    }

    #[test]
    fn the_face_full_has_every_command_of_its_version() {
        let is_core = |by: &&str| by.starts_with("VK_VERSION_1_");
        let core = COMMANDS.iter().filter(|command| command.by.iter().any(is_core));
        let missing: Vec<_> = core.filter(|command| command.function(Face::Full).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let draw = Command::find(c"vkCmdDraw").unwrap();
        assert!(draw.function(Face::Transfer).is_none(), "there are no draws");
    }

    /// Commands of supported extensions that operate on unsupported objects: markers and swapchains.
    const ABSENT: &[&str] = &[
        "vkAcquireNextImage2KHR",
        "vkCmdWriteBufferMarker2AMD",
        "vkGetDeviceGroupPresentCapabilitiesKHR",
        "vkGetDeviceGroupSurfacePresentModesKHR",
        "vkGetPhysicalDevicePresentRectanglesKHR",
        "vkGetQueueCheckpointData2NV",
    ];
}
