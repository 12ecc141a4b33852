//! Properties of planes, CRTCs and connectors.
//!
//! Source: Linux 6.12 `drm_mode_config.c`, `drm_mode_create_standard_properties`; `drm_plane.c`, `drm_crtc.c`,
//! `drm_connector.c` and `drm_color_mgmt.c`; `drm_property.c`, `drm_property_change_valid_get`; Linux 7.2 `drm_colorop.c`.

use amdgpu_uapi::{
    MODE_OBJECT_COLOROP, MODE_OBJECT_CRTC, MODE_OBJECT_FB, MODE_PROP_ATOMIC, MODE_PROP_BLOB, MODE_PROP_ENUM,
    MODE_PROP_IMMUTABLE, MODE_PROP_OBJECT, MODE_PROP_RANGE, MODE_PROP_SIGNED_RANGE,
};

/// The meaning of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    PlaneType,
    FbId,
    CrtcId,
    SrcX,
    SrcY,
    SrcW,
    SrcH,
    CrtcX,
    CrtcY,
    CrtcW,
    CrtcH,
    Active,
    ModeId,
    OutFencePtr,
    InFenceFd,
    Edid,
    Dpms,
    LinkStatus,
    NonDesktop,
    Tile,
    InFormats,
    GammaLut,
    GammaLutSize,
    ColorEncoding,
    ColorRange,
    /// The pipeline of the primary plane with this index. Each plane has a property of its own, because their values differ.
    ColorPipeline(u32),
    OpType,
    Bypass,
    Next,
    /// The curve of an operation that makes light of values, and of one that makes values of light.
    Curve,
    InverseCurve,
    Size,
    Lut1dInterpolation,
    Lut3dInterpolation,
    Data,
    Multiplier,
}

/// A property.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Property {
    pub(crate) key: Key,
    pub(crate) name: &'static str,
    pub(crate) flags: u32,
    /// The bounds of a range, the values of an enum, or the type of an object.
    pub(crate) values: &'static [u64],
    /// The names of an enum's values, in the order of the values.
    pub(crate) names: &'static [&'static str],
}

/// The largest and the smallest signed number of 32 bits, as 64 bits.
const MOST: u64 = 0x7fff_ffff;
const LEAST: u64 = 0xffff_ffff_8000_0000;

const fn plain(key: Key, name: &'static str, flags: u32, values: &'static [u64]) -> Property {
    Property { key, name, flags, values, names: &[] }
}

const fn named(
    key: Key,
    name: &'static str,
    flags: u32,
    values: &'static [u64],
    names: &'static [&'static str],
) -> Property {
    Property { key, name, flags: flags | MODE_PROP_ENUM, values, names }
}

const fn pipeline(plane: u32, values: &'static [u64], names: &'static [&'static str]) -> Property {
    named(Key::ColorPipeline(plane), "COLOR_PIPELINE", MODE_PROP_ATOMIC, values, names)
}

const fn source(key: Key, name: &'static str) -> Property {
    plain(key, name, MODE_PROP_RANGE | MODE_PROP_ATOMIC, &[0, 0xffff_ffff])
}

const fn place(key: Key, name: &'static str) -> Property {
    plain(key, name, MODE_PROP_SIGNED_RANGE | MODE_PROP_ATOMIC, &[LEAST, MOST])
}

const fn extent(key: Key, name: &'static str) -> Property {
    plain(key, name, MODE_PROP_RANGE | MODE_PROP_ATOMIC, &[0, MOST])
}

/// All properties. The id of a property is its position, counted from 1.
static ALL: [Property; 41] = [
    named(Key::PlaneType, "type", MODE_PROP_IMMUTABLE, &[0, 1, 2], &["Overlay", "Primary", "Cursor"]),
    plain(Key::FbId, "FB_ID", MODE_PROP_OBJECT | MODE_PROP_ATOMIC, &[MODE_OBJECT_FB as u64]),
    plain(Key::CrtcId, "CRTC_ID", MODE_PROP_OBJECT | MODE_PROP_ATOMIC, &[MODE_OBJECT_CRTC as u64]),
    source(Key::SrcX, "SRC_X"),
    source(Key::SrcY, "SRC_Y"),
    source(Key::SrcW, "SRC_W"),
    source(Key::SrcH, "SRC_H"),
    place(Key::CrtcX, "CRTC_X"),
    place(Key::CrtcY, "CRTC_Y"),
    extent(Key::CrtcW, "CRTC_W"),
    extent(Key::CrtcH, "CRTC_H"),
    plain(Key::Active, "ACTIVE", MODE_PROP_RANGE | MODE_PROP_ATOMIC, &[0, 1]),
    plain(Key::ModeId, "MODE_ID", MODE_PROP_BLOB | MODE_PROP_ATOMIC, &[]),
    plain(Key::OutFencePtr, "OUT_FENCE_PTR", MODE_PROP_RANGE | MODE_PROP_ATOMIC, &[0, u64::MAX]),
    plain(Key::InFenceFd, "IN_FENCE_FD", MODE_PROP_SIGNED_RANGE | MODE_PROP_ATOMIC, &[u64::MAX, MOST]),
    plain(Key::Edid, "EDID", MODE_PROP_BLOB | MODE_PROP_IMMUTABLE, &[]),
    named(Key::Dpms, "DPMS", 0, &[0, 1, 2, 3], &["On", "Standby", "Suspend", "Off"]),
    named(Key::LinkStatus, "link-status", 0, &[0, 1], &["Good", "Bad"]),
    plain(Key::NonDesktop, "non-desktop", MODE_PROP_RANGE | MODE_PROP_IMMUTABLE, &[0, 1]),
    plain(Key::Tile, "TILE", MODE_PROP_BLOB | MODE_PROP_IMMUTABLE, &[]),
    plain(Key::InFormats, "IN_FORMATS", MODE_PROP_BLOB | MODE_PROP_IMMUTABLE, &[]),
    plain(Key::GammaLut, "GAMMA_LUT", MODE_PROP_BLOB, &[]),
    plain(Key::GammaLutSize, "GAMMA_LUT_SIZE", MODE_PROP_RANGE | MODE_PROP_IMMUTABLE, &[0, u64::MAX]),
    named(
        Key::ColorEncoding,
        "COLOR_ENCODING",
        0,
        &[0, 1, 2],
        &["ITU-R BT.601 YCbCr", "ITU-R BT.709 YCbCr", "ITU-R BT.2020 YCbCr"],
    ),
    named(Key::ColorRange, "COLOR_RANGE", 0, &[0, 1], &["YCbCr limited range", "YCbCr full range"]),
    pipeline(0, &[0, 128], &["Bypass", "Color Pipeline 128"]),
    pipeline(1, &[0, 136], &["Bypass", "Color Pipeline 136"]),
    pipeline(2, &[0, 144], &["Bypass", "Color Pipeline 144"]),
    pipeline(3, &[0, 152], &["Bypass", "Color Pipeline 152"]),
    pipeline(4, &[0, 160], &["Bypass", "Color Pipeline 160"]),
    pipeline(5, &[0, 168], &["Bypass", "Color Pipeline 168"]),
    named(
        Key::OpType,
        "TYPE",
        MODE_PROP_IMMUTABLE,
        &[0, 1, 2, 3, 4],
        &["1D Curve", "1D LUT", "3x4 Matrix", "Multiplier", "3D LUT"],
    ),
    plain(Key::Bypass, "BYPASS", MODE_PROP_RANGE | MODE_PROP_ATOMIC, &[0, 1]),
    plain(Key::Next, "NEXT", MODE_PROP_OBJECT | MODE_PROP_IMMUTABLE | MODE_PROP_ATOMIC, &[MODE_OBJECT_COLOROP as u64]),
    named(
        Key::Curve,
        "CURVE_1D_TYPE",
        MODE_PROP_ATOMIC,
        &[0, 2, 4, 6],
        &["sRGB EOTF", "PQ 125 EOTF", "BT.2020 Inverse OETF", "Gamma 2.2"],
    ),
    named(
        Key::InverseCurve,
        "CURVE_1D_TYPE",
        MODE_PROP_ATOMIC,
        &[1, 3, 5, 7],
        &["sRGB Inverse EOTF", "PQ 125 Inverse EOTF", "BT.2020 OETF", "Gamma 2.2 Inverse"],
    ),
    plain(Key::Size, "SIZE", MODE_PROP_RANGE | MODE_PROP_IMMUTABLE | MODE_PROP_ATOMIC, &[0, 0xffff_ffff]),
    named(Key::Lut1dInterpolation, "LUT1D_INTERPOLATION", MODE_PROP_ATOMIC, &[0], &["Linear"]),
    named(Key::Lut3dInterpolation, "LUT3D_INTERPOLATION", MODE_PROP_ATOMIC, &[0], &["Tetrahedral"]),
    plain(Key::Data, "DATA", MODE_PROP_BLOB | MODE_PROP_ATOMIC, &[]),
    plain(Key::Multiplier, "MULTIPLIER", MODE_PROP_RANGE | MODE_PROP_ATOMIC, &[0, u64::MAX]),
];

/// The entries of a table of one dimension, and those of a side of a cube.
pub(super) const LUT_SIZE: u64 = 4096;
pub(super) const LUT_3D_SIDE: u64 = 17;

/// The properties of each type of object. A plane has one pipeline at most.
pub(super) const PLANE: &[Key] = &[
    Key::PlaneType,
    Key::FbId,
    Key::InFenceFd,
    Key::CrtcId,
    Key::CrtcX,
    Key::CrtcY,
    Key::CrtcW,
    Key::CrtcH,
    Key::SrcX,
    Key::SrcY,
    Key::SrcW,
    Key::SrcH,
    Key::InFormats,
    Key::ColorEncoding,
    Key::ColorRange,
    Key::ColorPipeline(0),
    Key::ColorPipeline(1),
    Key::ColorPipeline(2),
    Key::ColorPipeline(3),
    Key::ColorPipeline(4),
    Key::ColorPipeline(5),
];
pub(super) const CRTC: &[Key] = &[Key::Active, Key::ModeId, Key::OutFencePtr, Key::GammaLut, Key::GammaLutSize];
pub(super) const CONNECTOR: &[Key] = &[Key::Edid, Key::Dpms, Key::LinkStatus, Key::NonDesktop, Key::Tile, Key::CrtcId];

/// The meaning of a value of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// A number, of which the property itself gives the valid ones.
    Number,
    /// The blob with this id.
    Blob(u32),
    /// The object with this type and id.
    Object(u32, u32),
}

impl Property {
    /// Returns the property with an id.
    pub(crate) fn find(id: u32) -> Option<&'static Self> {
        ALL.get(usize::try_from(id).ok()?.checked_sub(1)?)
    }

    /// Returns the property with a meaning, and its id.
    pub(crate) fn of(key: Key) -> Option<(u32, &'static Self)> {
        (1_u32..).zip(&ALL).find(|(_, property)| property.key == key)
    }

    /// Returns `true` if the property has named values.
    pub(crate) const fn is_enum(&self) -> bool {
        self.flags & MODE_PROP_ENUM != 0
    }

    /// Returns `true` if only clients of atomic mode setting see the property.
    pub(crate) const fn is_atomic(&self) -> bool {
        self.flags & MODE_PROP_ATOMIC != 0
    }

    /// Returns the meaning of a value that a client may set; `None` if the client may not set it.
    pub(crate) fn takes(&self, value: u64) -> Option<Takes> {
        const EXTENDED: u32 = MODE_PROP_OBJECT | MODE_PROP_SIGNED_RANGE;
        if self.flags & MODE_PROP_IMMUTABLE != 0 {
            return None;
        }
        // Ids have 32 bits; the upper bits are cut off.
        let id = value as u32;
        if self.flags & MODE_PROP_BLOB != 0 {
            return Some(if value == 0 { Takes::Number } else { Takes::Blob(id) });
        }
        let (first, last) = (self.values.first().copied()?, self.values.last().copied()?);
        let is_allowed = match self.flags & EXTENDED {
            MODE_PROP_OBJECT if value == 0 => true,
            MODE_PROP_OBJECT => return Some(Takes::Object(first as u32, id)),
            MODE_PROP_SIGNED_RANGE => (first.cast_signed()..=last.cast_signed()).contains(&value.cast_signed()),
            _ if self.is_enum() => self.values.contains(&value),
            _ => (first..=last).contains(&value),
        };
        is_allowed.then_some(Takes::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_names_what_there_is() {
        for key in [PLANE, CRTC, CONNECTOR].concat() {
            let (id, property) = Property::of(key).expect("a line of the table");
            assert_eq!(Property::find(id), Some(property));
        }
        for property in &ALL {
            assert!(property.name.len() < 32);
            assert_eq!(property.names.len(), if property.is_enum() { property.values.len() } else { 0 });
            assert_eq!(Property::of(property.key).map(|(_, found)| found), Some(property), "a key each");
        }
    }

    #[test]
    fn values_are_allowed_by_the_kind_of_the_property() {
        let takes = |key, value| Property::of(key).and_then(|(_, property)| property.takes(value));
        for (key, value, expected) in [
            (Key::Active, 1, Some(Takes::Number)),
            (Key::Active, 2, None),
            (Key::CrtcX, u64::MAX, Some(Takes::Number)),
            (Key::CrtcX, 0x8000_0000, None),
            (Key::Dpms, 3, Some(Takes::Number)),
            (Key::Dpms, 4, None),
            (Key::FbId, 0, Some(Takes::Number)),
            (Key::FbId, 7, Some(Takes::Object(MODE_OBJECT_FB, 7))),
            (Key::ModeId, 0, Some(Takes::Number)),
            (Key::ModeId, 7, Some(Takes::Blob(7))),
            (Key::PlaneType, 1, None),
            (Key::Edid, 0, None),
        ] {
            assert_eq!(takes(key, value), expected, "{key:?} {value}");
        }
    }
}
