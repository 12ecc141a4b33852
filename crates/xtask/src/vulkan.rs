//! The table of Vulkan's commands for `crates/icd`, made of the registry that Khronos publishes (`vk.xml`).

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::Path,
};

use vk_parse::{Command, ExtensionChild, InterfaceItem, RegistryChild};

use crate::{Error, Source};

/// Commands that are newer than the registry of Debian 12 (1.3.239): name, level, what brings them, and the older command that
/// became an alias of theirs.
const NEWER: &[(&str, &str, &str, &str)] = &[
    ("vkCopyImageToImageEXT", "Device", "VK_EXT_host_image_copy", ""),
    ("vkCopyImageToMemoryEXT", "Device", "VK_EXT_host_image_copy", ""),
    ("vkCopyMemoryToImageEXT", "Device", "VK_EXT_host_image_copy", ""),
    ("vkGetCalibratedTimestampsKHR", "Device", "VK_KHR_calibrated_timestamps", "vkGetCalibratedTimestampsEXT"),
    (
        "vkGetPhysicalDeviceCalibrateableTimeDomainsKHR",
        "PhysicalDevice",
        "VK_KHR_calibrated_timestamps",
        "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT",
    ),
    ("vkGetImageSubresourceLayout2EXT", "Device", "VK_EXT_host_image_copy", ""),
    ("vkGetImageSubresourceLayout2KHR", "Device", "VK_KHR_maintenance5", "vkGetImageSubresourceLayout2EXT"),
    ("vkMapMemory2KHR", "Device", "VK_KHR_map_memory2", ""),
    ("vkTransitionImageLayoutEXT", "Device", "VK_EXT_host_image_copy", ""),
    ("vkUnmapMemory2KHR", "Device", "VK_KHR_map_memory2", ""),
];

/// A command, as far as it is dispatched.
#[derive(Default)]
struct Row {
    /// `Global`, `Instance`, `PhysicalDevice` or `Device`.
    level: &'static str,
    /// The command that does the same, where the registry says so.
    alias: Option<String>,
    /// Versions and extensions of which each brings it.
    brought_by: BTreeSet<String>,
}

/// Returns the level of a command with this name and first argument.
fn level(name: &str, first: Option<&str>) -> &'static str {
    match (name, first) {
        ("vkGetInstanceProcAddr", _) => "Global",
        (_, Some("VkInstance")) => "Instance",
        (_, Some("VkPhysicalDevice")) => "PhysicalDevice",
        (_, Some("VkDevice" | "VkQueue" | "VkCommandBuffer")) => "Device",
        _ => "Global",
    }
}

/// Returns the names of the commands that a version or an extension brings.
fn brought(children: &[ExtensionChild]) -> impl Iterator<Item = &str> {
    let requirements = children.iter().filter_map(|child| match child {
        ExtensionChild::Require { items, .. } => Some(items),
        _ => None,
    });
    requirements.flatten().filter_map(|item| match item {
        InterfaceItem::Command { name, .. } => Some(name.as_str()),
        _ => None,
    })
}

/// Reads the registry into a table by name. Extensions of other platforms and disabled ones are left out.
fn read(registry: &Path) -> Result<BTreeMap<String, Row>, Error> {
    let fault = |text: String| Error::Table(format!("{}: {text}", registry.display()));
    let (parsed, _) = vk_parse::parse_file(registry).map_err(|error| fault(format!("{error:?}")))?;
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let children = || parsed.0.iter();
    for command in
        children().filter_map(|child| if let RegistryChild::Commands(all) = child { Some(all) } else { None })
    {
        for command in &command.children {
            match command {
                Command::Definition(it) => {
                    let first = it.params.first().and_then(|first| first.definition.type_name.as_deref());
                    rows.entry(it.proto.name.clone()).or_default().level = level(&it.proto.name, first);
                }
                Command::Alias { name, alias } => rows.entry(name.clone()).or_default().alias = Some(alias.clone()),
                _ => {}
            }
        }
    }
    let levels: BTreeMap<String, &'static str> = rows.iter().map(|(name, row)| (name.clone(), row.level)).collect();
    for row in rows.values_mut() {
        if let Some(alias) = &row.alias {
            row.level =
                levels.get(alias).copied().ok_or_else(|| fault(format!("an alias of {alias}, which is none")))?;
        }
    }
    let mut bring = |by: &str, children: &[ExtensionChild]| {
        for name in brought(children) {
            rows.entry(name.to_owned()).or_default().brought_by.insert(by.to_owned());
        }
    };
    for child in children() {
        match child {
            RegistryChild::Feature(version) => bring(&version.name, &version.children),
            RegistryChild::Extensions(all) => {
                let ours = all.children.iter().filter(|it| {
                    it.platform.is_none()
                        && it.supported.as_deref().is_some_and(|api| api.split(',').any(|api| api == "vulkan"))
                });
                ours.for_each(|it| bring(&it.name, &it.children));
            }
            _ => {}
        }
    }
    for &(name, level, by, older) in NEWER {
        let row = rows.entry(name.to_owned()).or_default();
        row.level = level;
        row.brought_by.insert(by.to_owned());
        if let Some(row) = rows.get_mut(older) {
            row.alias = Some(name.to_owned());
        }
    }
    rows.retain(|_, row| !row.brought_by.is_empty() && !row.level.is_empty());
    Ok(rows)
}

/// Generates the table of commands from a registry.
pub(crate) fn source(registry: &Path, to: &Path) -> Result<Source, Error> {
    let mut text = String::from(
        "//! Every command of Vulkan by name: its level, what brings it, and the command that does the same.\n\
         //!\n\
         //! Generated from Khronos' registry by `cargo run -p xtask -- vulkan`; do not edit.\n\n\
         use super::command::{\n    Command, Level,\n    Level::{Device, Global, Instance, PhysicalDevice},\n};\n\n\
         const fn row(name: &'static str, level: Level, alias: &'static str, by: &'static [&'static str]) -> Command {\n\
         \x20   Command { name, level, alias, by }\n\
         }\n\n\
         /// The commands, by name.\n\
         #[rustfmt::skip]\n\
         pub(super) static COMMANDS: &[Command] = &[\n",
    );
    for (name, row) in read(registry)? {
        let by: Vec<String> = row.brought_by.iter().map(|by| format!("{by:?}")).collect();
        let alias = row.alias.unwrap_or_default();
        writeln!(text, "    row({name:?}, {}, {alias:?}, &[{}]),", row.level, by.join(", "))
            .map_err(|error| Error::Table(error.to_string()))?;
    }
    text.push_str("];\n");
    Ok(Source { path: to.to_owned(), text })
}
