//! A client that sets a mode, draws, and flips pages.

use std::{
    fs::File,
    io::Read as _,
    os::{
        fd::{AsFd as _, FromRawFd as _, OwnedFd},
        unix::fs::MetadataExt as _,
    },
    time::Duration,
};

use amdgpu_winsys::uapi::{
    EVENT_FLIP_COMPLETE, EventVblank, MODE_CONNECTED, MODE_FB_MODIFIERS, MODE_PAGE_FLIP_EVENT, MODE_SETCRTC,
    ModeCardRes, ModeCreateDumb, ModeCreateLease, ModeCrtc, ModeFbCmd2, ModeGetConnector, ModeInfo, ModePageFlip,
};
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::stat::makedev,
};
use zerocopy::{FromBytes as _, IntoBytes as _};

use crate::node::{ioctl, ioctl_as, map, open};

/// Address of the first element of an array, for an argument.
fn address<T>(array: &mut [T]) -> u64 {
    array.as_mut_ptr().expose_provenance() as u64
}

/// The display shows a red picture, then a blue one from a vertical blank on, of which an event tells.
pub(crate) fn screen() {
    let mut node = File::from(open("/dev/dri/card0"));
    let (mut crtcs, mut connectors) = ([0_u32; 8], [0_u32; 8]);
    let mut resources = ModeCardRes {
        crtc_id_ptr: address(&mut crtcs),
        count_crtcs: 8,
        connector_id_ptr: address(&mut connectors),
        count_connectors: 8,
        ..ModeCardRes::ZEROED
    };
    ioctl(&node, &mut resources).expect("MODE_GETRESOURCES");
    let mut modes = [ModeInfo::ZEROED];
    let mut connector = ModeGetConnector {
        connector_id: connectors[0],
        modes_ptr: address(&mut modes),
        count_modes: 1,
        ..ModeGetConnector::ZEROED
    };
    ioctl(&node, &mut connector).expect("MODE_GETCONNECTOR");
    assert_eq!((connector.connection, connector.count_modes), (MODE_CONNECTED, 1));
    let (width, height) = (modes[0].hdisplay.into(), modes[0].vdisplay.into());
    let pictures = [0x00ff_0000_u32, 0x0000_00ff].map(|pixel| {
        let mut dumb = ModeCreateDumb { width, height, bpp: 32, ..ModeCreateDumb::ZEROED };
        ioctl(&node, &mut dumb).expect("MODE_CREATE_DUMB");
        let view = map(&node, dumb.handle, usize::try_from(dumb.size).expect("small")).expect("mmap");
        view.fill(u64::from(pixel) << 32 | u64::from(pixel));
        let mut command = ModeFbCmd2 {
            width,
            height,
            pixel_format: u32::from_le_bytes(*b"XR24"),
            flags: MODE_FB_MODIFIERS,
            handles: [dumb.handle, 0, 0, 0],
            pitches: [dumb.pitch, 0, 0, 0],
            ..ModeFbCmd2::ZEROED
        };
        ioctl(&node, &mut command).expect("MODE_ADDFB2");
        command.fb_id
    });
    let mut mode = [0; 68];
    mode.copy_from_slice(modes[0].as_bytes());
    let mut request = ModeCrtc {
        set_connectors_ptr: address(&mut connectors),
        count_connectors: 1,
        crtc_id: crtcs[0],
        fb_id: pictures[0],
        mode_valid: 1,
        mode,
        ..ModeCrtc::ZEROED
    };
    ioctl_as(&node, MODE_SETCRTC, &mut request).expect("MODE_SETCRTC");
    let mut readable = [PollFd::new(node.as_fd(), PollFlags::POLLIN)];
    assert_eq!(poll(&mut readable, PollTimeout::ZERO), Ok(0), "an event before the first flip");
    let flags = MODE_PAGE_FLIP_EVENT;
    let mut flip = ModePageFlip {
        crtc_id: crtcs[0],
        fb_id: pictures[1],
        flags,
        user_data: 0x1234_5678_9abc,
        ..ModePageFlip::ZEROED
    };
    ioctl(&node, &mut flip).expect("MODE_PAGE_FLIP");
    let wait = PollTimeout::try_from(Duration::from_secs(20)).expect("short");
    assert_eq!(poll(&mut readable, wait), Ok(1), "no event");
    let mut bytes = [0; 1024];
    let read = node.read(&mut bytes).expect("an event");
    let event = EventVblank::read_from_bytes(&bytes[..read]).expect("one event");
    let told = (event.kind, event.length, event.user_data, event.crtc_id);
    assert_eq!(told, (EVENT_FLIP_COMPLETE, 32, 0x1234_5678_9abc, crtcs[0]));
}

/// A lease's descriptor is a node with fewer objects, also in another process, and is closed like one.
#[expect(unsafe_code, reason = "a descriptor by number")]
pub(crate) fn lease() {
    let node = open("/dev/dri/card0");
    let counts = |node: &OwnedFd| {
        let mut resources = ModeCardRes::ZEROED;
        ioctl(node, &mut resources).expect("MODE_GETRESOURCES");
        (resources.count_crtcs, resources.count_connectors)
    };
    let (mut crtcs, mut connectors) = ([0_u32; 8], [0_u32; 8]);
    let mut resources = ModeCardRes {
        crtc_id_ptr: address(&mut crtcs),
        count_crtcs: 8,
        connector_id_ptr: address(&mut connectors),
        count_connectors: 8,
        ..ModeCardRes::ZEROED
    };
    ioctl(&node, &mut resources).expect("MODE_GETRESOURCES");
    let mut objects = [crtcs[1], connectors[0]];
    let lease = |objects: &mut [u32]| {
        let flags = libc::O_CLOEXEC.cast_unsigned();
        let mut request =
            ModeCreateLease { object_ids: address(objects), object_count: 2, flags, ..ModeCreateLease::ZEROED };
        ioctl(&node, &mut request).map(|()| {
            // SAFETY: the request has just made it for us.
            (request.lessee_id, unsafe { OwnedFd::from_raw_fd(request.fd.cast_signed()) })
        })
    };
    let (number, lessee) = lease(&mut objects).expect("a lease");
    assert_eq!((number, counts(&lessee)), (1, (1, 1)));
    assert_eq!(File::from(lessee.try_clone().expect("dup")).metadata().expect("fstat").rdev(), makedev(226, 0));
    crate::node::in_child(|| assert_eq!(counts(&lessee), (1, 1), "a descriptor of the same file"));
    assert_eq!(lease(&mut objects).expect_err("it is leased"), Errno::EBUSY);
    drop(lessee);
    let (number, _lessee) = lease(&mut objects).expect("its file is closed");
    assert_eq!(number, 1);
}
