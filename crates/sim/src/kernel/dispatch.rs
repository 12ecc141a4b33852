//! The table from request numbers to their functions.
//!
//! Source: Linux 6.12 `drm_ioctl.c`, `drm_ioctl` and `drm_ioctl_permit`; the table of `amdgpu_drv.c`.

use std::sync::Arc;

use amdgpu_uapi::{self as uapi, Argument, Errno, Request};

use crate::{
    features::Features,
    kernel::{
        files::file::File,
        ioctl::{
            memory::{bo_list, gem, list, names, prime, va},
            modes::{atomic, blobs, caps, crtcs, dumb, framebuffers, gamma, objects, planes, properties, vblank},
            node::{core, info, leases, primary},
            queues::{context, sched, submit, userq, userq_fences, wait},
            sync::syncobj,
        },
        mm::bo::{Bo, PAGE},
    },
};

/// A function that performs a request. The argument's bytes, zero-extended to the kernel's size, are input and output.
pub(crate) type Handler = fn(&File, &mut [u8]) -> Result<(), Errno>;

/// An entry of the table.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// The kernel's size of the argument in bytes.
    pub(crate) size: usize,
    request: Request,
    access: Access,
    /// The function that performs the request.
    handler: Handler,
}

/// The permissions that a request requires.
#[derive(Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the kernel has a flag for each, in any combination")]
struct Access {
    /// `true` to permit files of the render node.
    render: bool,
    /// `true` to permit only authenticated files of the primary node.
    authenticated: bool,
    /// `true` to permit only the master among files of the primary node.
    master: bool,
    /// `true` to permit only root.
    root: bool,
}

impl Access {
    /// Permits all clients.
    const ALL: Self = Self { render: true, authenticated: false, master: false, root: false };
    /// Permits render nodes, and authenticated files of primary nodes: amdgpu's own requests.
    const DRIVER: Self = Self { render: true, authenticated: true, master: false, root: false };
    /// Permits all files of primary nodes.
    const PRIMARY: Self = Self { render: false, authenticated: false, master: false, root: false };
    /// Permits only the master.
    const MASTER: Self = Self { render: false, authenticated: false, master: true, root: false };
    /// Permits only a master of root: requests of drivers that are no more.
    const LEGACY: Self = Self { render: false, authenticated: true, master: true, root: true };
}

impl Entry {
    /// Returns whether the argument is copied in, and whether it is copied out. Both the caller's number and the kernel's
    /// definition must say so.
    pub(crate) fn directions(&self, request: Request) -> (bool, bool) {
        let copy_in = request.writes_to_kernel() && self.request.writes_to_kernel();
        let copy_out = request.reads_from_kernel() && self.request.reads_from_kernel();
        (copy_in, copy_out)
    }

    /// Performs the request after its argument was copied in. The permission is checked only now.
    pub(crate) fn run(&self, file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
        self.permit(file)?;
        let handled = (self.handler)(file, bytes);
        if let (Ok(()), Some(caches)) = (handled, file.gpu.board.caches()) {
            caches.note_request(self.request.number());
        }
        handled
    }

    /// Returns `true` if the request opens a file. The request's argument then contains the descriptor.
    pub(crate) fn opens_a_file(&self) -> bool {
        self.request.number() == 0xc6
    }

    fn permit(&self, file: &File) -> Result<(), Errno> {
        let allowed = match file.node.as_primary() {
            None => self.access.render,
            Some(primary) => {
                (!self.access.root || primary.is_admin())
                    && (!self.access.authenticated || primary.is_authenticated())
                    && (!self.access.master || file.gpu.display.masters.is_master(&file.node))
            }
        };
        if allowed { Ok(()) } else { Err(Errno::EACCES) }
    }
}

fn render<A: Argument>(handler: Handler) -> Entry {
    render_as::<A>(A::REQUEST, A::NAME, handler)
}

fn render_as<A: Argument>(request: Request, name: &'static str, handler: Handler) -> Entry {
    // The numbers from 0x40 to 0x9f belong to the driver.
    let access = if matches!(request.number(), 0x40..0xa0) { Access::DRIVER } else { Access::ALL };
    Entry { name, size: size_of::<A>(), request, access, handler }
}

fn primary(request: Request, name: &'static str, access: Access, handler: Handler) -> Entry {
    Entry { name, size: request.size(), request, access, handler }
}

/// Returns the entry of a request of the primary node for its display engine.
fn display<A: Argument>(handler: Handler) -> Entry {
    primary(A::REQUEST, A::NAME, modes(A::REQUEST.number()), handler)
}

/// Returns the entry of a request. Only type and number must match; size and direction may differ. While the computer sleeps, the
/// process is frozen here.
///
/// # Errors
///
/// ENODEV if the GPU was unplugged, ENOTTY for a type other than DRM's, EINVAL if there is no entry.
pub(crate) fn lookup(file: &File, request: Request) -> Result<Entry, Errno> {
    file.gpu.board.wait_while_asleep();
    check_presence(file)?;
    if request.kind() != b'd' {
        file.gpu.board.complaints.report(format!("ioctl {request:?} is no DRM request"));
        return Err(Errno::ENOTTY);
    }
    let newer =
        newer_line(request.number()).filter(|(feature, _)| file.gpu.facts.has(*feature)).map(|(_, entry)| entry);
    newer.or_else(|| line(request.number())).ok_or_else(|| {
        file.gpu.board.complaints.report(format!("ioctl {request:?}: no DRM or amdgpu request has this number"));
        Errno::EINVAL
    })
}

/// Refuses what a file of a removed GPU asks for.
fn check_presence(file: &File) -> Result<(), Errno> {
    if file.gpu.is_unplugged() && file.gpu.board.hooks().notices_removal() { Err(Errno::ENODEV) } else { Ok(()) }
}

/// The permissions of GEM_FLINK and GEM_OPEN: global names require authentication.
const NAMES: Access = Access { authenticated: true, ..Access::PRIMARY };

/// Returns the permissions for mode setting. Most requests are for the master; the others only read, or create objects that are not
/// displayed yet.
const fn modes(number: u8) -> Access {
    match number {
        0xa2 | 0xa3 | 0xa5 | 0xa8 | 0xa9 | 0xab | 0xb0 | 0xb1 | 0xb7 | 0xba..=0xbc | 0xc6..=0xc9 => Access::MASTER,
        _ => Access::PRIMARY,
    }
}

/// Returns the entry of a request that later kernels add or change, with the feature that does so.
fn newer_line(number: u8) -> Option<(Features, Entry)> {
    use uapi::{
        GemListHandles, GemOpWithEntries, GemVaTimeline, ProcOptions, SetClientName, SyncobjHandlePoint, Userq,
        UserqSignal, UserqWait,
    };
    let import = uapi::SYNCOBJ_FD_TO_HANDLE;
    Some(match number {
        0x48 => (Features::VA_SYNCOBJS, render::<GemVaTimeline>(va::gem_va_on_a_timeline)),
        0x50 => (Features::MAPPING_INFO, render::<GemOpWithEntries>(gem::op_with_entries)),
        0x56 => (Features::USER_QUEUES, render::<Userq>(userq::userq)),
        0x57 => (Features::USER_QUEUES, render::<UserqSignal>(userq_fences::signal)),
        0x58 => (Features::USER_QUEUES, render::<UserqWait>(userq_fences::wait)),
        0x59 => (Features::LIST_HANDLES, render::<GemListHandles>(list::handles)),
        0x5a => (Features::PROC_OPTIONS, render::<ProcOptions>(core::proc_options)),
        0xc1 => (Features::SYNCOBJ_POINTS, render::<SyncobjHandlePoint>(syncobj::handle_to_fd_at_a_point)),
        0xc2 => {
            let entry =
                render_as::<SyncobjHandlePoint>(import, "SYNCOBJ_FD_TO_HANDLE", syncobj::fd_to_handle_at_a_point);
            (Features::SYNCOBJ_POINTS, entry)
        }
        // A request that kernels have had since they list handles, and whose function was taken away again: `drm_ioctl.c`,
        // GEM_CHANGE_HANDLE.
        0xd2 => {
            let change = primary(Request::read_write::<u64>(b'd', number), "GEM_CHANGE_HANDLE", Access::ALL, |_, _| {
                Err(Errno::EINVAL)
            });
            (Features::LIST_HANDLES, change)
        }
        0xd1 => (Features::CLIENT_NAME, render::<SetClientName>(core::set_client_name)),
        _ => return None,
    })
}

/// Returns the entry of a request of old drivers, which are no more. Their numbers are still permitted, but do nothing.
///
/// Source: Linux 6.12 `drm_ioctl.c`, `drm_noop` and `drm_invalid_op`.
fn legacy_line(number: u8) -> Option<Entry> {
    let nothing: Handler = |_, _| Ok(());
    Some(match number {
        0x10 => primary(Request::write::<uapi::Unique>(b'd', number), "SET_UNIQUE", Access::LEGACY, |_, _| {
            Err(Errno::EINVAL)
        }),
        0x12 => primary(Request::read_write::<u32>(b'd', number), "BLOCK", Access::LEGACY, nothing),
        0x13 => primary(Request::read_write::<u32>(b'd', number), "UNBLOCK", Access::LEGACY, nothing),
        0x27 => primary(Request::read_write::<u32>(b'd', number), "ADD_DRAW", Access::LEGACY, nothing),
        0x28 => primary(Request::read_write::<u32>(b'd', number), "RM_DRAW", Access::LEGACY, nothing),
        0x2c => primary(Request::write::<[u32; 2]>(b'd', number), "FINISH", NAMES, nothing),
        0x3f => primary(Request::write::<[u64; 3]>(b'd', number), "UPDATE_DRAW", Access::LEGACY, nothing),
        // The number of a connector and a mode, which are copied all the same.
        0xa8 => primary(Request::read_write::<[u32; 18]>(b'd', number), "MODE_ATTACHMODE", Access::MASTER, nothing),
        0xa9 => primary(Request::read_write::<[u32; 18]>(b'd', number), "MODE_DETACHMODE", Access::MASTER, nothing),
        _ => return None,
    })
}

/// Returns the entry of a request about leases.
fn lease_line(number: u8) -> Option<Entry> {
    use uapi::{ModeCreateLease, ModeGetLease, ModeListLessees, ModeRevokeLease};
    Some(match number {
        0xc6 => display::<ModeCreateLease>(leases::create),
        0xc7 => display::<ModeListLessees>(leases::list),
        0xc8 => display::<ModeGetLease>(leases::get),
        0xc9 => display::<ModeRevokeLease>(leases::revoke),
        _ => return None,
    })
}

fn line(number: u8) -> Option<Entry> {
    use uapi::{
        BoList, Cs, Ctx, FenceToHandle, GemClose, GemCreate, GemMetadata, GemMmap, GemOp, GemUserptr, GemVa,
        GemWaitIdle, GetCap, Info, ModeAtomic, ModeCardRes, ModeCloseFb, ModeConnectorSetProperty, ModeCreateBlob,
        ModeCreateDumb, ModeCrtc, ModeCrtcLut, ModeCursor, ModeCursor2, ModeDestroyBlob, ModeDestroyDumb, ModeFbCmd,
        ModeFbCmd2, ModeFbDirty, ModeGetBlob, ModeGetConnector, ModeGetEncoder, ModeGetPlane, ModeGetPlaneRes,
        ModeGetProperty, ModeMapDumb, ModeObjGetProperties, ModeObjSetProperty, ModePageFlip, ModeSetPlane,
        PrimeHandle, SyncobjArray, SyncobjCreate, SyncobjDestroy, SyncobjEventfd, SyncobjHandle, SyncobjTimelineArray,
        SyncobjTimelineWait, SyncobjTransfer, SyncobjWait, Version, Vm, WaitCs, WaitFences,
    };
    Some(match number {
        0x00 => render::<Version>(core::version),
        0x01 => primary(uapi::Unique::REQUEST, "GET_UNIQUE", Access::PRIMARY, primary::get_unique),
        0x02 => primary(uapi::Auth::REQUEST, "GET_MAGIC", Access::PRIMARY, primary::get_magic),
        0x05 => primary(uapi::Client::REQUEST, "GET_CLIENT", Access::PRIMARY, primary::get_client),
        0x06 => primary(uapi::Stats::REQUEST, "GET_STATS", Access::PRIMARY, primary::get_stats),
        0x07 => primary(uapi::SetVersion::REQUEST, "SET_VERSION", Access::MASTER, primary::set_version),
        0x09 => render::<GemClose>(gem::close),
        0x0a => primary(uapi::GemFlink::REQUEST, "GEM_FLINK", NAMES, names::flink),
        0x0b => primary(uapi::GemOpen::REQUEST, "GEM_OPEN", NAMES, names::open),
        0x0c => render::<GetCap>(core::get_cap),
        0x0d => primary(uapi::SetClientCap::REQUEST, "SET_CLIENT_CAP", Access::PRIMARY, caps::set),
        0x10 | 0x12 | 0x13 | 0x27 | 0x28 | 0x2c | 0x3f | 0xa8 | 0xa9 => return legacy_line(number),
        0x11 => primary(uapi::AUTH_MAGIC, "AUTH_MAGIC", Access::MASTER, primary::auth_magic),
        0x1e => primary(uapi::SET_MASTER, "SET_MASTER", Access::PRIMARY, primary::set_master),
        0x1f => primary(uapi::DROP_MASTER, "DROP_MASTER", Access::PRIMARY, primary::drop_master),
        0x2d => render::<PrimeHandle>(prime::handle_to_fd),
        0x2e => render_as::<PrimeHandle>(uapi::PRIME_FD_TO_HANDLE, "PRIME_FD_TO_HANDLE", prime::fd_to_handle),
        0x3a => primary(uapi::WaitVblank::REQUEST, "WAIT_VBLANK", Access::PRIMARY, vblank::wait),
        0x3b => primary(uapi::CrtcGetSequence::REQUEST, "CRTC_GET_SEQUENCE", Access::PRIMARY, vblank::get_sequence),
        0x3c => {
            primary(uapi::CrtcQueueSequence::REQUEST, "CRTC_QUEUE_SEQUENCE", Access::PRIMARY, vblank::queue_sequence)
        }
        0x40 => render::<GemCreate>(gem::create),
        0x41 => render::<GemMmap>(gem::mmap),
        0x42 => render::<Ctx>(context::ctx),
        0x43 => render::<BoList>(bo_list::bo_list),
        0x44 => render::<Cs>(submit::cs),
        0x45 => render::<Info>(info::info),
        0x46 => render::<GemMetadata>(gem::metadata),
        0x47 => render::<GemWaitIdle>(gem::wait_idle),
        0x48 => render::<GemVa>(va::gem_va),
        0x49 => render::<WaitCs>(wait::wait_cs),
        0x50 => render::<GemOp>(gem::op),
        0x51 => render::<GemUserptr>(gem::userptr),
        0x52 => render::<WaitFences>(wait::wait_fences),
        0x53 => render::<Vm>(context::vm),
        0x54 => render::<FenceToHandle>(wait::fence_to_handle),
        0x55 => primary(uapi::Sched::REQUEST, "AMDGPU_SCHED", Access::MASTER, sched::sched),
        0xa0 => display::<ModeCardRes>(objects::resources),
        0xa1 => display::<ModeCrtc>(objects::crtc),
        0xa2 => primary(uapi::MODE_SETCRTC, "MODE_SETCRTC", modes(number), crtcs::set),
        0xa3 => display::<ModeCursor>(planes::cursor),
        0xa4 => display::<ModeCrtcLut>(gamma::get),
        0xa5 => primary(uapi::MODE_SETGAMMA, "MODE_SETGAMMA", modes(number), gamma::set),
        0xa6 => display::<ModeGetEncoder>(objects::encoder),
        0xa7 => display::<ModeGetConnector>(objects::connector),
        0xaa => display::<ModeGetProperty>(properties::describe),
        0xab => display::<ModeConnectorSetProperty>(atomic::set_connector_property),
        0xac => display::<ModeGetBlob>(blobs::get),
        0xad => primary(uapi::MODE_GETFB, "MODE_GETFB", modes(number), framebuffers::get),
        0xae => display::<ModeFbCmd>(framebuffers::add),
        0xaf => primary(uapi::MODE_RMFB, "MODE_RMFB", modes(number), framebuffers::remove),
        0xb0 => display::<ModePageFlip>(crtcs::page_flip),
        0xb1 => display::<ModeFbDirty>(framebuffers::dirty),
        0xb2 => display::<ModeCreateDumb>(dumb::create),
        0xb3 => display::<ModeMapDumb>(dumb::map),
        0xb4 => display::<ModeDestroyDumb>(dumb::destroy),
        0xb5 => display::<ModeGetPlaneRes>(objects::plane_resources),
        0xb6 => display::<ModeGetPlane>(objects::plane),
        0xb7 => display::<ModeSetPlane>(planes::set),
        0xb8 => display::<ModeFbCmd2>(framebuffers::add_by_format),
        0xb9 => display::<ModeObjGetProperties>(properties::of_object),
        0xba => display::<ModeObjSetProperty>(atomic::set_property),
        0xbb => display::<ModeCursor2>(planes::cursor_with_point),
        0xbc => display::<ModeAtomic>(atomic::commit),
        0xbd => display::<ModeCreateBlob>(blobs::create),
        0xbe => display::<ModeDestroyBlob>(blobs::destroy),
        0xce => primary(uapi::MODE_GETFB2, "MODE_GETFB2", modes(number), framebuffers::get_with_modifier),
        0xd0 => display::<ModeCloseFb>(framebuffers::close),
        0xc6..=0xc9 => return lease_line(number),
        0xbf => render::<SyncobjCreate>(syncobj::create),
        0xc0 => render::<SyncobjDestroy>(syncobj::destroy),
        0xc1 => render::<SyncobjHandle>(syncobj::handle_to_fd),
        0xc2 => render_as::<SyncobjHandle>(uapi::SYNCOBJ_FD_TO_HANDLE, "SYNCOBJ_FD_TO_HANDLE", syncobj::fd_to_handle),
        0xc3 => render::<SyncobjWait>(syncobj::wait),
        0xc4 => render::<SyncobjArray>(syncobj::reset),
        0xc5 => render_as::<SyncobjArray>(uapi::SYNCOBJ_SIGNAL, "SYNCOBJ_SIGNAL", syncobj::signal),
        0xca => render::<SyncobjTimelineWait>(syncobj::timeline_wait),
        0xcb => render::<SyncobjTimelineArray>(syncobj::query),
        0xcc => render::<SyncobjTransfer>(syncobj::transfer),
        0xcd => render_as::<SyncobjTimelineArray>(
            uapi::SYNCOBJ_TIMELINE_SIGNAL,
            "SYNCOBJ_TIMELINE_SIGNAL",
            syncobj::timeline_signal,
        ),
        0xcf => render::<SyncobjEventfd>(syncobj::eventfd),
        _ => return None,
    })
}

/// Returns the BO that an mmap of the node refers to.
///
/// Source: Linux 6.12 `drm_gem.c`, `drm_gem_mmap`; `amdgpu_gem.c`, `amdgpu_gem_object_mmap`.
///
/// # Errors
///
/// ENODEV if the GPU was unplugged, EINVAL if the offset is not that of a BO or the range is beyond it, EACCES if the BO has no
/// handle in this file, EPERM if the CPU may not map the BO.
pub(crate) fn mmap_target(file: &File, offset: u64, len: u64) -> Result<Arc<Bo>, Errno> {
    file.gpu.board.wait_while_asleep();
    check_presence(file)?;
    let bo = file.gpu.bos.offsets.find(offset).ok_or(Errno::EINVAL)?;
    if len == 0 || len.next_multiple_of(PAGE) > bo.size() {
        return Err(Errno::EINVAL);
    }
    if !file.handles.lock().holds(&bo) {
        return Err(Errno::EACCES);
    }
    if bo.is_mappable() { Ok(bo) } else { Err(Errno::EPERM) }
}
