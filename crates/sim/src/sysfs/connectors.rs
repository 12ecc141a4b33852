//! Connectors of a primary node as directories in sysfs.
//!
//! Source: Linux 6.12 `drm_sysfs.c`, `connector_dev_attrs` and `drm_sysfs_connector_add`.

use crate::device::SimDevice;
use crate::options::place::{Place, node_name};

/// Returns the current files of all connectors of a device at a place, with their paths in the device's directory.
pub fn connector_files(device: &SimDevice, place: Place) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for connector in device.connectors() {
        let directory = directory(place, &connector.name);
        let text = |text: &str| format!("{text}\n").into_bytes();
        let either = |is_first: bool, first: &str, second: &str| text(if is_first { first } else { second });
        let mode = connector.mode.as_deref().map(text);
        files.extend([
            (format!("{directory}/status"), either(mode.is_some(), "connected", "disconnected")),
            (format!("{directory}/enabled"), either(connector.is_fed, "enabled", "disabled")),
            (format!("{directory}/dpms"), either(connector.is_lit, "On", "Off")),
            (format!("{directory}/modes"), mode.unwrap_or_default()),
            (format!("{directory}/edid"), connector.edid),
            (format!("{directory}/connector_id"), text(&connector.id.to_string())),
            (format!("{directory}/uevent"), text("DEVTYPE=drm_connector")),
        ]);
    }
    files
}

/// Returns the links of all connectors: absolute paths with their targets.
pub(super) fn connector_links(device: &SimDevice, place: Place) -> Vec<(String, String)> {
    let below_sys = place.directory().trim_start_matches("/sys/").to_owned();
    let mut links = Vec::new();
    for connector in device.connectors() {
        let inside = directory(place, &connector.name);
        let absolute = format!("{}/{inside}", place.directory());
        let up = "../".repeat(absolute.matches('/').count() - 1);
        let name = format!("{}-{}", node_name(place.primary_minor()), connector.name);
        links.extend([
            (format!("{absolute}/device"), format!("../../{}", node_name(place.primary_minor()))),
            (format!("{absolute}/subsystem"), format!("{up}class/drm")),
            (format!("/sys/class/drm/{name}"), format!("../../{below_sys}/{inside}")),
        ]);
    }
    links
}

/// Returns the directory of a connector, relative to its device's directory.
fn directory(place: Place, connector: &str) -> String {
    let node = node_name(place.primary_minor());
    format!("drm/{node}/{node}-{connector}")
}
