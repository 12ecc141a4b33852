//! R144: IBs of the constant engine.

use amdgpu_winsys::{
    uapi::{CsChunkIb, Errno, IbFlags, chunk_id},
    winsys::Ip,
};

use crate::support::{Chunk, DATA, Job, Rig, card, device};

/// Chips with a constant engine, from GFX6 to GFX10.3.
const WITH: [&str; 6] = ["pitcairn", "polaris10", "vega10", "renoir", "navi10", "navi21"];

fn packet(opcode: u32, body: &[u32]) -> Vec<u32> {
    let mut dwords = vec![3 << 30 | (body.len() as u32 - 1) << 16 | opcode << 8];
    dwords.extend(body);
    dwords
}

fn set_counters(name: &str, value: u32) -> Vec<u32> {
    // One dword is for both counters from GFX7 on.
    if name == "pitcairn" { packet(0x89, &[value, value]) } else { packet(0x89, &[value]) }
}
fn write_ram(offset: u32, value: u32) -> Vec<u32> {
    packet(0x81, &[offset, value])
}
fn dump_ram(offset: u32, to: u64) -> Vec<u32> {
    packet(0x83, &[offset, 1, to as u32, (to >> 32) as u32])
}
fn raise_ce() -> Vec<u32> {
    packet(0x84, &[1])
}
fn raise_de() -> Vec<u32> {
    packet(0x85, &[0])
}
fn wait_on_ce() -> Vec<u32> {
    packet(0x86, &[0])
}
fn wait_on_de(diff: u32) -> Vec<u32> {
    packet(0x88, &[diff])
}

fn chunk(rig: &Rig, ip: Ip, dwords: &[u32], flags: IbFlags) -> Chunk {
    let (va_start, ib_bytes) = rig.ib(dwords);
    let ib = CsChunkIb { va_start, ib_bytes, ip_type: ip as u32, flags: flags.bits(), ..CsChunkIb::ZEROED };
    Chunk::new(chunk_id::IB, &[ib])
}

fn job(rig: &Rig, ibs: Vec<Chunk>) -> Job {
    let job = Job::new(rig.context).with(Chunk::bos(&[rig.ibs, rig.data]));
    ibs.into_iter().fold(job, Job::with)
}

fn finished(rig: &Rig, ibs: Vec<Chunk>) -> Result<(), Errno> {
    let seq = job(rig, ibs).send(&rig.file).unwrap();
    rig.finish(Ip::Gfx, 0, seq)
}

// Checks R144.
#[test]
fn a_constant_engines_ib_runs_beside_the_others_and_shares_counters_with_them() {
    for name in WITH {
        for constant_first in [true, false] {
            let rig = Rig::new(&device(name));
            // Two IBs of each engine: the constant one stores 7, waits until the draw engine has seen it, and stores 9.
            let ce = [
                [set_counters(name, 5), write_ram(16, 7), dump_ram(16, DATA), raise_ce()].concat(),
                [wait_on_de(1), write_ram(16, 9), dump_ram(16, DATA), raise_ce()].concat(),
            ];
            let de = [
                [wait_on_ce(), rig.copy(DATA, DATA + 4)].concat(),
                [raise_de(), wait_on_ce(), rig.copy(DATA, DATA + 8), raise_de()].concat(),
            ];
            let mut ibs = Vec::new();
            for (ce, de) in ce.iter().zip(&de) {
                let pair = [chunk(&rig, Ip::Gfx, ce, IbFlags::CE), chunk(&rig, Ip::Gfx, de, IbFlags::empty())];
                ibs.extend(pair);
            }
            if !constant_first {
                // The engines read the ring on their own.
                ibs.swap(0, 1);
                ibs.swap(2, 3);
            }
            assert_eq!(finished(&rig, ibs), Ok(()), "{name}");
            assert_eq!([0, 4, 8].map(|at| rig.load(at)), [9, 7, 9], "{name}");
        }
    }
}

// Checks R144.
#[test]
fn without_the_flag_the_draw_engine_does_not_know_the_packets() {
    for name in WITH {
        let device = device(name);
        let rig = Rig::new(&device);
        let ibs = vec![chunk(&rig, Ip::Gfx, &write_ram(0, 1), IbFlags::empty())];
        assert_eq!(finished(&rig, ibs), Err(Errno::ECANCELED), "{name}");
        let said = device.complaints().concat();
        assert!(said.contains("WRITE_CONST_RAM"), "{name}: {said}");
    }
}

// Checks R144.
#[test]
fn what_a_constant_engine_cannot_follow_hangs() {
    let cases = [
        (wait_on_de(0), "a draw engine that is done"),
        (packet(0x15, &[1, 1, 1, 0]), "DISPATCH_DIRECT"),
        (vec![0xc000_8100], "runs past the end of the constant engine's IB"),
        (vec![1, 2, 3], "unknown packet"),
    ];
    for (dwords, words) in cases {
        let device = card();
        let rig = Rig::new(&device);
        let ibs = vec![chunk(&rig, Ip::Gfx, &dwords, IbFlags::CE), chunk(&rig, Ip::Gfx, &[], IbFlags::empty())];
        assert_eq!(finished(&rig, ibs), Err(Errno::ECANCELED), "{words}");
        let said = device.complaints().concat();
        assert!(said.contains(words), "{words}: {said}");
    }
    let device = card();
    let rig = Rig::new(&device);
    let nowhere = CsChunkIb { va_start: 0x7000_0000, ib_bytes: 64, flags: IbFlags::CE.bits(), ..CsChunkIb::ZEROED };
    assert_eq!(finished(&rig, vec![Chunk::new(chunk_id::IB, &[nowhere])]), Err(Errno::ECANCELED));
    assert!(device.complaints().concat().contains("fetching commands failed"));
}

// Checks R144.
#[test]
fn other_rings_pass_the_flag_over_and_later_chips_refuse_it() {
    for ip in [Ip::Compute, Ip::Sdma] {
        let rig = Rig::new(&card());
        let store = rig.store(ip, 0, 5);
        let seq = job(&rig, vec![chunk(&rig, ip, &store, IbFlags::CE)]).send(&rig.file).unwrap();
        assert_eq!((rig.finish(ip, 0, seq), rig.load(0)), (Ok(()), 5), "{ip}");
    }
    let device = device("navi31");
    let rig = Rig::new(&device);
    let constant = vec![chunk(&rig, Ip::Gfx, &raise_ce(), IbFlags::CE)];
    assert_eq!(job(&rig, constant).send(&rig.file), Err(Errno::EINVAL));
    assert!(device.complaints().concat().contains("GFX11 has no constant engine"));
    assert_eq!(rig.run(Ip::Gfx, 0, &[]), Ok(1), "nothing happened");
}
