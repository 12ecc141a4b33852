//! The display of a GPU through its primary node: framebuffers, a mode and page flips, without properties.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm_mode.h`; `drm_crtc.c`, `drm_mode_setcrtc`; `drm_plane.c`, `drm_mode_page_flip_ioctl`.

use std::{
    os::fd::{AsRawFd as _, BorrowedFd},
    path::{Path, PathBuf},
    ptr::NonNull,
    time::{Duration, Instant},
};

use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    uapi::{
        self, Argument, EVENT_FLIP_COMPLETE, Kernel, MODE_CONNECTED, MODE_PAGE_FLIP_EVENT, MODE_RMFB, MODE_SETCRTC,
        ModeCardRes, ModeCreateDumb, ModeCrtc, ModeDestroyDumb, ModeFbCmd2, ModeGetConnector, ModeGetEncoder,
        ModeMapDumb, ModePageFlip, OpenFile, Protection, Request, SET_MASTER,
    },
    winsys::{Errno, Node, RenderNode},
};
use nix::libc;

use crate::{
    gpu::target::Target,
    result::outcome::{Stop, fail, skip},
};

/// The time in which a flip ends: many frames of the slowest display.
const FLIP: Duration = Duration::from_secs(2);
/// Between two looks for an event of the simulated display.
const PAUSE: Duration = Duration::from_micros(200);
/// Entries in the answer about a device: more connectors and CRTCs than any has.
const MOST: u32 = 32;
/// Modes of a display that are asked for.
const MODES: u32 = 256;
/// The bytes of a mode.
const MODE: usize = 68;

/// An open primary node that is the master of the display.
enum Master {
    Simulated(Box<SimKernel>),
    Card(RenderNode),
}

/// A display and the CRTC that shows it. The mode of before is set again in the end.
pub(crate) struct Display {
    master: Master,
    crtc: u32,
    connector: u32,
    mode: [u8; MODE],
    before: ModeCrtc,
    pictures: Vec<Picture>,
}

/// A framebuffer of one shade of grey.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picture {
    /// The ID of the framebuffer.
    pub(crate) id: u32,
    handle: u32,
}

/// The end of a page flip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flipped {
    /// The number that the flip was given.
    pub(crate) number: u64,
    /// The time of the vertical blank on CLOCK_MONOTONIC.
    pub(crate) time: Duration,
}

impl Display {
    /// Takes the display of a GPU.
    ///
    /// # Errors
    ///
    /// A skip with the reason if there is no display, or a compositor has it.
    pub(crate) fn take(target: &Target) -> Result<Self, Stop> {
        let master = Master::of(target)?;
        let ids = master.resources()?;
        for &connector in &ids.connectors {
            let Some((mode, encoders)) = master.connected(connector)? else { continue };
            let Some(crtc) = master.crtc_of(&encoders, &ids.crtcs) else { continue };
            let mut before = ModeCrtc { crtc_id: crtc, ..ModeCrtc::ZEROED };
            master.send(ModeCrtc::REQUEST, &mut before, "MODE_GETCRTC")?;
            return Ok(Self { master, crtc, connector, mode, before, pictures: Vec::new() });
        }
        skip("no display is connected to the GPU")
    }

    /// Returns width and height in pixels, and the frames in a second.
    pub(crate) fn size(&self) -> (u32, u32, u32) {
        let short = |at: usize| u32::from(u16::from_ne_bytes([self.mode[at], self.mode[at + 1]]));
        let rate = u32::from_ne_bytes([self.mode[24], self.mode[25], self.mode[26], self.mode[27]]);
        (short(4), short(14), rate)
    }

    /// Makes a picture whose bytes are all `shade`.
    pub(crate) fn picture(&mut self, shade: u8) -> Result<Picture, Stop> {
        let (width, height, _) = self.size();
        let mut dumb = ModeCreateDumb { width, height, bpp: 32, ..ModeCreateDumb::ZEROED };
        self.master.send(ModeCreateDumb::REQUEST, &mut dumb, "MODE_CREATE_DUMB")?;
        self.pictures.push(Picture { id: 0, handle: dumb.handle });
        let mut map = ModeMapDumb { handle: dumb.handle, ..ModeMapDumb::ZEROED };
        self.master.send(ModeMapDumb::REQUEST, &mut map, "MODE_MAP_DUMB")?;
        self.master.fill(map.offset, dumb.size, shade)?;
        let mut command = ModeFbCmd2 {
            width,
            height,
            pixel_format: u32::from_le_bytes(*b"XR24"),
            handles: [dumb.handle, 0, 0, 0],
            pitches: [dumb.pitch, 0, 0, 0],
            ..ModeFbCmd2::ZEROED
        };
        self.master.send(ModeFbCmd2::REQUEST, &mut command, "MODE_ADDFB2")?;
        let picture = Picture { id: command.fb_id, handle: dumb.handle };
        self.pictures.pop();
        self.pictures.push(picture);
        Ok(picture)
    }

    /// Shows a picture at once, with the display's mode.
    pub(crate) fn show(&self, picture: Picture) -> Result<(), Stop> {
        let request = ModeCrtc { fb_id: picture.id, mode_valid: 1, mode: self.mode, ..ModeCrtc::ZEROED };
        self.set(request)
    }

    fn set(&self, request: ModeCrtc) -> Result<(), Stop> {
        let connectors = [self.connector];
        let set_connectors_ptr = connectors.as_ptr().expose_provenance() as u64;
        let (pointer, count) = if request.mode_valid == 0 { (0, 0) } else { (set_connectors_ptr, 1) };
        let mut request =
            ModeCrtc { set_connectors_ptr: pointer, count_connectors: count, crtc_id: self.crtc, ..request };
        self.master.send(MODE_SETCRTC, &mut request, "MODE_SETCRTC")
    }

    /// Flips to a picture, and waits until the flip has ended. `None` if it does not.
    pub(crate) fn flip(&self, picture: Picture, number: u64) -> Result<Option<Flipped>, Stop> {
        let mut request = ModePageFlip {
            crtc_id: self.crtc,
            fb_id: picture.id,
            flags: MODE_PAGE_FLIP_EVENT,
            user_data: number,
            ..ModePageFlip::ZEROED
        };
        self.master.send(ModePageFlip::REQUEST, &mut request, "MODE_PAGE_FLIP")?;
        self.master.event()
    }

    /// Returns the framebuffer that the kernel says is shown.
    pub(crate) fn shown(&self) -> Result<u32, Stop> {
        let mut crtc = ModeCrtc { crtc_id: self.crtc, ..ModeCrtc::ZEROED };
        self.master.send(ModeCrtc::REQUEST, &mut crtc, "MODE_GETCRTC")?;
        Ok(crtc.fb_id)
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // Nothing more can be done if the kernel refuses: it shows its console when the last file of the node is closed.
        let _ = self.set(ModeCrtc { set_connectors_ptr: 0, count_connectors: 0, ..self.before });
        for Picture { id, handle } in self.pictures.drain(..) {
            if id != 0 {
                let _ = self.master.remove(id);
            }
            let _ = self.master.send(ModeDestroyDumb::REQUEST, &mut ModeDestroyDumb { handle }, "MODE_DESTROY_DUMB");
        }
    }
}

/// The first mode of a display, and the encoders of its connector.
type Connected = ([u8; MODE], Vec<u32>);

/// The objects of a device.
struct Ids {
    crtcs: Vec<u32>,
    connectors: Vec<u32>,
}

impl Master {
    fn of(target: &Target) -> Result<Self, Stop> {
        if let Some(slot) = target.slot() {
            return Ok(Self::Simulated(Box::new(slot.device().open_primary(false))));
        }
        let Some(node) = target.node() else {
            return skip("the GPU has no primary node here: its kernel is recorded, replayed or of another program");
        };
        let Some(path) = primary(node) else {
            return skip(format!("{} has no primary node beside it: a container hides it", node.display()));
        };
        let card = match RenderNode::open(&path) {
            Ok(card) => Self::Card(card),
            Err(Errno::ENOENT) => return skip(format!("there is no {}: a container hides it", path.display())),
            Err(Errno::EACCES) => {
                return skip(format!("{} may not be opened: members of the group video may", path.display()));
            }
            Err(errno) => return fail(format!("{}: {errno}", path.display())),
        };
        // SAFETY: the request has no argument, and makes this file alone the master, if no other is.
        match unsafe { card.kernel().ioctl(SET_MASTER, std::ptr::null_mut()) } {
            Ok(_) => Ok(card),
            Err(Errno::EBUSY | Errno::EACCES | Errno::EINVAL) => skip(format!(
                "another program holds the display ({}), as a compositor does: run it from a text console",
                path.display()
            )),
            Err(errno) => fail(format!("SET_MASTER: {errno}")),
        }
    }

    fn kernel(&self) -> &dyn Kernel {
        match self {
            Self::Simulated(kernel) => &**kernel,
            Self::Card(node) => node,
        }
    }

    fn send<A: Argument>(&self, request: Request, argument: &mut A, name: &str) -> Result<(), Stop> {
        // SAFETY: the callers here pass a structure of the request's size, whose addresses are those of their own arrays with the
        // arrays' lengths. The objects that requests change are the display, which this file holds, and this file's own buffers.
        match unsafe { uapi::send_raw(self.kernel(), request, argument) } {
            Ok(()) => Ok(()),
            Err(Errno::EOPNOTSUPP) => skip(format!("the GPU has no display engine ({name})")),
            Err(errno) => fail(format!("{name}: {errno}")),
        }
    }

    /// Returns the CRTCs and connectors.
    fn resources(&self) -> Result<Ids, Stop> {
        let (mut crtcs, mut connectors) = ([0_u32; MOST as usize], [0_u32; MOST as usize]);
        let mut answer = ModeCardRes {
            crtc_id_ptr: crtcs.as_mut_ptr().expose_provenance() as u64,
            count_crtcs: MOST,
            connector_id_ptr: connectors.as_mut_ptr().expose_provenance() as u64,
            count_connectors: MOST,
            ..ModeCardRes::ZEROED
        };
        self.send(ModeCardRes::REQUEST, &mut answer, "MODE_GETRESOURCES")?;
        let list = |ids: [u32; MOST as usize], count: u32| ids.into_iter().take(count as usize).collect();
        Ok(Ids { crtcs: list(crtcs, answer.count_crtcs), connectors: list(connectors, answer.count_connectors) })
    }

    /// Returns the first mode and the encoders of a connector with a display.
    fn connected(&self, connector_id: u32) -> Result<Option<Connected>, Stop> {
        let (mut modes, mut encoders) = (vec![[0_u8; MODE]; MODES as usize], [0_u32; MOST as usize]);
        let mut answer = ModeGetConnector {
            connector_id,
            modes_ptr: modes.as_mut_ptr().expose_provenance() as u64,
            count_modes: MODES,
            encoders_ptr: encoders.as_mut_ptr().expose_provenance() as u64,
            count_encoders: MOST,
            ..ModeGetConnector::ZEROED
        };
        self.send(ModeGetConnector::REQUEST, &mut answer, "MODE_GETCONNECTOR")?;
        let is_there = answer.connection == MODE_CONNECTED && answer.count_modes > 0 && answer.count_modes <= MODES;
        let encoders = encoders.into_iter().take(answer.count_encoders as usize).collect();
        Ok(is_there.then(|| (modes[0], encoders)))
    }

    /// Returns the CRTC that an encoder has, or otherwise the first one that it can have.
    fn crtc_of(&self, encoders: &[u32], crtcs: &[u32]) -> Option<u32> {
        let asked = encoders.iter().filter_map(|&encoder_id| {
            let mut answer = ModeGetEncoder { encoder_id, ..ModeGetEncoder::ZEROED };
            self.send(ModeGetEncoder::REQUEST, &mut answer, "MODE_GETENCODER").ok().map(|()| answer)
        });
        let asked: Vec<_> = asked.collect();
        let used = asked.iter().map(|encoder| encoder.crtc_id).find(|crtc| *crtc != 0);
        let possible = |mask: u32| (0..).zip(crtcs).find(|(index, _)| mask >> index & 1 == 1).map(|(_, crtc)| *crtc);
        used.or_else(|| asked.iter().find_map(|encoder| possible(encoder.possible_crtcs)))
    }

    /// Fills a dumb buffer.
    fn fill(&self, offset: u64, size: u64, shade: u8) -> Result<(), Stop> {
        let len = usize::try_from(size).unwrap_or(0);
        // SAFETY: no address is given, so that nothing is replaced.
        let mapped = unsafe { self.kernel().mmap(len, Protection::ReadWrite, None, offset) };
        let address: NonNull<u8> = match mapped {
            Ok(address) => address,
            Err(errno) => return fail(format!("mapping a buffer of the display: {errno}")),
        };
        // SAFETY: the mapping has `len` bytes that may be written, and nobody else has it.
        unsafe { address.as_ptr().write_bytes(shade, len) };
        // SAFETY: this is the mapping from above, which is not used any longer.
        let unmapped = unsafe { self.kernel().munmap(address, len) };
        unmapped.or_else(|errno| fail(format!("unmapping a buffer of the display: {errno}")))
    }

    fn remove(&self, id: u32) -> Result<(), Errno> {
        let mut id = id;
        // SAFETY: the request takes the ID of a framebuffer, which is this file's own.
        unsafe { self.kernel().ioctl(MODE_RMFB, (&raw mut id).cast()) }.map(drop)
    }

    /// Waits for the end of a flip; `None` if there is none in time.
    fn event(&self) -> Result<Option<Flipped>, Stop> {
        let until = Instant::now() + FLIP;
        loop {
            let event = match self {
                Self::Simulated(kernel) => {
                    kernel.read_event().map(|event| (event.kind, flipped(event.user_data, event.tv_sec, event.tv_usec)))
                }
                Self::Card(node) => match node.open_file() {
                    OpenFile::Descriptor(file) => read(file, until)?,
                    _ => None,
                },
            };
            match event {
                Some((EVENT_FLIP_COMPLETE, end)) => return Ok(Some(end)),
                _ if Instant::now() >= until => return Ok(None),
                Some(_) => {}
                None => std::thread::sleep(PAUSE),
            }
        }
    }
}

fn flipped(number: u64, seconds: u32, micros: u32) -> Flipped {
    Flipped { number, time: Duration::from_secs(seconds.into()) + Duration::from_micros(micros.into()) }
}

/// Reads an event of a node, with its kind.
fn read(file: BorrowedFd<'_>, until: Instant) -> Result<Option<(u32, Flipped)>, Stop> {
    let rest = until.saturating_duration_since(Instant::now()).as_millis();
    let mut wait = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the array has one entry, which lives until the call returns.
    let ready = unsafe { libc::poll(&raw mut wait, 1, i32::try_from(rest).unwrap_or(i32::MAX)) };
    if ready <= 0 {
        return Ok(None);
    }
    // The kernel gives whole events, of which those about flips have 32 bytes, and one is awaited.
    let mut bytes = [0_u8; 32];
    match nix::unistd::read(file, &mut bytes) {
        Ok(32) => {
            let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            let number = u64::from(word(8)) | u64::from(word(12)) << 32;
            Ok(Some((word(0), flipped(number, word(16), word(20)))))
        }
        Ok(_) => Ok(None),
        Err(errno) => fail(format!("reading an event of the display: {errno}")),
    }
}

/// Returns the primary node beside a render node.
fn primary(render: &Path) -> Option<PathBuf> {
    let nodes = Node::enumerate(Path::new("/")).ok()?;
    let minor = nodes.into_iter().find(|node| node.path == render)?.primary_minor?;
    Some(format!("/dev/dri/card{minor}").into())
}
