//! Deliberate mistakes of the fixed functions, for tests of tests.

/// A deliberate mistake of the fixed functions, to prove that a test detects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DrawMutation {
    /// Right and bottom edges belong to a triangle, and top and left ones do not.
    WrongEdge,
    /// Red and blue of exported colours are exchanged.
    SwappedChannel,
    /// Depths that pass are not stored.
    StaleDepth,
}
