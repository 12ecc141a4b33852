//! Scalar operations that have no function: control flow, registers, memory.

use super::executor::{Base, Executor, Flow, Row, Special, rows};
use crate::{
    atomic::Atomic,
    program::decoded_inst::{Condition, ScalarKind},
};

/// Operations that change registers alone, or the control flow.
pub(super) const TABLE: &[Row] = rows! {
    SNop SSleep SSleepVar SSetprio SClause SDelayAlu SInstPrefetch SSetInstPrefetchDistance STtracedata
    STtracedataImm SIncperflevel SDecperflevel SVersion SWakeup SSingleuseVdst SSetkill STrap SWaitAlu SWaitBvhcnt
    SWaitDscnt SWaitEvent SWaitExpcnt SWaitIdle SWaitKmcnt SWaitLoadcnt SWaitLoadcntDscnt SWaitSamplecnt
    SWaitStorecnt SWaitStorecntDscnt SWaitcnt SWaitcntDepctr SWaitcntExpcnt SWaitcntLgkmcnt SWaitcntVmcnt
    SWaitcntVscnt SCbranchCdbgsys SCbranchCdbguser SCbranchCdbgsysOrUser SCbranchCdbgsysAndUser SAtcProbe
    SAtcProbeBuffer SBufferPrefetchData SDcacheDiscard SDcacheDiscardX2 SDcacheInv SDcacheInvVol SDcacheWb
    SDcacheWbVol SGl1Inv SPrefetchData SPrefetchDataPcRel SPrefetchInst SPrefetchInstPcRel => Executor::Nothing;
    SIcacheInv => Executor::ForgetCode;
    SEndpgm SEndpgmSaved SEndpgmOrderedPsDone => Executor::Flow(Flow::End);
    SCodeEnd SSendmsghalt => Executor::Flow(Flow::Halt);
    SSethalt => Executor::Flow(Flow::SetHalt);
    SBranch => Executor::Flow(Flow::Branch(Condition::Always));
    SCbranchScc0 => Executor::Flow(Flow::Branch(Condition::Scc(false)));
    SCbranchScc1 => Executor::Flow(Flow::Branch(Condition::Scc(true)));
    SCbranchVccz => Executor::Flow(Flow::Branch(Condition::VccZero(true)));
    SCbranchVccnz => Executor::Flow(Flow::Branch(Condition::VccZero(false)));
    SCbranchExecz => Executor::Flow(Flow::Branch(Condition::ExecZero(true)));
    SCbranchExecnz => Executor::Flow(Flow::Branch(Condition::ExecZero(false)));
    SBarrier => Executor::Flow(Flow::Barrier);
    SBarrierSignal => Executor::Flow(Flow::BarrierSignal);
    SBarrierWait => Executor::Flow(Flow::BarrierWait);
    SSendmsg => Executor::Flow(Flow::Message);
    SSendmsgRtnB32 SSendmsgRtnB64 => Executor::Flow(Flow::Question);
    SGetpcB64 => Executor::Special(Special::GetPc);
    SSetpcB64 => Executor::Special(Special::SetPc);
    SSwappcB64 => Executor::Special(Special::SwapPc);
    SCallB64 => Executor::Special(Special::Call);
    SGetregB32 => Executor::Special(Special::ReadRegister);
    SSetregB32 => Executor::Special(Special::WriteRegister);
    SSetregImm32B32 => Executor::Special(Special::WriteRegisterLiteral);
    SRoundMode => Executor::Special(Special::RoundMode);
    SDenormMode => Executor::Special(Special::DenormMode);
    SMovrelsB32 SMovrelsB64 => Executor::Special(Special::Move { indexes_source: true, indexes_destination: false, split: false });
    SMovreldB32 SMovreldB64 => Executor::Special(Special::Move { indexes_source: false, indexes_destination: true, split: false });
    SMovrelsd2B32 => Executor::Special(Special::Move { indexes_source: true, indexes_destination: true, split: true });
    SSetGprIdxOn => Executor::Special(Special::IndexOn);
    SSetGprIdxOff => Executor::Special(Special::IndexOff);
    SSetGprIdxMode => Executor::Special(Special::IndexMode);
    SSetGprIdxIdx => Executor::Special(Special::Index);
    SMemtime SMemrealtime => Executor::Special(Special::Time);
    SGetWaveidInWorkgroup => Executor::Special(Special::WaveNumber);
    SAndSaveexecB32 SAndSaveexecB64 => Executor::SaveExec { combine: |a, exec| a & exec, writes_both: false };
    SOrSaveexecB32 SOrSaveexecB64 => Executor::SaveExec { combine: |a, exec| a | exec, writes_both: false };
    SXorSaveexecB32 SXorSaveexecB64 => Executor::SaveExec { combine: |a, exec| a ^ exec, writes_both: false };
    SNandSaveexecB32 SNandSaveexecB64 => Executor::SaveExec { combine: |a, exec| !(a & exec), writes_both: false };
    SNorSaveexecB32 SNorSaveexecB64 => Executor::SaveExec { combine: |a, exec| !(a | exec), writes_both: false };
    SXnorSaveexecB32 SXnorSaveexecB64 => Executor::SaveExec { combine: |a, exec| !(a ^ exec), writes_both: false };
    SAndn2SaveexecB32 SAndn2SaveexecB64 SAndNot1SaveexecB32 SAndNot1SaveexecB64
        => Executor::SaveExec { combine: |a, exec| a & !exec, writes_both: false };
    SAndn2WrexecB32 SAndn2WrexecB64 SAndNot1WrexecB32 SAndNot1WrexecB64
        => Executor::SaveExec { combine: |a, exec| a & !exec, writes_both: true };
    SAndn1SaveexecB32 SAndn1SaveexecB64 SAndNot0SaveexecB32 SAndNot0SaveexecB64
        => Executor::SaveExec { combine: |a, exec| !a & exec, writes_both: false };
    SAndn1WrexecB32 SAndn1WrexecB64 SAndNot0WrexecB32 SAndNot0WrexecB64
        => Executor::SaveExec { combine: |a, exec| !a & exec, writes_both: true };
    SOrn2SaveexecB32 SOrn2SaveexecB64 SOrNot1SaveexecB32 SOrNot1SaveexecB64
        => Executor::SaveExec { combine: |a, exec| a | !exec, writes_both: false };
    SOrn1SaveexecB32 SOrn1SaveexecB64 SOrNot0SaveexecB32 SOrNot0SaveexecB64
        => Executor::SaveExec { combine: |a, exec| !a | exec, writes_both: false };
};

/// Loads, stores and atomic operations of scalar memory.
pub(super) const MEMORY: &[Row] = rows! {
    SAtomicAdd => Executor::ScalarAtomic(Base::Address, Atomic::Add, 4);
    SAtomicAddX2 => Executor::ScalarAtomic(Base::Address, Atomic::Add, 8);
    SAtomicAnd => Executor::ScalarAtomic(Base::Address, Atomic::And, 4);
    SAtomicAndX2 => Executor::ScalarAtomic(Base::Address, Atomic::And, 8);
    SAtomicCmpswap => Executor::ScalarAtomic(Base::Address, Atomic::CompareSwap, 4);
    SAtomicCmpswapX2 => Executor::ScalarAtomic(Base::Address, Atomic::CompareSwap, 8);
    SAtomicDec => Executor::ScalarAtomic(Base::Address, Atomic::Dec, 4);
    SAtomicDecX2 => Executor::ScalarAtomic(Base::Address, Atomic::Dec, 8);
    SAtomicInc => Executor::ScalarAtomic(Base::Address, Atomic::Inc, 4);
    SAtomicIncX2 => Executor::ScalarAtomic(Base::Address, Atomic::Inc, 8);
    SAtomicOr => Executor::ScalarAtomic(Base::Address, Atomic::Or, 4);
    SAtomicOrX2 => Executor::ScalarAtomic(Base::Address, Atomic::Or, 8);
    SAtomicSmax => Executor::ScalarAtomic(Base::Address, Atomic::SignedMax, 4);
    SAtomicSmaxX2 => Executor::ScalarAtomic(Base::Address, Atomic::SignedMax, 8);
    SAtomicSmin => Executor::ScalarAtomic(Base::Address, Atomic::SignedMin, 4);
    SAtomicSminX2 => Executor::ScalarAtomic(Base::Address, Atomic::SignedMin, 8);
    SAtomicSub => Executor::ScalarAtomic(Base::Address, Atomic::Sub, 4);
    SAtomicSubX2 => Executor::ScalarAtomic(Base::Address, Atomic::Sub, 8);
    SAtomicSwap => Executor::ScalarAtomic(Base::Address, Atomic::Swap, 4);
    SAtomicSwapX2 => Executor::ScalarAtomic(Base::Address, Atomic::Swap, 8);
    SAtomicUmax => Executor::ScalarAtomic(Base::Address, Atomic::UnsignedMax, 4);
    SAtomicUmaxX2 => Executor::ScalarAtomic(Base::Address, Atomic::UnsignedMax, 8);
    SAtomicUmin => Executor::ScalarAtomic(Base::Address, Atomic::UnsignedMin, 4);
    SAtomicUminX2 => Executor::ScalarAtomic(Base::Address, Atomic::UnsignedMin, 8);
    SAtomicXor => Executor::ScalarAtomic(Base::Address, Atomic::Xor, 4);
    SAtomicXorX2 => Executor::ScalarAtomic(Base::Address, Atomic::Xor, 8);
    SBufferAtomicAdd => Executor::ScalarAtomic(Base::Buffer, Atomic::Add, 4);
    SBufferAtomicAddX2 => Executor::ScalarAtomic(Base::Buffer, Atomic::Add, 8);
    SBufferAtomicAnd => Executor::ScalarAtomic(Base::Buffer, Atomic::And, 4);
    SBufferAtomicAndX2 => Executor::ScalarAtomic(Base::Buffer, Atomic::And, 8);
    SBufferAtomicCmpswap => Executor::ScalarAtomic(Base::Buffer, Atomic::CompareSwap, 4);
    SBufferAtomicCmpswapX2 => Executor::ScalarAtomic(Base::Buffer, Atomic::CompareSwap, 8);
    SBufferAtomicDec => Executor::ScalarAtomic(Base::Buffer, Atomic::Dec, 4);
    SBufferAtomicDecX2 => Executor::ScalarAtomic(Base::Buffer, Atomic::Dec, 8);
    SBufferAtomicInc => Executor::ScalarAtomic(Base::Buffer, Atomic::Inc, 4);
    SBufferAtomicIncX2 => Executor::ScalarAtomic(Base::Buffer, Atomic::Inc, 8);
    SBufferAtomicOr => Executor::ScalarAtomic(Base::Buffer, Atomic::Or, 4);
    SBufferAtomicOrX2 => Executor::ScalarAtomic(Base::Buffer, Atomic::Or, 8);
    SBufferAtomicSmax => Executor::ScalarAtomic(Base::Buffer, Atomic::SignedMax, 4);
    SBufferAtomicSmaxX2 => Executor::ScalarAtomic(Base::Buffer, Atomic::SignedMax, 8);
    SBufferAtomicSmin => Executor::ScalarAtomic(Base::Buffer, Atomic::SignedMin, 4);
    SBufferAtomicSminX2 => Executor::ScalarAtomic(Base::Buffer, Atomic::SignedMin, 8);
    SBufferAtomicSub => Executor::ScalarAtomic(Base::Buffer, Atomic::Sub, 4);
    SBufferAtomicSubX2 => Executor::ScalarAtomic(Base::Buffer, Atomic::Sub, 8);
    SBufferAtomicSwap => Executor::ScalarAtomic(Base::Buffer, Atomic::Swap, 4);
    SBufferAtomicSwapX2 => Executor::ScalarAtomic(Base::Buffer, Atomic::Swap, 8);
    SBufferAtomicUmax => Executor::ScalarAtomic(Base::Buffer, Atomic::UnsignedMax, 4);
    SBufferAtomicUmaxX2 => Executor::ScalarAtomic(Base::Buffer, Atomic::UnsignedMax, 8);
    SBufferAtomicUmin => Executor::ScalarAtomic(Base::Buffer, Atomic::UnsignedMin, 4);
    SBufferAtomicUminX2 => Executor::ScalarAtomic(Base::Buffer, Atomic::UnsignedMin, 8);
    SBufferAtomicXor => Executor::ScalarAtomic(Base::Buffer, Atomic::Xor, 4);
    SBufferAtomicXorX2 => Executor::ScalarAtomic(Base::Buffer, Atomic::Xor, 8);
    SBufferLoadB128 SBufferLoadDwordx4 => Executor::ScalarMemory(Base::Buffer, ScalarKind::Load, 4);
    SBufferLoadB256 SBufferLoadDwordx8 => Executor::ScalarMemory(Base::Buffer, ScalarKind::Load, 8);
    SBufferLoadB32 SBufferLoadDword => Executor::ScalarMemory(Base::Buffer, ScalarKind::Load, 1);
    SBufferLoadB512 SBufferLoadDwordx16 => Executor::ScalarMemory(Base::Buffer, ScalarKind::Load, 16);
    SBufferLoadB64 SBufferLoadDwordx2 => Executor::ScalarMemory(Base::Buffer, ScalarKind::Load, 2);
    SBufferLoadB96 => Executor::ScalarMemory(Base::Buffer, ScalarKind::Load, 3);
    SBufferLoadI16 => Executor::ScalarMemory(Base::Buffer, ScalarKind::Part(2, true), 1);
    SBufferLoadI8 => Executor::ScalarMemory(Base::Buffer, ScalarKind::Part(1, true), 1);
    SBufferLoadU16 => Executor::ScalarMemory(Base::Buffer, ScalarKind::Part(2, false), 1);
    SBufferLoadU8 => Executor::ScalarMemory(Base::Buffer, ScalarKind::Part(1, false), 1);
    SBufferStoreDword => Executor::ScalarMemory(Base::Buffer, ScalarKind::Store, 1);
    SBufferStoreDwordx2 => Executor::ScalarMemory(Base::Buffer, ScalarKind::Store, 2);
    SBufferStoreDwordx4 => Executor::ScalarMemory(Base::Buffer, ScalarKind::Store, 4);
    SLoadB128 SLoadDwordx4 => Executor::ScalarMemory(Base::Address, ScalarKind::Load, 4);
    SLoadB256 SLoadDwordx8 => Executor::ScalarMemory(Base::Address, ScalarKind::Load, 8);
    SLoadB32 SLoadDword => Executor::ScalarMemory(Base::Address, ScalarKind::Load, 1);
    SLoadB512 SLoadDwordx16 => Executor::ScalarMemory(Base::Address, ScalarKind::Load, 16);
    SLoadB64 SLoadDwordx2 => Executor::ScalarMemory(Base::Address, ScalarKind::Load, 2);
    SLoadB96 => Executor::ScalarMemory(Base::Address, ScalarKind::Load, 3);
    SLoadI16 => Executor::ScalarMemory(Base::Address, ScalarKind::Part(2, true), 1);
    SLoadI8 => Executor::ScalarMemory(Base::Address, ScalarKind::Part(1, true), 1);
    SLoadU16 => Executor::ScalarMemory(Base::Address, ScalarKind::Part(2, false), 1);
    SLoadU8 => Executor::ScalarMemory(Base::Address, ScalarKind::Part(1, false), 1);
    SScratchLoadDword => Executor::ScalarMemory(Base::Scratch, ScalarKind::Load, 1);
    SScratchLoadDwordx2 => Executor::ScalarMemory(Base::Scratch, ScalarKind::Load, 2);
    SScratchLoadDwordx4 => Executor::ScalarMemory(Base::Scratch, ScalarKind::Load, 4);
    SScratchStoreDword => Executor::ScalarMemory(Base::Scratch, ScalarKind::Store, 1);
    SScratchStoreDwordx2 => Executor::ScalarMemory(Base::Scratch, ScalarKind::Store, 2);
    SScratchStoreDwordx4 => Executor::ScalarMemory(Base::Scratch, ScalarKind::Store, 4);
    SStoreDword => Executor::ScalarMemory(Base::Address, ScalarKind::Store, 1);
    SStoreDwordx2 => Executor::ScalarMemory(Base::Address, ScalarKind::Store, 2);
    SStoreDwordx4 => Executor::ScalarMemory(Base::Address, ScalarKind::Store, 4);
};
