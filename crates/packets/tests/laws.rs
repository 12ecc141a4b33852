//! The laws that hold for every packet and every stream of dwords, tried at random:
//!
//! * a packet, written and read back, is itself, and its length is what was announced;
//! * any dwords, read, never panic, and the walk ends;
//! * dwords that were read, written again, are themselves, apart from the two places where a packet has several
//!   spellings.

use std::collections::BTreeSet;

use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;
use amdgpu_packets::{
    DecodeFault, EncodeError, Packet,
    layout::{self, Reader},
    pm4, sdma,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

fn target() -> impl Strategy<Value = pm4::Target> {
    select(pm4::Target::all().collect::<Vec<_>>())
}

fn version() -> impl Strategy<Value = sdma::Version> {
    select(sdma::Version::ALL.as_slice())
}

/// Addresses that often fit: low, high, aligned to 1, 4, 8 or 256.
fn va() -> impl Strategy<Value = GpuVa> {
    (any::<u64>(), select(&[16, 24, 40, 47, 48][..]), select(&[0, 2, 3, 3, 8][..]))
        .prop_map(|(raw, bits, align)| GpuVa::from_48_bits(raw & ((1 << bits) - 1) >> align << align))
}

/// Numbers that often fit: of every width.
fn number() -> impl Strategy<Value = u32> {
    (any::<u32>(), 0..32u32).prop_map(|(raw, shift)| raw >> shift)
}

fn engine() -> impl Strategy<Value = pm4::Engine> {
    select(pm4::Engine::ALL)
}

fn register() -> impl Strategy<Value = pm4::Register> {
    number().prop_map(pm4::Register::new)
}

/// Mostly the default, which fits every generation.
fn caching() -> impl Strategy<Value = pm4::Caching> {
    let any = (select(pm4::Policy::ALL), any::<bool>(), any::<bool>());
    let any = any.prop_map(|(policy, atc, volatile)| pm4::Caching { policy, atc, volatile });
    prop_oneof![3 => Just(pm4::Caching::default()), 1 => any]
}

/// Dwords as a driver's data might look, some of them like headers.
static DATA: [u32; 12] = [0, 1, u32::MAX, 0xc000_4600, 7, 0x8000_0000, 0xdead_beef, 8, 9, 0xffff_1000, 2, 3];

fn payload() -> impl Strategy<Value = &'static [u32]> {
    (1..=DATA.len()).prop_map(|len| &DATA[..len])
}

fn write_data() -> impl Strategy<Value = pm4::Command<'static>> {
    use pm4::{WriteData, WriteTo};
    let memory = (va(), select(pm4::WritePath::ALL)).prop_map(|(va, path)| WriteTo::Memory { va, path });
    let to = prop_oneof![memory, register().prop_map(WriteTo::Register)];
    (engine(), to, any::<bool>(), any::<bool>(), caching(), payload()).prop_map(
        |(engine, to, no_increment, confirm, caching, data)| {
            WriteData { engine, to, no_increment, confirm, caching, data }.into()
        },
    )
}

fn copy_data() -> impl Strategy<Value = pm4::Command<'static>> {
    use pm4::{CopyData, CopySource as From, CopyTo as To};
    let from = prop_oneof![
        register().prop_map(From::Register),
        va().prop_map(From::Memory),
        va().prop_map(From::L2),
        any::<u64>().prop_map(From::Immediate),
        number().prop_map(|n| From::Immediate(n.into())),
        Just(From::GpuClock),
        Just(From::SystemClock),
    ];
    let to = prop_oneof![
        register().prop_map(To::Register),
        va().prop_map(To::Grbm),
        va().prop_map(To::L2),
        va().prop_map(To::Memory)
    ];
    (engine(), from, to, select(pm4::CopySize::ALL), any::<bool>(), caching(), caching()).prop_map(
        |(engine, from, to, size, confirm, from_caching, to_caching)| {
            CopyData { engine, from, to, size, confirm, from_caching, to_caching }.into()
        },
    )
}

fn cp_dma() -> impl Strategy<Value = pm4::Command<'static>> {
    use pm4::{CpDma, DmaPath, DmaSource, DmaTo};
    let path = || select(DmaPath::ALL);
    let from = prop_oneof![
        (va(), path()).prop_map(|(va, path)| DmaSource::Memory { va, path }),
        any::<u32>().prop_map(DmaSource::Pattern)
    ];
    let to = prop_oneof![
        3 => (va(), path()).prop_map(|(va, path)| DmaTo::Memory { va, path }),
        1 => va().prop_map(DmaTo::Nowhere)
    ];
    ((engine(), from, to, number()), any::<[bool; 3]>(), caching(), caching()).prop_map(
        |((engine, from, to, bytes), [sync, raw_wait, confirm], from_caching, to_caching)| {
            CpDma { engine, from, to, bytes, sync, raw_wait, confirm, from_caching, to_caching }.into()
        },
    )
}

fn gcr() -> impl Strategy<Value = pm4::Gcr> {
    prop_oneof![Just(pm4::Gcr::empty()), number().prop_map(pm4::Gcr::from_bits_retain)]
}

fn acquire_mem() -> impl Strategy<Value = pm4::Command<'static>> {
    use pm4::{AcquireMem, AcquireWait, CacheRange, CoherCntl};
    let coher = prop_oneof![Just(CoherCntl::empty()), number().prop_map(CoherCntl::from_bits_truncate)];
    let range = (any::<u64>(), any::<u64>(), select(&[7, 24, 32][..]));
    let range = range.prop_map(|(base, blocks, shift)| CacheRange { base: base >> shift, blocks: blocks >> shift });
    let wait = prop_oneof![
        (engine(), any::<u16>()).prop_map(|(engine, poll_interval)| AcquireWait::Actions { engine, poll_interval }),
        (select(pm4::PwsStage::ALL), select(pm4::PwsCounter::ALL), 0..70u8)
            .prop_map(|(stage, counter, outstanding)| AcquireWait::Pws { stage, counter, outstanding }),
    ];
    (coher, gcr(), range, wait).prop_map(|(coher, gcr, range, wait)| AcquireMem { coher, gcr, range, wait }.into())
}

fn end_of_pipe() -> impl Strategy<Value = pm4::Command<'static>> {
    use pm4::{EndOfPipe, EopStore, TcActions};
    let store = prop_oneof![
        Just(EopStore::Nothing),
        (va(), any::<u32>()).prop_map(|(va, value)| EopStore::Dword { va, value }),
        (va(), any::<u64>()).prop_map(|(va, value)| EopStore::Qword { va, value }),
        va().prop_map(|va| EopStore::GpuClock { va }),
        va().prop_map(|va| EopStore::SystemClock { va }),
    ];
    let tc = prop_oneof![Just(TcActions::empty()), number().prop_map(TcActions::from_bits_truncate)];
    let how = (select(pm4::EopPath::ALL), select(pm4::EopInterrupt::ALL), caching(), prop::bool::weighted(0.1));
    (select(pm4::EopEvent::ALL), tc, gcr(), store, how).prop_map(
        |(event, tc, gcr, store, (path, interrupt, caching, pws))| {
            EndOfPipe { event, tc, gcr, store, path, interrupt, caching, pws }.into()
        },
    )
}

fn flow() -> impl Strategy<Value = pm4::Command<'static>> {
    use pm4::{Command, EventWrite, IndirectBuffer, Nop, WaitRegMem};
    let ib = (va(), number(), any::<[bool; 3]>(), select(pm4::Policy::ALL)).prop_map(
        |(va, dwords, [chain, valid, preamble], policy)| {
            Command::from(IndirectBuffer { va, dwords, chain, valid, preamble, policy })
        },
    );
    let condition = (select(pm4::Compare::ALL), va(), any::<u32>(), any::<u32>(), any::<u16>());
    let wait = (engine(), condition, caching()).prop_map(
        |(engine, (function, va, reference, mask, poll_interval), caching)| {
            Command::from(WaitRegMem { engine, function, va, reference, mask, poll_interval, caching })
        },
    );
    let event = (0..256_u32, prop::option::of(va()))
        .prop_map(|(number, at)| Command::from(EventWrite { event: pm4::Event::new(number), at }));
    let nop = prop_oneof![Just(Nop::Filler), Just(Nop::Bare), payload().prop_map(Nop::Skip)].prop_map(Command::Nop);
    prop_oneof![ib, wait, event, nop, Just(pm4::PfpSyncMe.into())]
}

fn any_pm4() -> impl Strategy<Value = pm4::Command<'static>> {
    prop_oneof![write_data(), copy_data(), cp_dma(), acquire_mem(), end_of_pipe(), flow()]
}

fn any_sdma() -> impl Strategy<Value = sdma::Command<'static>> {
    use sdma::{Command, ConstFill, CopyLinear, Fence, Nop, PollMem, Timestamp, WriteLinear};
    let copy = (va(), va(), number(), prop::bool::weighted(0.2))
        .prop_map(|(to, from, bytes, in_dwords)| Command::from(CopyLinear { to, from, bytes, in_dwords }));
    let fill = (va(), any::<u32>(), number(), select(sdma::FillSize::ALL))
        .prop_map(|(to, pattern, bytes, size)| Command::from(ConstFill { to, pattern, bytes, size }));
    let fence = (va(), any::<u32>(), 0..9u8).prop_map(|(va, value, mtype)| Command::from(Fence { va, value, mtype }));
    let watch = (select(pm4::Compare::ALL), any::<u32>(), any::<u32>(), any::<u16>(), 0..0x1100u16);
    let poll = (va(), watch).prop_map(|(va, (function, reference, mask, interval, retries))| {
        Command::from(PollMem { va, function, reference, mask, interval, retries })
    });
    let write = (va(), payload()).prop_map(|(to, data)| Command::from(WriteLinear { to, data }));
    let stamp = va().prop_map(|va| Command::from(Timestamp { va }));
    let nop = prop_oneof![Just(&[][..]), payload()].prop_map(|skipped| Command::from(Nop { skipped }));
    prop_oneof![copy, fill, fence, poll, write, stamp, nop]
}

/// Returns bits that a driver may flip without knowing.
fn flips() -> impl Strategy<Value = Vec<(usize, u32)>> {
    vec((0..8usize, 0..32u32), 0..4)
}

fn flip(dwords: &mut [u32], flips: &[(usize, u32)]) {
    for &(at, bit) in flips {
        if let Some(dword) = dwords.get_mut(at) {
            *dword ^= 1 << bit;
        }
    }
}

/// SURFACE_SYNC is what we write on the graphics rings of GFX7 and GFX8; ACQUIRE_MEM is read there too.
fn has_two_spellings(target: pm4::Target, header: u32) -> bool {
    target.ring == pm4::Ring::Gfx
        && matches!(target.level, GfxLevel::Gfx7 | GfxLevel::Gfx8)
        && (header >> 8) & 0xff == 0x58
}

/// Returns `true` if one dword was missing.
fn is_no_room(written: Result<usize, EncodeError>, len: usize) -> bool {
    matches!(written, Err(EncodeError::NoRoom { needed, left, .. }) if (needed, left) == (len, len - 1))
}

/// Headers that are often known, dwords that are often zero.
fn stream(opcodes: &'static [u32]) -> impl Strategy<Value = Vec<u32>> {
    let header = (select(opcodes), 0..9u32).prop_map(|(op, count)| 3 << 30 | count << 16 | op << 8);
    vec(prop_oneof![header, any::<u32>(), Just(0), number()], 0..60)
}

const PM4: &[u32] = &[0x10, 0x37, 0x3c, 0x3f, 0x40, 0x41, 0x42, 0x43, 0x46, 0x47, 0x48, 0x49, 0x50, 0x58, 0x76];

/// The first dword of a packet with bits in it that the tables do not name; what is wrong, if they do not know it at all.
fn unnamed(packet: &[u32], reader: Reader) -> Result<Option<(usize, u32)>, String> {
    let [listed] = &layout::packets(packet, reader).collect::<Vec<_>>()[..] else {
        return Err("not one packet".into());
    };
    let Some(fields) = listed.content.map_err(|error| error.to_string())? else { return Ok(None) };
    let mut named = vec![0; packet.len()];
    // A PM4 header is not a matter of the tables, nor are the opcodes of a copy engine's.
    named[0] = match reader {
        Reader::Copy(sdma::Version::V1_0) => packet[0] & 0xf000_0000,
        Reader::Copy(_) => packet[0] & 0xffff,
        _ => packet[0],
    };
    let behind = packet.len() - fields.data().len();
    named[behind..].copy_from_slice(fields.data());
    for (field, value) in fields.iter() {
        if let Some(slot) = named.get_mut(field.dword()) {
            *slot |= value << field.bits().1;
        }
    }
    let differs = named.iter().zip(packet).position(|(named, there)| named != there);
    Ok(differs.map(|dword| (dword, named[dword] ^ packet[dword])))
}

/// The hot path and the careful one are one description run over two writers.
fn both_ways_agree<P: Packet>(packet: &P, language: P::Language, room: usize) -> Result<(), TestCaseError> {
    let (mut careful, mut quick) = ([0xaaaa_aaaa; 64], [0xaaaa_aaaa; 64]);
    let written = packet.encode(language, &mut careful[..room]);
    let put = packet.put(language, &mut quick[..room]);
    match packet.len_dwords(language) {
        Err(error) => prop_assert_eq!((written, put), (Err(error), None)),
        Ok(needed) if needed > room => {
            let is_told = matches!(written, Err(EncodeError::NoRoom { needed: told, left, .. }) if (told, left) == (needed, room));
            prop_assert!(is_told && put.is_none(), "{:?} and {:?}", written, put);
        }
        Ok(needed) => {
            prop_assert_eq!(written, Ok(needed));
            prop_assert!(put == Some(needed) || (put.is_none() && room < needed + 16), "{:?} in {}", put, room);
            prop_assert!(put.is_none() || quick == careful, "{:x?} and {:x?}", quick, careful);
            prop_assert!(careful[needed..].iter().all(|&dword| dword == 0xaaaa_aaaa), "it wrote behind its end");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_pm4_packet_written_and_read_back_is_itself(command in any_pm4(), target in target(), flags in 0..8u32) {
        let flags = pm4::HeaderFlags::from_bits_truncate(if flags < 5 { 0 } else { flags });
        let packet = pm4::Flagged { flags, packet: command };
        let mut out = [0; 40];
        match packet.encode(target, &mut out) {
            Ok(len) => {
                prop_assert_eq!(packet.len_dwords(target), Ok(len));
                let read: Vec<_> = pm4::decode(&out[..len], target).collect();
                prop_assert_eq!(read.len(), 1);
                let read = read[0].unwrap();
                prop_assert_eq!((read.offset, read.len, read.flags, read.command), (0, len, flags, command));
                let short = packet.encode(target, &mut out[..len - 1]);
                prop_assert!(is_no_room(short, len), "{short:?}");
            }
            Err(error) => prop_assert_eq!(packet.len_dwords(target), Err(error)),
        }
    }

    #[test]
    fn what_is_recorded_quickly_is_what_is_recorded_with_care(
        command in any_pm4(),
        target in target(),
        flags in 0..8u32,
        room in 0..64usize,
    ) {
        macro_rules! each {
            ($($variant:ident),+) => {
                match command {
                    $(pm4::Command::$variant(packet) => {
                        both_ways_agree(&packet, target, room)?;
                        let flags = pm4::HeaderFlags::from_bits_retain(flags);
                        both_ways_agree(&pm4::Flagged { flags, packet }, target, room)?;
                    })+
                    other => both_ways_agree(&other, target, room)?,
                }
            };
        }
        each!(Nop, WriteData, CopyData, CpDma, AcquireMem, EndOfPipe, EventWrite, WaitRegMem, IndirectBuffer, PfpSyncMe);
    }

    #[test]
    fn what_the_copy_engine_is_told_quickly_is_what_it_is_told_with_care(
        command in any_sdma(),
        version in version(),
        room in 0..64usize,
    ) {
        macro_rules! each {
            ($($variant:ident),+) => {
                match command {
                    $(sdma::Command::$variant(packet) => both_ways_agree(&packet, version, room)?,)+
                    other => both_ways_agree(&other, version, room)?,
                }
            };
        }
        each!(Nop, CopyLinear, ConstFill, WriteLinear, Fence, PollMem, Timestamp);
    }

    #[test]
    fn an_sdma_packet_written_and_read_back_is_itself(command in any_sdma(), version in version()) {
        let mut out = [0; 40];
        match command.encode(version, &mut out) {
            Ok(len) => {
                prop_assert_eq!(command.len_dwords(version), Ok(len));
                let read: Vec<_> = sdma::decode(&out[..len], version).collect();
                prop_assert_eq!(read.len(), 1);
                let read = read[0].unwrap();
                prop_assert_eq!((read.offset, read.len, read.command), (0, len, command));
                let short = command.encode(version, &mut out[..len - 1]);
                prop_assert!(is_no_room(short, len), "{short:?}");
            }
            Err(error) => prop_assert_eq!(command.len_dwords(version), Err(error)),
        }
    }

    /// The typed packets and the tables, from which the dumper and the simulated engines read, are two views of the same
    /// bits: the fields of the one account for every bit that the other wrote.
    #[test]
    fn the_tables_name_every_bit_that_a_typed_packet_sets(
        command in any_pm4(),
        target in target(),
        copy in any_sdma(),
        version in version(),
    ) {
        let mut out = [0; 40];
        if let Ok(len) = command.encode(target, &mut out) {
            prop_assert_eq!(unnamed(&out[..len], target.into()), Ok(None), "{:?} {}", command, target);
        }
        let mut out = [0; 40];
        if let Ok(len) = copy.encode(version, &mut out) {
            prop_assert_eq!(unnamed(&out[..len], version.into()), Ok(None), "{:?} {}", copy, version);
        }
    }

    #[test]
    fn pm4_dwords_that_were_read_are_what_writing_gives(command in any_pm4(), target in target(), flips in flips()) {
        let mut dwords = [0; 40];
        let Ok(len) = command.encode(target, &mut dwords) else { return Ok(()) };
        flip(&mut dwords[..len], &flips);
        for read in pm4::decode(&dwords[..len], target).flatten().filter(|d| !has_two_spellings(target, d.header)) {
            let mut again = [0; 40];
            let packet = pm4::Flagged { flags: read.flags, packet: read.command };
            prop_assert_eq!(packet.encode(target, &mut again), Ok(read.len), "{:?}", read);
            prop_assert_eq!(&again[..read.len], &dwords[read.offset..read.offset + read.len], "{:?}", read);
        }
    }

    #[test]
    fn sdma_dwords_that_were_read_are_what_writing_gives(
        command in any_sdma(),
        version in version(),
        flips in flips(),
    ) {
        let mut dwords = [0; 40];
        let Ok(len) = command.encode(version, &mut dwords) else { return Ok(()) };
        flip(&mut dwords[..len], &flips);
        for read in sdma::decode(&dwords[..len], version).flatten() {
            let mut again = [0; 40];
            prop_assert_eq!(read.command.encode(version, &mut again), Ok(read.len), "{:?}", read);
            let mut before = dwords[read.offset..read.offset + read.len].to_vec();
            if let sdma::Command::ConstFill(sdma::ConstFill { size: sdma::FillSize::Dword, .. }) = read.command {
                // The two low bits of this count say nothing.
                again[read.len - 1] |= 3;
                before[read.len - 1] |= 3;
            }
            prop_assert_eq!(&again[..read.len], before, "{:?}", read);
        }
    }

    #[test]
    fn any_pm4_dwords_are_walked_to_the_end(ib in stream(PM4), target in target()) {
        let mut next = 0;
        for item in pm4::decode(&ib, target) {
            let at = match item {
                Ok(decoded) => {
                    prop_assert!(decoded.len > 0 && decoded.offset + decoded.len <= ib.len());
                    decoded.offset
                }
                Err(error) => {
                    prop_assert_eq!(error.header, ib[error.offset]);
                    prop_assert!(!error.to_string().is_empty());
                    error.offset
                }
            };
            prop_assert!(at >= next, "the walk went back");
            next = at + 1;
        }
    }

    #[test]
    fn any_sdma_dwords_are_walked_to_the_end(
        ib in vec(prop_oneof![number(), any::<u32>(), select(&[0, 1, 2, 5, 8, 11, 0x20d][..])], 0..60),
        version in version(),
    ) {
        let mut next = 0;
        for item in sdma::decode(&ib, version) {
            let (at, len) = item.map_or_else(|e| (e.offset, 1), |d| (d.offset, d.len));
            prop_assert!(at >= next && at + len <= ib.len());
            next = at + len;
        }
    }
}

/// Draws packets until every name in `names` was legal once.
fn all_are_met<T: std::fmt::Debug>(
    packets: impl Strategy<Value = T>,
    names: &[&'static str],
    legal: impl Fn(&T) -> Option<&'static str>,
) -> bool {
    let mut runner = TestRunner::deterministic();
    let mut missing: BTreeSet<_> = names.iter().copied().collect();
    for _ in 0..20_000 {
        if let Some(name) = legal(&packets.new_tree(&mut runner).unwrap().current()) {
            missing.remove(name);
        }
        if missing.is_empty() {
            return true;
        }
    }
    panic!("never legal: {missing:?}")
}

#[test]
fn chance_meets_a_legal_packet_of_every_kind_on_every_ring() {
    let names = ["NOP", "WRITE_DATA", "COPY_DATA", "DMA_DATA", "ACQUIRE_MEM", "RELEASE_MEM", "INDIRECT_BUFFER"];
    let names = [&names[..], &["WAIT_REG_MEM", "EVENT_WRITE"]].concat();
    for target in pm4::Target::all() {
        let legal = |c: &pm4::Command<'static>| c.len_dwords(target).ok().map(|_| c.name());
        assert!(all_are_met(any_pm4(), &names, legal), "{target}");
    }
    let names = ["NOP", "COPY_LINEAR", "WRITE_LINEAR", "CONST_FILL", "FENCE", "POLL_REGMEM"];
    for version in sdma::Version::ALL {
        let legal = |c: &sdma::Command<'static>| c.len_dwords(version).ok().map(|_| c.name());
        assert!(all_are_met(any_sdma(), &names, legal), "{version}");
    }
}

#[test]
fn a_packet_that_runs_past_the_end_names_its_place() {
    let target = pm4::Target::gfx(GfxLevel::Gfx9);
    let ib = [0xffff_1000, 0xc004_3700, 0, 0];
    let error = pm4::decode(&ib, target).last().unwrap().unwrap_err();
    assert_eq!((error.offset, error.header), (1, 0xc004_3700));
    assert_eq!(error.fault, DecodeFault::PastTheEnd { needed: 6, left: 3 });
    assert_eq!(
        error.to_string(),
        "dword 1 (0xc0043700) for the GFX9 gfx ring: the packet takes 6 dwords and the IB ends after 3"
    );

    let error = sdma::decode(&[1, 2, 0], sdma::Version::V4_0).last().unwrap().unwrap_err();
    assert_eq!(error.fault, DecodeFault::PastTheEnd { needed: 7, left: 3 });
}

#[test]
fn register_writes_and_reserved_headers_are_refused() {
    let target = pm4::Target::gfx(GfxLevel::Gfx9);
    for (header, kind) in [(0x0000_c040, 0), (0x4000_0000, 1)] {
        let error = pm4::decode(&[header, 0], target).next().unwrap().unwrap_err();
        assert_eq!(error.fault, DecodeFault::HeaderType { kind });
    }
}

#[test]
fn the_walk_goes_on_behind_a_pm4_packet_with_a_wrong_field() {
    let ib = [0xc000_4600, 0x0000_0007, 0xffff_1000]; // a flush with the index of another event
    let items: Vec<_> = pm4::decode(&ib, pm4::Target::gfx(GfxLevel::Gfx9)).collect();
    assert!(matches!(items[0].unwrap_err().fault, DecodeFault::Field { packet: "EVENT_WRITE", .. }));
    assert_eq!(items[1].unwrap().command, pm4::Command::Nop(pm4::Nop::Bare));
}

#[test]
fn a_packet_the_ring_does_not_take_is_refused_in_writing_and_unknown_in_reading() {
    let mec = pm4::Target::compute(GfxLevel::Gfx9);
    assert!(matches!(
        pm4::PfpSyncMe.encode(mec, &mut [0; 8]),
        Err(EncodeError::NoSuchPacket { packet: "PFP_SYNC_ME", .. })
    ));
    let read = pm4::decode(&[0xc000_4200, 0], mec).next().unwrap().unwrap();
    assert_eq!(read.command, pm4::Command::Unknown { opcode: 0x42, body: &[0] });
    assert_eq!(read.command.name(), "PFP_SYNC_ME");

    let stamp = sdma::Timestamp { va: GpuVa::NULL };
    assert!(matches!(stamp.encode(sdma::Version::V1_0, &mut [0; 8]), Err(EncodeError::NoSuchPacket { .. })));
}

#[test]
fn the_last_value_of_a_count_fits_and_the_next_does_not() {
    let zero = GpuVa::NULL;
    let mut out = [0; 8];
    for version in sdma::Version::ALL {
        let bits = match version {
            sdma::Version::V1_0 => 20,
            _ if version < sdma::Version::V5_2 => 22,
            _ => 30,
        };
        let most = if version >= sdma::Version::V4_0 { 1u32 << bits } else { (1 << bits) - 1 };
        assert!(version.max_copy_bytes() <= most);
        assert!(sdma::CopyLinear::new(zero, zero, most).encode(version, &mut out).is_ok(), "{version}");
        assert!(sdma::CopyLinear::new(zero, zero, most + 1).encode(version, &mut out).is_err(), "{version}");
        assert!(sdma::CopyLinear::new(zero, zero, version.max_copy_bytes()).encode(version, &mut out).is_ok());
        assert!(sdma::ConstFill::new(zero, 0, version.max_fill_bytes()).encode(version, &mut out).is_ok());
        assert!(sdma::CopyLinear::new(zero, zero, 0).encode(version, &mut out).is_err(), "{version}");
        let unit = if version == sdma::Version::V1_0 { 4 } else { 1 };
        let size = if unit == 4 { sdma::FillSize::Dword } else { sdma::FillSize::Byte };
        let fill = |bytes| sdma::ConstFill { to: zero, pattern: 0, bytes, size }.encode(version, &mut [0; 8]);
        assert!(fill(most * unit).is_ok(), "{version}");
        assert!(fill((most + 1) * unit).is_err(), "{version}");
    }
    for level in GfxLevel::ALL {
        let most = pm4::CpDma::max_bytes(level);
        let copy = |bytes| pm4::CpDma::copy(level, zero, zero, bytes).encode(pm4::Target::gfx(level), &mut [0; 8]);
        assert!(copy(most).is_ok() && copy(most + 1).is_err() && pm4::CpDma::max_chunk_bytes(level) <= most);
    }
}

#[test]
fn the_longest_write_fits_and_the_next_does_not() {
    let target = pm4::Target::gfx(GfxLevel::Gfx9);
    let data = vec![7; pm4::WriteData::MAX_DATA + 1];
    let mut out = vec![0; 0x5000];
    assert_eq!(pm4::WriteData::new(GpuVa::NULL, &data[1..]).encode(target, &mut out), Ok(0x4000));
    let read = pm4::decode(&out[..0x4000], target).next().unwrap().unwrap();
    assert_eq!(read.command, pm4::WriteData::new(GpuVa::NULL, &data[1..]).into());
    assert!(pm4::WriteData::new(GpuVa::NULL, &data).encode(target, &mut out).is_err());
}
