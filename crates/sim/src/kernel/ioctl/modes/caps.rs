//! SET_CLIENT_CAP.
//!
//! Source: Linux 6.12 and 7.2 `drm_ioctl.c`, `drm_setclientcap`.

use amdgpu_uapi::{Errno, SetClientCap, client_cap};

use crate::{
    features::Features,
    kernel::{
        files::{file::File, node::ClientCaps},
        ioctl::args::argument,
    },
};

/// Returns the client's capabilities.
pub(super) fn of(file: &File) -> Result<ClientCaps, Errno> {
    Ok(*file.node.as_primary().ok_or(Errno::EACCES)?.caps())
}

/// Performs SET_CLIENT_CAP. Atomic mode setting also enables all planes.
pub(crate) fn set(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let SetClientCap { capability, value } = argument(bytes)?;
    let mut caps = file.node.as_primary().ok_or(Errno::EACCES)?.caps();
    let most = match capability {
        client_cap::STEREO_3D | client_cap::UNIVERSAL_PLANES | client_cap::ASPECT_RATIO => 1,
        client_cap::ATOMIC => 2,
        client_cap::WRITEBACK_CONNECTORS if caps.atomic => 1,
        client_cap::PLANE_COLOR_PIPELINE if caps.atomic && file.gpu.facts.has(Features::COLOR_PIPELINES) => 1,
        // amdgpu is not the display of a virtual machine.
        client_cap::CURSOR_PLANE_HOTSPOT => return Err(Errno::EOPNOTSUPP),
        _ => return Err(Errno::EINVAL),
    };
    if value > most {
        return Err(Errno::EINVAL);
    }
    match capability {
        client_cap::PLANE_COLOR_PIPELINE if !file.gpu.display.modes.has_pipelines() => return Err(Errno::EOPNOTSUPP),
        client_cap::PLANE_COLOR_PIPELINE => caps.color_pipelines = value != 0,
        client_cap::UNIVERSAL_PLANES => caps.universal_planes = value != 0,
        client_cap::ATOMIC => {
            *caps = ClientCaps { atomic: value != 0, universal_planes: value != 0, ..*caps };
        }
        // The other capabilities have no effect here.
        _ => {}
    }
    Ok(())
}
