//! What only primary nodes have: who is the master, and whom it trusts.
//!
//! Source: Linux 6.12 `drm_auth.c`; `drm_ioctl.c`, `drm_getclient`, `drm_getunique`, `drm_setversion`.

use amdgpu_winsys::uapi::{Auth, Client, SetVersion, Unique};
use nix::errno::Errno;

use crate::{
    dispatch::{argument, fill},
    file::File,
    user,
};

/// The user id that GET_CLIENT tells of everybody (`overflowuid`).
const NOBODY: u64 = 65534;
/// Version of the DRM core's interface (`DRM_IF_MAJOR`, `DRM_IF_MINOR`).
const INTERFACE: (i32, i32) = (1, 4);
/// Version of the driver; its minor is an option.
const DRIVER_MAJOR: i32 = 3;

/// GET_UNIQUE: the bus id, where there is room for all of it; nothing before SET_VERSION.
pub(crate) fn get_unique(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: Unique = argument(bytes)?;
    let unique = if file.auth.knows_bus() { file.gpu.bus_id() } else { String::new() };
    if request.unique_len >= unique.len() as u64 {
        user::write_bytes(request.unique, unique.as_bytes())?;
    }
    request.unique_len = unique.len() as u64;
    fill(bytes, &request)
}

/// GET_MAGIC.
pub(crate) fn get_magic(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    fill(bytes, &Auth { magic: file.auth.magic()? })
}

/// GET_CLIENT: whether the file is authenticated, and little else. There is only client 0.
pub(crate) fn get_client(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: Client = argument(bytes)?;
    if request.idx != 0 {
        return Err(Errno::EINVAL);
    }
    let auth = i32::from(file.auth.is_authenticated());
    let pid = u64::from(std::process::id());
    fill(bytes, &Client { idx: 0, auth, pid, uid: NOBODY, magic: 0, iocs: 0 })
}

/// SET_VERSION: the versions that the client knows, -1 for any. They come back as they are, whatever was asked.
pub(crate) fn set_version(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: SetVersion = argument(bytes)?;
    let driver = (DRIVER_MAJOR, file.gpu.options.drm_minor);
    let fits = |(major, minor): (i32, i32), (known, newest): (i32, i32)| {
        major == -1 || (major == known && (0..=newest).contains(&minor))
    };
    let interface = (request.drm_di_major, request.drm_di_minor);
    let known = fits(interface, INTERFACE);
    if known && interface.0 != -1 && interface.1 >= 1 {
        file.auth.name_bus()?;
    }
    let (di_major, di_minor) = INTERFACE;
    let (dd_major, dd_minor) = driver;
    let version =
        SetVersion { drm_di_major: di_major, drm_di_minor: di_minor, drm_dd_major: dd_major, drm_dd_minor: dd_minor };
    fill(bytes, &version)?;
    if known && fits((request.drm_dd_major, request.drm_dd_minor), driver) { Ok(()) } else { Err(Errno::EINVAL) }
}

/// AUTH_MAGIC.
pub(crate) fn auth_magic(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: Auth = argument(bytes)?;
    file.auth.authenticate(request.magic)
}

/// SET_MASTER.
pub(crate) fn set_master(file: &File, _: &mut [u8]) -> Result<(), Errno> {
    file.auth.set_master(&file.gpu.master)
}

/// DROP_MASTER.
pub(crate) fn drop_master(file: &File, _: &mut [u8]) -> Result<(), Errno> {
    file.auth.drop_master(&file.gpu.master)
}

/// Mode setting, and the capabilities for it: a device without displays refuses all of it, as one whose driver does not
/// set modes.
///
/// Source: Linux 6.12 `drm_mode_config.c` and `drm_ioctl.c`: without DRIVER_MODESET it is EOPNOTSUPP.
pub(crate) fn no_displays(file: &File, _: &mut [u8]) -> Result<(), Errno> {
    file.gpu.complaints.say("mode setting is not simulated".to_owned());
    Err(Errno::EOPNOTSUPP)
}
