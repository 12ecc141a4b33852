//! R159: vertical blanks.

use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{
    CRTC_SEQUENCE_NEXT_ON_MISS, CRTC_SEQUENCE_RELATIVE, CrtcGetSequence, CrtcQueueSequence, EVENT_CRTC_SEQUENCE,
    EVENT_VBLANK, EventCrtcSequence, EventVblank, VBLANK_EVENT, VBLANK_NEXT_ON_MISS, VBLANK_RELATIVE, VBLANK_SIGNAL,
    WaitVblank,
};
use zerocopy::transmute;

use super::{Client, lit};

/// The client's CRTC, the second one, in a WAIT_VBLANK.
const SECOND: u32 = 1 << 1;

impl Client {
    fn wait(&self, kind: u32, sequence: u32) -> Result<WaitVblank, Errno> {
        self.file.told(WaitVblank { kind: kind | SECOND, sequence, signal: 5, microseconds: 0 })
    }

    fn sequence(&self) -> Result<CrtcGetSequence, Errno> {
        self.file.told(CrtcGetSequence { crtc_id: self.crtc, ..CrtcGetSequence::ZEROED })
    }

    fn queue(&self, flags: u32, sequence: u64) -> Result<u64, Errno> {
        let request = CrtcQueueSequence { crtc_id: self.crtc, flags, sequence, user_data: 6 };
        self.file.told(request).map(|answer| answer.sequence)
    }
}

// Checks R159.
#[test]
fn a_wait_ends_at_its_vertical_blank() {
    let client = Client::new(&lit("navi21"));
    client.light(0);
    let now = client.wait(VBLANK_RELATIVE, 0).unwrap();
    let later = client.wait(VBLANK_RELATIVE, 2).unwrap();
    assert!(later.sequence - now.sequence >= 2, "{now:?} {later:?}");
    let time = |answer: &WaitVblank| answer.signal * 1_000_000 + answer.microseconds;
    let frames = u64::from(later.sequence - now.sequence);
    let passed = (time(&later) - time(&now)) / frames;
    assert!((16_000..17_500).contains(&passed), "{passed} microseconds a frame, by the clock of the display");
    let absolute = client.wait(0, later.sequence + 1).unwrap();
    assert!(absolute.sequence > later.sequence);
    let over = client.wait(0, now.sequence).unwrap();
    assert!(over.sequence >= absolute.sequence, "what is over needs no wait");
    let next = client.wait(VBLANK_NEXT_ON_MISS, now.sequence).unwrap();
    assert!(next.sequence > over.sequence);
    assert_eq!(client.wait(VBLANK_RELATIVE, 100_000).map(drop), Err(Errno::EBUSY), "three seconds are the most");
}

// Checks R159.
#[test]
fn events_tell_of_vertical_blanks() {
    let client = Client::new(&lit("navi21"));
    client.light(0);
    let asked = client.wait(VBLANK_RELATIVE | VBLANK_EVENT, 2).unwrap().sequence;
    let event = client.event();
    assert_eq!((event.kind, event.user_data, event.crtc_id), (EVENT_VBLANK, 5, client.crtc));
    assert!(event.sequence >= asked);
    let over = client.wait(VBLANK_EVENT, asked).unwrap().sequence;
    assert_eq!(client.file.0.read_event().map(|event| event.sequence), Some(over), "told at once");
    let start = client.sequence().unwrap();
    assert_eq!((start.active, start.sequence_ns > 0), (1, true));
    let asked = client.queue(CRTC_SEQUENCE_RELATIVE, 2).unwrap();
    assert!(asked >= start.sequence + 2);
    let told: EventCrtcSequence = transmute!(client.event());
    assert_eq!((told.kind, told.length, told.user_data), (EVENT_CRTC_SEQUENCE, 32, 6));
    assert!(told.sequence >= asked && told.time_ns > start.sequence_ns);
    let next = client.queue(CRTC_SEQUENCE_NEXT_ON_MISS, start.sequence).unwrap();
    assert!(next > told.sequence);
    let event: EventVblank = client.event();
    assert_eq!(event.kind, EVENT_CRTC_SEQUENCE);
}

// Checks R159.
#[test]
fn a_crtc_that_is_off_has_no_vertical_blanks() {
    let client = Client::new(&lit("navi21"));
    assert_eq!(client.wait(VBLANK_RELATIVE, 0).map(drop), Err(Errno::EINVAL));
    assert_eq!(client.sequence().map(drop), Err(Errno::EINVAL));
    assert_eq!(client.queue(0, 0), Err(Errno::EINVAL));
    client.light(0);
    assert_eq!(client.wait(VBLANK_SIGNAL, 0).map(drop), Err(Errno::EINVAL));
    assert_eq!(client.wait(0x40, 0).map(drop), Err(Errno::EINVAL), "a flag that nothing has");
    let other = WaitVblank { kind: VBLANK_RELATIVE, ..WaitVblank::ZEROED };
    assert_eq!(client.file.send(&mut { other }), Err(Errno::EINVAL), "the first CRTC is off");
    assert_eq!(client.queue(4, 0), Err(Errno::EINVAL));
    let unknown = CrtcGetSequence { crtc_id: client.connector, ..CrtcGetSequence::ZEROED };
    assert_eq!(client.file.send(&mut { unknown }), Err(Errno::ENOENT));
    // What waits when it goes off is told at once.
    client.wait(VBLANK_RELATIVE | VBLANK_EVENT, 10_000).unwrap();
    client.show(|request| (request.mode_valid, request.count_connectors) = (0, 0)).unwrap();
    assert_eq!(client.event().user_data, 5);
}
