//! FLAT, GLOBAL, SCRATCH and buffer operations. `returns` is a bit of the instruction, so it is `false` here.

use super::executor::{Executor, Row, rows};
use crate::{
    atomic::Atomic,
    program::{
        data::{Data, DataKind, Place},
        decoded_inst::{MemoryKind, Segment},
    },
};

/// Operations on addresses. Those of `addtid` have the number of the lane in place of a register.
pub(super) const FLAT: &[Row] = rows! {
    GlobalInv GlobalWb GlobalWbinv => Executor::Nothing;
    FlatAtomicAdd FlatAtomicAddU32
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::Add, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicAddF32
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::FloatAdd, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicAddU64 FlatAtomicAddX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::Add, bytes: 8, returns: false }, adds_lane: false };
    FlatAtomicAnd FlatAtomicAndB32
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::And, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicAndB64 FlatAtomicAndX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::And, bytes: 8, returns: false }, adds_lane: false };
    FlatAtomicCmpswap FlatAtomicCmpswapB32
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::CompareSwap, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicCmpswapB64 FlatAtomicCmpswapX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::CompareSwap, bytes: 8, returns: false }, adds_lane: false };
    FlatAtomicCmpswapF32 FlatAtomicFcmpswap
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::FloatCompareSwap, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicCondSubU32
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::ConditionalSub, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicDec FlatAtomicDecU32
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::Dec, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicDecU64 FlatAtomicDecX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::Dec, bytes: 8, returns: false }, adds_lane: false };
    FlatAtomicFcmpswapX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::FloatCompareSwap, bytes: 8, returns: false }, adds_lane: false };
    FlatAtomicFmax FlatAtomicMaxF32 FlatAtomicMaxNumF32
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::FloatMax, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicFmaxX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::FloatMax, bytes: 8, returns: false }, adds_lane: false };
    FlatAtomicFmin FlatAtomicMinF32 FlatAtomicMinNumF32
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::FloatMin, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicFminX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::FloatMin, bytes: 8, returns: false }, adds_lane: false };
    FlatAtomicInc FlatAtomicIncU32
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::Inc, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicIncU64 FlatAtomicIncX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::Inc, bytes: 8, returns: false }, adds_lane: false };
    FlatAtomicMaxI32 FlatAtomicSmax
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::SignedMax, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicMaxI64 FlatAtomicSmaxX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::SignedMax, bytes: 8, returns: false }, adds_lane: false };
    FlatAtomicMaxU32 FlatAtomicUmax
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::UnsignedMax, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicMaxU64 FlatAtomicUmaxX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::UnsignedMax, bytes: 8, returns: false }, adds_lane: false };
    FlatAtomicMinI32 FlatAtomicSmin
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::SignedMin, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicMinI64 FlatAtomicSminX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::SignedMin, bytes: 8, returns: false }, adds_lane: false };
    FlatAtomicMinU32 FlatAtomicUmin
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::UnsignedMin, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicMinU64 FlatAtomicUminX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::UnsignedMin, bytes: 8, returns: false }, adds_lane: false };
    FlatAtomicOr FlatAtomicOrB32
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::Or, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicOrB64 FlatAtomicOrX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::Or, bytes: 8, returns: false }, adds_lane: false };
    FlatAtomicPkAddBf16
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::AddBrains, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicPkAddF16
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::AddHalves, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicSub FlatAtomicSubU32
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::Sub, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicSubClampU32
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::SubClamp, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicSubU64 FlatAtomicSubX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::Sub, bytes: 8, returns: false }, adds_lane: false };
    FlatAtomicSwap FlatAtomicSwapB32
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::Swap, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicSwapB64 FlatAtomicSwapX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::Swap, bytes: 8, returns: false }, adds_lane: false };
    FlatAtomicXor FlatAtomicXorB32
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::Xor, bytes: 4, returns: false }, adds_lane: false };
    FlatAtomicXorB64 FlatAtomicXorX2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Atomic { atomic: Atomic::Xor, bytes: 8, returns: false }, adds_lane: false };
    FlatLoadB128 FlatLoadDwordx4
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Load(Data::Dwords(4))), adds_lane: false };
    FlatLoadB32 FlatLoadDword
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Load(Data::Dwords(1))), adds_lane: false };
    FlatLoadB64 FlatLoadDwordx2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Load(Data::Dwords(2))), adds_lane: false };
    FlatLoadB96 FlatLoadDwordx3
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Load(Data::Dwords(3))), adds_lane: false };
    FlatLoadD16B16 FlatLoadShortD16
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::Low })), adds_lane: false };
    FlatLoadD16HiB16 FlatLoadShortD16Hi
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::High })), adds_lane: false };
    FlatLoadD16HiI8 FlatLoadSbyteD16Hi
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::High })), adds_lane: false };
    FlatLoadD16HiU8 FlatLoadUbyteD16Hi
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::High })), adds_lane: false };
    FlatLoadD16I8 FlatLoadSbyteD16
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::Low })), adds_lane: false };
    FlatLoadD16U8 FlatLoadUbyteD16
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::Low })), adds_lane: false };
    FlatLoadI16 FlatLoadSshort
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: true, place: Place::Whole })), adds_lane: false };
    FlatLoadI8 FlatLoadSbyte
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::Whole })), adds_lane: false };
    FlatLoadU16 FlatLoadUshort
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::Whole })), adds_lane: false };
    FlatLoadU8 FlatLoadUbyte
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::Whole })), adds_lane: false };
    FlatStoreB128 FlatStoreDwordx4
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Store(Data::Dwords(4))), adds_lane: false };
    FlatStoreB16 FlatStoreShort
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 2, signed: false, place: Place::Whole })), adds_lane: false };
    FlatStoreB32 FlatStoreDword
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Store(Data::Dwords(1))), adds_lane: false };
    FlatStoreB64 FlatStoreDwordx2
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Store(Data::Dwords(2))), adds_lane: false };
    FlatStoreB8 FlatStoreByte
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 1, signed: false, place: Place::Whole })), adds_lane: false };
    FlatStoreB96 FlatStoreDwordx3
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Store(Data::Dwords(3))), adds_lane: false };
    FlatStoreByteD16Hi FlatStoreD16HiB8
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 1, signed: false, place: Place::High })), adds_lane: false };
    FlatStoreD16HiB16 FlatStoreShortD16Hi
        => Executor::Flat { segment: Segment::Flat, kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 2, signed: false, place: Place::High })), adds_lane: false };
    GlobalAtomicAdd GlobalAtomicAddU32
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::Add, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicAddF32
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::FloatAdd, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicAddU64 GlobalAtomicAddX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::Add, bytes: 8, returns: false }, adds_lane: false };
    GlobalAtomicAnd GlobalAtomicAndB32
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::And, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicAndB64 GlobalAtomicAndX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::And, bytes: 8, returns: false }, adds_lane: false };
    GlobalAtomicCmpswap GlobalAtomicCmpswapB32
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::CompareSwap, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicCmpswapB64 GlobalAtomicCmpswapX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::CompareSwap, bytes: 8, returns: false }, adds_lane: false };
    GlobalAtomicCmpswapF32 GlobalAtomicFcmpswap
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::FloatCompareSwap, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicCondSubU32
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::ConditionalSub, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicCsub GlobalAtomicCsubU32 GlobalAtomicSubClampU32
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::SubClamp, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicDec GlobalAtomicDecU32
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::Dec, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicDecU64 GlobalAtomicDecX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::Dec, bytes: 8, returns: false }, adds_lane: false };
    GlobalAtomicFcmpswapX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::FloatCompareSwap, bytes: 8, returns: false }, adds_lane: false };
    GlobalAtomicFmax GlobalAtomicMaxF32 GlobalAtomicMaxNumF32
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::FloatMax, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicFmaxX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::FloatMax, bytes: 8, returns: false }, adds_lane: false };
    GlobalAtomicFmin GlobalAtomicMinF32 GlobalAtomicMinNumF32
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::FloatMin, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicFminX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::FloatMin, bytes: 8, returns: false }, adds_lane: false };
    GlobalAtomicInc GlobalAtomicIncU32
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::Inc, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicIncU64 GlobalAtomicIncX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::Inc, bytes: 8, returns: false }, adds_lane: false };
    GlobalAtomicMaxI32 GlobalAtomicSmax
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::SignedMax, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicMaxI64 GlobalAtomicSmaxX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::SignedMax, bytes: 8, returns: false }, adds_lane: false };
    GlobalAtomicMaxU32 GlobalAtomicUmax
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::UnsignedMax, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicMaxU64 GlobalAtomicUmaxX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::UnsignedMax, bytes: 8, returns: false }, adds_lane: false };
    GlobalAtomicMinI32 GlobalAtomicSmin
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::SignedMin, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicMinI64 GlobalAtomicSminX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::SignedMin, bytes: 8, returns: false }, adds_lane: false };
    GlobalAtomicMinU32 GlobalAtomicUmin
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::UnsignedMin, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicMinU64 GlobalAtomicUminX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::UnsignedMin, bytes: 8, returns: false }, adds_lane: false };
    GlobalAtomicOr GlobalAtomicOrB32
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::Or, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicOrB64 GlobalAtomicOrX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::Or, bytes: 8, returns: false }, adds_lane: false };
    GlobalAtomicPkAddBf16
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::AddBrains, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicPkAddF16
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::AddHalves, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicSub GlobalAtomicSubU32
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::Sub, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicSubU64 GlobalAtomicSubX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::Sub, bytes: 8, returns: false }, adds_lane: false };
    GlobalAtomicSwap GlobalAtomicSwapB32
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::Swap, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicSwapB64 GlobalAtomicSwapX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::Swap, bytes: 8, returns: false }, adds_lane: false };
    GlobalAtomicXor GlobalAtomicXorB32
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::Xor, bytes: 4, returns: false }, adds_lane: false };
    GlobalAtomicXorB64 GlobalAtomicXorX2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Atomic { atomic: Atomic::Xor, bytes: 8, returns: false }, adds_lane: false };
    GlobalLoadAddtidB32 GlobalLoadDwordAddtid
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Load(Data::Dwords(1))), adds_lane: true };
    GlobalLoadB128 GlobalLoadDwordx4
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Load(Data::Dwords(4))), adds_lane: false };
    GlobalLoadB32 GlobalLoadDword
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Load(Data::Dwords(1))), adds_lane: false };
    GlobalLoadB64 GlobalLoadDwordx2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Load(Data::Dwords(2))), adds_lane: false };
    GlobalLoadB96 GlobalLoadDwordx3
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Load(Data::Dwords(3))), adds_lane: false };
    GlobalLoadD16B16 GlobalLoadShortD16
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::Low })), adds_lane: false };
    GlobalLoadD16HiB16 GlobalLoadShortD16Hi
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::High })), adds_lane: false };
    GlobalLoadD16HiI8 GlobalLoadSbyteD16Hi
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::High })), adds_lane: false };
    GlobalLoadD16HiU8 GlobalLoadUbyteD16Hi
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::High })), adds_lane: false };
    GlobalLoadD16I8 GlobalLoadSbyteD16
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::Low })), adds_lane: false };
    GlobalLoadD16U8 GlobalLoadUbyteD16
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::Low })), adds_lane: false };
    GlobalLoadI16 GlobalLoadSshort
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: true, place: Place::Whole })), adds_lane: false };
    GlobalLoadI8 GlobalLoadSbyte
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::Whole })), adds_lane: false };
    GlobalLoadU16 GlobalLoadUshort
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::Whole })), adds_lane: false };
    GlobalLoadU8 GlobalLoadUbyte
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::Whole })), adds_lane: false };
    GlobalStoreAddtidB32 GlobalStoreDwordAddtid
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Store(Data::Dwords(1))), adds_lane: true };
    GlobalStoreB128 GlobalStoreDwordx4
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Store(Data::Dwords(4))), adds_lane: false };
    GlobalStoreB16 GlobalStoreShort
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 2, signed: false, place: Place::Whole })), adds_lane: false };
    GlobalStoreB32 GlobalStoreDword
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Store(Data::Dwords(1))), adds_lane: false };
    GlobalStoreB64 GlobalStoreDwordx2
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Store(Data::Dwords(2))), adds_lane: false };
    GlobalStoreB8 GlobalStoreByte
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 1, signed: false, place: Place::Whole })), adds_lane: false };
    GlobalStoreB96 GlobalStoreDwordx3
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Store(Data::Dwords(3))), adds_lane: false };
    GlobalStoreByteD16Hi GlobalStoreD16HiB8
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 1, signed: false, place: Place::High })), adds_lane: false };
    GlobalStoreD16HiB16 GlobalStoreShortD16Hi
        => Executor::Flat { segment: Segment::Global, kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 2, signed: false, place: Place::High })), adds_lane: false };
    ScratchLoadB128 ScratchLoadDwordx4
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Load(Data::Dwords(4))), adds_lane: false };
    ScratchLoadB32 ScratchLoadDword
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Load(Data::Dwords(1))), adds_lane: false };
    ScratchLoadB64 ScratchLoadDwordx2
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Load(Data::Dwords(2))), adds_lane: false };
    ScratchLoadB96 ScratchLoadDwordx3
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Load(Data::Dwords(3))), adds_lane: false };
    ScratchLoadD16B16 ScratchLoadShortD16
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::Low })), adds_lane: false };
    ScratchLoadD16HiB16 ScratchLoadShortD16Hi
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::High })), adds_lane: false };
    ScratchLoadD16HiI8 ScratchLoadSbyteD16Hi
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::High })), adds_lane: false };
    ScratchLoadD16HiU8 ScratchLoadUbyteD16Hi
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::High })), adds_lane: false };
    ScratchLoadD16I8 ScratchLoadSbyteD16
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::Low })), adds_lane: false };
    ScratchLoadD16U8 ScratchLoadUbyteD16
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::Low })), adds_lane: false };
    ScratchLoadI16 ScratchLoadSshort
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: true, place: Place::Whole })), adds_lane: false };
    ScratchLoadI8 ScratchLoadSbyte
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::Whole })), adds_lane: false };
    ScratchLoadU16 ScratchLoadUshort
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::Whole })), adds_lane: false };
    ScratchLoadU8 ScratchLoadUbyte
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::Whole })), adds_lane: false };
    ScratchStoreB128 ScratchStoreDwordx4
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Store(Data::Dwords(4))), adds_lane: false };
    ScratchStoreB16 ScratchStoreShort
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 2, signed: false, place: Place::Whole })), adds_lane: false };
    ScratchStoreB32 ScratchStoreDword
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Store(Data::Dwords(1))), adds_lane: false };
    ScratchStoreB64 ScratchStoreDwordx2
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Store(Data::Dwords(2))), adds_lane: false };
    ScratchStoreB8 ScratchStoreByte
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 1, signed: false, place: Place::Whole })), adds_lane: false };
    ScratchStoreB96 ScratchStoreDwordx3
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Store(Data::Dwords(3))), adds_lane: false };
    ScratchStoreByteD16Hi ScratchStoreD16HiB8
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 1, signed: false, place: Place::High })), adds_lane: false };
    ScratchStoreD16HiB16 ScratchStoreShortD16Hi
        => Executor::Flat { segment: Segment::Scratch, kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 2, signed: false, place: Place::High })), adds_lane: false };
};

/// Operations on buffers. On GFX11 accesses of LDS have names of their own, and a bit before.
pub(super) const BUFFER: &[Row] = rows! {
    BufferGl0Inv BufferGl1Inv BufferWbinvl1 BufferWbinvl1Sc BufferWbinvl1Vol => Executor::Nothing;
    BufferAtomicAdd BufferAtomicAddU32
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::Add, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicAddF32
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::FloatAdd, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicAddU64 BufferAtomicAddX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::Add, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicAnd BufferAtomicAndB32
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::And, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicAndB64 BufferAtomicAndX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::And, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicCmpswap BufferAtomicCmpswapB32
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::CompareSwap, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicCmpswapB64 BufferAtomicCmpswapX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::CompareSwap, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicCmpswapF32 BufferAtomicFcmpswap
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::FloatCompareSwap, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicCondSubU32
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::ConditionalSub, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicCsub BufferAtomicCsubU32 BufferAtomicSubClampU32
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::SubClamp, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicDec BufferAtomicDecU32
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::Dec, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicDecU64 BufferAtomicDecX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::Dec, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicFcmpswapX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::FloatCompareSwap, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicFmax BufferAtomicMaxF32 BufferAtomicMaxNumF32
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::FloatMax, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicFmaxX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::FloatMax, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicFmin BufferAtomicMinF32 BufferAtomicMinNumF32
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::FloatMin, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicFminX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::FloatMin, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicInc BufferAtomicIncU32
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::Inc, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicIncU64 BufferAtomicIncX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::Inc, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicMaxI32 BufferAtomicSmax
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::SignedMax, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicMaxI64 BufferAtomicSmaxX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::SignedMax, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicMaxU32 BufferAtomicUmax
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::UnsignedMax, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicMaxU64 BufferAtomicUmaxX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::UnsignedMax, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicMinI32 BufferAtomicSmin
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::SignedMin, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicMinI64 BufferAtomicSminX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::SignedMin, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicMinU32 BufferAtomicUmin
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::UnsignedMin, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicMinU64 BufferAtomicUminX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::UnsignedMin, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicOr BufferAtomicOrB32
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::Or, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicOrB64 BufferAtomicOrX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::Or, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicPkAddBf16
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::AddBrains, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicPkAddF16
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::AddHalves, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicSub BufferAtomicSubU32
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::Sub, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicSubU64 BufferAtomicSubX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::Sub, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicSwap BufferAtomicSwapB32
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::Swap, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicSwapB64 BufferAtomicSwapX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::Swap, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicXor BufferAtomicXorB32
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::Xor, bytes: 4, returns: false }, is_typed: false, is_to_lds: false };
    BufferAtomicXorB64 BufferAtomicXorX2
        => Executor::Buffer { kind: MemoryKind::Atomic { atomic: Atomic::Xor, bytes: 8, returns: false }, is_typed: false, is_to_lds: false };
    BufferLoadB128 BufferLoadDwordx4
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Dwords(4))), is_typed: false, is_to_lds: false };
    BufferLoadB32 BufferLoadDword
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Dwords(1))), is_typed: false, is_to_lds: false };
    BufferLoadB64 BufferLoadDwordx2
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Dwords(2))), is_typed: false, is_to_lds: false };
    BufferLoadB96 BufferLoadDwordx3
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Dwords(3))), is_typed: false, is_to_lds: false };
    BufferLoadD16B16 BufferLoadShortD16
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::Low })), is_typed: false, is_to_lds: false };
    BufferLoadD16FormatX BufferLoadFormatD16X
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 1, half: true, high: false })), is_typed: false, is_to_lds: false };
    BufferLoadD16FormatXy BufferLoadFormatD16Xy
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 2, half: true, high: false })), is_typed: false, is_to_lds: false };
    BufferLoadD16FormatXyz BufferLoadFormatD16Xyz
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 3, half: true, high: false })), is_typed: false, is_to_lds: false };
    BufferLoadD16FormatXyzw BufferLoadFormatD16Xyzw
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 4, half: true, high: false })), is_typed: false, is_to_lds: false };
    BufferLoadD16HiB16 BufferLoadShortD16Hi
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::High })), is_typed: false, is_to_lds: false };
    BufferLoadD16HiFormatX BufferLoadFormatD16HiX
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 1, half: true, high: true })), is_typed: false, is_to_lds: false };
    BufferLoadD16HiI8 BufferLoadSbyteD16Hi
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::High })), is_typed: false, is_to_lds: false };
    BufferLoadD16HiU8 BufferLoadUbyteD16Hi
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::High })), is_typed: false, is_to_lds: false };
    BufferLoadD16I8 BufferLoadSbyteD16
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::Low })), is_typed: false, is_to_lds: false };
    BufferLoadD16U8 BufferLoadUbyteD16
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::Low })), is_typed: false, is_to_lds: false };
    BufferLoadFormatX
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 1, half: false, high: false })), is_typed: false, is_to_lds: false };
    BufferLoadFormatXy
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 2, half: false, high: false })), is_typed: false, is_to_lds: false };
    BufferLoadFormatXyz
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 3, half: false, high: false })), is_typed: false, is_to_lds: false };
    BufferLoadFormatXyzw
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 4, half: false, high: false })), is_typed: false, is_to_lds: false };
    BufferLoadI16 BufferLoadSshort
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: true, place: Place::Whole })), is_typed: false, is_to_lds: false };
    BufferLoadI8 BufferLoadSbyte
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::Whole })), is_typed: false, is_to_lds: false };
    BufferLoadLdsB32
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Dwords(1))), is_typed: false, is_to_lds: true };
    BufferLoadLdsFormatX
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 1, half: false, high: false })), is_typed: false, is_to_lds: true };
    BufferLoadLdsI16
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: true, place: Place::Whole })), is_typed: false, is_to_lds: true };
    BufferLoadLdsI8
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::Whole })), is_typed: false, is_to_lds: true };
    BufferLoadLdsU16
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::Whole })), is_typed: false, is_to_lds: true };
    BufferLoadLdsU8
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::Whole })), is_typed: false, is_to_lds: true };
    BufferLoadU16 BufferLoadUshort
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::Whole })), is_typed: false, is_to_lds: false };
    BufferLoadU8 BufferLoadUbyte
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::Whole })), is_typed: false, is_to_lds: false };
    BufferStoreB128 BufferStoreDwordx4
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Dwords(4))), is_typed: false, is_to_lds: false };
    BufferStoreB16 BufferStoreShort
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 2, signed: false, place: Place::Whole })), is_typed: false, is_to_lds: false };
    BufferStoreB32 BufferStoreDword
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Dwords(1))), is_typed: false, is_to_lds: false };
    BufferStoreB64 BufferStoreDwordx2
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Dwords(2))), is_typed: false, is_to_lds: false };
    BufferStoreB8 BufferStoreByte
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 1, signed: false, place: Place::Whole })), is_typed: false, is_to_lds: false };
    BufferStoreB96 BufferStoreDwordx3
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Dwords(3))), is_typed: false, is_to_lds: false };
    BufferStoreByteD16Hi BufferStoreD16HiB8
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 1, signed: false, place: Place::High })), is_typed: false, is_to_lds: false };
    BufferStoreD16FormatX BufferStoreFormatD16X
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 1, half: true, high: false })), is_typed: false, is_to_lds: false };
    BufferStoreD16FormatXy BufferStoreFormatD16Xy
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 2, half: true, high: false })), is_typed: false, is_to_lds: false };
    BufferStoreD16FormatXyz BufferStoreFormatD16Xyz
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 3, half: true, high: false })), is_typed: false, is_to_lds: false };
    BufferStoreD16FormatXyzw BufferStoreFormatD16Xyzw
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 4, half: true, high: false })), is_typed: false, is_to_lds: false };
    BufferStoreD16HiB16 BufferStoreShortD16Hi
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Part { bytes: 2, signed: false, place: Place::High })), is_typed: false, is_to_lds: false };
    BufferStoreD16HiFormatX BufferStoreFormatD16HiX
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 1, half: true, high: true })), is_typed: false, is_to_lds: false };
    BufferStoreFormatX
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 1, half: false, high: false })), is_typed: false, is_to_lds: false };
    BufferStoreFormatXy
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 2, half: false, high: false })), is_typed: false, is_to_lds: false };
    BufferStoreFormatXyz
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 3, half: false, high: false })), is_typed: false, is_to_lds: false };
    BufferStoreFormatXyzw
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 4, half: false, high: false })), is_typed: false, is_to_lds: false };
    TbufferLoadD16FormatX TbufferLoadFormatD16X
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 1, half: true, high: false })), is_typed: true, is_to_lds: false };
    TbufferLoadD16FormatXy TbufferLoadFormatD16Xy
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 2, half: true, high: false })), is_typed: true, is_to_lds: false };
    TbufferLoadD16FormatXyz TbufferLoadFormatD16Xyz
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 3, half: true, high: false })), is_typed: true, is_to_lds: false };
    TbufferLoadD16FormatXyzw TbufferLoadFormatD16Xyzw
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 4, half: true, high: false })), is_typed: true, is_to_lds: false };
    TbufferLoadFormatX
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 1, half: false, high: false })), is_typed: true, is_to_lds: false };
    TbufferLoadFormatXy
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 2, half: false, high: false })), is_typed: true, is_to_lds: false };
    TbufferLoadFormatXyz
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 3, half: false, high: false })), is_typed: true, is_to_lds: false };
    TbufferLoadFormatXyzw
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Load(Data::Format { components: 4, half: false, high: false })), is_typed: true, is_to_lds: false };
    TbufferStoreD16FormatX TbufferStoreFormatD16X
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 1, half: true, high: false })), is_typed: true, is_to_lds: false };
    TbufferStoreD16FormatXy TbufferStoreFormatD16Xy
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 2, half: true, high: false })), is_typed: true, is_to_lds: false };
    TbufferStoreD16FormatXyz TbufferStoreFormatD16Xyz
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 3, half: true, high: false })), is_typed: true, is_to_lds: false };
    TbufferStoreD16FormatXyzw TbufferStoreFormatD16Xyzw
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 4, half: true, high: false })), is_typed: true, is_to_lds: false };
    TbufferStoreFormatX
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 1, half: false, high: false })), is_typed: true, is_to_lds: false };
    TbufferStoreFormatXy
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 2, half: false, high: false })), is_typed: true, is_to_lds: false };
    TbufferStoreFormatXyz
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 3, half: false, high: false })), is_typed: true, is_to_lds: false };
    TbufferStoreFormatXyzw
        => Executor::Buffer { kind: MemoryKind::Access(DataKind::Store(Data::Format { components: 4, half: false, high: false })), is_typed: true, is_to_lds: false };
};
