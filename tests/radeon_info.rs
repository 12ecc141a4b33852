//! The facts under Mesa's names, beside what RADV 26.2.6 prints of the same chips (`tests/data/radeon-info/NAME.txt`, the output of
//! `RADV_DEBUG=info` on Mesa's no-op shim).

mod support;

use amdgpu_winsys::winsys::RadeonField;
use support::device_like_the_recording;

/// Fields that RADV prints and the library does not: Mesa's own numbers and paths, workarounds, and what depends on Mesa's code.
const LEFT_OUT: &[&str] = &[
    "dev_filename",
    "family",
    "gfx_level",
    "has_set_context_pairs_packed",
    "has_set_sh_pairs_packed",
    "use_display_dcc_unaligned",
    "use_display_dcc_with_retile_blit",
    "min_alloc_size",
    "userq_ip_mask",
    "IP UVD     max_submitted_ibs",
    "IP VCE     max_submitted_ibs",
    "IP UVD_ENC max_submitted_ibs",
    "IP VCN_DEC max_submitted_ibs",
    "IP VCN_ENC max_submitted_ibs",
    "spi_cu_en_has_effect",
    "has_sram_ecc_enabled",
    "max_alignment",
];

/// Returns the fields of a recorded text. The parts of GB_ADDR_CONFIG are a section of their own; the modifiers behind it are left out.
fn recorded(text: &str) -> Vec<RadeonField> {
    let mut section = "";
    let mut fields = Vec::new();
    for line in text.lines() {
        if let Some(value) = line.strip_prefix("GB_ADDR_CONFIG: ") {
            let name = "GB_ADDR_CONFIG".to_owned();
            fields.push(RadeonField { section: "Render backend info", name, value: value.to_owned() });
            section = "GB_ADDR_CONFIG";
            continue;
        }
        match line.trim().split_once(" = ") {
            _ if !line.starts_with(' ') => section = line.trim_end_matches(':').to_owned().leak(),
            Some((name, value)) => {
                fields.push(RadeonField { section, name: name.to_owned(), value: value.to_owned() });
            }
            None => {}
        }
    }
    fields
}

#[test]
fn fields_of_every_recorded_chip_are_those_that_radv_prints() {
    let mut wrong = Vec::new();
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/radeon-info")).unwrap();
    let mut texts: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    texts.retain(|path| path.extension().is_some_and(|ending| ending == "txt"));
    assert!(texts.len() > 20, "{}", texts.len());
    for path in texts {
        let name = path.file_name().unwrap().to_str().unwrap().trim_end_matches(".txt");
        let known = recorded(&std::fs::read_to_string(&path).unwrap());
        let ours = device_like_the_recording(name).info().radeon_info();
        // The name of a card is that of the table at hand: RADV's is that of the installed libdrm.
        for field in ours.iter().filter(|field| field.name != "marketing_name") {
            let same = |other: &&RadeonField| (other.section, &other.name) == (field.section, &field.name);
            match known.iter().find(same) {
                Some(other) if other.value == field.value => {}
                other => wrong.push(format!("{name}: {field}, and RADV prints {:?}", other.map(|other| &other.value))),
            }
        }
        let is_ours = |name: &str| ours.iter().any(|field| field.name == name);
        let is_left_out = |name: &str| LEFT_OUT.contains(&name) || name.ends_with("_bug") || name.contains("_bug_");
        for field in known.iter().filter(|field| !is_ours(&field.name) && !is_left_out(&field.name)) {
            wrong.push(format!("{name}: nothing is said of {field}"));
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn fields_come_in_the_order_of_mesas() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/radeon-info/navi21.txt");
    let known = recorded(&std::fs::read_to_string(path).unwrap());
    let ours = device_like_the_recording("navi21").info().radeon_info();
    let places = ours.iter().map(|field| known.iter().position(|other| other.name == field.name).unwrap());
    assert!(places.is_sorted());
}

#[test]
fn chips_without_a_recording_have_what_mesa_derives_from_their_family_and_engines() {
    // As `.ci/programs/sid` finds them with RADV 26.2.6 on the simulator.
    for (name, field, expected) in [
        ("oland", "smaller_tcs_workgroups", "0"),
        ("tahiti", "smaller_tcs_workgroups", "1"),
        ("rembrandt", "has_ngg_passthru_no_msg", "0"),
        ("navi23", "has_ngg_passthru_no_msg", "1"),
    ] {
        let fields = support::device(name).info().radeon_info();
        let found = fields.iter().find(|one| one.name == field).unwrap();
        assert_eq!(found.value, expected, "{name}: {field}");
    }
}
