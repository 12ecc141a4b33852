//! References to the memory that commands access.

use crate::{
    cs::record::list::once::Once,
    winsys::{Binding, ResidencySet},
};

/// The memory that the commands of a stream or list access, without that of the IB.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) bindings: Once<Binding>,
    pub(super) sets: Once<ResidencySet>,
}
