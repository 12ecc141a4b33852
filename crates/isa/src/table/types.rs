//! Data types of sources, from the names of operations.

/// The type of a vector source, as far as text and constants depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceType {
    /// 16-bit float.
    F16,
    /// Float of 32 or 64 bits.
    Float,
    /// 16-bit integer, signed or not.
    Int16,
    /// Anything else.
    Other,
}

impl SourceType {
    /// Returns `true` if sign modifiers apply.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Float)
    }

    /// Returns `true` if constants have 16 bits.
    pub(crate) fn is_16_bits(self) -> bool {
        matches!(self, Self::F16 | Self::Int16)
    }
}

/// The words of names that are types.
fn word(word: &str) -> Option<SourceType> {
    Some(match word {
        "f16" | "bf16" => SourceType::F16,
        "f32" | "f64" => SourceType::Float,
        "i16" | "u16" | "b16" => SourceType::Int16,
        "i32" | "u32" | "b32" | "i64" | "u64" | "b64" | "u24" | "i24" | "u8" | "i8" | "i4" | "u4" => SourceType::Other,
        _ => return None,
    })
}

/// Returns the type of source `index` of the operation `name`.
///
/// The last type in a name is that of the sources, with the exceptions below.
pub(crate) fn source_type(name: &str, index: u32) -> SourceType {
    let last = name.rsplit('_').find_map(word).unwrap_or(SourceType::Other);
    match (name, index) {
        // The sources of a dot product are pairs of halves, whose constants have 32 bits.
        ("v_cndmask_b32", 0 | 1) | ("v_dot2c_f32_f16" | "v_dot2acc_f32_f16", _) => SourceType::Float,
        ("v_cndmask_b16", 0 | 1) => SourceType::F16,
        ("v_ldexp_f32" | "v_ldexp_f64" | "v_trig_preop_f64", 1)
        | ("v_cvt_pk_u8_f32", 1 | 2)
        // The addend is as wide as the result.
        | ("v_mad_i32_i16" | "v_mad_u32_u16", 2)
        | ("v_sat_pk_u8_i16" | "v_sad_u16" | "v_pk_fmac_f16", _) => SourceType::Other,
        ("v_ldexp_f16", 1) => SourceType::Int16,
        _ if name.contains("_class_") && index == 1 || name.starts_with("v_div_scale_") => SourceType::Other,
        _ => last,
    }
}
