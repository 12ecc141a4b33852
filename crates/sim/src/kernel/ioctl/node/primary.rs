//! Requests of primary nodes about masters, clients and names of the device.
//!
//! Source: Linux 6.12 `drm_ioctl.c`, `drm_getunique`, `drm_getclient`, `drm_setversion`; `drm_auth.c`.

use amdgpu_uapi::{Auth, Client, Errno, SetVersion, Stats, Unique};

use crate::kernel::{
    client,
    files::{file::File, node::Primary},
    ioctl::args::{argument, fill},
    user,
};

/// User id that stands for users unknown in the caller's namespace (`overflowuid`).
const NOBODY: u64 = 65_534;
/// Version of the DRM interface, of which 1.4 is the last.
const INTERFACE: (i32, i32) = (1, 4);
/// Major version of the driver.
const DRIVER_MAJOR: i32 = 3;

fn primary(file: &File) -> Result<&Primary, Errno> {
    file.node.as_primary().ok_or(Errno::EACCES)
}

/// GET_UNIQUE: empty until the master asked for a version; a buffer that is too small stays as it is.
pub(crate) fn get_unique(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: Unique = argument(bytes)?;
    let name = if primary(file)?.has_unique() { bus_id(file) } else { String::new() };
    if request.unique_len >= name.len() as u64 {
        user::write_bytes(request.unique, name.as_bytes())?;
    }
    request.unique_len = name.len() as u64;
    fill(bytes, &request)
}

fn bus_id(file: &File) -> String {
    format!("pci:{}", file.gpu.options.place.pci())
}

/// GET_MAGIC.
pub(crate) fn get_magic(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let magic = primary(file)?.magic();
    fill(bytes, &Auth { magic })
}

/// AUTH_MAGIC.
pub(crate) fn auth_magic(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: Auth = argument(bytes)?;
    primary(file)?.authenticate(request.magic)
}

/// GET_CLIENT: only number 0 answers, about the caller, whose user it does not report.
pub(crate) fn get_client(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: Client = argument(bytes)?;
    if request.idx != 0 {
        return Err(Errno::EINVAL);
    }
    let auth = i32::from(primary(file)?.is_authenticated());
    let pid = u64::from(client::pid().unsigned_abs());
    fill(bytes, &Client { idx: 0, auth, pid, uid: NOBODY, magic: 0, iocs: 0 })
}

/// GET_STATS: zeros, for the counters went long ago.
///
/// Source: Linux 6.12 `drm_ioctl.c`, `drm_getstats`.
pub(crate) fn get_stats(_: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    fill(bytes, &Stats::ZEROED)
}

/// SET_VERSION: -1 only asks. The version is reported even when the request is refused.
pub(crate) fn set_version(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let wanted: SetVersion = argument(bytes)?;
    let minor = file.gpu.options.drm_minor;
    let suits = |major: i32, asked: i32, (known, last): (i32, i32)| {
        major == -1 || (major == known && (0..=last).contains(&asked))
    };
    let interface = suits(wanted.drm_di_major, wanted.drm_di_minor, INTERFACE);
    let driver = suits(wanted.drm_dd_major, wanted.drm_dd_minor, (DRIVER_MAJOR, minor));
    if interface && wanted.drm_di_major != -1 && wanted.drm_di_minor >= 1 {
        primary(file)?.give_unique();
    }
    let answer = SetVersion {
        drm_di_major: INTERFACE.0,
        drm_di_minor: INTERFACE.1,
        drm_dd_major: DRIVER_MAJOR,
        drm_dd_minor: minor,
    };
    fill(bytes, &answer)?;
    if interface && driver { Ok(()) } else { Err(Errno::EINVAL) }
}

/// SET_MASTER.
pub(crate) fn set_master(file: &File, _: &mut [u8]) -> Result<(), Errno> {
    file.gpu.masters.set(primary(file)?)
}

/// DROP_MASTER.
pub(crate) fn drop_master(file: &File, _: &mut [u8]) -> Result<(), Errno> {
    file.gpu.masters.drop_master(primary(file)?)
}
