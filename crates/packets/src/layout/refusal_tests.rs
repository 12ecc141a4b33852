//! A record rejects every value that its layout would not read back.

use super::record::{Load, Record};
use super::record_tests::{Dice, chance, read, readers};
use super::records::{pm4, sdma};
use super::*;
use crate::pm4 as language;

/// The type of a member.
pub(super) trait Value {
    fn of(number: u64) -> Self;
}

impl Value for bool {
    fn of(number: u64) -> Self {
        number & 1 != 0
    }
}

impl Value for u32 {
    fn of(number: u64) -> Self {
        number as Self
    }
}

impl Value for u64 {
    fn of(number: u64) -> Self {
        number
    }
}

/// Each single bit, all bits, and the small numbers that selectors have.
fn numbers() -> impl Iterator<Item = u64> {
    (0..64).map(|bit| 1 << bit).chain([0, u64::MAX, u64::MAX >> 32]).chain(3..16)
}

/// Writes a record if it is accepted, and returns its dwords.
fn written<R: Record>(record: &R, opcode: u16, reader: Reader) -> Option<Vec<u32>> {
    let levels = match reader {
        Reader::Ring(target) if target.ring == language::Ring::Gfx => R::GFX,
        Reader::Ring(_) => R::COMPUTE,
        _ => R::SDMA,
    };
    if levels >> reader.level() & 1 == 0 {
        return None;
    }
    let is_taken = record.check(reader.level()).is_ok();
    assert_eq!(
        record.fits() && record.takers() >> reader.level() & 1 != 0,
        is_taken,
        "opcode {opcode:#x} on {reader:?}"
    );
    let len = record.length(reader.level()).ok().filter(|_| is_taken)?;
    let mut wire = vec![0; len];
    record.store(reader.level(), &mut wire);
    if matches!(reader, Reader::Ring(_)) {
        wire[0] = language::type3(opcode as u8, len - 1, language::HeaderFlags::empty());
    }
    Some(wire)
}

/// Panics unless a written packet matches its record, and does not match with any bit changed. The header of a PM4 packet is
/// compared elsewhere.
fn matched<R: Record>(record: &R, reader: Reader, wire: &[u32], dice: &mut Dice, context: impl Fn() -> String) {
    let body = usize::from(matches!(reader, Reader::Ring(_)));
    assert_eq!(record.matches(reader.level(), wire), Ok(()), "{}", context());
    for dword in body..wire.len() {
        let mut other = wire.to_vec();
        let bit = dice.roll() % 32;
        other[dword] ^= 1 << bit;
        assert!(
            record.matches(reader.level(), &other).is_err(),
            "bit {bit} of dword {dword} does not count: {}",
            context()
        );
    }
}

/// Panics unless a written packet is read as a record that encodes to the same packet.
fn loaded<'p, R: Load<'p>>(_: &R, reader: Reader, wire: &'p [u32], context: impl Fn() -> String) {
    let again = R::load(wire, reader.level()).unwrap_or_else(|error| panic!("{error}: {}", context()));
    let mut stored = vec![0; wire.len()];
    again.store(reader.level(), &mut stored);
    assert_eq!(stored[1..], wire[1..], "{}", context());
}

/// Puts each number into each member of random records, and compares accepted records with the records that are read back. Members
/// that share dwords are all read from them, so only the members that were set are compared.
macro_rules! probe {
    (load pm4 $form:ident, $reader:ident, $wire:ident, $context:expr) => { loaded(&$form, $reader, &$wire, $context) };
    // The copy engine's packets are read by the tables alone.
    (load sdma $form:ident, $reader:ident, $wire:ident, $context:expr) => {};
    ($language:ident::$name:ident, $form:expr, $($member:ident)*) => {{
        let setters: &[(&str, fn(&mut $language::$name, u64))] =
            &[$((stringify!($member), |record, number| record.$member = Value::of(number))),*];
        let lost = |record: &$language::$name, again: &$language::$name| -> Option<&str> {
            $(if record.$member != Value::of(0) && again.$member != record.$member { return Some(stringify!($member)) })*
            None
        };
        let mut taken = 0;
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        for reader in readers().into_iter().filter(|reader| matches!(reader, Reader::Ring(_) | Reader::Copy(_))) {
            let named = |layout: &&Layout| layout.name.replace('_', "") == stringify!($name).to_ascii_uppercase();
            let layouts: Vec<_> = reader.table().all().filter(named).collect();
            for (layout, form) in layouts.iter().flat_map(|&layout| layout.forms(reader).map(move |form| (layout, form))) {
                for _ in 0..8 {
                    let wire = chance(layout, form, reader, &mut dice);
                    let Some(fields) = read(&wire, layout.opcode, reader) else { continue };
                    let Some($language::Packet::$name(mut base)) = $language::Packet::read(&fields) else { continue };
                    // Of the members that share dwords one is active, and the others are rejected.
                    for (member, set) in setters {
                        let refused = $form(base).and_then(|form| form.check(reader.level()).err());
                        if refused.is_some_and(|error| format!("{error:?}").contains(&format!("{member:?}"))) {
                            set(&mut base, 0);
                        }
                    }
                    for ((member, set), number) in setters.iter().flat_map(|setter| numbers().map(move |n| (setter, n))) {
                        let mut record = base;
                        set(&mut record, number);
                        let Some(form) = $form(record) else { continue };
                        let Some(wire) = written(&form, layout.opcode, reader) else { continue };
                        let context = || format!("{member} = {number:#x} on {reader:?}: {wire:08x?}");
                        matched(&form, reader, &wire, &mut dice, context);
                        probe!(load $language form, reader, wire, context);
                        let again = read(&wire, layout.opcode, reader).unwrap_or_else(|| panic!("{}", context()));
                        let Some($language::Packet::$name(again)) = $language::Packet::read(&again) else {
                            panic!("another packet: {}", context())
                        };
                        assert_eq!(lost(&record, &again), None, "{}: {record:?}", context());
                        taken += 1;
                    }
                }
            }
        }
        assert!(taken > 0, "chance gave nothing that is taken");
    }};
}

/// Members that are another form's.
mod apart {
    use super::*;

    /// Without PWS it is another form.
    pub(super) fn acquire_mem_pws(record: pm4::AcquireMem) -> Option<generated::written::AcquireMemPws> {
        record.pws_ena.then_some(generated::written::AcquireMemPws(record))
    }
}

/// A test for each record: whatever it accepts is read back as the same record.
mod takes_only_what_is_read_back {
    use super::*;

    #[test]
    fn acquire_mem() {
        probe!(pm4::AcquireMem, Some, coher_cntl engine_sel coher_size coher_base poll_interval gcr_size gcr_base gcr_cntl pws_stage_sel pws_counter_sel pws_ena2 pws_count pws_ena);
    }

    #[test]
    fn acquire_mem_pws() {
        probe!(pm4::AcquireMem, apart::acquire_mem_pws, coher_cntl engine_sel coher_size coher_base poll_interval gcr_size gcr_base gcr_cntl pws_stage_sel pws_counter_sel pws_ena2 pws_count pws_ena);
    }

    #[test]
    fn copy_data() {
        probe!(pm4::CopyData, Some, src_sel dst_sel src_atc src_cache_policy src_temporal src_volatile count_sel wr_confirm pf_vf_mode aid_id dst_atc dst_cache_policy dst_temporal dst_volatile pq_exe_status engine_sel src_addr src_reg src_gds imm dst_addr dst_reg dst_gds);
    }

    #[test]
    fn cp_dma() {
        probe!(pm4::CpDma, Some, src_addr data dst_sel m2m_opt engine_sel src_sel cp_sync dst_addr byte_count disable_wr_confirm src_swap dst_swap sas das saic daic raw_wait);
    }

    #[test]
    fn dma_data() {
        probe!(pm4::DmaData, Some, engine_sel src_atc src_cache_policy src_temporal src_volatile dst_sel dst_atc dst_cache_policy dst_temporal dst_volatile src_sel cp_sync src_addr data dst_addr byte_count disable_wr_confirm src_swap dst_swap sas das saic daic raw_wait src_indirect dst_indirect);
    }

    #[test]
    fn event_write() {
        probe!(pm4::EventWrite, Some, event_type event_index invalidate_l2 atc samp_plst_mode offload_enable addr counter_id stride instance_enable zero);
    }

    #[test]
    fn event_write_sample() {
        probe!(pm4::EventWrite, |r| Some(generated::written::EventWriteSample(r)), event_type event_index invalidate_l2 atc samp_plst_mode offload_enable addr counter_id stride instance_enable zero);
    }

    #[test]
    fn event_write_eop() {
        probe!(pm4::EventWriteEop, Some, event_type event_index tcl1_vol_action tc_vol_action tc_wb_action tcl1_action tc_action invalidate_l2 atc cache_policy volatile addr dst_sel int_sel data_sel data);
    }

    #[test]
    fn event_write_eos() {
        probe!(pm4::EventWriteEos, Some, event_type event_index addr command data gds_index gds_dwords);
    }

    #[test]
    fn indirect_buffer() {
        probe!(pm4::IndirectBuffer, Some, addr ib_size chain valid vmid pre_ena volatile inherit_vmid_gfx cache_policy temporal pre_resume offload_polling inherit_vmid_compute);
    }

    #[test]
    fn pfp_sync_me() {
        probe!(pm4::PfpSyncMe, Some, dummy);
    }

    #[test]
    fn release_mem() {
        probe!(pm4::ReleaseMem, Some, event_type event_index tcl1_vol_action tc_vol_action tc_wb_action tcl1_action tc_action cache_policy volatile dst_sel int_sel data_sel addr data gds_index gds_dwords tc_nc_action tc_wc_action tc_md_action execute pq_exe_status execute_or_pq_exe_status mes_intr_pipe mes_action_id gds_offset int_ctxid wait_dma glm_wb glm_inv glv_inv gl1_inv gl2_us gl2_range gl2_discard gl2_inv gl2_wb seq wait_sync glk_wb temporal glk_inv pws_enable);
    }

    #[test]
    fn surface_sync() {
        probe!(pm4::SurfaceSync, Some, coher_cntl engine_sel coher_size coher_base poll_interval);
    }

    #[test]
    fn wait_reg_mem() {
        probe!(pm4::WaitRegMem, Some, function mem_space operation engine_sel uncached mes_intr_pipe mes_action atc cache_policy temporal volatile poll_addr poll_reg write_reg wait_reg reference mask poll_interval optimize_ace_offload);
    }

    #[test]
    fn write_data() {
        probe!(pm4::WriteData, Some, dst_sel no_increment resume_vf wr_confirm atc cache_policy volatile engine_sel dst_addr dst_reg dst_gds pf_vf_mode aid_id temporal);
    }

    #[test]
    fn sdma_const_fill() {
        probe!(sdma::ConstFill, Some, sw fillsize dst_addr src_data count cache_policy cpv nopte_comp sys snp gpa mall_policy pattern);
    }

    #[test]
    fn sdma_copy_linear() {
        probe!(sdma::CopyLinear, Some, count dst_sw dst_ha src_sw src_ha src_addr dst_addr encrypt tmz backwards cpv dst_cache_policy src_cache_policy dcc dst_mall_policy src_mall_policy data_format number_type read_compression_mode write_compression_mode max_comp_block_size max_uncomp_block_size byte_mode);
    }

    #[test]
    fn sdma_fence() {
        probe!(sdma::Fence, Some, mtype addr data gcc sys snp gpa l2_policy llc_policy cpv mall_policy);
    }

    #[test]
    fn sdma_nop() {
        probe!(sdma::Nop, Some, count);
    }

    #[test]
    fn sdma_poll_regmem() {
        probe!(sdma::PollRegmem, Some, hdp_flush function mem_poll addr value mask interval retry_count cache_policy cpv virtual_die_id domain bridge mall_policy mode);
    }

    #[test]
    fn sdma_poll_reg_mem_of_gfx6() {
        probe!(sdma::PollRegMem, Some, mem_poll addr retry_count mask reference interval function);
    }

    #[test]
    fn sdma_timestamp_get_global() {
        probe!(sdma::TimestampGetGlobal, Some, addr l2_policy llc_policy cpv mall_policy);
    }

    #[test]
    fn sdma_write() {
        probe!(sdma::Write, Some, count secure tiled dst_addr);
    }

    #[test]
    fn sdma_write_linear() {
        probe!(sdma::WriteLinear, Some, dst_addr count sw encrypt tmz cpv cache_policy nopte_comp sys snp gpa dst_mall_policy);
    }
}
