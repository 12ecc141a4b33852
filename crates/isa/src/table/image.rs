//! The addresses of image instructions.

use amdgpu_hw::GfxLevel;

/// Dimensions of an image instruction of GFX10 and later, by the number in its `dim` field: coordinates and gradients.
const DIMENSIONS: [(u32, u32); 8] = [(1, 2), (2, 4), (3, 6), (3, 4), (2, 2), (3, 4), (3, 4), (4, 4)];

/// Returns the number of address dwords that an image operation reads.
///
/// Offset, bias and reference value come first, a dword each; then gradients; then coordinates and one of level of
/// detail, clamp and mip level. With 16-bit addresses (`a16`) the last group is packed in pairs, and so are gradients
/// where the generation has no separate mode for them or the operation is a `_g16` one.
///
/// Source: the operand order of the ISA guides, "Image Addressing", compared with LLVM's text of RADV's shaders.
pub(crate) fn image_address_dwords(level: GfxLevel, name: &str, dim: u32, a16: bool) -> u32 {
    let (coordinates, gradients) = DIMENSIONS[dim as usize & 7];
    let has = |word: &str| name.split('_').any(|part| part == word);
    let count = |condition: bool| u32::from(condition);
    if name == "image_get_resinfo" {
        return 1;
    }
    let extra = count(has("o")) + count(has("b")) + count(has("c"));
    let last = count(has("l") || has("cl") || has("mip"));
    let components = coordinates + last;
    let components = if a16 { components.div_ceil(2) } else { components };
    let derivatives = has("d") || has("cd");
    let packed = has("g16") || a16 && level < GfxLevel::Gfx10;
    let gradients = match (derivatives, packed) {
        (false, _) => 0,
        (true, false) => gradients,
        (true, true) => (gradients / 2).next_multiple_of(2),
    };
    extra + gradients + components
}
