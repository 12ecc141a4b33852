//! Image operations. `returns` is a bit of the instruction, so it is `false` here.

use super::executor::{Executor, Row, rows};
use crate::{
    atomic::Atomic,
    program::image::op::{Detail, Lookup, Operation, Transfer},
};

/// Loads, stores, atomic operations and lookups.
pub(super) const TABLE: &[Row] = rows! {
    ImageAtomicAdd ImageAtomicAddUint
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::Add, returns: false }, has_half_gradients: false };
    ImageAtomicAddFlt
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::FloatAdd, returns: false }, has_half_gradients: false };
    ImageAtomicAnd
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::And, returns: false }, has_half_gradients: false };
    ImageAtomicCmpswap
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::CompareSwap, returns: false }, has_half_gradients: false };
    ImageAtomicDec ImageAtomicDecUint
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::Dec, returns: false }, has_half_gradients: false };
    ImageAtomicFcmpswap
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::FloatCompareSwap, returns: false }, has_half_gradients: false };
    ImageAtomicFmax ImageAtomicMaxFlt
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::FloatMax, returns: false }, has_half_gradients: false };
    ImageAtomicFmin ImageAtomicMinFlt
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::FloatMin, returns: false }, has_half_gradients: false };
    ImageAtomicInc ImageAtomicIncUint
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::Inc, returns: false }, has_half_gradients: false };
    ImageAtomicMaxInt ImageAtomicSmax
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::SignedMax, returns: false }, has_half_gradients: false };
    ImageAtomicMaxUint ImageAtomicUmax
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::UnsignedMax, returns: false }, has_half_gradients: false };
    ImageAtomicMinInt ImageAtomicSmin
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::SignedMin, returns: false }, has_half_gradients: false };
    ImageAtomicMinUint ImageAtomicUmin
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::UnsignedMin, returns: false }, has_half_gradients: false };
    ImageAtomicOr
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::Or, returns: false }, has_half_gradients: false };
    ImageAtomicPkAddBf16
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::AddBrains, returns: false }, has_half_gradients: false };
    ImageAtomicPkAddF16
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::AddHalves, returns: false }, has_half_gradients: false };
    ImageAtomicRsub
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::ReverseSub, returns: false }, has_half_gradients: false };
    ImageAtomicSub ImageAtomicSubUint
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::Sub, returns: false }, has_half_gradients: false };
    ImageAtomicSwap
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::Swap, returns: false }, has_half_gradients: false };
    ImageAtomicXor
        => Executor::Image { operation: Operation::Atomic { atomic: Atomic::Xor, returns: false }, has_half_gradients: false };
    ImageGather4
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: false, has_bias: false, compares: false, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGather4B
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: false, has_bias: true, compares: false, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGather4BCl
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: false, has_bias: true, compares: false, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGather4BClO
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: true, has_bias: true, compares: false, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGather4BO
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: true, has_bias: true, compares: false, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGather4C
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: false, has_bias: false, compares: true, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGather4CB
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: false, has_bias: true, compares: true, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGather4CBCl
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: false, has_bias: true, compares: true, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGather4CBClO
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: true, has_bias: true, compares: true, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGather4CBO
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: true, has_bias: true, compares: true, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGather4CCl
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: false, has_bias: false, compares: true, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGather4CClO
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: true, has_bias: false, compares: true, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGather4CL
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: false, has_bias: false, compares: true, has_clamp: false, detail: Detail::Explicit }), has_half_gradients: false };
    ImageGather4CLO
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: true, has_bias: false, compares: true, has_clamp: false, detail: Detail::Explicit }), has_half_gradients: false };
    ImageGather4CLz
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: false, has_bias: false, compares: true, has_clamp: false, detail: Detail::Zero }), has_half_gradients: false };
    ImageGather4CLzO
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: true, has_bias: false, compares: true, has_clamp: false, detail: Detail::Zero }), has_half_gradients: false };
    ImageGather4CO
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: true, has_bias: false, compares: true, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGather4Cl
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: false, has_bias: false, compares: false, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGather4ClO
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: true, has_bias: false, compares: false, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGather4L
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: false, has_bias: false, compares: false, has_clamp: false, detail: Detail::Explicit }), has_half_gradients: false };
    ImageGather4LO
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: true, has_bias: false, compares: false, has_clamp: false, detail: Detail::Explicit }), has_half_gradients: false };
    ImageGather4Lz
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: false, has_bias: false, compares: false, has_clamp: false, detail: Detail::Zero }), has_half_gradients: false };
    ImageGather4LzO
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: true, has_bias: false, compares: false, has_clamp: false, detail: Detail::Zero }), has_half_gradients: false };
    ImageGather4O
        => Executor::Image { operation: Operation::Gather(Lookup { has_offset: true, has_bias: false, compares: false, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageGetLod => Executor::Image { operation: Operation::Lod, has_half_gradients: false };
    ImageGetResinfo => Executor::Image { operation: Operation::Size, has_half_gradients: false };
    ImageLoad
        => Executor::Image { operation: Operation::Load(Transfer { has_level: false, is_raw: false, is_signed: false }), has_half_gradients: false };
    ImageLoadMip
        => Executor::Image { operation: Operation::Load(Transfer { has_level: true, is_raw: false, is_signed: false }), has_half_gradients: false };
    ImageLoadMipPck
        => Executor::Image { operation: Operation::Load(Transfer { has_level: true, is_raw: true, is_signed: false }), has_half_gradients: false };
    ImageLoadMipPckSgn
        => Executor::Image { operation: Operation::Load(Transfer { has_level: true, is_raw: true, is_signed: true }), has_half_gradients: false };
    ImageLoadPck
        => Executor::Image { operation: Operation::Load(Transfer { has_level: false, is_raw: true, is_signed: false }), has_half_gradients: false };
    ImageLoadPckSgn
        => Executor::Image { operation: Operation::Load(Transfer { has_level: false, is_raw: true, is_signed: true }), has_half_gradients: false };
    ImageMsaaLoad => Executor::Image { operation: Operation::LoadSamples, has_half_gradients: false };
    ImageSample
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: false, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageSampleB
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: true, compares: false, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageSampleBCl
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: true, compares: false, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageSampleBClO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: true, compares: false, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageSampleBO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: true, compares: false, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageSampleC
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: true, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageSampleCB
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: true, compares: true, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageSampleCBCl
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: true, compares: true, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageSampleCBClO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: true, compares: true, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageSampleCBO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: true, compares: true, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageSampleCCd ImageSampleCD
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: true, has_clamp: false, detail: Detail::Gradients }), has_half_gradients: false };
    ImageSampleCCdCl ImageSampleCDCl
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: true, has_clamp: true, detail: Detail::Gradients }), has_half_gradients: false };
    ImageSampleCCdClG16 ImageSampleCDClG16
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: true, has_clamp: true, detail: Detail::Gradients }), has_half_gradients: true };
    ImageSampleCCdClO ImageSampleCDClO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: true, has_clamp: true, detail: Detail::Gradients }), has_half_gradients: false };
    ImageSampleCCdClOG16 ImageSampleCDClOG16
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: true, has_clamp: true, detail: Detail::Gradients }), has_half_gradients: true };
    ImageSampleCCdG16 ImageSampleCDG16
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: true, has_clamp: false, detail: Detail::Gradients }), has_half_gradients: true };
    ImageSampleCCdO ImageSampleCDO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: true, has_clamp: false, detail: Detail::Gradients }), has_half_gradients: false };
    ImageSampleCCdOG16 ImageSampleCDOG16
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: true, has_clamp: false, detail: Detail::Gradients }), has_half_gradients: true };
    ImageSampleCCl
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: true, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageSampleCClO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: true, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageSampleCL
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: true, has_clamp: false, detail: Detail::Explicit }), has_half_gradients: false };
    ImageSampleCLO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: true, has_clamp: false, detail: Detail::Explicit }), has_half_gradients: false };
    ImageSampleCLz
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: true, has_clamp: false, detail: Detail::Zero }), has_half_gradients: false };
    ImageSampleCLzO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: true, has_clamp: false, detail: Detail::Zero }), has_half_gradients: false };
    ImageSampleCO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: true, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageSampleCd ImageSampleD
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: false, has_clamp: false, detail: Detail::Gradients }), has_half_gradients: false };
    ImageSampleCdCl ImageSampleDCl
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: false, has_clamp: true, detail: Detail::Gradients }), has_half_gradients: false };
    ImageSampleCdClG16 ImageSampleDClG16
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: false, has_clamp: true, detail: Detail::Gradients }), has_half_gradients: true };
    ImageSampleCdClO ImageSampleDClO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: false, has_clamp: true, detail: Detail::Gradients }), has_half_gradients: false };
    ImageSampleCdClOG16 ImageSampleDClOG16
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: false, has_clamp: true, detail: Detail::Gradients }), has_half_gradients: true };
    ImageSampleCdG16 ImageSampleDG16
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: false, has_clamp: false, detail: Detail::Gradients }), has_half_gradients: true };
    ImageSampleCdO ImageSampleDO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: false, has_clamp: false, detail: Detail::Gradients }), has_half_gradients: false };
    ImageSampleCdOG16 ImageSampleDOG16
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: false, has_clamp: false, detail: Detail::Gradients }), has_half_gradients: true };
    ImageSampleCl
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: false, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageSampleClO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: false, has_clamp: true, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageSampleL
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: false, has_clamp: false, detail: Detail::Explicit }), has_half_gradients: false };
    ImageSampleLO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: false, has_clamp: false, detail: Detail::Explicit }), has_half_gradients: false };
    ImageSampleLz
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: false, has_bias: false, compares: false, has_clamp: false, detail: Detail::Zero }), has_half_gradients: false };
    ImageSampleLzO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: false, has_clamp: false, detail: Detail::Zero }), has_half_gradients: false };
    ImageSampleO
        => Executor::Image { operation: Operation::Sample(Lookup { has_offset: true, has_bias: false, compares: false, has_clamp: false, detail: Detail::Neighbours }), has_half_gradients: false };
    ImageStore
        => Executor::Image { operation: Operation::Store(Transfer { has_level: false, is_raw: false, is_signed: false }), has_half_gradients: false };
    ImageStoreMip
        => Executor::Image { operation: Operation::Store(Transfer { has_level: true, is_raw: false, is_signed: false }), has_half_gradients: false };
    ImageStoreMipPck
        => Executor::Image { operation: Operation::Store(Transfer { has_level: true, is_raw: true, is_signed: false }), has_half_gradients: false };
    ImageStorePck
        => Executor::Image { operation: Operation::Store(Transfer { has_level: false, is_raw: true, is_signed: false }), has_half_gradients: false };
};
