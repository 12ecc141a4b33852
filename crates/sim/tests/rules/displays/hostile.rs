//! R161: what a client of the display cannot do to others.

use std::{
    os::fd::{AsRawFd, OwnedFd, RawFd},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use amdgpu_sim::SimDevice;
use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{
    Argument, MODE_ATOMIC_NONBLOCK, MODE_CURSOR_BO, MODE_SETGAMMA, ModeAtomic, ModeCloseFb, ModeCreateBlob,
    ModeCrtcLut, ModeCursor, ModeDestroyBlob, SW_SYNC_CREATE_FENCE, SW_SYNC_INC, SwSyncCreateFence,
};
use zerocopy::IntoBytes;

use super::{Client, lit};
use crate::support::{address, address_mut, ioctl_on, owned};

/// Blobs of one file at most.
const MOST_BLOBS: u32 = 1 << 14;
/// Longer than any commit takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A client in this process, which has one descriptor. Before it gives or takes any it wants another thread's change of the
/// display to be done, and a signal ends each of its waits.
#[derive(Debug)]
struct Slow {
    client: Arc<Client>,
    descriptor: OwnedFd,
    /// Changes of the other thread that were done meanwhile.
    done: AtomicUsize,
}

impl Slow {
    fn wait_for_another(&self) {
        let (tell, told) = mpsc::channel();
        let client = Arc::clone(&self.client);
        let other = thread::spawn(move || {
            let column = [0_u16; 256];
            let (red, crtc_id) = (address(&column), client.crtc);
            let mut request = ModeCrtcLut { crtc_id, gamma_size: 256, red, green: red, blue: red };
            let _ = tell.send(client.file.raw(MODE_SETGAMMA, request.as_mut_bytes()));
        });
        if told.recv_timeout(PATIENCE) == Ok(Ok(())) {
            self.done.fetch_add(1, Ordering::Relaxed);
            other.join().unwrap();
        }
    }
}

impl amdgpu_sim::Client for Slow {
    fn pid(&self) -> libc::pid_t {
        std::process::id().cast_signed()
    }

    fn descriptor(&self, _: RawFd) -> Result<OwnedFd, Errno> {
        self.wait_for_another();
        self.descriptor.try_clone().map_err(|_| Errno::EMFILE)
    }

    fn install(&self, fd: OwnedFd, _: bool) -> Result<RawFd, Errno> {
        self.wait_for_another();
        drop(fd);
        Ok(1000)
    }

    fn is_interrupted(&self) -> bool {
        true
    }
}

/// A timeline, and a fence of it that has not signalled.
fn fence(device: &SimDevice) -> (OwnedFd, OwnedFd) {
    let machine = device.machine();
    let timeline = machine.open_sw_sync("tester").unwrap();
    let mut request = SwSyncCreateFence { value: 1, ..SwSyncCreateFence::ZEROED };
    ioctl_on(&machine, &timeline, SW_SYNC_CREATE_FENCE, &mut request).unwrap();
    (timeline, owned(request.fence))
}

fn number(fd: &OwnedFd) -> u64 {
    u64::from(fd.as_raw_fd().unsigned_abs())
}

/// Commits properties of one object on behalf of a slow client.
fn serve(slow: &Arc<Slow>, flags: u32, object: u32, wanted: &[(&str, u64)]) -> Result<(), Errno> {
    let file = &slow.client.file;
    let (ids, values): (Vec<u32>, Vec<u64>) =
        wanted.iter().map(|(name, value)| (file.value(object, name).0, *value)).unzip();
    let (objects, counts) = ([object], [ids.len() as u32]);
    let mut request = ModeAtomic {
        flags,
        count_objs: 1,
        objs_ptr: address(&objects),
        count_props_ptr: address(&counts),
        props_ptr: address(&ids),
        prop_values_ptr: address(&values),
        ..ModeAtomic::ZEROED
    };
    let at = address_mut(std::slice::from_mut(&mut request));
    file.0.serve(Arc::clone(slow) as Arc<dyn amdgpu_sim::Client>, ModeAtomic::REQUEST, at).map(drop)
}

// Checks R161.
#[test]
fn a_client_that_takes_its_time_holds_no_other_up() {
    let device = lit("navi21");
    let (client, plane, _) = Client::atomic(&device);
    client.set(plane, client.framebuffer(0xff)).unwrap();
    let (timeline, fence) = fence(&device);
    ioctl_on(&device.machine(), &timeline, SW_SYNC_INC, &mut { 1_u32 }).unwrap();
    let next = u64::from(client.framebuffer(0xff00));
    let slow = Arc::new(Slow { client: Arc::new(client), descriptor: fence, done: AtomicUsize::new(0) });
    serve(&slow, MODE_ATOMIC_NONBLOCK, plane, &[("FB_ID", next), ("IN_FENCE_FD", 7)]).unwrap();
    assert_eq!(slow.done.load(Ordering::Relaxed), 1, "while it gave a descriptor");
    let mut place = [-1_i32];
    let crtc = slow.client.crtc;
    // An earlier commit of another thread may still be on its way.
    while serve(&slow, MODE_ATOMIC_NONBLOCK, crtc, &[("OUT_FENCE_PTR", address_mut(&mut place))]) == Err(Errno::EBUSY) {
        thread::yield_now();
    }
    assert_eq!((place[0], slow.done.load(Ordering::Relaxed)), (1000, 2), "while it took one");
}

// Checks R161.
#[test]
fn a_commit_of_nothing_waits_for_nothing_and_keeps_none_waiting() {
    let device = lit("navi21");
    let (client, plane, _) = Client::atomic(&device);
    client.set(plane, client.framebuffer(0xff)).unwrap();
    let (timeline, fence) = fence(&device);
    let next = u64::from(client.framebuffer(0xff00));
    let flags = MODE_ATOMIC_NONBLOCK | amdgpu_winsys::uapi::MODE_PAGE_FLIP_EVENT;
    client.commit(flags, &[(plane, &[("FB_ID", next), ("IN_FENCE_FD", number(&fence))])]).unwrap();
    for _ in 0..1000 {
        client.commit(MODE_ATOMIC_NONBLOCK, &[]).unwrap();
        client.commit(0, &[]).unwrap();
    }
    // So is a change of a CRTC that shows nothing, and it is not lost.
    let table = u64::from(client.blob(&[0; 8 * 256]));
    client.commit(0, &[(client.crtc + 1, &[("GAMMA_LUT", table)])]).unwrap();
    ioctl_on(&device.machine(), &timeline, SW_SYNC_INC, &mut { 1_u32 }).unwrap();
    assert_eq!(client.flipped(), [77]);
    assert_eq!(client.file.value(client.crtc + 1, "GAMMA_LUT").1, table);
    // 2000 vertical blanks would take half a minute.
    client.commit(0, &[(plane, &[("FB_ID", next)])]).unwrap();
    assert_eq!(client.file.value(plane, "FB_ID").1, next);
}

// Checks R161.
#[test]
fn a_commit_that_is_interrupted_while_it_waits_changes_nothing() {
    let device = lit("navi21");
    let (client, plane, _) = Client::atomic(&device);
    let shown = client.framebuffer(0xff);
    client.set(plane, shown).unwrap();
    let (timeline, fence) = fence(&device);
    let next = u64::from(client.framebuffer(0xff00));
    let slow = Arc::new(Slow { client: Arc::new(client), descriptor: fence, done: AtomicUsize::new(0) });
    let wanted = [("FB_ID", next), ("IN_FENCE_FD", 7)];
    assert_eq!(serve(&slow, 0, plane, &wanted), Err(Errno::EINTR));
    assert_eq!(slow.client.file.value(plane, "FB_ID").1, u64::from(shown));
    ioctl_on(&device.machine(), &timeline, SW_SYNC_INC, &mut { 1_u32 }).unwrap();
    slow.client.commit(0, &[(plane, &[("FB_ID", next)])]).unwrap();
    assert_eq!(slow.client.file.value(plane, "FB_ID").1, next);
}

// Checks R161.
#[test]
fn the_last_file_leaves_the_display_to_the_console() {
    let device = lit("navi21");
    let (first, next) = (Client::new(&device), Client::new(&device));
    let shown = first.light(0x12_34_56);
    let (crtc_id, handle) = (first.crtc, first.buffer_of((64, 64), 0));
    let cursor = ModeCursor { flags: MODE_CURSOR_BO, crtc_id, width: 64, height: 64, handle, ..ModeCursor::ZEROED };
    first.file.send(&mut { cursor }).unwrap();
    first.file.send(&mut ModeCloseFb { fb_id: shown, pad: 0 }).unwrap();
    drop(first);
    let crtc = next.crtc();
    assert_eq!((crtc.fb_id, crtc.mode_valid), (shown, 1), "what was closed stays for the next client");
    assert_eq!(device.census().bos, 2);
    drop(next);
    assert_eq!((device.census().files, device.census().bos), (0, 0));
    let again = Client::new(&device);
    assert_eq!((again.crtc().fb_id, again.crtc().mode_valid), (0, 0));
    assert_eq!(super::first_pixel(device.scanned_out()), Some([0x12, 0x34, 0x56, 0xff]), "the picture is remembered");
}

// Checks R161.
#[test]
fn a_file_takes_its_own_share_of_blobs_and_no_more() {
    let device = lit("navi21");
    let (greedy, other) = (Client::new(&device), Client::new(&device));
    let bytes = [1_u8; 4];
    let blob = ModeCreateBlob { data: address(&bytes), length: 4, blob_id: 0 };
    for _ in 0..MOST_BLOBS {
        greedy.file.send(&mut { blob }).unwrap();
    }
    assert_eq!(greedy.file.send(&mut { blob }), Err(Errno::ENOMEM));
    let made = other.file.told(blob).unwrap();
    greedy.file.send(&mut ModeDestroyBlob { blob_id: made.blob_id - 1 }).unwrap();
    greedy.file.send(&mut { blob }).unwrap();
    let large = vec![0_u8; 64 << 20];
    let blob = ModeCreateBlob { data: address(&large), length: 64 << 20, blob_id: 0 };
    for _ in 0..3 {
        other.file.send(&mut { blob }).unwrap();
    }
    assert_eq!(other.file.send(&mut { blob }), Err(Errno::ENOMEM), "four with the small one are too much");
}
