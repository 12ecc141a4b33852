//! The inputs of the pixel shader.

use amdgpu_hw::GfxLevel;
use amdgpu_registers::constants as r;

use crate::Registers;

/// An attribute of the pixel shader: SPI_PS_INPUT_CNTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attribute {
    /// The number of the vertex program's parameter; `None` for a constant.
    pub parameter: Option<u32>,
    /// The constant: 0: zeroes; 1: zeroes and one; 2: ones and zero; 3: ones.
    pub constant: u32,
    /// `true` if the provoking vertex gives the value.
    pub is_flat: bool,
    /// `true` if the shader gets the values of all three vertices.
    pub is_explicit: bool,
    /// `true` if the primitive has the value.
    pub is_of_primitive: bool,
    /// `true` if the place in a point replaces the value.
    pub is_point_coordinate: bool,
    /// `true` for pairs of 16-bit values.
    pub is_half: bool,
}

/// The inputs of the pixel shader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PixelInputs {
    /// The values that are loaded: SPI_PS_INPUT_ENA.
    pub loaded: u32,
    /// The values that have registers: SPI_PS_INPUT_ADDR.
    pub placed: u32,
    /// The attributes.
    pub attributes: Vec<Attribute>,
    /// The place of the position: 0 the centre, 1 the centroid, 2 the sample.
    pub position_location: u32,
    /// `true` if the position is the upper left corner of the pixel.
    pub position_is_corner: bool,
    /// `true` if facing is all bits, rather than the sign of a float.
    pub facing_is_mask: bool,
    /// The values that replace the components of those attributes in points; `None` if nothing is replaced.
    pub points: Option<PointValues>,
}

/// A component of the value that an attribute has in a point: SPI_INTERP_CONTROL_0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointValue {
    /// Zero.
    Zero,
    /// One.
    One,
    /// The place from the left.
    Across,
    /// The place from the top, or from the bottom.
    Down,
    /// The vertex program's own value.
    Kept,
}

/// The values that attributes have in points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointValues {
    /// The four components.
    pub components: [PointValue; 4],
    /// `true` if places are counted from the bottom.
    pub is_from_bottom: bool,
}

impl PointValues {
    fn new(registers: &Registers<'_>) -> Self {
        let component = |name| match registers.field(r::SPI_INTERP_CONTROL_0, name) {
            0 => PointValue::Zero,
            1 => PointValue::One,
            2 => PointValue::Across,
            3 => PointValue::Down,
            _ => PointValue::Kept,
        };
        Self {
            components: ["pnt_sprite_ovrd_x", "pnt_sprite_ovrd_y", "pnt_sprite_ovrd_z", "pnt_sprite_ovrd_w"]
                .map(component),
            is_from_bottom: registers.field(r::SPI_INTERP_CONTROL_0, "pnt_sprite_top_1") != 0,
        }
    }
}

impl PixelInputs {
    pub(super) fn new(registers: &Registers<'_>) -> Self {
        let level = registers.level();
        let field = |register, name| registers.field(register, name);
        let counts = if level >= GfxLevel::Gfx12 { r::SPI_SHADER_GS_OUT_CONFIG_PS } else { r::SPI_PS_IN_CONTROL };
        // GFX11 counts both kinds in the first field; there the second is zero.
        let count = field(counts, "num_interp") + field(counts, "num_prim_interp");
        let control = [r::SPI_PS_INPUT_CNTL_0, r::SPI_PS_INPUT_CNTL_1];
        let first_of_primitive = if level == GfxLevel::Gfx10_3 { field(counts, "num_interp") } else { u32::MAX };
        let sprites = field(r::SPI_INTERP_CONTROL_0, "pnt_sprite_ena") != 0;
        let attribute = |index: u32| {
            let of = |name| registers.element_field(control, index, name);
            let (offset, is_flat) = (of("offset"), of("flat_shade") != 0);
            let is_constant = offset >> 5 & 1 != 0;
            Attribute {
                parameter: (!is_constant || is_flat).then_some(offset & 31),
                constant: of("default_val"),
                is_flat: is_flat && !is_constant,
                is_explicit: is_flat && is_constant,
                is_of_primitive: of("prim_attr") != 0 || index >= first_of_primitive,
                is_point_coordinate: sprites && of("pt_sprite_tex") != 0,
                is_half: of("fp16_interp_mode") != 0,
            }
        };
        Self {
            loaded: registers.raw(r::SPI_PS_INPUT_ENA) & 0xffff,
            placed: registers.raw(r::SPI_PS_INPUT_ADDR) & 0xffff,
            attributes: (0..count.min(32)).map(attribute).collect(),
            position_location: field(r::SPI_BARYC_CNTL, "pos_float_location"),
            position_is_corner: field(r::SPI_BARYC_CNTL, "pos_float_ulc") != 0,
            facing_is_mask: field(r::SPI_BARYC_CNTL, "front_face_all_bits") != 0,
            points: sprites.then(|| PointValues::new(registers)),
        }
    }
}
