//! Streams that are recorded into, and their peers.

use amdgpu_winsys::{
    cs::{Stream, pm4},
    vamgr::GpuVa,
    winsys::Device,
};

/// Dwords, and packets, recorded before a stream starts over.
pub(crate) const DWORDS: usize = 64 << 10;
pub(crate) const PACKETS: usize = 4096;
/// Name of the peer of recording.
pub(crate) const PLAIN: &str = "plain stores";

pub(crate) fn target() -> pm4::Target {
    pm4::Target::gfx(amdgpu_winsys::winsys::GfxLevel::Gfx10_3)
}

pub(crate) fn address() -> GpuVa {
    GpuVa::new(0x1234_5678_0000).unwrap_or(GpuVa::NULL)
}

/// A stream with room for a batch. It is filled once, so that its pages are there.
pub(crate) fn stream(device: &Device) -> Stream<pm4::Target> {
    let mut stream = Stream::new(device, target(), 4 * DWORDS).expect("the null kernel refuses nothing");
    stream.reserve(2 * DWORDS).expect("room").fill(0);
    stream
}

/// Dwords that follow from one number, one after the other.
#[inline]
pub(crate) fn store(room: &mut [u32], first: u32) {
    for (offset, dword) in room.iter_mut().enumerate() {
        *dword = first + offset as u32;
    }
}
