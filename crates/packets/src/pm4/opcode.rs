//! The type-3 opcodes and their names.

/// What AMD's headers call the packet with this opcode; `None` for numbers no header lists. Where a number has changed
/// its meaning over the generations, the newest.
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`; Linux 6.12 `drivers/gpu/drm/amd/amdgpu/` `sid.h`, `cikd.h`, `vid.h`,
/// `soc15d.h` and `nvd.h`; AMD PAL's packet headers for the later ones.
pub fn name(opcode: u8) -> Option<&'static str> {
    let at = NAMES.binary_search_by_key(&opcode, |row| row.0).ok()?;
    NAMES.get(at).map(|row| row.1)
}

// The opcodes of the packets described in this module's siblings.
pub(super) const NOP: u8 = 0x10;
pub(super) const WRITE_DATA: u8 = 0x37;
pub(super) const WAIT_REG_MEM: u8 = 0x3c;
pub(super) const INDIRECT_BUFFER: u8 = 0x3f;
pub(super) const COPY_DATA: u8 = 0x40;
pub(super) const CP_DMA: u8 = 0x41;
pub(super) const PFP_SYNC_ME: u8 = 0x42;
pub(super) const SURFACE_SYNC: u8 = 0x43;
pub(super) const EVENT_WRITE: u8 = 0x46;
pub(super) const EVENT_WRITE_EOP: u8 = 0x47;
pub(super) const EVENT_WRITE_EOS: u8 = 0x48;
pub(super) const RELEASE_MEM: u8 = 0x49;
pub(super) const DMA_DATA: u8 = 0x50;
pub(super) const ACQUIRE_MEM: u8 = 0x58;

/// Every listed opcode, in order.
const NAMES: &[(u8, &str)] = &[
    (0x10, "NOP"),
    (0x11, "SET_BASE"),
    (0x12, "CLEAR_STATE"),
    (0x13, "INDEX_BUFFER_SIZE"),
    (0x15, "DISPATCH_DIRECT"),
    (0x16, "DISPATCH_INDIRECT"),
    (0x1b, "ALLOC_GDS"),
    (0x1c, "WRITE_GDS_RAM"),
    (0x1d, "ATOMIC_GDS"),
    (0x1e, "ATOMIC_MEM"),
    (0x1f, "OCCLUSION_QUERY"),
    (0x20, "SET_PREDICATION"),
    (0x21, "REG_RMW"),
    (0x22, "COND_EXEC"),
    (0x23, "PRED_EXEC"),
    (0x24, "DRAW_INDIRECT"),
    (0x25, "DRAW_INDEX_INDIRECT"),
    (0x26, "INDEX_BASE"),
    (0x27, "DRAW_INDEX_2"),
    (0x28, "CONTEXT_CONTROL"),
    (0x2a, "INDEX_TYPE"),
    (0x2c, "DRAW_INDIRECT_MULTI"),
    (0x2d, "DRAW_INDEX_AUTO"),
    (0x2e, "DRAW_INDEX_IMMD"),
    (0x2f, "NUM_INSTANCES"),
    (0x30, "DRAW_INDEX_MULTI_AUTO"),
    (0x32, "INDIRECT_BUFFER_PRIV"),
    (0x33, "INDIRECT_BUFFER_CONST"),
    (0x34, "STRMOUT_BUFFER_UPDATE"),
    (0x35, "DRAW_INDEX_OFFSET_2"),
    (0x36, "DRAW_PREAMBLE"),
    (0x37, "WRITE_DATA"),
    (0x38, "DRAW_INDEX_INDIRECT_MULTI"),
    (0x39, "MEM_SEMAPHORE"),
    (0x3a, "DRAW_INDEX_MULTI_INST"),
    (0x3b, "COPY_DW"),
    (0x3c, "WAIT_REG_MEM"),
    (0x3d, "PERF_COUNTER_WINDOW"),
    (0x3f, "INDIRECT_BUFFER"),
    (0x40, "COPY_DATA"),
    (0x41, "CP_DMA"),
    (0x42, "PFP_SYNC_ME"),
    (0x43, "SURFACE_SYNC"),
    (0x44, "ME_INITIALIZE"),
    (0x45, "COND_WRITE"),
    (0x46, "EVENT_WRITE"),
    (0x47, "EVENT_WRITE_EOP"),
    (0x48, "EVENT_WRITE_EOS"),
    (0x49, "RELEASE_MEM"),
    (0x4a, "PREAMBLE_CNTL"),
    (0x4c, "DISPATCH_MESH_INDIRECT_MULTI"),
    (0x4d, "DISPATCH_TASKMESH_GFX"),
    (0x4e, "DISPATCH_MESH_DIRECT"),
    (0x50, "DMA_DATA"),
    (0x51, "CONTEXT_REG_RMW"),
    (0x54, "PERFMON_CONTROL"),
    (0x58, "ACQUIRE_MEM"),
    (0x59, "REWIND"),
    (0x5b, "GEN_PDEPTE"),
    (0x5c, "INDIRECT_BUFFER_PASID"),
    (0x5d, "PRIME_UTCL2"),
    (0x5e, "LOAD_UCONFIG_REG"),
    (0x5f, "LOAD_SH_REG"),
    (0x60, "LOAD_CONFIG_REG"),
    (0x61, "LOAD_CONTEXT_REG"),
    (0x63, "LOAD_SH_REG_INDEX"),
    (0x64, "LOAD_UCONFIG_REG_INDEX"),
    (0x68, "SET_CONFIG_REG"),
    (0x69, "SET_CONTEXT_REG"),
    (0x6a, "SET_CONTEXT_REG_INDEX"),
    (0x75, "GFX_PIPE_LOCK"),
    (0x76, "SET_SH_REG"),
    (0x77, "SET_SH_REG_OFFSET"),
    (0x78, "SET_QUEUE_REG"),
    (0x79, "SET_UCONFIG_REG"),
    (0x7a, "SET_UCONFIG_REG_INDEX"),
    (0x7d, "SCRATCH_RAM_WRITE"),
    (0x80, "LOAD_CONST_RAM"),
    (0x81, "WRITE_CONST_RAM"),
    (0x83, "DUMP_CONST_RAM"),
    (0x84, "INCREMENT_CE_COUNTER"),
    (0x85, "INCREMENT_DE_COUNTER"),
    (0x86, "WAIT_ON_CE_COUNTER"),
    (0x87, "WAIT_ON_DE_COUNTER"),
    (0x88, "WAIT_ON_DE_COUNTER_DIFF"),
    (0x89, "SET_CE_DE_COUNTERS"),
    (0x8a, "WAIT_ON_AVAIL_BUFFER"),
    (0x8b, "SWITCH_BUFFER"),
    (0x8c, "DISPATCH_DRAW_PREAMBLE"),
    (0x8d, "DISPATCH_DRAW"),
    (0x8e, "GET_LOD_STATS"),
    (0x90, "FRAME_CONTROL"),
    (0x91, "INDEX_ATTRIBUTES_INDIRECT"),
    (0x93, "WAIT_REG_MEM64"),
    (0x95, "HDP_FLUSH"),
    (0x98, "INVALIDATE_TLBS"),
    (0x9a, "DMA_DATA_FILL_MULTI"),
    (0x9b, "SET_SH_REG_INDEX"),
    (0x9e, "DUMP_CONST_RAM_OFFSET"),
    (0x9f, "LOAD_CONTEXT_REG_INDEX"),
    (0xa0, "SET_RESOURCES"),
    (0xa2, "MAP_QUEUES"),
    (0xa3, "UNMAP_QUEUES"),
    (0xa4, "QUERY_STATUS"),
    (0xa7, "DISPATCH_DIRECT_INTERLEAVED"),
    (0xa8, "DISPATCH_INDIRECT_INTERLEAVED"),
    (0xa9, "DISPATCH_TASK_STATE_INIT"),
    (0xaa, "DISPATCH_TASKMESH_DIRECT_ACE"),
    (0xad, "DISPATCH_TASKMESH_INDIRECT_MULTI_ACE"),
    (0xae, "EXECUTE_INDIRECT"),
    (0xaf, "BUILD_UNTYPED_SRD"),
    (0xb1, "EVENT_WRITE_ZPASS"),
    (0xb2, "TIMESTAMP"),
    (0xb4, "EXECUTE_INDIRECT_V2"),
    (0xb8, "SET_CONTEXT_REG_PAIRS"),
    (0xb9, "SET_CONTEXT_REG_PAIRS_PACKED"),
    (0xba, "SET_SH_REG_PAIRS"),
    (0xbb, "SET_SH_REG_PAIRS_PACKED"),
    (0xbd, "SET_SH_REG_PAIRS_PACKED_N"),
    (0xbe, "SET_UCONFIG_REG_PAIRS"),
    (0xc0, "LOAD_BUFFER_FILLED_SIZES"),
    (0xc1, "SET_BUFFER_FILLED_SIZE"),
    (0xc2, "SAVE_BUFFER_FILLED_SIZES"),
    (0xc3, "STRMOUT_STATS_QUERY"),
    (0xd0, "PROTECTED_FENCE_SIGNAL"),
    (0xd1, "FENCE_WAIT_MULTI"),
    (0xd2, "RUN_CLEANER_SHADER"),
    (0xef, "UPDATE_DB_SUMMARIZER_TIMEOUTS"),
    (0xf0, "SET_Q_PREEMPTION_MODE"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_so_that_every_name_is_found() {
        assert!(NAMES.is_sorted_by(|one, next| one.0 < next.0));
        assert_eq!((name(WRITE_DATA), name(0xf0), name(0)), (Some("WRITE_DATA"), Some("SET_Q_PREEMPTION_MODE"), None));
    }
}
