//! Atomic operations on memory, with the operation numbers of L2.

use std::cmp::Ordering;

use amdgpu_hw::GpuVa;
use amdgpu_packets::layout::values::TcOp;

use super::port::Port;

/// An operation and its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Atomic {
    operation: Operation,
    /// `true` if the operand is a qword.
    wide: bool,
    /// `true` if the previous value is kept for COPY_DATA.
    returns: bool,
    source: u64,
    compare: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Swap,
    CompareSwap,
    Add,
    Sub,
    SignedMin,
    UnsignedMin,
    SignedMax,
    UnsignedMax,
    And,
    Or,
    Xor,
    Increment,
    Decrement,
    ClampedSub,
    ConditionalSub,
    FloatCompareSwap,
    FloatMin,
    FloatMax,
}

/// The result of an atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    /// The previous value.
    pub(super) before: u64,
    /// `true` if the comparison was true, and for operations without a comparison.
    pub(super) matched: bool,
}

impl Atomic {
    /// Returns the operation for a number in a packet. Bit 0x20 stands for qwords, bit 0x40 for no returned value.
    ///
    /// Source: Mesa 25.0.7 `src/amd/registers/pkt3.json`, `TC_OP`; Linux 6.12 `cikd.h`, `TC_OP_*`.
    pub(super) const fn new(op: TcOp, source: u64, compare: u64) -> Option<Self> {
        let number = op.number();
        let operation = match TcOp::new(number & 0x1f) {
            TcOp::FCMPSWAP_RTN_32 => Operation::FloatCompareSwap,
            TcOp::FMIN_RTN_32 => Operation::FloatMin,
            TcOp::FMAX_RTN_32 => Operation::FloatMax,
            TcOp::SWAP_RTN_32 => Operation::Swap,
            TcOp::CMPSWAP_RTN_32 => Operation::CompareSwap,
            TcOp::ADD_RTN_32 => Operation::Add,
            TcOp::SUB_RTN_32 => Operation::Sub,
            TcOp::SMIN_RTN_32 => Operation::SignedMin,
            TcOp::UMIN_RTN_32 => Operation::UnsignedMin,
            TcOp::SMAX_RTN_32 => Operation::SignedMax,
            TcOp::UMAX_RTN_32 => Operation::UnsignedMax,
            TcOp::AND_RTN_32 => Operation::And,
            TcOp::OR_RTN_32 => Operation::Or,
            TcOp::XOR_RTN_32 => Operation::Xor,
            TcOp::INC_RTN_32 => Operation::Increment,
            TcOp::DEC_RTN_32 => Operation::Decrement,
            TcOp::CLAMP_SUB_RTN_32 => Operation::ClampedSub,
            TcOp::COND_SUB_RTN_32 => Operation::ConditionalSub,
            _ => return None,
        };
        let (wide, returns) = (number & 0x20 != 0, number & 0x40 == 0);
        Some(Self { operation, wide, returns, source, compare })
    }

    /// Returns the size of the operand, which is also the alignment of its address.
    pub(super) const fn bytes(&self) -> u64 {
        if self.wide { 8 } else { 4 }
    }

    pub(super) const fn returns(&self) -> bool {
        self.returns
    }

    const fn compares(&self) -> bool {
        matches!(self.operation, Operation::CompareSwap | Operation::FloatCompareSwap)
    }

    /// Performs the operation once.
    pub(super) fn run(&self, port: &Port<'_>, va: GpuVa) -> Done {
        let before = if self.wide { port.read_u64(va) } else { port.read_u32(va).into() };
        let matched = !self.compares() || self.equals(before);
        if matched {
            let after = self.result(before);
            if self.wide { port.write_u64(va, after) } else { port.write_dwords(va, &[after as u32]) }
        }
        Done { before, matched }
    }

    fn equals(&self, value: u64) -> bool {
        match (self.operation, self.wide) {
            (Operation::FloatCompareSwap, _) => {
                self.float(value).partial_cmp(&self.float(self.compare)) == Some(Ordering::Equal)
            }
            (_, true) => value == self.compare,
            (_, false) => value as u32 == self.compare as u32,
        }
    }

    /// Returns the operand as a floating-point number.
    fn float(&self, bits: u64) -> f64 {
        if self.wide { f64::from_bits(bits) } else { f32::from_bits(bits as u32).into() }
    }

    const fn signed(&self, bits: u64) -> i64 {
        if self.wide { bits.cast_signed() } else { (bits as u32).cast_signed() as i64 }
    }

    /// Returns the new value. For a dword, only the lower half is valid.
    fn result(&self, old: u64) -> u64 {
        let source = if self.wide { self.source } else { self.source & 0xffff_ffff };
        let choose = |first: bool| if first { old } else { source };
        match self.operation {
            Operation::Swap | Operation::CompareSwap | Operation::FloatCompareSwap => source,
            Operation::Add => old.wrapping_add(source),
            Operation::Sub => old.wrapping_sub(source),
            Operation::SignedMin => choose(self.signed(old) <= self.signed(source)),
            Operation::UnsignedMin => choose(old <= source),
            Operation::SignedMax => choose(self.signed(old) >= self.signed(source)),
            Operation::UnsignedMax => choose(old >= source),
            Operation::And => old & source,
            Operation::Or => old | source,
            Operation::Xor => old ^ source,
            Operation::Increment => {
                if old >= source {
                    0
                } else {
                    old + 1
                }
            }
            Operation::Decrement => {
                if old == 0 || old > source {
                    source
                } else {
                    old - 1
                }
            }
            Operation::ClampedSub => old.saturating_sub(source),
            Operation::ConditionalSub => old.checked_sub(source).unwrap_or(old),
            Operation::FloatMin => choose(self.float(old) <= self.float(source)),
            Operation::FloatMax => choose(self.float(old) >= self.float(source)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(number: u32, old: u64, source: u64) -> u64 {
        Atomic::new(TcOp::new(number), source, 0).unwrap().result(old)
    }

    #[test]
    fn every_operation_does_what_its_table_says() {
        assert_eq!([7, 15, 16, 21, 22, 23].map(|op| result(op, 12, 10)), [10, 22, 2, 8, 14, 6]);
        let minus = u64::from(u32::MAX);
        assert_eq!([17, 18, 19, 20].map(|op| result(op, minus, 1)), [minus, 1, 1, minus]);
        assert_eq!([0, 4, 5, 6].map(|old| result(24, old, 5)), [1, 5, 0, 0]);
        assert_eq!([0, 4, 5, 6].map(|old| result(25, old, 5)), [5, 3, 4, 5]);
        assert_eq!([4, 5, 7].map(|old| result(26, old, 5)), [0, 0, 2]);
        assert_eq!([4, 5, 7].map(|old| result(27, old, 5)), [4, 0, 2]);
        let (one, two) = (u64::from(1f32.to_bits()), u64::from((-2f32).to_bits()));
        assert_eq!([2, 3].map(|op| result(op, one, two)), [two, one]);
    }

    #[test]
    fn the_number_says_how_wide_it_is_and_whether_it_returns() {
        let add = |number| Atomic::new(TcOp::new(number), 0, 0).map(|atomic| (atomic.bytes(), atomic.returns()));
        assert_eq!([15, 47, 79, 111].map(add), [(4, true), (8, true), (4, false), (8, false)].map(Some));
        assert_eq!([0, 4, 6, 14, 28, 31].map(add), [None; 6]);
    }

    #[test]
    fn a_dword_compares_its_lower_half_only() {
        let swap = Atomic::new(TcOp::CMPSWAP_RTN_32, 1, 0xffff_ffff_0000_0005).unwrap();
        assert!(swap.equals(5) && !swap.equals(6));
        let wide = Atomic::new(TcOp::CMPSWAP_RTN_64, 1, 0xffff_ffff_0000_0005).unwrap();
        assert!(!wide.equals(5));
    }
}
