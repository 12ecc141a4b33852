//! Vector operations that are more than a kernel.

use super::executor::{Executor, Row, Written, rows};
use crate::program::decoded_inst::{Half, LaneKind};

/// Operations across lanes, those of two halves or of two instructions, and those with a result elsewhere than in a vector register.
pub(super) const TABLE: &[Row] = rows! {
    VNop VClrexcp VPipeflush => Executor::Nothing;
    VReadfirstlaneB32 => Executor::Lane(LaneKind::ReadFirst);
    VReadlaneB32 => Executor::Lane(LaneKind::Read);
    VWritelaneB32 => Executor::Lane(LaneKind::Write);
    VMbcntLoU32B32 => Executor::Lane(LaneKind::CountLow);
    VMbcntHiU32B32 => Executor::Lane(LaneKind::CountHigh);
    VSwapB32 => Executor::Lane(LaneKind::Swap);
    VSwaprelB32 => Executor::Lane(LaneKind::SwapIndexed);
    VMovrelsB32 => Executor::Lane(LaneKind::Move { source: true, destination: false, split: false });
    VMovreldB32 => Executor::Lane(LaneKind::Move { source: false, destination: true, split: false });
    VMovrelsdB32 => Executor::Lane(LaneKind::Move { source: true, destination: true, split: false });
    VMovrelsd2B32 => Executor::Lane(LaneKind::Move { source: true, destination: true, split: true });
    VPermlane16B32 => Executor::Lane(LaneKind::Permute { crosses: false, variable: false });
    VPermlanex16B32 => Executor::Lane(LaneKind::Permute { crosses: true, variable: false });
    VPermlane16VarB32 => Executor::Lane(LaneKind::Permute { crosses: false, variable: true });
    VPermlanex16VarB32 => Executor::Lane(LaneKind::Permute { crosses: true, variable: true });
    VPermlane64B32 => Executor::Lane(LaneKind::SwapHalves);
    VDot4I32Iu8 => Executor::MixedSigns { bits: 8 };
    VDot8I32Iu4 => Executor::MixedSigns { bits: 4 };
    VFmaMixF32 => Executor::Mix { fused: true, half: None };
    VFmaMixloF16 => Executor::Mix { fused: true, half: Some(Half::Low) };
    VFmaMixhiF16 => Executor::Mix { fused: true, half: Some(Half::High) };
    VMadMixF32 => Executor::Mix { fused: false, half: None };
    VMadMixloF16 => Executor::Mix { fused: false, half: Some(Half::Low) };
    VMadMixhiF16 => Executor::Mix { fused: false, half: Some(Half::High) };
    VPkFmacF16 => Executor::PackedSum;
    VPkAddF16 VPkAddI16 VPkAddU16 VPkAshrrevI16 VPkFmaF16 VPkLshlrevB16 VPkLshrrevB16 VPkMadI16 VPkMadU16 VPkMaxF16
    VPkMaxI16 VPkMaxNumF16 VPkMaxU16 VPkMaximumF16 VPkMinF16 VPkMinI16 VPkMinNumF16 VPkMinU16 VPkMinimumF16
    VPkMulF16 VPkMulLoU16 VPkSubI16 VPkSubU16 => Executor::Packed;
    VDualAddF32 VDualAddNcU32 VDualAndB32 VDualCndmaskB32 VDualDot2accF32Bf16 VDualDot2accF32F16 VDualFmaakF32
    VDualFmacF32 VDualFmamkF32 VDualLshlrevB32 VDualMaxF32 VDualMaxNumF32 VDualMinF32 VDualMinNumF32 VDualMovB32
    VDualMulDx9ZeroF32 VDualMulF32 VDualSubF32 VDualSubrevF32 => Executor::Dual;
    VSExpF16 VSExpF32 VSLogF16 VSLogF32 VSRcpF16 VSRcpF32 VSRsqF16 VSRsqF32 VSSqrtF16 VSSqrtF32
        => Executor::Vector(Written::Scalar);
    VCmpsxEqF32 VCmpsxEqF64 VCmpsxFF32 VCmpsxFF64 VCmpsxGeF32 VCmpsxGeF64 VCmpsxGtF32 VCmpsxGtF64 VCmpsxLeF32
    VCmpsxLeF64 VCmpsxLgF32 VCmpsxLgF64 VCmpsxLtF32 VCmpsxLtF64 VCmpsxNeqF32 VCmpsxNeqF64 VCmpsxNgeF32 VCmpsxNgeF64
    VCmpsxNgtF32 VCmpsxNgtF64 VCmpsxNleF32 VCmpsxNleF64 VCmpsxNlgF32 VCmpsxNlgF64 VCmpsxNltF32 VCmpsxNltF64
    VCmpsxOF32 VCmpsxOF64 VCmpsxTruF32 VCmpsxTruF64 VCmpsxUF32 VCmpsxUF64 VCmpxClassF16 VCmpxClassF32 VCmpxClassF64
    VCmpxEqF16 VCmpxEqF32 VCmpxEqF64 VCmpxEqI16 VCmpxEqI32 VCmpxEqI64 VCmpxEqU16 VCmpxEqU32 VCmpxEqU64 VCmpxFF16
    VCmpxFF32 VCmpxFF64 VCmpxFI16 VCmpxFI32 VCmpxFI64 VCmpxFU16 VCmpxFU32 VCmpxFU64 VCmpxGeF16 VCmpxGeF32 VCmpxGeF64
    VCmpxGeI16 VCmpxGeI32 VCmpxGeI64 VCmpxGeU16 VCmpxGeU32 VCmpxGeU64 VCmpxGtF16 VCmpxGtF32 VCmpxGtF64 VCmpxGtI16
    VCmpxGtI32 VCmpxGtI64 VCmpxGtU16 VCmpxGtU32 VCmpxGtU64 VCmpxLeF16 VCmpxLeF32 VCmpxLeF64 VCmpxLeI16 VCmpxLeI32
    VCmpxLeI64 VCmpxLeU16 VCmpxLeU32 VCmpxLeU64 VCmpxLgF16 VCmpxLgF32 VCmpxLgF64 VCmpxLtF16 VCmpxLtF32 VCmpxLtF64
    VCmpxLtI16 VCmpxLtI32 VCmpxLtI64 VCmpxLtU16 VCmpxLtU32 VCmpxLtU64 VCmpxNeI16 VCmpxNeI32 VCmpxNeI64 VCmpxNeU16
    VCmpxNeU32 VCmpxNeU64 VCmpxNeqF16 VCmpxNeqF32 VCmpxNeqF64 VCmpxNgeF16 VCmpxNgeF32 VCmpxNgeF64 VCmpxNgtF16
    VCmpxNgtF32 VCmpxNgtF64 VCmpxNleF16 VCmpxNleF32 VCmpxNleF64 VCmpxNlgF16 VCmpxNlgF32 VCmpxNlgF64 VCmpxNltF16
    VCmpxNltF32 VCmpxNltF64 VCmpxOF16 VCmpxOF32 VCmpxOF64 VCmpxTF16 VCmpxTF32 VCmpxTF64 VCmpxTI16 VCmpxTI32
    VCmpxTI64 VCmpxTU16 VCmpxTU32 VCmpxTU64 VCmpxTruF16 VCmpxTruF32 VCmpxTruF64 VCmpxUF16 VCmpxUF32 VCmpxUF64
        => Executor::Vector(Written::Exec);
};
