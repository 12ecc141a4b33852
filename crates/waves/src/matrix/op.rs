//! Decoded multiplications of matrices.

use super::{element::Element, layout::Layout};

/// A product of matrices A and B, added to C: D = A * B + C. C and D have 16 rows and columns.
#[derive(Clone, Debug)]
pub(crate) struct MatrixOp {
    pub(super) layout: Layout,
    /// The columns of A, which are the rows of B.
    pub(super) depth: u32,
    pub(super) a: Factor,
    pub(super) b: Factor,
    pub(super) added: Added,
    /// The type of C and D.
    pub(super) result: Element,
    /// The first register of D.
    pub(super) destination: u16,
    /// `true` if results of 16 bits on GFX11 are the upper halves of registers.
    pub(super) high: bool,
    pub(super) saturates: bool,
    /// The positions of the elements of A, if A is sparse.
    pub(super) index: Option<Index>,
}

/// A matrix that is multiplied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor {
    pub(super) element: Element,
    /// The first register.
    pub(super) register: u16,
    /// `true` if the sign of elements in the lower, and in the upper halves of registers is changed.
    pub(super) negates: [bool; 2],
}

/// The matrix C.
#[derive(Clone, Copy, Debug)]
pub(super) struct Added {
    pub(super) place: Place,
    pub(super) negates: bool,
    pub(super) is_absolute: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// The first register.
    Registers(u16),
    /// The bits of all elements.
    Constant(u32),
}

/// The register that tells which two elements of four a sparse matrix has, two bits for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Index {
    pub(super) register: u16,
    /// The part of the register, counted in parts as large as a lane's elements need.
    pub(super) key: u32,
}

impl MatrixOp {
    /// Returns the number of elements of A in each row that registers hold.
    pub(super) fn stored_depth(&self) -> u32 {
        if self.index.is_some() { self.depth / 2 } else { self.depth }
    }

    /// Returns the largest VGPR that the operation names.
    pub(crate) fn largest_vgpr(&self) -> u32 {
        let last = |(first, dwords): (u16, u32)| u32::from(first) + dwords - 1;
        self.read_vgprs().chain([self.written_vgprs()]).map(last).max().unwrap_or(0)
    }

    /// Returns the runs of VGPRs that the operation reads: the first register and the number of registers.
    pub(crate) fn read_vgprs(&self) -> impl Iterator<Item = (u16, u32)> {
        let layout = self.layout;
        let added = match self.added.place {
            Place::Registers(first) => Some((first, layout.sum_dwords(self.result))),
            Place::Constant(_) => None,
        };
        let factors = [
            (self.a.register, layout.factor_dwords(self.stored_depth(), self.a.element)),
            (self.b.register, layout.factor_dwords(self.depth, self.b.element)),
        ];
        factors.into_iter().chain(added).chain(self.index.map(|index| (index.register, 1)))
    }

    /// Returns the first VGPR of the result, and the number of registers.
    pub(crate) fn written_vgprs(&self) -> (u16, u32) {
        (self.destination, self.layout.sum_dwords(self.result))
    }
}
