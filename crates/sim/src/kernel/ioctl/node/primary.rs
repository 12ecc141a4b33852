//! Requests of primary nodes about masters and clients, and about the device's name.
//!
//! Source: Linux 6.12 `drm_ioctl.c`, `drm_getunique`, `drm_getclient`, `drm_setversion`; `drm_auth.c`.

use amdgpu_uapi::{Auth, Client, Errno, SetVersion, Stats, Unique};

use crate::kernel::{
    client,
    files::{file::File, node::Primary},
    ioctl::args::{argument, fill},
    user,
};

/// The user id for users that are unknown in the caller's namespace (`overflowuid`).
const NOBODY: u64 = 65_534;
/// The version of the DRM interface. 1.4 is the last version.
const INTERFACE: (i32, i32) = (1, 4);
/// The driver's major version.
const DRIVER_MAJOR: i32 = 3;

fn primary(file: &File) -> Result<&Primary, Errno> {
    file.node.as_primary().ok_or(Errno::EACCES)
}

/// Performs GET_UNIQUE. The name is empty until the master has set a version; a buffer that is too small is not written.
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
    format!("pci:{}", file.gpu.facts.options.place.pci())
}

/// Performs GET_MAGIC.
pub(crate) fn get_magic(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let magic = primary(file)?.magic();
    fill(bytes, &Auth { magic })
}

/// Performs AUTH_MAGIC.
pub(crate) fn auth_magic(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: Auth = argument(bytes)?;
    primary(file)?.authenticate(request.magic)
}

/// Performs GET_CLIENT. It answers for index 0 only, with the caller itself, and does not report the caller's user.
pub(crate) fn get_client(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: Client = argument(bytes)?;
    if request.idx != 0 {
        return Err(Errno::EINVAL);
    }
    let auth = i32::from(primary(file)?.is_authenticated());
    let pid = u64::from(client::pid().unsigned_abs());
    fill(bytes, &Client { idx: 0, auth, pid, uid: NOBODY, magic: 0, iocs: 0 })
}

/// Performs GET_STATS. The answer is zeros, because Linux no longer has the counters.
///
/// Source: Linux 6.12 `drm_ioctl.c`, `drm_getstats`.
pub(crate) fn get_stats(_: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    fill(bytes, &Stats::ZEROED)
}

/// Performs SET_VERSION. A version of -1 requests the current version only. The version is reported even if the request is refused.
pub(crate) fn set_version(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let wanted: SetVersion = argument(bytes)?;
    let minor = file.gpu.facts.options.drm_minor;
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

/// Performs SET_MASTER.
pub(crate) fn set_master(file: &File, _: &mut [u8]) -> Result<(), Errno> {
    file.gpu.display.masters.set(primary(file)?)
}

/// Performs DROP_MASTER.
pub(crate) fn drop_master(file: &File, _: &mut [u8]) -> Result<(), Errno> {
    file.gpu.display.masters.drop_master(primary(file)?)
}
