//! IBs made readable: nested ones are followed, circles end, nothing makes the dumper fail.

use std::collections::HashMap;

use amdgpu_winsys::cs::dump::{Dumper, Limits, Meaning, Note, Shown};
use amdgpu_winsys::cs::registers::{self, RegisterError, RegisterWriter, SetRegisters};
use amdgpu_winsys::cs::{EncodeError, Packet, Target, pm4, sdma};
use amdgpu_winsys::vamgr::GpuVa;
use amdgpu_winsys::winsys::GfxLevel;
use proptest::prelude::*;

fn va(raw: u64) -> GpuVa {
    GpuVa::new(raw).unwrap()
}

fn gfx() -> pm4::Target {
    pm4::Target::gfx(GfxLevel::Gfx10_3)
}

fn ib<P: Packet>(packet: P, language: P::Language) -> Vec<u32> {
    let mut dwords = vec![0; 64];
    let len = packet.encode(language, &mut dwords).unwrap();
    dwords.truncate(len);
    dwords
}

#[test]
fn a_called_ib_is_shown_with_who_called_it() {
    let called = ib(pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH), gfx());
    let caller = ib(pm4::IndirectBuffer::call(va(0x2000), called.len() as u32), gfx());
    let memory = |at: GpuVa, dwords: usize| (at == va(0x2000) && dwords == called.len()).then(|| called.clone());
    let dump = Dumper::new(gfx()).with_memory(&memory).dump(&caller, Some(va(0x1000)));
    assert_eq!(dump.ibs.len(), 2);
    assert_eq!(dump.ibs[0].packets[0].next[0].shown, Shown::As(1));
    let text = dump.to_string();
    assert!(text.contains("IB 1 at 0x2000, 2 dwords, for the GFX10_3 gfx ring, called by IB 0 at dword 0"), "{text}");
    assert!(text.contains("event_type = 7 (cs_partial_flush)"), "{text}");
}

#[test]
fn ibs_that_chain_in_a_circle_are_shown_once() {
    let jump = |to: u64| ib(pm4::IndirectBuffer::chain(va(to), 4), gfx());
    let content = HashMap::from([(va(0x1000), jump(0x2000)), (va(0x2000), jump(0x1000))]);
    let memory = |at: GpuVa, _: usize| content.get(&at).cloned();
    let dump = Dumper::new(gfx()).with_memory(&memory).dump(&jump(0x2000), Some(va(0x1000)));
    assert_eq!(dump.ibs.len(), 2);
    assert_eq!(dump.ibs[1].packets[0].next[0].shown, Shown::As(0));
}

#[test]
fn a_chain_without_end_is_cut_at_the_limits() {
    let memory = |at: GpuVa, _: usize| Some(ib(pm4::IndirectBuffer::chain(va(at.as_u64() + 0x1000), 4), gfx()));
    let first = memory(va(0x1000), 4).unwrap();
    let limits = |limits| Dumper::new(gfx()).with_memory(&memory).with_limits(limits).dump(&first, Some(va(0x1000)));
    assert_eq!(limits(Limits { depth: 5, ..Limits::default() }).ibs.len(), 6);
    assert_eq!(limits(Limits { ibs: 7, ..Limits::default() }).ibs.len(), 7);
    assert_eq!(limits(Limits { dwords: 12, ..Limits::default() }).ibs.len(), 3);
}

#[test]
fn an_address_is_named_by_whoever_knows_it() {
    let store = ib(pm4::WriteData::new(va(0x1234_5678_0000), &[1]), gfx());
    let names = |address: u64| (address == 0x1234_5678_0000).then(|| "the vertices".to_owned());
    let dump = Dumper::new(gfx()).with_names(&names).dump(&store, None);
    let address = dump.ibs[0].packets[0].fields.iter().find(|field| field.name == "dst_addr").unwrap();
    assert_eq!(address.meaning, Meaning::Address(Some("the vertices".into())));
    assert!(dump.to_string().contains("dst_addr = 0x123456780000 (the vertices)"));
}

#[test]
fn an_unknown_packet_is_shown_raw_with_the_reason() {
    let dump = Dumper::new(gfx()).dump(&[0xc001_0500, 0xdead, 0xbeef, 0xffff_1000], None);
    assert_eq!(dump.problems().count(), 1);
    let text = dump.to_string();
    assert!(text.contains("!! opcode 0x05 is not known here"), "{text}");
    assert!(text.contains("0000dead 0000beef"), "{text}");
    assert_eq!(dump.ibs[0].packets.len(), 2, "what follows is shown");
}

#[test]
fn registers_are_shown_by_name_and_content() {
    let target = pm4::Target::compute(GfxLevel::Gfx10_3);
    let offset = registers::COMPUTE_DISPATCH_INITIATOR.offset(target.level).unwrap();
    let dump = Dumper::new(target).dump(&ib(SetRegisters::new(offset, &[1]), target), None);
    let text = dump.to_string();
    assert!(text.contains("COMPUTE_DISPATCH_INITIATOR <- 0x1  {compute_shader_en = 1}"), "{text}");
}

#[test]
fn a_copy_engine_stream_is_shown_too() {
    let copy = ib(sdma::CopyLinear::new(va(0x1000), va(0x2000), 64), sdma::Version::V5_2);
    let text = Dumper::new(sdma::Version::V5_2).dump(&copy, None).to_string();
    assert!(text.contains("COPY_LINEAR") && text.contains("count = 0x3f") && text.contains("src_addr"), "{text}");
}

#[test]
fn writes_to_registers_in_a_row_share_a_packet() {
    let mut writer = RegisterWriter::new(pm4::Target::gfx(GfxLevel::Gfx9));
    for (offset, value) in [(0xb030, 1), (0xb034, 2), (0xb03c, 3), (0x2_8000, 4), (0x2_8004, 5)] {
        writer.set_at(offset, value).unwrap();
    }
    let packets: Vec<_> = writer.packets().map(|packet| (packet.first, packet.values.to_vec())).collect();
    assert_eq!(packets, [(0xb030, vec![1, 2]), (0xb03c, vec![3]), (0x2_8000, vec![4, 5])]);
}

#[test]
fn a_write_that_changes_nothing_is_left_out_until_the_shadow_forgets() {
    let mut writer = RegisterWriter::with_shadow(pm4::Target::gfx(GfxLevel::Gfx9));
    writer.set_at(0xb030, 1).unwrap();
    writer.clear();
    writer.set_at(0xb030, 1).unwrap();
    assert!(writer.is_empty());
    writer.shadow().unwrap().forget();
    writer.set_at(0xb030, 1).unwrap();
    assert_eq!(writer.packets().count(), 1);
}

#[test]
fn a_register_out_of_reach_is_refused_by_name() {
    let compute = pm4::Target::compute(GfxLevel::Gfx9);
    let context = RegisterWriter::new(compute).set_at(0x2_8000, 1);
    assert_eq!(context, Err(RegisterError::OutOfReach { offset: 0x2_8000, target: compute }));
    let old = RegisterWriter::new(pm4::Target::gfx(GfxLevel::Gfx6)).set_at(0x3_0100, 1);
    assert!(matches!(old, Err(RegisterError::OutOfReach { .. })), "GFX6 has no uconfig");
    let error = SetRegisters::new(0x2_8000, &[1]).encode(compute, &mut [0; 8]);
    let target = Target::Pm4(compute);
    assert_eq!(error, Err(EncodeError::NoSuchPacket { packet: "SET_CONTEXT_REG", target }));
}

/// A type-3 packet.
fn packet3(opcode: u32, body: &[u32]) -> Vec<u32> {
    [&[3 << 30 | (body.len() as u32 - 1) << 16 | opcode << 8], body].concat()
}

#[test]
fn a_condition_leads_to_both_of_its_ibs_and_nothing_leads_to_address_zero() {
    let condition = |first: u32, second: u32| {
        let body = [2 | 3 << 8, 0x8000, 0, u32::MAX, u32::MAX, 0, 0, first, 1, 4, second, 2, 8];
        let dump = Dumper::new(gfx()).dump(&packet3(0x3f, &body), None);
        assert_eq!(dump.problems().count(), 0, "{dump}");
        dump.ibs[0].packets[0].next.iter().map(|next| (next.va.as_u64(), next.dwords)).collect::<Vec<_>>()
    };
    assert_eq!(condition(0x1000, 0x2000), [(0x1_0000_1000, 4), (0x2_0000_2000, 8)]);
    let nowhere = ib(pm4::IndirectBuffer::call(va(0), 4), gfx());
    assert_eq!(Dumper::new(gfx()).dump(&nowhere, None).ibs[0].packets[0].next, []);
}

#[test]
fn a_nop_is_a_trace_point_by_its_upper_half_alone() {
    let note = |data: &[u32]| Dumper::new(gfx()).dump(&packet3(0x10, data), None).ibs[0].packets[0].note.clone();
    assert_eq!(note(&[0xcafe_0107]), Some(Note::TracePoint(0x107)));
    assert_eq!([note(&[0xcaff_0107]), note(&[0x107]), note(&[0xcafe_0107, 0])], [None, None, None]);
}

#[test]
fn packed_pairs_of_registers_are_shown_with_their_own_values() {
    let target = pm4::Target::gfx(GfxLevel::Gfx11);
    let dump = Dumper::new(target).dump(&packet3(0xbb, &[2, 0x000d_000c, 11, 22]), None);
    let registers = &dump.ibs[0].packets[0].registers;
    let found: Vec<_> = registers.iter().map(|register| (register.offset, register.value)).collect();
    assert_eq!(found, [(0xb030, Some(11)), (0xb034, Some(22))], "{dump}");
}

#[test]
fn the_address_of_a_shader_is_put_together_of_two_registers() {
    let target = pm4::Target::gfx(GfxLevel::Gfx9);
    let offset = registers::SPI_SHADER_PGM_LO_PS.offset(target.level).unwrap();
    let dump = Dumper::new(target).dump(&ib(SetRegisters::new(offset, &[0x1234, 0x80]), target), None);
    assert_eq!(dump.ibs[0].packets[0].registers[0].shader, Some((0x8000_0012_3400, None)), "{dump}");
}

#[test]
fn the_base_of_indices_is_an_address() {
    let names = |address: u64| (address == 0x1_0000_2000).then(|| "indices".to_owned());
    let draw = packet3(0x27, &[3, 0x2000, 1, 3, 0]);
    let dump = Dumper::new(gfx()).with_names(&names).dump(&draw, None);
    let base = dump.ibs[0].packets[0].fields.iter().find(|field| field.name == "index_base").unwrap();
    assert_eq!(base.meaning, Meaning::Address(Some("indices".into())), "{dump}");
}

proptest! {
    #[test]
    fn anything_can_be_dumped(dwords in proptest::collection::vec(any::<u32>(), 0..48), opcode in any::<u8>()) {
        let mut framed = vec![3 << 30 | (dwords.len() as u32).saturating_sub(1) << 16 | u32::from(opcode) << 8];
        framed.extend(&dwords);
        // Whatever is called lies there too.
        let memory = |_: GpuVa, _: usize| Some(dwords.clone());
        for target in pm4::Target::all() {
            let dump = Dumper::new(target).with_memory(&memory).dump(&framed, None);
            prop_assert!(dump.to_string().starts_with("IB 0"));
        }
        for version in sdma::Version::ALL {
            let dump = Dumper::new(version).dump(&framed, None);
            prop_assert!(dump.to_string().starts_with("IB 0"));
        }
    }
}
