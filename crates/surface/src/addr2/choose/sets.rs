//! The modes of each block type and order.

use super::kinds::{Blocks, Orders};
use crate::addr2::mode::sets::{self, Sets};

/// The block types in the order in which sizes are compared. The index is addrlib's number minus one.
pub(super) const BY_SIZE: [Blocks; 8] = [
    Blocks::LINEAR,
    Blocks::MICRO,
    Blocks::THIN_4K,
    Blocks::THICK_4K,
    Blocks::THIN_64K,
    Blocks::THICK_64K,
    Blocks::BIG,
    Blocks::THICK_256K,
];

/// Returns the modes of a block type.
pub(super) fn modes_of(sets: &Sets, volume: bool, block: Blocks) -> u32 {
    let flat = |modes| if volume { 0 } else { modes };
    match block {
        Blocks::LINEAR => sets::LINEAR,
        Blocks::MICRO => sets.block_256,
        Blocks::THIN_4K => {
            if volume {
                sets.d3_thin[0]
            } else {
                sets.block_4k
            }
        }
        Blocks::THICK_4K => {
            if volume {
                sets.d3_thick[0]
            } else {
                0
            }
        }
        Blocks::THIN_64K => {
            if volume {
                sets.d3_thin[1]
            } else {
                sets.block_64k
            }
        }
        Blocks::THICK_64K => {
            if volume {
                sets.d3_thick[1]
            } else {
                0
            }
        }
        Blocks::BIG => {
            if volume {
                sets.d3_thin[2]
            } else {
                sets.block_big
            }
        }
        Blocks::THICK_256K => {
            if volume {
                sets.d3_thick[2]
            } else {
                0
            }
        }
        _ => flat(0),
    }
}

/// Returns the block types of a set of modes.
pub(super) fn blocks_in(sets: &Sets, volume: bool, modes: u32) -> Blocks {
    BY_SIZE
        .into_iter()
        .filter(|&block| modes_of(sets, volume, block) & modes != 0)
        .fold(Blocks::empty(), |all, block| all | block)
}

/// Returns the orders of a set of modes.
pub(super) fn orders_in(sets: &Sets, modes: u32) -> Orders {
    (0..4)
        .filter(|&order| sets.orders[order] & modes != 0)
        .fold(Orders::empty(), |all, order| all | Orders::from_bits_truncate(1 << order))
}
