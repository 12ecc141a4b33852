//! Images without texels.

use std::fmt::Write as _;

use amdgpu_hw::GfxLevel;

use crate::machine::{places, results};

#[test]
fn an_image_without_a_format_reads_as_the_constants_of_its_view() {
    for place in places() {
        let dimension = if place.0 >= GfxLevel::Gfx10 { "dim:SQ_RSRC_IMG_1D" } else { "" };
        // Mesa's descriptor of textures that are not bound: a 1D image of which alpha is 1.
        let mut code = String::from("v_mov_b32_e32 v4, 0\n");
        for at in 8..20 {
            writeln!(code, "s_mov_b32 s{at}, {:#x}", if at == 11 { 8_u32 << 28 | 1 << 9 } else { 0 }).unwrap();
        }
        write!(
            code,
            "v_mov_b32_e32 v6, 7\nv_mov_b32_e32 v10, 7\nimage_store v[6:9], v4, s[8:15] dmask:0xf unorm {dimension}
            image_load v[6:9], v4, s[8:15] dmask:0xf unorm {dimension}
            image_sample v[10:13], v4, s[8:15], s[16:19] dmask:0xf {dimension}"
        )
        .unwrap();
        let code = if place.0 >= GfxLevel::Gfx12 { code.replace(" unorm", "") } else { code };
        let found = results(place, &code, &["v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13"], &[]);
        let opaque = [0, 0, 0, 1.0_f32.to_bits()];
        assert_eq!(found, [opaque, opaque].concat(), "{place:?}");
    }
}
