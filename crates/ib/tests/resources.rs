//! Descriptors below dispatches: in user data, in kept memory, and what is not known.

mod support;

use amdgpu_isa::{WaveSize, assemble};
use amdgpu_winsys::winsys::GfxLevel;
use support::{Scratch, run, text};

const LEVEL: GfxLevel = GfxLevel::Gfx10_3;
const IB: &str = "000004-compute-GFX10_3-100000.ib";

/// A dispatch of the shader at 0x80000200 in wave32 with these user data, of which `count` come into registers.
fn dispatch(user: &[u32], count: u32) -> Vec<u32> {
    let mut ib = vec![0xc002_7600, 0x20c, 0x80_0002, 0]; // COMPUTE_PGM_LO and _HI
    ib.extend([0xc001_7600, 0x213, count << 1]); // COMPUTE_PGM_RSRC2
    ib.extend([0xc000_7600 | (user.len() as u32) << 16, 0x240]); // COMPUTE_USER_DATA_0 and on
    ib.extend(user);
    ib.extend([0xc003_1500, 1, 1, 1, 1 << 15 | 1]);
    ib
}

fn shader(lines: &[&str]) -> Vec<u32> {
    let code = |line: &&str| assemble(LEVEL, WaveSize::Wave32, line).unwrap().dwords().to_vec();
    lines.iter().flat_map(code).collect()
}

/// Keeps an IB with its shader, and returns the directory with the IB's path.
fn kept(name: &str, ib: &[u32], lines: &[&str]) -> (Scratch, String) {
    let scratch = Scratch::new(name);
    scratch.put(IB, ib);
    scratch.put("000005-shader-GFX10_3-w32-80000200.bin", &shader(lines));
    let path = format!("{}/{IB}", scratch.0.display());
    (scratch, path)
}

/// The dwords of a buffer of 4096 bytes at 0x200000.
const BUFFER: [u32; 4] = [0x20_0000, 0, 0x1000, 0x3101_6fac];
const STORE: &str = "buffer_store_dword v1, v2, s[0:3], 0 offen";
const END: &str = "s_endpgm";

#[test]
fn a_descriptor_in_user_data_is_shown() {
    let (_scratch, ib) = kept("user-data", &dispatch(&BUFFER, 4), &[STORE, END]);
    let shown = text(&run(&["dump", &ib]).stdout);
    assert!(shown.contains("descriptors\n"), "{shown}");
    assert!(shown.contains("0000 s[0:3]: buffer, base_address 0x200000, num_records 4096"), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&text(&run(&["dump", &ib, "--json"]).stdout)).unwrap();
    let found = &json["ibs"][0]["packets"][3]["shader"]["descriptors"][0];
    assert_eq!((&found["kind"], &found["words"][3]), (&"buffer".into(), &0x3101_6fac_u32.into()));
    assert_eq!(found["descriptor"]["fields"]["num_records"], 4096);
}

#[test]
fn a_shader_whose_high_address_another_ib_set_is_the_one_that_was_kept() {
    // As RADV does: COMPUTE_PGM_HI is in the preamble, an IB of its own.
    let mut ib = vec![0xc001_7600, 0x20c, 0x80_0002];
    ib.extend(dispatch(&BUFFER, 4).into_iter().skip(4));
    let (scratch, path) = kept("preamble", &ib, &[STORE, END]);
    let shown = text(&run(&["dump", &path]).stdout);
    assert!(shown.contains("0000 s[0:3]: buffer, base_address 0x200000, num_records 4096"), "{shown}");
    // Another shader than the one of the low address is not taken for it.
    ib[2] = 0x80_0003;
    scratch.put(IB, &ib);
    let shown = text(&run(&["dump", &path]).stdout);
    assert!(shown.contains("DISPATCH_DIRECT") && !shown.contains("descriptors"), "{shown}");
}

#[test]
fn registers_behind_the_user_data_are_not_taken_for_them() {
    let (_scratch, ib) = kept("count", &dispatch(&BUFFER, 3), &[STORE, END]);
    let shown = text(&run(&["dump", &ib]).stdout);
    assert!(shown.contains("0000 s[0:3]: buffer, not followed\n"), "{shown}");
}

#[test]
fn a_descriptor_in_memory_is_shown_where_its_memory_was_kept() {
    let lines = ["s_load_dwordx4 s[0:3], s[4:5], 0x10", STORE, END];
    let (scratch, ib) = kept("memory", &dispatch(&[0, 0, 0, 0, 0x9000, 0], 6), &lines);
    let shown = text(&run(&["dump", &ib]).stdout);
    assert!(shown.contains("s[0:3] from 0x9010: buffer, memory that was not kept\n"), "{shown}");
    scratch.put("000006-memory-9010.bin", &BUFFER);
    let shown = text(&run(&["dump", &ib]).stdout);
    assert!(shown.contains("s[0:3] from 0x9010: buffer, base_address 0x200000"), "{shown}");
}

#[test]
fn memory_of_a_later_ib_is_not_taken() {
    let lines = ["s_load_dwordx4 s[0:3], s[4:5], 0x10", STORE, END];
    let (scratch, ib) = kept("later", &dispatch(&[0, 0, 0, 0, 0x9000, 0], 6), &lines);
    scratch.put("000007-compute-GFX10_3-200000.ib", &[0xffff_1000]);
    scratch.put("000008-memory-9010.bin", &BUFFER);
    let shown = text(&run(&["dump", &ib]).stdout);
    assert!(shown.contains("buffer, memory that was not kept\n"), "{shown}");
}

#[test]
fn images_and_samplers_are_told_by_their_instruction() {
    let lines = ["image_sample v[0:3], v[4:5], s[4:11], s[0:3] dmask:0xf dim:SQ_RSRC_IMG_2D", END];
    let (_scratch, ib) = kept("image", &dispatch(&[7; 12], 12), &lines);
    let shown = text(&run(&["dump", &ib]).stdout);
    assert!(shown.contains("0000 s[4:11]: image, ") && shown.contains("0000 s[0:3]: sampler, "), "{shown}");
}
