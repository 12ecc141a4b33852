//! A client of a display, which knows what there is and remembers what it made.

use std::{
    os::fd::{AsFd as _, OwnedFd, RawFd},
    sync::Arc,
};

use amdgpu_sim::{Client, SimDevice, SimKernel};
use amdgpu_winsys::{
    uapi::{
        Argument, DROP_MASTER, MODE_CURSOR_BO, MODE_FB_MODIFIERS, MODE_PAGE_FLIP_EVENT, MODE_SETCRTC, MODE_SETGAMMA,
        ModeCardRes, ModeCreateDumb, ModeCreateLease, ModeCrtc, ModeCrtcLut, ModeCursor, ModeFbCmd2, ModeGetConnector,
        ModeGetPlaneRes, ModeInfo, ModeMapDumb, ModePageFlip, Request, SET_MASTER, SetClientCap, client_cap,
    },
    winsys::{Errno, Kernel as _, Protection},
};
use parking_lot::Mutex;

/// Width and height of the display, pixels.
pub(crate) const SIZE: (u32, u32) = (320, 200);

/// This process as a client, so that addresses in arguments are copied by the system, and a bad one is an errno. A signal ends each
/// of its waits.
#[derive(Debug)]
struct Own(Arc<Mutex<Vec<OwnedFd>>>);

impl Client for Own {
    fn pid(&self) -> libc::pid_t {
        std::process::id().cast_signed()
    }

    fn descriptor(&self, fd: RawFd) -> Result<OwnedFd, Errno> {
        let known = self.0.lock();
        let named = usize::try_from(fd).ok().and_then(|at| known.get(at)).ok_or(Errno::EBADF)?;
        named.try_clone().map_err(|_| Errno::EMFILE)
    }

    fn install(&self, fd: OwnedFd, _: bool) -> Result<RawFd, Errno> {
        let mut known = self.0.lock();
        let number = RawFd::try_from(known.len()).map_err(|_| Errno::EMFILE)?;
        known.push(fd);
        Ok(number)
    }

    fn is_interrupted(&self) -> bool {
        true
    }
}

/// Ids and handles of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) crtcs: Vec<u32>,
    pub(crate) connectors: Vec<u32>,
    pub(crate) planes: Vec<u32>,
    pub(crate) handles: Vec<u32>,
    pub(crate) framebuffers: Vec<u32>,
    pub(crate) blobs: Vec<u32>,
}

/// A file of a client that does whatever it likes.
pub(crate) struct Hostile {
    pub(crate) kernel: SimKernel,
    pub(crate) mode: ModeInfo,
    pub(crate) known: Mutex<Known>,
    /// Files that it has leased objects to.
    lessees: Mutex<Vec<Arc<Self>>>,
    descriptors: Arc<Mutex<Vec<OwnedFd>>>,
}

pub(crate) fn address<T>(values: &[T]) -> u64 {
    values.as_ptr().expose_provenance() as u64
}

pub(crate) fn address_mut<T>(values: &mut [T]) -> u64 {
    values.as_mut_ptr().expose_provenance() as u64
}

impl Hostile {
    pub(crate) fn open(gpu: &SimDevice, is_admin: bool) -> Self {
        let client = Self::of(gpu.open_primary(is_admin));
        client.learn();
        client
    }

    pub(crate) fn render(gpu: &SimDevice) -> Self {
        Self::of(gpu.open())
    }

    fn of(kernel: SimKernel) -> Self {
        let mut client = Self {
            kernel,
            mode: ModeInfo::ZEROED,
            known: Mutex::default(),
            lessees: Mutex::default(),
            descriptors: Arc::default(),
        };
        client.learn_mode();
        client
    }

    /// Learns the ids of what there is.
    fn learn(&self) {
        self.told(SetClientCap { capability: client_cap::ATOMIC, value: 1 }).expect("a capability");
        let (mut crtcs, mut connectors, mut planes) = ([0; 8], [0; 8], [0; 16]);
        let resources = ModeCardRes {
            crtc_id_ptr: address_mut(&mut crtcs),
            count_crtcs: 8,
            connector_id_ptr: address_mut(&mut connectors),
            count_connectors: 8,
            ..ModeCardRes::ZEROED
        };
        let found = self.told(resources).expect("resources");
        let plane_id_ptr = address_mut(&mut planes);
        let listed =
            self.told(ModeGetPlaneRes { plane_id_ptr, count_planes: 16, ..ModeGetPlaneRes::ZEROED }).expect("planes");
        let mut known = self.known.lock();
        known.crtcs = crtcs[..found.count_crtcs as usize].to_vec();
        known.connectors = connectors[..found.count_connectors as usize].to_vec();
        known.planes = planes[..listed.count_planes as usize].to_vec();
    }

    fn learn_mode(&mut self) {
        let mut connectors = [0; 8];
        let connector_id_ptr = address_mut(&mut connectors);
        let resources = ModeCardRes { connector_id_ptr, count_connectors: 8, ..ModeCardRes::ZEROED };
        // A lessee may have no connector, and learns from its lessor.
        if self.told(resources).is_ok_and(|found| found.count_connectors > 0) {
            self.mode = self.mode_of(connectors[0]);
        }
    }

    fn mode_of(&self, connector_id: u32) -> ModeInfo {
        let mut modes = [ModeInfo::ZEROED];
        let modes_ptr = address_mut(&mut modes);
        let connector = ModeGetConnector { connector_id, modes_ptr, count_modes: 1, ..ModeGetConnector::ZEROED };
        self.told(connector).expect("the first connector");
        modes[0]
    }

    /// Makes a request.
    pub(crate) fn send<A: Argument>(&self, argument: &mut A) -> Result<(), Errno> {
        self.raw(A::REQUEST, std::ptr::from_mut(argument).expose_provenance() as u64)
    }

    /// Makes a request with an argument of its own.
    pub(crate) fn told<A: Argument>(&self, mut argument: A) -> Result<A, Errno> {
        self.send(&mut argument).map(|()| argument)
    }

    pub(crate) fn raw(&self, request: Request, address: u64) -> Result<(), Errno> {
        let own = Own(Arc::clone(&self.descriptors));
        self.kernel.serve(Arc::new(own), request, address).map(drop)
    }

    /// Leases objects to a new file, which knows what this one knows. Returns `true` if it was granted.
    pub(crate) fn lease(&self, objects: &[u32], flags: u32) -> bool {
        let (object_ids, object_count) = (address(objects), objects.len() as u32);
        let request = ModeCreateLease { object_ids, object_count, flags, ..ModeCreateLease::ZEROED };
        let Ok(created) = self.told(request) else { return false };
        let descriptor = self.descriptors.lock().get(created.fd as usize).and_then(|fd| fd.try_clone().ok());
        let kernel = descriptor.and_then(|fd| self.kernel.take_lessee(fd.as_fd()).ok().flatten());
        let mut lessee = Self::of(kernel.expect("the file of the lease"));
        lessee.mode = self.mode;
        *lessee.known.lock() = self.known.lock().clone();
        self.lessees.lock().push(Arc::new(lessee));
        true
    }

    /// One of the files that it has leased objects to.
    pub(crate) fn lessee(&self, at: u32) -> Option<Arc<Self>> {
        let lessees = self.lessees.lock();
        lessees.get(at as usize % lessees.len().max(1)).cloned()
    }

    /// Closes one of them.
    pub(crate) fn close_lessee(&self, at: u32) -> bool {
        let mut lessees = self.lessees.lock();
        let at = at as usize % lessees.len().max(1);
        let gone = (at < lessees.len()).then(|| lessees.swap_remove(at));
        drop(lessees);
        gone.is_some()
    }

    /// Opens a timeline of sw_sync, for fences that nothing signals.
    pub(crate) fn open_timeline(&self, gpu: &SimDevice) {
        let timeline = gpu.machine().open_sw_sync("hostile");
        self.descriptors.lock().extend(timeline);
    }

    /// Makes a request on a descriptor; `true` if it was granted.
    pub(crate) fn on_descriptor(&self, gpu: &SimDevice, at: u32, request: u32, address: u64) -> bool {
        let own = Own(Arc::clone(&self.descriptors));
        let copy = own.descriptor(at.cast_signed());
        let Ok(fd) = copy else { return false };
        gpu.machine().serve(Arc::new(own), fd.as_fd(), Request::from_bits(request), address).is_ok()
    }

    /// Forgets all descriptors.
    pub(crate) fn close_timelines(&self) {
        let gone = std::mem::take(&mut *self.descriptors.lock());
        drop(gone);
    }

    /// The number of descriptors.
    pub(crate) fn descriptors(&self) -> u32 {
        self.descriptors.lock().len() as u32
    }

    pub(crate) fn become_master(&self) {
        self.raw(SET_MASTER, 0).expect("no other is master");
    }

    pub(crate) fn drop_master(&self) {
        // Most are none.
        let _ = self.raw(DROP_MASTER, 0);
    }

    /// A dumb buffer of a colour.
    pub(crate) fn buffer(&self, pixel: u32) -> Result<u32, Errno> {
        let (width, height) = SIZE;
        let dumb = self.told(ModeCreateDumb { width, height, bpp: 32, ..ModeCreateDumb::ZEROED })?;
        let map = self.told(ModeMapDumb { handle: dumb.handle, ..ModeMapDumb::ZEROED })?;
        paint(&self.kernel, map.offset, dumb.size as usize, pixel);
        Ok(dumb.handle)
    }

    /// A framebuffer of a colour.
    pub(crate) fn framebuffer(&self, handle: u32) -> Result<u32, Errno> {
        let (width, height) = SIZE;
        let command = ModeFbCmd2 {
            width,
            height,
            pixel_format: u32::from_le_bytes(*b"XR24"),
            handles: [handle, 0, 0, 0],
            pitches: [width * 4, 0, 0, 0],
            ..ModeFbCmd2::ZEROED
        };
        let with_modifier = self.told(ModeFbCmd2 { flags: MODE_FB_MODIFIERS, ..command });
        let made = with_modifier.or_else(|_| self.told(command))?;
        self.known.lock().framebuffers.push(made.fb_id);
        Ok(made.fb_id)
    }

    /// Shows a picture of a colour on the display.
    pub(crate) fn show(&self, pixel: u32) -> Result<u32, Errno> {
        let handle = self.buffer(pixel)?;
        self.known.lock().handles.push(handle);
        let fb_id = self.framebuffer(handle)?;
        let (crtc_id, connector) = {
            let known = self.known.lock();
            (known.crtcs[0], known.connectors[0])
        };
        let mut mode = [0; 68];
        mode.copy_from_slice(zerocopy::IntoBytes::as_bytes(&self.mode));
        let connectors = [connector];
        let mut request = ModeCrtc {
            set_connectors_ptr: address(&connectors),
            count_connectors: 1,
            crtc_id,
            fb_id,
            mode_valid: 1,
            mode,
            ..ModeCrtc::ZEROED
        };
        loop {
            match self.raw(MODE_SETCRTC, std::ptr::from_mut(&mut request).expose_provenance() as u64) {
                // A commit before is not shown yet.
                Err(Errno::EINTR) => std::thread::yield_now(),
                other => return other.map(|()| fb_id),
            }
        }
    }

    /// Takes the cursor and the gamma table of a client before away.
    pub(crate) fn clear(&self) {
        let crtc_id = self.known.lock().crtcs[0];
        let hidden = ModeCursor { flags: MODE_CURSOR_BO, crtc_id, ..ModeCursor::ZEROED };
        self.told(hidden).expect("a cursor that is hidden");
        let column: Vec<u16> = (0..256).map(|value| value * 257).collect();
        let red = address(&column);
        let mut request = ModeCrtcLut { crtc_id, gamma_size: 256, red, green: red, blue: red };
        // It may be interrupted while it waits for a commit before, which ends with its fences.
        while self.raw(MODE_SETGAMMA, std::ptr::from_mut(&mut request).expose_provenance() as u64).is_err() {
            std::thread::yield_now();
        }
    }

    /// Flips to a framebuffer, with an event.
    pub(crate) fn flip(&self, fb_id: u32, user_data: u64) -> Result<(), Errno> {
        let crtc_id = self.known.lock().crtcs[0];
        loop {
            let flip = ModePageFlip { crtc_id, fb_id, flags: MODE_PAGE_FLIP_EVENT, user_data, ..ModePageFlip::ZEROED };
            match self.told(flip) {
                // What came before is not shown yet.
                Err(Errno::EBUSY) => std::thread::yield_now(),
                other => return other.map(drop),
            }
        }
    }
}

#[expect(unsafe_code, reason = "the seam maps memory")]
fn paint(kernel: &SimKernel, offset: u64, size: usize, pixel: u32) {
    // SAFETY: without a wanted address nothing is replaced.
    let Ok(base) = (unsafe { kernel.mmap(size, Protection::ReadWrite, None, offset) }) else { return };
    let pixels = pixel.to_le_bytes().repeat(size / 4);
    // SAFETY: mmap mapped that many bytes, and no other code knows where.
    unsafe { std::ptr::copy_nonoverlapping(pixels.as_ptr(), base.as_ptr(), pixels.len()) };
    // SAFETY: the mapping is this one, and nothing borrows from it.
    unsafe { kernel.munmap(base, size) }.expect("a mapping");
}
