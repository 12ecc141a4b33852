//! Labels.

/// A place in the program, which branches can name before it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(pub(super) usize);
