//! The registers of outstanding memory operations.

/// The registers that outstanding memory operations read or write. The numbers of vector registers start at 256.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) registers: [bool; 512],
    pub(super) any: bool,
}

impl Default for Pending {
    fn default() -> Self {
        Self { registers: [false; 512], any: false }
    }
}
