//! The rows of `amdgpu-bench cs` about typed packets, each beside plain stores of the same number of dwords.
//!
//! Both sides know the number of dwords when they are compiled, and both learn one number a packet that the compiler does
//! not know. A relaxed atomic store is a plain `mov` that the compiler does not merge with its neighbours, so the stores
//! happen. A stream keeps its place in memory between two packets, as every recorder does whose caller goes back to the
//! application meanwhile; the loop beside it does so too. A burst keeps its place in a register, and so does the loop
//! beside that one.

use std::{
    hint::black_box,
    sync::atomic::{AtomicU32, Ordering},
};

use amdgpu_bench::measure::in_turn;
use amdgpu_winsys::{
    cs::{Packet, PacketWriter, Stream, pm4},
    vamgr::GpuVa,
    winsys::{Device, GfxLevel},
};

use super::streams::{PACKETS, PLAIN, address, store, stream, target};
use crate::{
    child::Wanted,
    row::{Goal, Row},
};

/// Packets of a burst.
const BURST: usize = 64;

/// Every row.
pub(crate) fn all(wanted: &Wanted, device: &Device, add: &mut impl FnMut(Row)) {
    let (level, at) = black_box((target().level, address()));
    rows::<6>("write", &Write(at), wanted, device, add);
    rows::<7>("copy", &Copy(level, at), wanted, device, add);
    rows::<8>("eop", &EndOfPipe(at), wanted, device, add);
    rows::<6>("nop", &Nop, wanted, device, add);
}

/// Receiver of packets.
trait Taker {
    fn take(&mut self, packet: &impl Packet<Language = pm4::Target>);
}

impl Taker for Stream<pm4::Target> {
    #[inline]
    fn take(&mut self, packet: &impl Packet<Language = pm4::Target>) {
        self.record(packet);
    }
}

impl Taker for PacketWriter<'_, pm4::Target> {
    #[inline]
    fn take(&mut self, packet: &impl Packet<Language = pm4::Target>) {
        if self.push(packet).is_err() {
            unreachable!("there is room for all of it");
        }
    }
}

/// A function that makes a packet of a number.
trait Maker {
    fn give(&self, taker: &mut impl Taker, value: u32);
}

struct Write(GpuVa);
struct Copy(GfxLevel, GpuVa);
struct EndOfPipe(GpuVa);
struct Nop;

impl Maker for Write {
    #[inline]
    fn give(&self, taker: &mut impl Taker, value: u32) {
        taker.take(&pm4::WriteData::new(self.0, &[value, value]));
    }
}

impl Maker for Copy {
    #[inline]
    fn give(&self, taker: &mut impl Taker, value: u32) {
        taker.take(&pm4::CpDma::copy(self.0, self.1, self.1, value & 0xffff));
    }
}

impl Maker for EndOfPipe {
    #[inline]
    fn give(&self, taker: &mut impl Taker, value: u32) {
        taker.take(&pm4::EndOfPipe::fence(self.0, value));
    }
}

impl Maker for Nop {
    #[inline]
    fn give(&self, taker: &mut impl Taker, value: u32) {
        taker.take(&pm4::Nop::Skip(&[value; 5]));
    }
}

/// Both rows of a packet of `N` dwords.
fn rows<const N: usize>(packet: &str, maker: &impl Maker, wanted: &Wanted, device: &Device, add: &mut impl FnMut(Row)) {
    let mut merged = vec![[0_u32; N]; PACKETS];
    let mut plain = Plain::<N>::new();
    let mut stream = stream(device);
    stream.clear();
    maker.give(&mut stream, 1);
    assert_eq!(stream.len(), N, "{packet}");
    let name = format!("record-typed-{packet}");
    if wanted.has(&name) {
        let [ours, theirs] =
            in_turn(PACKETS, [&mut |count| record(&mut stream, maker, count), &mut |count| plain.record(count)]);
        stream.status().expect("room for all of it");
        add(Row::times(&name, N as u64, ours, PLAIN, theirs, Goal::RatioAtMost(1.3))
            .noting("a packet of n dwords".into()));
    }
    let name = format!("burst-typed-{packet}");
    if wanted.has(&name) {
        let [ours, theirs, at_once] = in_turn(
            PACKETS,
            [&mut |count| burst::<N>(&mut stream, maker, count), &mut |_| plain.fill(), &mut |_| {
                for (at, room) in merged.iter_mut().enumerate() {
                    store(room, black_box(at as u32));
                }
                black_box(&mut merged);
            }],
        );
        let note = format!("{BURST} packets at a time; merged stores take {at_once:.1}");
        add(Row::times(&name, N as u64, ours, PLAIN, theirs, Goal::None).noting(note));
    }
}

fn record(stream: &mut Stream<pm4::Target>, maker: &impl Maker, count: usize) {
    stream.clear();
    for value in 0..count as u32 {
        maker.give(stream, black_box(value));
    }
}

fn burst<const N: usize>(stream: &mut Stream<pm4::Target>, maker: &impl Maker, count: usize) {
    stream.clear();
    for first in (0..count as u32).step_by(BURST) {
        // The last packets of a burst without room to spare are written with more care than speed.
        let mut writer = stream.packet_writer(BURST * N + 16).expect("room");
        for value in first..first + BURST as u32 {
            maker.give(&mut writer, black_box(value));
        }
    }
}

/// Memory for packets of `N` dwords.
struct Plain<const N: usize> {
    dwords: Vec<AtomicU32>,
    used: usize,
}

impl<const N: usize> Plain<N> {
    fn new() -> Self {
        Self { dwords: (0..(N * PACKETS) as u32).map(AtomicU32::new).collect(), used: 0 }
    }

    /// With its place in memory.
    fn record(&mut self, count: usize) {
        self.used = 0;
        let this = black_box(self);
        for value in 0..count as u32 {
            let value = black_box(value);
            if let Some(room) = this.dwords.get(this.used..).and_then(|rest| rest.first_chunk::<N>()) {
                one_by_one(room, value);
                this.used += N;
            }
        }
    }

    /// With its place in a register.
    fn fill(&mut self) {
        for (value, room) in self.dwords.as_chunks::<N>().0.iter().enumerate() {
            one_by_one(room, black_box(value as u32));
        }
    }
}

#[inline]
fn one_by_one<const N: usize>(room: &[AtomicU32; N], first: u32) {
    for (offset, dword) in room.iter().enumerate() {
        dword.store(first + offset as u32, Ordering::Relaxed);
    }
}
