//! The tables are complete and agree with themselves, and look-ups find what is in them.

use amdgpu_hw::GfxLevel;
use amdgpu_registers::constants::{
    COMPUTE_NUM_THREAD_X, COMPUTE_PGM_LO, COMPUTE_STATIC_THREAD_MGMT_SE4, DB_Z_INFO, SPI_CONFIG_CNTL,
    VGT_EVENT_INITIATOR, VGT_INDEX_TYPE,
};
use amdgpu_registers::enums::VGT_EVENT_TYPE;
use amdgpu_registers::fields::compute_pgm_rsrc2::{SCRATCH_EN, TGID_X_EN, USER_SGPR};
use amdgpu_registers::{Aperture, Field, Register, RegisterSet, RegisterValue, all, at, named};

/// Every register of every set, with its offset.
fn places() -> impl Iterator<Item = (RegisterSet, Register, u32)> {
    let of = |set| all().filter_map(move |register| Some((set, register, register.offset(set)?)));
    RegisterSet::ALL.into_iter().flat_map(of)
}

#[test]
fn every_register_of_the_tables_is_there() {
    assert_eq!(all().len(), 2831);
    let fields: usize = all().map(|register| register.fields(GfxLevel::Gfx10_3).count()).sum();
    assert!(fields > 3000, "{fields}");
}

#[test]
fn a_register_is_found_by_its_name_in_any_case() {
    for register in all() {
        assert_eq!(named(register.name()), Some(register));
        assert_eq!(named(&register.name().to_lowercase()), Some(register));
    }
    for unknown in ["", "A", "ZZZ", "COMPUTE_PGM", "COMPUTE_PGM_LOW", "é"] {
        assert_eq!(named(unknown), None, "{unknown}");
    }
}

#[test]
fn a_register_is_found_by_its_address() {
    for (set, register, offset) in places() {
        let found = at(offset, set).unwrap();
        let is_shared = (set, offset) == (RegisterSet::Gfx9, 0xb894);
        assert!(found == register || (is_shared && found == COMPUTE_STATIC_THREAD_MGMT_SE4), "{found:?} {register:?}");
        if let Some(aperture) = Aperture::of(offset, set.level()) {
            let start = aperture.bytes(set.level()).unwrap().start;
            assert_eq!(aperture.at((offset - start) / 4, set), Some(found));
        }
    }
}

#[test]
fn no_register_is_between_two_others() {
    for (set, register, offset) in places() {
        for beside in [offset + 1, offset + 2, offset + 3] {
            assert_eq!(at(beside, set), None, "{register:?}");
        }
    }
    assert_eq!(at(u32::MAX, GfxLevel::Gfx9), None);
    assert_eq!(Aperture::Sh.at(u32::MAX, GfxLevel::Gfx9), None);
}

#[test]
fn an_offset_is_known_when_compiled() {
    const OFFSET: Option<u32> = COMPUTE_PGM_LO.offset_in(RegisterSet::Gfx12);
    assert_eq!(OFFSET, Some(0xb830));
}

#[test]
fn registers_are_where_each_generation_has_them() {
    let config = [(GfxLevel::Gfx8, 0x9100), (GfxLevel::Gfx9, 0x3_1100), (GfxLevel::Gfx10_3, 0x9130)];
    for (level, offset) in config {
        assert_eq!(SPI_CONFIG_CNTL.offset(level), Some(offset), "{level}");
    }
    for (level, offset) in [(GfxLevel::Gfx8, 0x2_8040), (GfxLevel::Gfx9, 0x2_8038), (GfxLevel::Gfx12, 0x2_8018)] {
        assert_eq!(DB_Z_INFO.offset(level), Some(offset), "{level}");
    }
    assert_eq!(named("COMPUTE_PGM_RSRC3").unwrap().offset(GfxLevel::Gfx9), None);
}

#[test]
fn stoney_differs_from_its_generation() {
    let differs = |register: &Register| {
        let bits = |set| register.fields(set).map(Field::bits).collect::<Vec<_>>();
        let (other, stoney) = (RegisterSet::Gfx8, RegisterSet::Gfx8_1);
        register.offset(other) != register.offset(stoney) || bits(other) != bits(stoney)
    };
    assert!(all().any(|register| differs(&register)));
}

#[test]
fn a_field_and_its_values_have_names_on_the_right_generations() {
    let kind = |level| VGT_INDEX_TYPE.decode(2, level).next().unwrap();
    assert_eq!(kind(GfxLevel::Gfx7).choice, None);
    assert_eq!(kind(GfxLevel::Gfx8).choice, Some("vgt_index_8"));
    let full = |level| COMPUTE_NUM_THREAD_X.field("num_thread_full", level).unwrap().bits();
    assert_eq!((full(GfxLevel::Gfx11_5), full(GfxLevel::Gfx12)), ((15, 0), (12, 0)));
    let event = VGT_EVENT_INITIATOR.field("EVENT_TYPE", GfxLevel::Gfx10).unwrap();
    assert!(event.choices(GfxLevel::Gfx10).count() > 50);
    assert_eq!(event.choice(7, GfxLevel::Gfx10), Some("cs_partial_flush"));
}

#[test]
fn fields_that_overlap_are_these() {
    let mut found = Vec::new();
    for (set, register, _) in places() {
        let fields: Vec<Field> = register.fields(set).collect();
        for (index, one) in fields.iter().enumerate() {
            for other in fields[..index].iter().filter(|other| other.mask() & one.mask() != 0) {
                found.push((register.name(), other.name(), one.name()));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    let registers: Vec<_> = found.iter().map(|pair| pair.0).collect();
    assert_eq!(
        registers,
        [
            "CGTT_IA_CLK_CTRL",
            "COMPUTE_RESOURCE_LIMITS",
            "CP_STALLED_STAT1",
            "GRBM_DEBUG_SNAPSHOT",
            "GRBM_DEBUG_SNAPSHOT",
            "GRBM_STATUS2",
            "GRBM_STATUS2",
            "GRBM_STATUS2",
        ],
        "{found:?}"
    );
}

#[test]
fn a_value_taken_apart_and_put_together_is_the_same() {
    let mut dice = 0x1234_5678_u32;
    for (set, register, _) in places() {
        dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let fields: Vec<_> = register.decode(dice, set).collect();
        if fields.is_empty() {
            assert_eq!(register.unnamed_bits(set), 0);
            continue;
        }
        let rest = dice & register.unnamed_bits(set);
        let whole = fields.iter().fold(rest, |whole, field| field.field.set(whole, field.value).unwrap());
        assert_eq!(whole, dice, "{register:?}");
        assert!(fields.iter().all(|field| field.value <= field.field.max() && !field.field.name().is_empty()));
    }
}

#[test]
fn a_number_that_does_not_fit_is_refused() {
    let field = COMPUTE_NUM_THREAD_X.field("num_thread_full", GfxLevel::Gfx9).unwrap();
    assert_eq!(field.set(0xffff_0000, 0xffff), Some(0xffff_ffff));
    assert_eq!(field.set(0, 0x1_0000), None);
}

#[test]
fn a_packet_names_the_aperture_it_writes_to() {
    for (name, aperture) in [
        ("SET_CONFIG_REG", Some(Aperture::Config)),
        ("SET_UCONFIG_REG_INDEX", Some(Aperture::Uconfig)),
        ("LOAD_CONTEXT_REG", Some(Aperture::Context)),
        ("SET_SH_REG_PAIRS_PACKED", Some(Aperture::Sh)),
        ("LOAD_SH_REG_INDEX", Some(Aperture::Sh)),
        ("WRITE_DATA", None),
        ("", None),
    ] {
        assert_eq!(Aperture::of_packet(name), aperture, "{name}");
    }
}

#[test]
fn a_typed_value_gives_back_what_was_put_into_each_field() {
    for number in 0..32 {
        let value = RegisterValue::new(GfxLevel::Gfx10).with(USER_SGPR, number).unwrap().with(TGID_X_EN, 1).unwrap();
        assert_eq!((value.get(USER_SGPR), value.get(TGID_X_EN), value.get(SCRATCH_EN)), (Ok(number), Ok(1), Ok(0)));
        assert_eq!(value.with(USER_SGPR, 0).unwrap().raw(), 0x80);
    }
    assert!(RegisterValue::new(GfxLevel::Gfx10).with(USER_SGPR, 32).is_err());
}

/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_SET_CONFIG_REG` and the others.
#[test]
fn an_aperture_has_the_name_and_the_packet_that_the_headers_give_it() {
    let all = Aperture::ALL.map(|aperture| (aperture.name(), aperture.opcode()));
    assert_eq!(all, [("config", 0x68), ("sh", 0x76), ("context", 0x69), ("uconfig", 0x79)]);
}

#[test]
fn a_list_of_names_is_read_in_both_directions() {
    assert_eq!(VGT_EVENT_TYPE.name(7, GfxLevel::Gfx10), Some("cs_partial_flush"));
    assert_eq!(VGT_EVENT_TYPE.name(0xff, GfxLevel::Gfx10), None);
    assert_eq!(VGT_EVENT_TYPE.value("CS_partial_flush"), Some(7));
    assert_eq!(VGT_EVENT_TYPE.value("cs_partial"), None);
    let all: Vec<_> = VGT_EVENT_TYPE.all().map(|choice| (choice.value(), choice.name())).collect();
    assert!(all.is_sorted_by_key(|&(value, _)| value) && all.contains(&(7, "cs_partial_flush")));
}

#[test]
fn what_is_printed_of_a_register_is_its_name() {
    assert_eq!(format!("{COMPUTE_PGM_LO:?} {SCRATCH_EN:?}"), "COMPUTE_PGM_LO scratch_en");
    let value = RegisterValue::new(GfxLevel::Gfx10).with(SCRATCH_EN, 1).unwrap();
    assert_eq!(format!("{value:?}"), "COMPUTE_PGM_RSRC2 = 0x1");
}
