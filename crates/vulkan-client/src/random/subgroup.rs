//! Operations of a subgroup, in two forms with the same results.
//!
//! Subgroups of different sizes compute different things, and drivers disagree about sizes. So each shader is made twice: with
//! instructions for the driver that is tested, and with loops over shared memory, for a subgroup of the same size, for the
//! driver that is believed.

use rspirv::{
    dr::Operand,
    spirv::{BuiltIn, GroupOperation, Op, Scope, Word},
};

use super::{
    form::Subgroups,
    generator::Generator,
    kind::Scalar,
    module::{Array, LOCAL},
};

/// An arithmetic operation of a subgroup.
#[derive(Clone, Copy, Debug)]
struct Combine {
    native: Op,
    /// The operation on two values: of GLSL.std.450 if it has a number.
    plain: Result<Op, u32>,
    identity: u32,
    kind: Scalar,
}

const fn integer(native: Op, plain: Result<Op, u32>, identity: u32) -> Combine {
    Combine { native, plain, identity, kind: Scalar::U32 }
}

const ADD: Combine = integer(Op::GroupNonUniformIAdd, Ok(Op::IAdd), 0);
const U_MIN: Combine = integer(Op::GroupNonUniformUMin, Err(38), u32::MAX);
const U_MAX: Combine = integer(Op::GroupNonUniformUMax, Err(41), 0);
const AND: Combine = integer(Op::GroupNonUniformBitwiseAnd, Ok(Op::BitwiseAnd), u32::MAX);
const OR: Combine = integer(Op::GroupNonUniformBitwiseOr, Ok(Op::BitwiseOr), 0);
const COMBINES: [Combine; 11] = [
    ADD,
    U_MIN,
    U_MAX,
    AND,
    OR,
    integer(Op::GroupNonUniformIMul, Ok(Op::IMul), 1),
    integer(Op::GroupNonUniformSMin, Err(39), i32::MAX.cast_unsigned()),
    integer(Op::GroupNonUniformSMax, Err(42), i32::MIN.cast_unsigned()),
    integer(Op::GroupNonUniformBitwiseXor, Ok(Op::BitwiseXor), 0),
    Combine { native: Op::GroupNonUniformFMin, plain: Err(37), identity: 0x7f80_0000, kind: Scalar::F32 },
    Combine { native: Op::GroupNonUniformFMax, plain: Err(40), identity: 0xff80_0000, kind: Scalar::F32 },
];

/// The lanes that an arithmetic operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    All,
    Inclusive,
    Exclusive,
    Cluster(u32),
}

/// A vote, a ballot, or a question to one.
#[derive(Clone, Copy, Debug)]
enum Vote {
    All,
    Any,
    AllEqual,
    Elect,
    First,
    Ballot(u32),
    Lowest,
    Highest,
    Count(Extent),
}

/// A read of another lane's value, when all lanes are active.
#[derive(Clone, Copy, Debug)]
enum Read {
    Any,
    Xor,
    Up,
    Down,
    Broadcast,
    QuadBroadcast,
    QuadSwap,
}

impl Generator {
    /// Appends an operation of the subgroup.
    pub(super) fn subgroup(&mut self) {
        match self.random.u32(..5) {
            0 | 1 => self.arithmetic(),
            2 => self.vote(),
            3 => self.read_lane(),
            _ => self.built_in(),
        }
    }

    const fn native(&self) -> bool {
        matches!(self.subgroups, Subgroups::Native(_))
    }

    /// Returns the index in the subgroup.
    fn lane(&mut self) -> Word {
        let mask = self.module.word(self.subgroups.size() - 1);
        self.module.op(Op::BitwiseAnd, Scalar::U32, &[self.local, mask])
    }

    fn scope(&mut self) -> Operand {
        Operand::IdScope(self.module.word(Scope::Subgroup as u32))
    }

    /// Appends an instruction whose first operand is the scope.
    fn group(&mut self, op: Op, kind: Scalar, operands: impl IntoIterator<Item = Operand>) -> Word {
        let mut all = vec![self.scope()];
        all.extend(operands);
        self.module.op_with(op, kind, all)
    }

    /// Does something for the lanes that fulfil a condition; others have zero.
    fn only_where(&mut self, condition: Word, kind: Scalar, body: impl FnOnce(&mut Self) -> Word) -> Word {
        let before = self.module.label();
        let [yes, merge] = [self.module.label(), self.module.label()];
        self.module.branch(before);
        self.module.begin(Some(before));
        self.module.choose(condition, [yes, merge], merge);
        self.module.begin(Some(yes));
        let value = body(self);
        let inside = self.module.label();
        self.module.branch(inside);
        self.module.begin(Some(inside));
        self.module.branch(merge);
        self.module.begin(Some(merge));
        let zero = self.module.constant(kind, 0);
        self.module.op(Op::Phi, kind, &[value, inside, zero, before])
    }

    /// Combines words of the active lanes by shared memory.
    fn emulate(&mut self, combine: Combine, extent: Extent, active: Word, value: Word) -> Word {
        let (one, zero) = (self.module.word(1), self.module.word(0));
        let bits = if combine.kind == Scalar::F32 { self.module.op(Op::Bitcast, Scalar::U32, &[value]) } else { value };
        let flag = self.module.op(Op::Select, Scalar::U32, &[active, one, zero]);
        self.share(Array::Slots, bits);
        self.share(Array::Flags, flag);
        self.module.barrier();
        let size = if let Extent::Cluster(size) = extent { size } else { self.subgroups.size() };
        let (start, length, mask) = (self.module.word(!(size - 1)), self.module.word(size), self.module.word(size - 1));
        let base = self.module.op(Op::BitwiseAnd, Scalar::U32, &[self.local, start]);
        let lane = self.module.op(Op::BitwiseAnd, Scalar::U32, &[self.local, mask]);
        let total = self.total;
        let identity = self.module.word(combine.identity);
        self.module.store(total, identity);
        self.repeat(length, |generator, index| {
            let module = &mut generator.module;
            let at = module.op(Op::IAdd, Scalar::U32, &[base, index]);
            let (flag, other) = (module.at(Array::Flags, at), module.at(Array::Slots, at));
            let (flag, other) = (module.load(flag, Scalar::U32), module.load(other, Scalar::U32));
            let mut counts = module.op(Op::INotEqual, Scalar::Bool, &[flag, zero]);
            let limit = match extent {
                Extent::Inclusive => Some(Op::ULessThanEqual),
                Extent::Exclusive => Some(Op::ULessThan),
                Extent::All | Extent::Cluster(_) => None,
            };
            if let Some(op) = limit {
                let before = module.op(op, Scalar::Bool, &[index, lane]);
                counts = module.op(Op::LogicalAnd, Scalar::Bool, &[counts, before]);
            }
            let so_far = module.load(total, Scalar::U32);
            let mut operands = [so_far, other];
            if combine.kind == Scalar::F32 {
                operands = operands.map(|word| module.op(Op::Bitcast, Scalar::F32, &[word]));
            }
            let mut sum = match combine.plain {
                Ok(op) => module.op(op, combine.kind, &operands),
                Err(number) => module.glsl(number, combine.kind, &operands),
            };
            if combine.kind == Scalar::F32 {
                sum = module.op(Op::Bitcast, Scalar::U32, &[sum]);
            }
            let sum = module.op(Op::Select, Scalar::U32, &[counts, sum, so_far]);
            module.store(total, sum);
            None
        });
        self.module.barrier();
        let sum = self.module.load(total, Scalar::U32);
        let sum = self.module.op(Op::Select, Scalar::U32, &[active, sum, zero]);
        if combine.kind == Scalar::F32 { self.module.op(Op::Bitcast, Scalar::F32, &[sum]) } else { sum }
    }

    /// Combines in the form of this shader.
    fn combine(&mut self, combine: Combine, extent: Extent, active: Word, value: Word) -> Word {
        if !self.native() {
            return self.emulate(combine, extent, active, value);
        }
        self.only_where(active, combine.kind, |generator| {
            let (operation, size) = match extent {
                Extent::All => (GroupOperation::Reduce, None),
                Extent::Inclusive => (GroupOperation::InclusiveScan, None),
                Extent::Exclusive => (GroupOperation::ExclusiveScan, None),
                Extent::Cluster(size) => (GroupOperation::ClusteredReduce, Some(size)),
            };
            let size = size.map(|size| Operand::IdRef(generator.module.word(size)));
            let operands = [Operand::GroupOperation(operation), Operand::IdRef(value)].into_iter().chain(size);
            generator.group(combine.native, combine.kind, operands)
        })
    }

    fn extent(&mut self) -> Extent {
        let extents = [Extent::All, Extent::Inclusive, Extent::Exclusive];
        let clusters = [2, 4, 8, 16, 32].map(Extent::Cluster);
        self.one(&[extents.as_slice(), &clusters].concat()).unwrap_or(Extent::All)
    }

    fn arithmetic(&mut self) {
        let (combine, extent, active) = (self.one(&COMBINES).unwrap_or(ADD), self.extent(), self.pick(Scalar::Bool));
        let value = self.pick(combine.kind);
        let mut result = self.combine(combine, extent, active, value);
        if combine.kind == Scalar::F32 {
            // An exclusive minimum of no lanes is infinite, and inactive lanes have zero.
            result = self.settle(Scalar::F32, result);
        }
        self.result(&format!("{:?} over {extent:?}", combine.native), combine.kind, result);
    }

    fn vote(&mut self) {
        let votes = [
            Vote::All,
            Vote::Any,
            Vote::AllEqual,
            Vote::Elect,
            Vote::First,
            Vote::Ballot(0),
            Vote::Ballot(1),
            Vote::Lowest,
            Vote::Highest,
            Vote::Count(Extent::All),
            Vote::Count(Extent::Inclusive),
            Vote::Count(Extent::Exclusive),
        ];
        let vote = self.one(&votes).unwrap_or(Vote::All);
        let (active, ballot, value) = (self.pick(Scalar::Bool), self.pick(Scalar::Bool), self.pick(Scalar::U32));
        let result = if self.native() {
            self.only_where(active, Scalar::U32, |generator| generator.native_vote(vote, ballot, value))
        } else {
            self.emulated_vote(vote, active, ballot, value)
        };
        self.result(&format!("{vote:?}"), Scalar::U32, result);
    }

    fn native_vote(&mut self, vote: Vote, ballot: Word, value: Word) -> Word {
        let (one, zero) = (self.module.word(1), self.module.word(0));
        let truth = |generator: &mut Self, value| generator.module.op(Op::Select, Scalar::U32, &[value, one, zero]);
        let test = |generator: &mut Self, op, operand: Option<Word>| {
            let result = generator.group(op, Scalar::Bool, operand.map(Operand::IdRef));
            truth(generator, result)
        };
        match vote {
            Vote::All => test(self, Op::GroupNonUniformAll, Some(ballot)),
            Vote::Any => test(self, Op::GroupNonUniformAny, Some(ballot)),
            Vote::AllEqual => test(self, Op::GroupNonUniformAllEqual, Some(value)),
            Vote::Elect => test(self, Op::GroupNonUniformElect, None),
            Vote::First => self.group(Op::GroupNonUniformBroadcastFirst, Scalar::U32, [Operand::IdRef(value)]),
            Vote::Ballot(word) => {
                let operands = vec![self.scope(), Operand::IdRef(ballot)];
                self.module.component(Op::GroupNonUniformBallot, operands, [4, word], Scalar::U32)
            }
            Vote::Lowest | Vote::Highest | Vote::Count(_) => {
                // The ballot of all active lanes has a bit for certain, which the search needs.
                let of = if matches!(vote, Vote::Count(_)) { ballot } else { self.module.constant(Scalar::Bool, 1) };
                let scope = self.scope();
                let words = self.module.ballot(vec![scope, Operand::IdRef(of)]);
                let words = Operand::IdRef(words);
                match vote {
                    Vote::Lowest => self.group(Op::GroupNonUniformBallotFindLSB, Scalar::U32, [words]),
                    Vote::Highest => self.group(Op::GroupNonUniformBallotFindMSB, Scalar::U32, [words]),
                    _ => {
                        let operation = match vote {
                            Vote::Count(Extent::Inclusive) => GroupOperation::InclusiveScan,
                            Vote::Count(Extent::Exclusive) => GroupOperation::ExclusiveScan,
                            _ => GroupOperation::Reduce,
                        };
                        let operands = [Operand::GroupOperation(operation), words];
                        self.group(Op::GroupNonUniformBallotBitCount, Scalar::U32, operands)
                    }
                }
            }
        }
    }

    fn emulated_vote(&mut self, vote: Vote, active: Word, ballot: Word, value: Word) -> Word {
        let (one, zero, lane) = (self.module.word(1), self.module.word(0), self.lane());
        let bit = self.module.op(Op::Select, Scalar::U32, &[ballot, one, zero]);
        let mut over = |combine, extent, value| self.emulate(combine, extent, active, value);
        let result = match vote {
            Vote::All => over(AND, Extent::All, bit),
            Vote::Any => over(OR, Extent::All, bit),
            Vote::Count(extent) => over(ADD, extent, bit),
            Vote::Lowest => over(U_MIN, Extent::All, lane),
            Vote::Highest => over(U_MAX, Extent::All, lane),
            Vote::AllEqual => {
                let bounds = [over(U_MIN, Extent::All, value), over(U_MAX, Extent::All, value)];
                let equal = self.module.op(Op::IEqual, Scalar::Bool, &bounds);
                self.module.op(Op::Select, Scalar::U32, &[equal, one, zero])
            }
            Vote::Elect => {
                let lowest = over(U_MIN, Extent::All, lane);
                let elected = self.module.op(Op::IEqual, Scalar::Bool, &[lowest, lane]);
                self.module.op(Op::Select, Scalar::U32, &[elected, one, zero])
            }
            Vote::First => {
                let lowest = over(U_MIN, Extent::All, lane);
                let mask = self.module.word(self.subgroups.size() - 1);
                let lowest = self.module.op(Op::BitwiseAnd, Scalar::U32, &[lowest, mask]);
                self.slot_of(lowest, value)
            }
            Vote::Ballot(word) => {
                let (mask, by) = (self.module.word(31), self.module.word(5));
                let place = self.module.op(Op::BitwiseAnd, Scalar::U32, &[lane, mask]);
                let half = self.module.op(Op::ShiftRightLogical, Scalar::U32, &[lane, by]);
                let word = self.module.word(word);
                let here = self.module.op(Op::IEqual, Scalar::Bool, &[half, word]);
                let bit = self.module.op(Op::ShiftLeftLogical, Scalar::U32, &[bit, place]);
                let bit = self.module.op(Op::Select, Scalar::U32, &[here, bit, zero]);
                self.emulate(OR, Extent::All, active, bit)
            }
        };
        self.module.op(Op::Select, Scalar::U32, &[active, result, zero])
    }

    /// Returns the value of another lane of the emulated subgroup.
    fn slot_of(&mut self, lane: Word, value: Word) -> Word {
        self.share(Array::Slots, value);
        self.module.barrier();
        let start = self.module.word(!(self.subgroups.size() - 1));
        let base = self.module.op(Op::BitwiseAnd, Scalar::U32, &[self.local, start]);
        let index = self.module.op(Op::IAdd, Scalar::U32, &[base, lane]);
        let pointer = self.module.at(Array::Slots, index);
        let loaded = self.module.load(pointer, Scalar::U32);
        self.module.barrier();
        loaded
    }

    fn read_lane(&mut self) {
        let reads = [Read::Any, Read::Xor, Read::Up, Read::Down, Read::Broadcast, Read::QuadBroadcast, Read::QuadSwap];
        let read = self.one(&reads).unwrap_or(Read::Any);
        let (value, any, lane) = (self.pick(Scalar::U32), self.pick(Scalar::U32), self.lane());
        let size = self.subgroups.size();
        let fixed = match read {
            Read::Xor | Read::Broadcast => self.random.u32(..size),
            Read::Up | Read::Down => self.random.u32(1..size),
            Read::QuadBroadcast => self.random.u32(..4),
            _ => self.random.u32(..3),
        };
        let (number, mask) = (self.module.word(fixed), self.module.word(size - 1));
        let chosen = self.module.op(Op::BitwiseAnd, Scalar::U32, &[any, mask]);
        let result = if self.native() {
            let (op, operand) = match read {
                Read::Any => (Op::GroupNonUniformShuffle, chosen),
                Read::Xor => (Op::GroupNonUniformShuffleXor, number),
                Read::Up => (Op::GroupNonUniformShuffleUp, number),
                Read::Down => (Op::GroupNonUniformShuffleDown, number),
                Read::Broadcast => (Op::GroupNonUniformBroadcast, number),
                Read::QuadBroadcast => (Op::GroupNonUniformQuadBroadcast, number),
                Read::QuadSwap => (Op::GroupNonUniformQuadSwap, number),
            };
            self.group(op, Scalar::U32, [Operand::IdRef(value), Operand::IdRef(operand)])
        } else {
            let of = |generator: &mut Self, op, by| generator.module.op(op, Scalar::U32, &[lane, by]);
            let from = match read {
                Read::Any => chosen,
                Read::Broadcast => number,
                Read::Xor => of(self, Op::BitwiseXor, number),
                Read::Up => of(self, Op::ISub, number),
                Read::Down => of(self, Op::IAdd, number),
                Read::QuadSwap => {
                    let flip = self.module.word(fixed + 1);
                    of(self, Op::BitwiseXor, flip)
                }
                Read::QuadBroadcast => {
                    let quad = self.module.word(!3);
                    let quad = of(self, Op::BitwiseAnd, quad);
                    self.module.op(Op::BitwiseOr, Scalar::U32, &[quad, number])
                }
            };
            let from = self.module.op(Op::BitwiseAnd, Scalar::U32, &[from, mask]);
            self.slot_of(from, value)
        };
        // Beyond the ends of the subgroup there is nothing to read.
        let inside = match read {
            Read::Up => Some((Op::UGreaterThanEqual, fixed)),
            Read::Down => Some((Op::ULessThan, size - fixed)),
            _ => None,
        };
        let result = match inside {
            Some((op, bound)) => {
                let (bound, zero) = (self.module.word(bound), self.module.word(0));
                let inside = self.module.op(op, Scalar::Bool, &[lane, bound]);
                self.module.op(Op::Select, Scalar::U32, &[inside, result, zero])
            }
            None => result,
        };
        self.result(&format!("{read:?} {fixed}"), Scalar::U32, result);
    }

    /// Reads a built-in input of subgroups.
    fn built_in(&mut self) {
        let inputs =
            [BuiltIn::SubgroupSize, BuiltIn::NumSubgroups, BuiltIn::SubgroupId, BuiltIn::SubgroupLocalInvocationId];
        let input = self.one(&inputs).unwrap_or(BuiltIn::SubgroupSize);
        let size = self.subgroups.size();
        let value = if self.native() {
            let variable = self.module.input(input, 1);
            self.module.read(variable, 1)
        } else {
            match input {
                BuiltIn::SubgroupSize => self.module.word(size),
                BuiltIn::NumSubgroups => self.module.word(LOCAL / size),
                BuiltIn::SubgroupId => {
                    let by = self.module.word(size);
                    self.module.op(Op::UDiv, Scalar::U32, &[self.local, by])
                }
                _ => self.lane(),
            }
        };
        self.result(&format!("{input:?}"), Scalar::U32, value);
    }
}
