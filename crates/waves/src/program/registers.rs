//! The VGPRs that operations name.

use super::{
    data::DataKind,
    decoded_inst::{
        BufferOp, Destination, FlatOp, LaneKind, LaneOp, LdsKind, LdsOp, LdsTransfer, LdsTransferAccess, MemoryKind,
        Source, Vector,
    },
};

/// Returns the last of the `count` registers that start at `first`.
fn last(first: u16, count: u16) -> u32 {
    u32::from(first) + u32::from(count.max(1)) - 1
}

fn of_source(source: Source, dwords: u8) -> Option<u32> {
    match source {
        Source::Vgpr(register) => Some(last(register, dwords.into())),
        _ => None,
    }
}

impl Vector {
    /// Returns the largest VGPR that the operation names.
    pub(crate) fn largest_vgpr(&self) -> Option<u32> {
        if !self.operation.traits.is_wide {
            let used = &self.sources[..self.operation.sources.len().min(3)];
            let vgpr = |source: &Source| if let Source::Vgpr(register) = source { i32::from(*register) } else { -1 };
            let largest = used.iter().map(vgpr).fold(-1, i32::max);
            let written = if let Destination::Vgpr(register) = self.destination { i32::from(register) } else { -1 };
            return u32::try_from(largest.max(written)).ok();
        }
        let types = self.operation.sources.iter();
        let sources =
            self.sources.iter().zip(types).filter_map(|(source, kind)| of_source(*source, kind.dwords())).max();
        let destination = match self.destination {
            Destination::Vgpr(register) => Some(last(register, self.operation.result.dwords().into())),
            _ => None,
        };
        sources.max(destination)
    }
}

impl LaneOp {
    /// Returns the largest VGPR that the operation names.
    pub(crate) fn largest_vgpr(&self) -> Option<u32> {
        let sources = self.sources.iter().filter_map(|source| of_source(*source, 1)).max();
        let scalar = matches!(self.kind, LaneKind::ReadFirst | LaneKind::Read);
        sources.max((!scalar).then(|| self.destination.into()))
    }
}

/// Returns the registers that data takes at most.
fn registers(kind: DataKind) -> u16 {
    kind.data().registers(false)
}

impl LdsKind {
    /// Returns the numbers of VGPRs of the first and second data that is read, and of the result.
    pub(crate) fn registers(self) -> (u16, u16, u16) {
        match self {
            Self::Access(kind @ DataKind::Load(_)) => (0, 0, registers(kind)),
            Self::Access(kind) => (registers(kind), 0, 0),
            Self::Load2(bytes) => (0, 0, u16::from(bytes) / 2),
            Self::Store2(bytes) => (u16::from(bytes) / 4, u16::from(bytes) / 4, 0),
            Self::Exchange2(bytes) => (u16::from(bytes) / 4, u16::from(bytes) / 4, u16::from(bytes) / 2),
            Self::Atomic { atomic, bytes, returns, .. } => {
                let dwords = u16::from(bytes) / 4;
                (dwords, if atomic.compares() { dwords } else { 0 }, if returns { dwords } else { 0 })
            }
            Self::AtomicFromMemory { .. } => (0, 0, 0),
            Self::Append(_) | Self::Swizzle => (0, 0, 1),
            Self::Permute | Self::BackwardPermute => (1, 0, 1),
            Self::LaneAddress(store) => (u16::from(store), 0, u16::from(!store)),
        }
    }

    /// Returns `true` for stores and atomic operations.
    pub(crate) fn stores(self) -> bool {
        match self {
            Self::Access(DataKind::Load(_)) | Self::Load2(_) => false,
            Self::Swizzle | Self::Permute | Self::BackwardPermute => false,
            Self::LaneAddress(store) => store,
            Self::Access(DataKind::Store(_)) | Self::Store2(_) | Self::Exchange2(_) => true,
            Self::Atomic { .. } | Self::AtomicFromMemory { .. } | Self::Append(_) => true,
        }
    }

    /// Returns `true` if a VGPR holds the address.
    pub(crate) fn has_address(self) -> bool {
        !matches!(self, Self::Append(_) | Self::LaneAddress(_))
    }
}

impl LdsOp {
    /// Returns the largest VGPR that the operation names.
    pub(crate) fn largest_vgpr(&self) -> Option<u32> {
        let (data, second, destination) = self.kind.registers();
        [
            self.kind.has_address().then(|| self.address.into()),
            (data > 0).then(|| last(self.data[0], data)),
            (second > 0).then(|| last(self.data[1], second)),
            (destination > 0).then(|| last(self.destination, destination)),
        ]
        .into_iter()
        .flatten()
        .max()
    }
}

impl MemoryKind {
    /// Returns the registers of data that is read, and of data that is written, at most.
    pub(super) fn registers(self) -> (u16, u16) {
        match self {
            Self::Access(kind @ DataKind::Load(_)) => (0, registers(kind)),
            Self::Access(kind) => (registers(kind), 0),
            Self::Atomic { atomic, bytes, returns } => {
                let dwords = u16::from(bytes) / 4;
                (if atomic.compares() { 2 * dwords } else { dwords }, if returns { dwords } else { 0 })
            }
        }
    }
}

impl FlatOp {
    /// Returns the last VGPR of the address.
    fn last_of_address(&self) -> Option<u32> {
        let dwords = if self.scalar.is_none() && self.segment != super::decoded_inst::Segment::Scratch { 2 } else { 1 };
        self.address.map(|address| last(address, dwords))
    }

    /// Returns the largest VGPR that the operation names.
    pub(crate) fn largest_vgpr(&self) -> Option<u32> {
        let (read, written) = self.kind.registers();
        [
            self.last_of_address(),
            (read > 0).then(|| last(self.data, read)),
            (written > 0).then(|| last(self.destination, written)),
        ]
        .into_iter()
        .flatten()
        .max()
    }
}

impl BufferOp {
    /// Returns the largest VGPR that the operation names.
    pub(crate) fn largest_vgpr(&self) -> Option<u32> {
        let (read, written) = self.kind.registers();
        let data = read.max(written) + u16::from(self.residency);
        self.last_of_address().max(Some(last(self.data, data)))
    }

    /// Returns the last VGPR of the address.
    fn last_of_address(&self) -> Option<u32> {
        let address = u16::from(self.has_offset) + u16::from(self.has_index) + 2 * u16::from(self.address64);
        (address > 0).then(|| last(self.address, address))
    }
}

impl LdsTransfer {
    /// Returns the largest VGPR that the operation names.
    pub(crate) fn largest_vgpr(&self) -> Option<u32> {
        match &self.access {
            LdsTransferAccess::Buffer(op) => op.last_of_address(),
            LdsTransferAccess::Flat(op) => op.last_of_address(),
        }
    }
}
