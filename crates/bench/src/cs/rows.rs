//! The rows of `amdgpu-bench cs`: recording and decoding here, submitting and the peers in a child on the null kernel.

use std::hint::black_box;

use amdgpu_bench::measure::in_turn;
use amdgpu_sim::{NullKernel, profile};
use amdgpu_winsys::{
    cs::{Packet, pm4},
    winsys::Device,
};

use super::{
    streams::{DWORDS, PLAIN, address, store, stream, target},
    typed,
};
use crate::{
    child::{self, Wanted},
    row::{Goal, Row, Unit},
};

/// Dwords reserved at a time.
const RESERVED: [usize; 3] = [16, 64, 256];
/// Benches that run in the child.
const NULL: [&str; 6] =
    ["submit-empty", "submit-100", "record-update", "record-copy", "record-timestamp", "submit-listed"];

/// Every row.
pub(crate) fn all(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    let kernel = profile("navi21").ok_or_else(|| "no such chip".to_owned());
    let kernel = kernel.and_then(|profile| NullKernel::open(profile).map_err(|errno| errno.to_string()));
    match kernel.and_then(|kernel| Device::new(kernel).map_err(|error| error.to_string())) {
        Ok(device) => recording(wanted, &device, add),
        Err(why) => add(Row::missing("record", PLAIN, why)),
    }
    if wanted.has("decode") {
        decoding(add);
    }
    if NULL.iter().any(|bench| wanted.has(bench)) {
        child::on_the_null_kernel("cs", wanted, add);
    }
}

fn recording(wanted: &Wanted, device: &Device, add: &mut impl FnMut(Row)) {
    for reserved in RESERVED.into_iter().filter(|_| wanted.has("record-reserve")) {
        let mut stream = stream(device);
        let mut plain = vec![0_u32; DWORDS];
        let [ours, theirs] = in_turn(
            DWORDS,
            [
                &mut |dwords| {
                    stream.clear();
                    for first in (0..dwords).step_by(reserved) {
                        let room = stream.reserve(reserved).expect("room");
                        store(room, black_box(first as u32));
                    }
                },
                &mut |_| {
                    for (at, room) in plain.chunks_exact_mut(reserved).enumerate() {
                        store(room, black_box((at * reserved) as u32));
                    }
                    black_box(&mut plain);
                },
            ],
        );
        let row = Row::times("record-reserve", reserved as u64, ours, PLAIN, theirs, Goal::RatioAtMost(1.25));
        add(row.noting("a dword; n are reserved at a time".into()));
    }
    typed::all(wanted, device, add);
}

/// An IB of every kind of packet that is typed here.
fn decoding(add: &mut impl FnMut(Row)) {
    const BYTES: usize = 1 << 20;
    let target = target();
    let mut ib = vec![0_u32; BYTES / 4 + 64];
    let mut used = 0;
    let mut push = |used: usize, value: u32| -> Option<usize> {
        let out = ib.get_mut(used..)?;
        match value % 4 {
            0 => pm4::WriteData::new(address(), &[value; 4]).encode(target, out),
            1 => pm4::CpDma::copy(target.level, address(), address(), 4096).encode(target, out),
            2 => pm4::EndOfPipe::fence(address(), value).encode(target, out),
            _ => pm4::CopyData::timestamp(address()).encode(target, out),
        }
        .ok()
    };
    for value in 0.. {
        match push(used, value) {
            Some(len) if used + len <= BYTES / 4 => used += len,
            _ => break,
        }
    }
    let ib = &ib[..used];
    let [ns] = in_turn(
        1,
        [&mut |_| {
            let wrong = pm4::decode(black_box(ib), target).filter(|packet| black_box(packet).is_err()).count();
            assert_eq!(wrong, 0, "every packet was encoded by the library");
        }],
    );
    add(Row::figure("decode", used as u64, used as f64 * 4e3 / ns, Unit::Mbps, Goal::Above(200.0)));
}
