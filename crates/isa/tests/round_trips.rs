//! Instructions whose fields are easily taken for one another: the text names each field, and assembles to the same dwords.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, assemble, decode};

fn is_text_of(level: GfxLevel, dwords: [u32; 2], text: &str) {
    assert_eq!(decode(level, WaveSize::Wave64, &dwords).unwrap().to_string(), text);
    assert_eq!(assemble(level, WaveSize::Wave64, text).unwrap().dwords(), dwords, "{level}: {text}");
}

#[test]
fn a_carry_goes_to_a_register_of_its_own_beside_the_sum() {
    for level in [GfxLevel::Gfx6, GfxLevel::Gfx7] {
        is_text_of(level, [0xd250_1405, 0x00c2_290a], "v_addc_u32_e64 v5, s[20:21], v10, v20, s[48:49]");
        is_text_of(level, [0xd252_1405, 0x00c2_290a], "v_subb_u32_e64 v5, s[20:21], v10, v20, s[48:49]");
        is_text_of(level, [0xd254_1405, 0x00c2_290a], "v_subbrev_u32_e64 v5, s[20:21], v10, v20, s[48:49]");
    }
}

#[test]
fn scratch_without_any_address_is_not_scratch_by_a_vector_address() {
    is_text_of(GfxLevel::Gfx10_3, [0xdc20_4000, 0x007f_0000], "scratch_load_ubyte v0, off, off");
    is_text_of(GfxLevel::Gfx10_3, [0xdc20_4000, 0x007d_0000], "scratch_load_ubyte v0, v0, off");
    is_text_of(GfxLevel::Gfx10_3, [0xdc20_4000, 0x0004_0000], "scratch_load_ubyte v0, off, s4");
}

#[test]
fn a_literal_follows_a_source_of_sixteen_bits() {
    is_text_of(GfxLevel::Gfx11, [0x7e02_38ff, 0xc800], "v_mov_b16_e32 v1.l, 0xc800");
    is_text_of(GfxLevel::Gfx12, [0x7e02_38ff, 0xc800], "v_mov_b16_e32 v1.l, 0xc800");
    let whole = decode(GfxLevel::Gfx11, WaveSize::Wave32, &[0x7e02_38ff, 0xffff_c800]).unwrap();
    assert_eq!((whole.dwords().len(), whole.literal()), (2, Some(0xffff_c800)));
}
