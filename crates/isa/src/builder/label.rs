//! Labels.

/// A position in the program. Branches can refer to a label before it is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(pub(super) usize);
