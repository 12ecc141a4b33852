//! Properties of mode objects.
//!
//! Source: Linux 6.12 `drm_mode_config.c`, `drm_mode_create_standard_properties`; `drm_connector.c`.

use amdgpu_uapi::{
    MODE_OBJECT_CRTC, MODE_OBJECT_FB, MODE_PROP_ATOMIC, MODE_PROP_BLOB, MODE_PROP_ENUM, MODE_PROP_IMMUTABLE,
    MODE_PROP_OBJECT, MODE_PROP_RANGE, MODE_PROP_SIGNED_RANGE,
};

/// A property.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Property {
    pub(crate) name: &'static str,
    pub(crate) flags: u32,
    /// Bounds of a range, values of an enum, the kind of an object.
    pub(crate) values: &'static [u64],
    /// Names of an enum's values, in their order.
    pub(crate) names: &'static [&'static str],
}

/// The largest and the least number of 32 bits, with sign.
const MOST: u64 = 0x7fff_ffff;
const LEAST: u64 = 0xffff_ffff_8000_0000;

const fn plain(name: &'static str, flags: u32, values: &'static [u64]) -> Property {
    Property { name, flags, values, names: &[] }
}

const fn named(name: &'static str, flags: u32, values: &'static [u64], names: &'static [&'static str]) -> Property {
    Property { name, flags: flags | MODE_PROP_ENUM, values, names }
}

const fn source(name: &'static str) -> Property {
    plain(name, MODE_PROP_RANGE | MODE_PROP_ATOMIC, &[0, 0xffff_ffff])
}

const fn place(name: &'static str) -> Property {
    plain(name, MODE_PROP_SIGNED_RANGE | MODE_PROP_ATOMIC, &[LEAST, MOST])
}

const fn extent(name: &'static str) -> Property {
    plain(name, MODE_PROP_RANGE | MODE_PROP_ATOMIC, &[0, MOST])
}

/// All of them; the id of each is its place, from 1 on.
static ALL: [Property; 20] = [
    named("type", MODE_PROP_IMMUTABLE, &[0, 1, 2], &["Overlay", "Primary", "Cursor"]),
    plain("FB_ID", MODE_PROP_OBJECT | MODE_PROP_ATOMIC, &[MODE_OBJECT_FB as u64]),
    plain("CRTC_ID", MODE_PROP_OBJECT | MODE_PROP_ATOMIC, &[MODE_OBJECT_CRTC as u64]),
    source("SRC_X"),
    source("SRC_Y"),
    source("SRC_W"),
    source("SRC_H"),
    place("CRTC_X"),
    place("CRTC_Y"),
    extent("CRTC_W"),
    extent("CRTC_H"),
    plain("ACTIVE", MODE_PROP_RANGE | MODE_PROP_ATOMIC, &[0, 1]),
    plain("MODE_ID", MODE_PROP_BLOB | MODE_PROP_ATOMIC, &[]),
    plain("OUT_FENCE_PTR", MODE_PROP_RANGE | MODE_PROP_ATOMIC, &[0, u64::MAX]),
    plain("IN_FENCE_FD", MODE_PROP_SIGNED_RANGE | MODE_PROP_ATOMIC, &[u64::MAX, MOST]),
    plain("EDID", MODE_PROP_BLOB | MODE_PROP_IMMUTABLE, &[]),
    named("DPMS", 0, &[0, 1, 2, 3], &["On", "Standby", "Suspend", "Off"]),
    named("link-status", 0, &[0, 1], &["Good", "Bad"]),
    plain("non-desktop", MODE_PROP_RANGE | MODE_PROP_IMMUTABLE, &[0, 1]),
    plain("TILE", MODE_PROP_BLOB | MODE_PROP_IMMUTABLE, &[]),
];

/// Names of the properties of each kind of object.
pub(super) const PLANE: &[&str] = &[
    "type",
    "FB_ID",
    "IN_FENCE_FD",
    "CRTC_ID",
    "CRTC_X",
    "CRTC_Y",
    "CRTC_W",
    "CRTC_H",
    "SRC_X",
    "SRC_Y",
    "SRC_W",
    "SRC_H",
];
pub(super) const CRTC: &[&str] = &["ACTIVE", "MODE_ID", "OUT_FENCE_PTR"];
pub(super) const CONNECTOR: &[&str] = &["EDID", "DPMS", "link-status", "non-desktop", "TILE", "CRTC_ID"];

impl Property {
    /// The property with an id.
    pub(crate) fn find(id: u32) -> Option<&'static Self> {
        ALL.get(usize::try_from(id).ok()?.checked_sub(1)?)
    }

    /// Returns `true` if it has named values.
    pub(crate) const fn is_enum(&self) -> bool {
        self.flags & MODE_PROP_ENUM != 0
    }

    /// Returns `true` if only clients of atomic mode setting see it.
    pub(crate) const fn is_atomic(&self) -> bool {
        self.flags & MODE_PROP_ATOMIC != 0
    }
}

/// A property of an object, and its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) property: &'static Property,
    pub(crate) id: u32,
    pub(crate) value: u64,
}

impl Setting {
    /// The property of that name, of an object that is idle.
    pub(super) fn of(name: &str, is_primary: bool) -> Option<Self> {
        let (id, property) = (1_u32..).zip(&ALL).find(|(_, property)| property.name == name)?;
        let value = match name {
            "type" if is_primary => 1,
            "type" => 2,
            // A connector that nothing is plugged into is off.
            "DPMS" => 3,
            "IN_FENCE_FD" => u64::MAX,
            _ => 0,
        };
        Some(Self { property, id, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_names_what_there_is_and_values_are_allowed() {
        for name in [PLANE, CRTC, CONNECTOR].concat() {
            for is_primary in [false, true] {
                let found = Setting::of(name, is_primary).expect(name);
                assert_eq!(Property::find(found.id), Some(found.property));
                if found.property.is_enum() {
                    assert!(found.property.values.contains(&found.value), "{name}");
                }
            }
        }
        for property in &ALL {
            assert!(property.name.len() < 32);
            assert_eq!(property.names.len(), if property.is_enum() { property.values.len() } else { 0 });
        }
    }
}
