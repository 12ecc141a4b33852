//! Addresses in blocks (GFX9 and later): the offset in a block is an XOR of what x, y, z and the sample each give.

use crate::equation::Equation;

/// A level in blocks, as the floors below describe it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockPlan {
    pub(crate) equation: Equation,
    /// XOR-ed into each offset: pipe and bank XOR, place in the mip tail (GFX9).
    pub(crate) constant: u32,
    /// Added to coordinates before the equation: place in the mip tail (GFX10 and later).
    pub(crate) origin: [u32; 3],
    /// Exponents of a block's sides.
    pub(crate) block_log2: [u32; 3],
    /// Exponent of a block's bytes.
    pub(crate) block_bits: u32,
    /// The first byte of the level.
    pub(crate) base: u64,
    /// Bytes from one row of blocks to the next.
    pub(crate) row_bytes: u64,
    /// Bytes from one layer of blocks to the next.
    pub(crate) slice_bytes: u64,
}

/// Contributions of the low and the high byte of a coordinate to the offset in a block.
type Axis = [[u32; 256]; 2];

/// A level in blocks, prepared: an address is the sum of a block's place and the XOR of eight table entries at most. Takes
/// 6.3 KiB, none of it on the heap.
#[derive(Clone, Debug)]
pub struct BlockTables {
    axes: [Axis; 3],
    samples: [u32; 16],
    plan: BlockPlan,
    run_log2: u32,
}

/// Returns the offset that each bit of a coordinate adds.
fn columns(equation: &Equation, term: impl Fn(crate::equation::Term) -> u16) -> [u32; 16] {
    let mut columns = [0; 16];
    for (bit, &found) in equation.terms().iter().enumerate() {
        let axis = term(found);
        for (place, column) in columns.iter_mut().enumerate() {
            *column |= u32::from(axis >> place & 1) << bit;
        }
    }
    columns
}

/// Fills a table with the XOR of the columns that each index selects.
fn fill(table: &mut [u32], columns: &[u32]) {
    for (bit, column) in columns.iter().enumerate() {
        let (known, rest) = table.split_at_mut((1 << bit).min(table.len()));
        for (entry, value) in rest.iter_mut().zip(known) {
            *entry = *value ^ column;
        }
    }
}

impl BlockTables {
    pub(crate) fn new(plan: &BlockPlan, bytes_log2: u32) -> Self {
        let [x, y, z] = [
            columns(&plan.equation, crate::equation::Term::x),
            columns(&plan.equation, crate::equation::Term::y),
            columns(&plan.equation, crate::equation::Term::z),
        ];
        let s = columns(&plan.equation, crate::equation::Term::s);
        let mut this = Self { axes: [[[0; 256]; 2]; 3], samples: [0; 16], plan: *plan, run_log2: 0 };
        for (axis, columns) in this.axes.iter_mut().zip([&x, &y, &z]) {
            let (low, high) = columns.split_at(8);
            fill(&mut axis[0], low);
            fill(&mut axis[1], high);
        }
        fill(&mut this.samples, &s[..4]);
        // Elements lie one after the other as long as the low bits of an offset are those of x and nothing else.
        let others = y.iter().chain(&z).chain(&s).fold(plan.constant, |all, column| all | column);
        for bit in 0..6 {
            let place = 1_u32.checked_shl(bytes_log2 + bit).unwrap_or(0);
            let alone = others & place == 0
                && x.iter()
                    .enumerate()
                    .all(|(at, column)| if at == bit as usize { *column == place } else { column & place == 0 });
            if !alone {
                break;
            }
            this.run_log2 = bit + 1;
        }
        this
    }

    fn axis(&self, axis: usize, coordinate: u32) -> u32 {
        let [low, high] = &self.axes[axis];
        low[(coordinate & 0xff) as usize] ^ high[(coordinate >> 8 & 0xff) as usize]
    }

    /// Returns the part of the offset in a block that x adds.
    pub(super) fn x(&self, x: u32) -> u32 {
        self.axis(0, x.wrapping_add(self.plan.origin[0]))
    }

    /// Returns the part of the offset in a block that the other coordinates add.
    pub(super) fn rest(&self, y: u32, z: u32, sample: u32) -> u32 {
        let [_, oy, oz] = self.plan.origin;
        self.axis(1, y.wrapping_add(oy))
            ^ self.axis(2, z.wrapping_add(oz))
            ^ self.samples[(sample & 15) as usize]
            ^ self.plan.constant
    }

    /// Returns the first byte of the block that holds an element.
    pub(super) fn block(&self, x: u32, y: u32, z: u32) -> u64 {
        let [w, h, d] = self.plan.block_log2;
        self.plan.base
            + u64::from(z >> d) * self.plan.slice_bytes
            + u64::from(y >> h) * self.plan.row_bytes
            + (u64::from(x >> w) << self.plan.block_bits)
    }

    /// Returns the address of an element in bytes from the start of the image. Coordinates outside of the padded level give an
    /// address that is no element's.
    #[inline]
    pub fn address(&self, x: u32, y: u32, z: u32, sample: u32) -> u64 {
        self.block(x, y, z) + u64::from(self.x(x) ^ self.rest(y, z, sample))
    }

    /// Returns the exponents of a block's sides.
    pub const fn block_log2(&self) -> [u32; 3] {
        self.plan.block_log2
    }

    /// Returns the exponent of the number of elements that lie one after the other, and the place of x in them.
    pub(super) const fn run(&self) -> (u32, u32) {
        (self.run_log2, self.plan.origin[0])
    }
}
