//! The typed reader accepts exactly what the writer writes: any dwords that are read as a type are written back unchanged.
//! Together with the laws of written packets, which read back as themselves, this says that nothing else is accepted.

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_packets::{DecodeFault, Packet, layout::Fields, pm4, sdma};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// The opcodes of the packets that have a type on some ring.
const OPCODES: [u32; 14] = [0x10, 0x37, 0x3c, 0x3f, 0x40, 0x41, 0x42, 0x43, 0x46, 0x47, 0x48, 0x49, 0x50, 0x58];

/// Returns `true` for ACQUIRE_MEM on the graphics rings of GFX7 and GFX8, which is read and written as SURFACE_SYNC.
fn has_two_spellings(target: pm4::Target, header: u32) -> bool {
    let is_old = matches!(target.level, GfxLevel::Gfx7 | GfxLevel::Gfx8);
    is_old && target.ring == pm4::Ring::Gfx && header >> 8 & 0xff == 0x58
}

/// Checks the packets that are read, and returns the number of those with a type.
fn are_exact(dwords: &[u32], target: pm4::Target) -> usize {
    let mut typed = 0;
    for read in pm4::decode(dwords, target).flatten().filter(|read| !has_two_spellings(target, read.header)) {
        let mut again = vec![0; read.len];
        let packet = pm4::Flagged { flags: read.flags, packet: read.command };
        assert_eq!(packet.encode(target, &mut again), Ok(read.len), "{target}: {read:x?}");
        assert_eq!(again, dwords[read.offset..read.offset + read.len], "{target}: {read:x?}");
        typed += usize::from(!matches!(read.command, pm4::Command::Unknown { .. }));
    }
    typed
}

/// One packet of every type, and of every form that the target has.
fn examples(target: pm4::Target) -> Vec<pm4::Command<'static>> {
    use pm4::{AcquireMem, AcquireWait, CopyData, CpDma, EndOfPipe, EopEvent, EopStore, EventWrite, IndirectBuffer};
    let va = GpuVa::from_48_bits(0x80_1234_5600);
    let level = target.level;
    let pws = AcquireWait::Pws { stage: pm4::PwsStage::Pfp, counter: pm4::PwsCounter::EndOfPipe, outstanding: 5 };
    let acquire = AcquireMem::all(target, pm4::CacheActions::ACQUIRE);
    vec![
        pm4::Nop::Skip(&[1, 2, 3]).into(),
        pm4::WriteData::new(va, &[7, 8]).into(),
        CopyData::timestamp(va).into(),
        CopyData::new(pm4::CopySource::Immediate(9), pm4::CopyTo::Memory(va), pm4::CopySize::Dword).into(),
        CpDma::copy(level, va, va, 64).into(),
        CpDma::fill(level, va, 3, 64).into(),
        CpDma::wait_idle(level).into(),
        acquire.into(),
        AcquireMem { wait: pws, ..acquire }.into(),
        EndOfPipe::fence(va, 1).with_caches(level, pm4::CacheActions::ACQUIRE).into(),
        EndOfPipe::timestamp(va).into(),
        EndOfPipe::new(EopEvent::ComputeDone, EopStore::Dword { va, value: 2 }).into(),
        IndirectBuffer::chain(va, 256).into(),
        IndirectBuffer::call(va, 256).into(),
        pm4::WaitRegMem::new(va, pm4::Compare::Equal, 4).into(),
        pm4::PfpSyncMe.into(),
        EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH).into(),
        EventWrite::sample(pm4::Event::SAMPLE_PIPELINESTAT, va).into(),
    ]
}

#[test]
fn a_packet_with_one_or_two_wrong_bits_is_refused_or_another_one() {
    let (mut accepted, mut tried) = (0, 0);
    for target in pm4::Target::all() {
        for command in examples(target) {
            let mut dwords = [0; 16];
            let Ok(len) = command.encode(target, &mut dwords) else { continue };
            let dwords = &mut dwords[..len];
            assert_eq!(are_exact(dwords, target), 1, "{target}: {command:?}");
            let bits = len * 32;
            for first in 0..bits {
                dwords[first / 32] ^= 1 << (first % 32);
                // Pairs within reach of one field, and one far away.
                for second in [first, first + 1, first + 3, first + 33].into_iter().filter(|bit| *bit < bits) {
                    let mask = if second == first { 0 } else { 1 << (second % 32) };
                    dwords[second / 32] ^= mask;
                    accepted += are_exact(dwords, target);
                    tried += 1;
                    dwords[second / 32] ^= mask;
                }
                dwords[first / 32] ^= 1 << (first % 32);
            }
        }
    }
    assert!(accepted > tried / 10 && accepted < tried, "{accepted} of {tried}");
}

#[test]
fn acquire_mem_with_all_24_bits_of_the_size_is_taken_on_compute_rings_of_gfx7_and_gfx8() {
    // As radeonsi writes it.
    let dwords = [0xc005_5800, 0x00c0_0000, 0xffff_ffff, 0x00ff_ffff, 0, 0, 10];
    for level in [GfxLevel::Gfx7, GfxLevel::Gfx8, GfxLevel::Gfx9] {
        let target = pm4::Target::compute(level);
        let read = pm4::decode(&dwords, target).next().expect("a packet");
        assert!(read.is_ok(), "{level:?}: {read:?}");
        assert_eq!(are_exact(&dwords, target), 1, "{level:?}");
    }
}

#[test]
fn reserved_bits_selectors_and_combinations_are_refused_by_name() {
    let target = pm4::Target::gfx(GfxLevel::Gfx10_3);
    let error = |dwords: &[u32]| {
        let read = pm4::decode(dwords, target).next().expect("a packet");
        read.map(|read| read.len).map_err(|error| error.to_string())
    };
    let refused = |dwords: &[u32], reason: &str| {
        let found = error(dwords).expect_err("a refusal");
        assert!(found.contains(reason), "{found}");
    };
    // COPY_DATA: a bit of no field, a source that is none, and an address with a clock for its source.
    refused(&[0xc004_4000, 0x0011_0509 | 1 << 17, 0, 0, 0x1000, 0], "belong to no field");
    refused(&[0xc004_4000, 0x0011_050d, 0, 0, 0x1000, 0], "src_sel");
    refused(&[0xc004_4000, 0x0011_0509, 0x40, 0, 0x1000, 0], "bits 0x40 of dword 2");
    // A field of the tables that the type does not have.
    refused(&[0xc004_4000, 0x2011_0509, 0, 0, 0x1000, 0], "bits 0x20000000 of dword 1");
    // RELEASE_MEM: a sequence of caches that is none, and an interrupt context.
    refused(&[0xc006_4900, 0x00c0_0528, 0x2300_0000, 0x1000, 0, 0, 0, 0], "seq = 0x3");
    refused(&[0xc006_4900, 0x528, 0x2300_0000, 0x1000, 0, 0, 0, 1], "bits 0x1 of dword 7");
    assert_eq!(error(&[0xc006_4900, 0x528, 0x2300_0000, 0x1000, 0, 0, 0, 0]), Ok(8));
}

#[test]
fn another_packet_with_the_opcode_of_a_typed_one_stays_unknown() {
    let target = pm4::Target::gfx(GfxLevel::Gfx9);
    let mut conditional = [0; 14];
    (conditional[0], conditional[1]) = (0xc00c_3f00, 1);
    let read = pm4::decode(&conditional, target).next().expect("a packet").expect("COND_INDIRECT_BUFFER");
    assert!(matches!(read.command, pm4::Command::Unknown { opcode: 0x3f, .. }), "{read:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn dwords_behind_a_typed_header_are_refused_or_exact(
        target in select(pm4::Target::all().collect::<Vec<_>>()),
        opcode in select(&OPCODES[..]),
        flags in prop_oneof![4 => Just(0), 1 => 0..8u32],
        body in vec(prop_oneof![3 => Just(0), 2 => (any::<u32>(), 0..32u32).prop_map(|(raw, shift)| raw >> shift), 1 => any::<u32>()], 1..10),
    ) {
        let count = u32::try_from(body.len() - 1).expect("few dwords");
        let dwords: Vec<u32> = std::iter::once(3 << 30 | count << 16 | opcode << 8 | flags).chain(body).collect();
        are_exact(&dwords, target);
    }

    #[test]
    fn a_packet_whose_opcode_has_no_type_is_kept_whole_whatever_is_in_it(
        target in select(pm4::Target::all().collect::<Vec<_>>()),
        opcode in (0..=0xff_u8).prop_filter("an opcode without a type", |&opcode| !OPCODES.contains(&opcode.into())),
        flags in 0..4_u32,
        body in vec(any::<u32>(), 1..40),
        behind in vec(Just(0x8000_0000_u32), 0..3),
    ) {
        let header = 3 << 30 | (body.len() as u32 - 1) << 16 | u32::from(opcode) << 8 | flags;
        let ib: Vec<u32> = std::iter::once(header).chain(body.iter().copied()).chain(behind.iter().copied()).collect();
        let read: Vec<_> = pm4::decode(&ib, target).map(|read| read.expect("a packet")).collect();
        let (flags, len) = (pm4::HeaderFlags::from_bits_retain(flags), body.len() + 1);
        let command = pm4::Command::Unknown { opcode, body: &body };
        prop_assert_eq!(read[0], pm4::Decoded { offset: 0, len, header, flags, command });
        prop_assert_eq!(read.len(), 1 + behind.len(), "the walk goes on behind it");
        let cut = pm4::decode(&ib[..body.len()], target).next().expect("a header").map(|read| read.len);
        prop_assert!(matches!(cut, Err(ref error) if matches!(error.fault, DecodeFault::PastTheEnd { .. })), "{:?}", cut);
    }

    #[test]
    fn copy_engine_dwords_are_refused_or_exact(
        version in select(sdma::Version::ALL.as_slice()),
        header in (select(&[0, 1, 2, 3, 5, 8, 11, 0x20d, 1 << 28, 3 << 28, 6 << 28, 13 << 28, 14 << 28, 15 << 28][..]), select(&[0, 0, 1 << 31, 2 << 30, 3 << 16, 1 << 26, 1 << 27][..])).prop_map(|(op, bits): (u32, u32)| op | bits),
        body in vec(prop_oneof![2 => Just(0), 2 => (any::<u32>(), 0..32u32).prop_map(|(raw, shift)| raw >> shift), 1 => any::<u32>()], 0..10),
    ) {
        let dwords: Vec<u32> = std::iter::once(header).chain(body).collect();
        for read in sdma::decode(&dwords, version).flatten() {
            let mut again = vec![0; read.len];
            prop_assert_eq!(read.command.encode(version, &mut again), Ok(read.len), "{:?}", read);
            let mut before = dwords[read.offset..read.offset + read.len].to_vec();
            if let sdma::Command::ConstFill(sdma::ConstFill { size: sdma::FillSize::Dword, .. }) = read.command
                && version != sdma::Version::V1_0
            {
                // The two low bits of this count say nothing.
                again[read.len - 1] |= 3;
                before[read.len - 1] |= 3;
            }
            prop_assert_eq!(again, before, "{:?}", read);
        }
    }
}

/// radeonsi writes 25 bits of the upper size to the rings of GFX10, and libdrm's and IGT's draws set bit 31 behind CLEAR_STATE; the
/// hardware takes both.
#[test]
fn bits_that_drivers_set_and_hardware_ignores_are_read() {
    let compute = pm4::Target { ring: pm4::Ring::Compute, ..pm4::Target::gfx(GfxLevel::Gfx10_3) };
    let read = |target: pm4::Target, dwords: &[u32]| {
        let opcode = u8::try_from(dwords[0] >> 8 & 0xff).expect("eight bits");
        Fields::read(dwords, opcode, target.into()).map(drop)
    };
    let acquire = |size_hi| [0xc006_5800, 0, u32::MAX, size_hi, 0, 0, 10, 0];
    assert_eq!(read(compute, &acquire(0x01ff_ffff)), Ok(()));
    assert!(pm4::decode(&acquire(0x01ff_ffff), compute).all(|read| read.is_ok()));
    assert!(read(compute, &acquire(0x03ff_ffff)).is_err());
    for level in [GfxLevel::Gfx9, GfxLevel::Gfx10_3, GfxLevel::Gfx11] {
        assert_eq!(read(pm4::Target::gfx(level), &[0xc000_1200, 0x8000_0000]), Ok(()), "{level:?}");
        assert!(read(pm4::Target::gfx(level), &[0xc000_1200, 0x4000_0000]).is_err());
    }
}
