//! Memory: input, the array of an invocation, words that a workgroup exchanges, and atomics.

use rspirv::spirv::{Op, Word};

use super::{
    generator::Generator,
    kind::Scalar,
    module::{ATOMICS, Array, INPUT, LOCAL, PRIVATE},
};

/// Atomics whose order does not matter to the word in memory.
const COMMUTATIVE: [Op; 7] =
    [Op::AtomicIAdd, Op::AtomicUMin, Op::AtomicSMin, Op::AtomicUMax, Op::AtomicSMax, Op::AtomicAnd, Op::AtomicOr];

impl Generator {
    /// Returns an index below `length`, a power of two.
    fn index_below(&mut self, length: u32) -> Word {
        let (any, mask) = (self.pick(Scalar::U32), self.module.word(length - 1));
        self.module.op(Op::BitwiseAnd, Scalar::U32, &[any, mask])
    }

    /// Loads words of the input that lie together, or stores and loads a word of the invocation's own array.
    pub(super) fn memory(&mut self) {
        if self.random.bool() {
            let first = self.index_below(INPUT / 2);
            let words = self.one(&[1, 2, 3, 4]).unwrap_or(1);
            for offset in 0..words {
                let offset = self.module.word(offset);
                let index = self.module.op(Op::IAdd, Scalar::U32, &[first, offset]);
                let loaded = self.input_at(index);
                self.result("input", Scalar::U32, loaded);
            }
        } else {
            let places =
                [self.index_below(PRIVATE.next_power_of_two() / 2), self.index_below(PRIVATE.next_power_of_two() / 2)];
            let [to, from] = places.map(|index| self.module.at(Array::Private, index));
            let value = self.pick(Scalar::U32);
            self.module.store(to, value);
            let loaded = self.module.load(from, Scalar::U32);
            self.result("private array", Scalar::U32, loaded);
        }
    }

    /// Stores a word of each invocation for the others.
    pub(super) fn share(&mut self, array: Array, value: Word) {
        let pointer = self.module.at(array, self.local);
        self.module.store(pointer, value);
    }

    /// Lets each invocation read the word of another.
    pub(super) fn exchange(&mut self) {
        let value = self.pick(Scalar::U32);
        self.share(Array::Slots, value);
        self.module.barrier();
        let index = self.index_below(LOCAL);
        let pointer = self.module.at(Array::Slots, index);
        let loaded = self.module.load(pointer, Scalar::U32);
        self.module.barrier();
        self.result("exchange", Scalar::U32, loaded);
    }

    /// Lets invocations update words of shared memory, and words of the output, that others update too.
    pub(super) fn atomics(&mut self) {
        let start = self.pick(Scalar::U32);
        self.share(Array::Slots, start);
        self.module.barrier();
        let op = self.one(&COMMUTATIVE).unwrap_or(Op::AtomicIAdd);
        let (index, value) = (self.index_below(8), self.pick(Scalar::U32));
        let pointer = self.module.at(Array::Slots, index);
        self.module.atomic(op, pointer, &[value]);
        self.module.barrier();
        let pointer = self.module.at(Array::Slots, index);
        let after = self.module.load(pointer, Scalar::U32);
        self.module.barrier();
        self.result(&format!("shared {op:?}"), Scalar::U32, after);

        // A word for which no other invocation asks.
        let pointer = self.module.at(Array::Slots, self.local);
        let own = self.one(&[Op::AtomicExchange, Op::AtomicCompareExchange, Op::AtomicXor, Op::AtomicISub]);
        let own = own.unwrap_or(Op::AtomicExchange);
        let value = self.pick(Scalar::U32);
        let before = if own == Op::AtomicCompareExchange {
            let expected = self.pick(Scalar::U32);
            self.module.atomic(own, pointer, &[value, expected])
        } else {
            self.module.atomic(own, pointer, &[value])
        };
        self.result(&format!("shared {own:?}"), Scalar::U32, before);
        let after = self.module.load(pointer, Scalar::U32);
        self.module.barrier();
        self.result(&format!("after shared {own:?}"), Scalar::U32, after);

        // Each word of the output sees one operation only: two different ones would not commute.
        let which = self.random.usize(..COMMUTATIVE.len());
        let op = COMMUTATIVE.get(which).copied().unwrap_or(Op::AtomicIAdd);
        let words = ATOMICS / 8;
        let (first, offset) = (self.module.word(which as u32 * words), self.index_below(words));
        let index = self.module.op(Op::IAdd, Scalar::U32, &[first, offset]);
        let pointer = self.module.at(Array::Output, index);
        let value = self.pick(Scalar::U32);
        self.module.atomic(op, pointer, &[value]);
    }
}
