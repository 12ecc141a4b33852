//! LDS operations.

use super::executor::{Executor, Row, rows};
use crate::{
    atomic::Atomic,
    program::{
        data::{Data, DataKind, Place},
        decoded_inst::LdsKind,
    },
};

/// Operations on LDS; the two offsets of some count 64 elements.
pub(super) const TABLE: &[Row] = rows! {
    DsNop => Executor::Nothing;
    DsAddF32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatAdd, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsAddRtnF32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatAdd, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsAddRtnU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Add, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsAddRtnU64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Add, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsAddSrc2F32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::FloatAdd, bytes: 4 }, is_far: false };
    DsAddSrc2U32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::Add, bytes: 4 }, is_far: false };
    DsAddSrc2U64 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::Add, bytes: 8 }, is_far: false };
    DsAddU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Add, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsAddU64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Add, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsAndB32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::And, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsAndB64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::And, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsAndRtnB32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::And, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsAndRtnB64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::And, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsAndSrc2B32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::And, bytes: 4 }, is_far: false };
    DsAndSrc2B64 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::And, bytes: 8 }, is_far: false };
    DsAppend => Executor::Lds { kind: LdsKind::Append(true), is_far: false };
    DsBpermuteB32 => Executor::Lds { kind: LdsKind::BackwardPermute, is_far: false };
    DsCmpstB32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::CompareSwap, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsCmpstB64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::CompareSwap, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsCmpstF32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatCompareSwap, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsCmpstF64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatCompareSwap, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsCmpstRtnB32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::CompareSwap, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsCmpstRtnB64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::CompareSwap, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsCmpstRtnF32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatCompareSwap, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsCmpstRtnF64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatCompareSwap, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsCmpstoreB32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::CompareSwap, bytes: 4, returns: false, swapped: true }, is_far: false };
    DsCmpstoreB64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::CompareSwap, bytes: 8, returns: false, swapped: true }, is_far: false };
    DsCmpstoreF32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatCompareSwap, bytes: 4, returns: false, swapped: true }, is_far: false };
    DsCmpstoreF64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatCompareSwap, bytes: 8, returns: false, swapped: true }, is_far: false };
    DsCmpstoreRtnB32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::CompareSwap, bytes: 4, returns: true, swapped: true }, is_far: false };
    DsCmpstoreRtnB64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::CompareSwap, bytes: 8, returns: true, swapped: true }, is_far: false };
    DsCmpstoreRtnF32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatCompareSwap, bytes: 4, returns: true, swapped: true }, is_far: false };
    DsCmpstoreRtnF64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatCompareSwap, bytes: 8, returns: true, swapped: true }, is_far: false };
    DsCondSubRtnU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::ConditionalSub, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsCondSubU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::ConditionalSub, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsConsume => Executor::Lds { kind: LdsKind::Append(false), is_far: false };
    DsDecRtnU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Dec, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsDecRtnU64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Dec, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsDecSrc2U32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::Dec, bytes: 4 }, is_far: false };
    DsDecSrc2U64 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::Dec, bytes: 8 }, is_far: false };
    DsDecU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Dec, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsDecU64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Dec, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsIncRtnU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Inc, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsIncRtnU64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Inc, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsIncSrc2U32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::Inc, bytes: 4 }, is_far: false };
    DsIncSrc2U64 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::Inc, bytes: 8 }, is_far: false };
    DsIncU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Inc, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsIncU64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Inc, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsLoad2addrB32 DsRead2B32 => Executor::Lds { kind: LdsKind::Load2(4), is_far: false };
    DsLoad2addrB64 DsRead2B64 => Executor::Lds { kind: LdsKind::Load2(8), is_far: false };
    DsLoad2addrStride64B32 DsRead2st64B32 => Executor::Lds { kind: LdsKind::Load2(4), is_far: true };
    DsLoad2addrStride64B64 DsRead2st64B64 => Executor::Lds { kind: LdsKind::Load2(8), is_far: true };
    DsLoadAddtidB32 DsReadAddtidB32 => Executor::Lds { kind: LdsKind::LaneAddress(false), is_far: false };
    DsLoadB128 DsReadB128 => Executor::Lds { kind: LdsKind::Access(DataKind::Load(Data::Dwords(4))), is_far: false };
    DsLoadB32 DsReadB32 => Executor::Lds { kind: LdsKind::Access(DataKind::Load(Data::Dwords(1))), is_far: false };
    DsLoadB64 DsReadB64 => Executor::Lds { kind: LdsKind::Access(DataKind::Load(Data::Dwords(2))), is_far: false };
    DsLoadB96 DsReadB96 => Executor::Lds { kind: LdsKind::Access(DataKind::Load(Data::Dwords(3))), is_far: false };
    DsLoadI16 DsReadI16
        => Executor::Lds { kind: LdsKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: true, place: Place::Whole })), is_far: false };
    DsLoadI8 DsReadI8
        => Executor::Lds { kind: LdsKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::Whole })), is_far: false };
    DsLoadI8D16 DsReadI8D16
        => Executor::Lds { kind: LdsKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::Low })), is_far: false };
    DsLoadI8D16Hi DsReadI8D16Hi
        => Executor::Lds { kind: LdsKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: true, place: Place::High })), is_far: false };
    DsLoadU16 DsReadU16
        => Executor::Lds { kind: LdsKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::Whole })), is_far: false };
    DsLoadU16D16 DsReadU16D16
        => Executor::Lds { kind: LdsKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::Low })), is_far: false };
    DsLoadU16D16Hi DsReadU16D16Hi
        => Executor::Lds { kind: LdsKind::Access(DataKind::Load(Data::Part { bytes: 2, signed: false, place: Place::High })), is_far: false };
    DsLoadU8 DsReadU8
        => Executor::Lds { kind: LdsKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::Whole })), is_far: false };
    DsLoadU8D16 DsReadU8D16
        => Executor::Lds { kind: LdsKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::Low })), is_far: false };
    DsLoadU8D16Hi DsReadU8D16Hi
        => Executor::Lds { kind: LdsKind::Access(DataKind::Load(Data::Part { bytes: 1, signed: false, place: Place::High })), is_far: false };
    DsMaxF32 DsMaxNumF32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatMax, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsMaxF64 DsMaxNumF64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatMax, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsMaxI32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::SignedMax, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsMaxI64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::SignedMax, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsMaxNumRtnF32 DsMaxRtnF32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatMax, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsMaxNumRtnF64 DsMaxRtnF64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatMax, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsMaxRtnI32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::SignedMax, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsMaxRtnI64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::SignedMax, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsMaxRtnU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::UnsignedMax, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsMaxRtnU64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::UnsignedMax, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsMaxSrc2F32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::FloatMax, bytes: 4 }, is_far: false };
    DsMaxSrc2F64 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::FloatMax, bytes: 8 }, is_far: false };
    DsMaxSrc2I32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::SignedMax, bytes: 4 }, is_far: false };
    DsMaxSrc2I64 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::SignedMax, bytes: 8 }, is_far: false };
    DsMaxSrc2U32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::UnsignedMax, bytes: 4 }, is_far: false };
    DsMaxSrc2U64 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::UnsignedMax, bytes: 8 }, is_far: false };
    DsMaxU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::UnsignedMax, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsMaxU64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::UnsignedMax, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsMinF32 DsMinNumF32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatMin, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsMinF64 DsMinNumF64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatMin, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsMinI32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::SignedMin, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsMinI64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::SignedMin, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsMinNumRtnF32 DsMinRtnF32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatMin, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsMinNumRtnF64 DsMinRtnF64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::FloatMin, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsMinRtnI32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::SignedMin, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsMinRtnI64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::SignedMin, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsMinRtnU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::UnsignedMin, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsMinRtnU64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::UnsignedMin, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsMinSrc2F32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::FloatMin, bytes: 4 }, is_far: false };
    DsMinSrc2F64 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::FloatMin, bytes: 8 }, is_far: false };
    DsMinSrc2I32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::SignedMin, bytes: 4 }, is_far: false };
    DsMinSrc2I64 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::SignedMin, bytes: 8 }, is_far: false };
    DsMinSrc2U32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::UnsignedMin, bytes: 4 }, is_far: false };
    DsMinSrc2U64 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::UnsignedMin, bytes: 8 }, is_far: false };
    DsMinU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::UnsignedMin, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsMinU64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::UnsignedMin, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsMskorB32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::MaskOr, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsMskorB64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::MaskOr, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsMskorRtnB32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::MaskOr, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsMskorRtnB64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::MaskOr, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsOrB32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Or, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsOrB64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Or, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsOrRtnB32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Or, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsOrRtnB64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Or, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsOrSrc2B32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::Or, bytes: 4 }, is_far: false };
    DsOrSrc2B64 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::Or, bytes: 8 }, is_far: false };
    DsPermuteB32 => Executor::Lds { kind: LdsKind::Permute, is_far: false };
    DsPkAddBf16
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::AddBrains, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsPkAddF16
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::AddHalves, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsPkAddRtnBf16
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::AddBrains, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsPkAddRtnF16
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::AddHalves, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsRsubRtnU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::ReverseSub, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsRsubRtnU64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::ReverseSub, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsRsubSrc2U32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::ReverseSub, bytes: 4 }, is_far: false };
    DsRsubSrc2U64 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::ReverseSub, bytes: 8 }, is_far: false };
    DsRsubU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::ReverseSub, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsRsubU64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::ReverseSub, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsStore2addrB32 DsWrite2B32 => Executor::Lds { kind: LdsKind::Store2(4), is_far: false };
    DsStore2addrB64 DsWrite2B64 => Executor::Lds { kind: LdsKind::Store2(8), is_far: false };
    DsStore2addrStride64B32 DsWrite2st64B32 => Executor::Lds { kind: LdsKind::Store2(4), is_far: true };
    DsStore2addrStride64B64 DsWrite2st64B64 => Executor::Lds { kind: LdsKind::Store2(8), is_far: true };
    DsStoreAddtidB32 DsWriteAddtidB32 => Executor::Lds { kind: LdsKind::LaneAddress(true), is_far: false };
    DsStoreB128 DsWriteB128 => Executor::Lds { kind: LdsKind::Access(DataKind::Store(Data::Dwords(4))), is_far: false };
    DsStoreB16 DsWriteB16
        => Executor::Lds { kind: LdsKind::Access(DataKind::Store(Data::Part { bytes: 2, signed: false, place: Place::Whole })), is_far: false };
    DsStoreB16D16Hi DsWriteB16D16Hi
        => Executor::Lds { kind: LdsKind::Access(DataKind::Store(Data::Part { bytes: 2, signed: false, place: Place::High })), is_far: false };
    DsStoreB32 DsWriteB32 => Executor::Lds { kind: LdsKind::Access(DataKind::Store(Data::Dwords(1))), is_far: false };
    DsStoreB64 DsWriteB64 => Executor::Lds { kind: LdsKind::Access(DataKind::Store(Data::Dwords(2))), is_far: false };
    DsStoreB8 DsWriteB8
        => Executor::Lds { kind: LdsKind::Access(DataKind::Store(Data::Part { bytes: 1, signed: false, place: Place::Whole })), is_far: false };
    DsStoreB8D16Hi DsWriteB8D16Hi
        => Executor::Lds { kind: LdsKind::Access(DataKind::Store(Data::Part { bytes: 1, signed: false, place: Place::High })), is_far: false };
    DsStoreB96 DsWriteB96 => Executor::Lds { kind: LdsKind::Access(DataKind::Store(Data::Dwords(3))), is_far: false };
    DsStorexchg2addrRtnB32 DsWrxchg2RtnB32 => Executor::Lds { kind: LdsKind::Exchange2(4), is_far: false };
    DsStorexchg2addrRtnB64 DsWrxchg2RtnB64 => Executor::Lds { kind: LdsKind::Exchange2(8), is_far: false };
    DsStorexchg2addrStride64RtnB32 DsWrxchg2st64RtnB32 => Executor::Lds { kind: LdsKind::Exchange2(4), is_far: true };
    DsStorexchg2addrStride64RtnB64 DsWrxchg2st64RtnB64 => Executor::Lds { kind: LdsKind::Exchange2(8), is_far: true };
    DsStorexchgRtnB32 DsWrxchgRtnB32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Swap, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsStorexchgRtnB64 DsWrxchgRtnB64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Swap, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsSubClampRtnU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::SubClamp, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsSubClampU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::SubClamp, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsSubRtnU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Sub, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsSubRtnU64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Sub, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsSubSrc2U32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::Sub, bytes: 4 }, is_far: false };
    DsSubSrc2U64 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::Sub, bytes: 8 }, is_far: false };
    DsSubU32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Sub, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsSubU64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Sub, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsSwizzleB32 => Executor::Lds { kind: LdsKind::Swizzle, is_far: false };
    DsWrapRtnB32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Wrap, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsWriteSrc2B32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::Swap, bytes: 4 }, is_far: false };
    DsWriteSrc2B64 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::Swap, bytes: 8 }, is_far: false };
    DsXorB32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Xor, bytes: 4, returns: false, swapped: false }, is_far: false };
    DsXorB64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Xor, bytes: 8, returns: false, swapped: false }, is_far: false };
    DsXorRtnB32
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Xor, bytes: 4, returns: true, swapped: false }, is_far: false };
    DsXorRtnB64
        => Executor::Lds { kind: LdsKind::Atomic { atomic: Atomic::Xor, bytes: 8, returns: true, swapped: false }, is_far: false };
    DsXorSrc2B32 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::Xor, bytes: 4 }, is_far: false };
    DsXorSrc2B64 => Executor::Lds { kind: LdsKind::AtomicFromMemory { atomic: Atomic::Xor, bytes: 8 }, is_far: false };
};
