//! The identifier of a format.

/// A Vulkan format that the tables contain.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Format(pub(super) u8);

impl Format {
    pub(super) const fn at(place: u8) -> Self {
        Self(place)
    }
}
