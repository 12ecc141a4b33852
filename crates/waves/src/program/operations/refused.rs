//! Operations that are not executed.

use super::executor::{Executor, Row, rows};

/// Every operation that is not executed, with the reason.
pub(super) const TABLE: &[Row] = rows! {
    Exp Export => Executor::Refused("exports belong to graphics shaders");
    DsDirectLoad DsParamLoad LdsDirectLoad LdsParamLoad VInterpMovF32 VInterpP10F16F32 VInterpP10F32
    VInterpP10RtzF16F32 VInterpP1F32 VInterpP1llF16 VInterpP1lvF16 VInterpP2F16 VInterpP2F16F32 VInterpP2F32
    VInterpP2LegacyF16 VInterpP2RtzF16F32 => Executor::Refused("interpolation belongs to pixel shaders");
    DsAddGsRegRtn DsSubGsRegRtn => Executor::Refused("the registers that shaders of geometry count in are not there");
    VScreenPartition4seB32 => Executor::Refused("the screen has no partitions");
    DsGwsBarrier DsGwsInit DsGwsSemaBr DsGwsSemaP DsGwsSemaReleaseAll DsGwsSemaV DsOrderedCount
        => Executor::Refused("global data share is not there");
    GlobalAtomicOrderedAddB64 => Executor::Refused("ordered counts are not there");
    SRfeB64 SRfeRestoreB64 => Executor::Refused("there is no trap handler to return from");
    SCbranchJoin SCbranchGFork SCbranchIFork => Executor::Refused("forks are not executed");
    SSetvskip => Executor::Refused("skipping of vector instructions is not executed");
    SSubvectorLoopBegin SSubvectorLoopEnd => Executor::Refused("subvector loops are not executed");
    SBarrierInit SBarrierJoin SBarrierLeave SBarrierSignalIsfirst SGetBarrierState SWakeupBarrier
        => Executor::Refused("named barriers are not executed");
    DsBvhStackRtnB32 => Executor::Refused("rays are not traced");
    DsCondxchg32RtnB64 ImageGather4h => Executor::Refused("what each lane gets has no source that says it");
    GlobalLoadBlock GlobalStoreBlock ScratchLoadBlock ScratchStoreBlock GlobalLoadTrB128 GlobalLoadTrB64
        => Executor::Refused("blocks of registers and transposed matrices are not loaded or stored");
    VMqsadU32U8 => Executor::Refused("results of four registers are not computed");
};
