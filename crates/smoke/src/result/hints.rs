//! Hints at a failure on a real GPU: the rules of the simulator's strict mode that such a symptom fits.
//!
//! A stream that breaks one of them works on memory without caches and on engines that do one thing after the other, and fails on some
//! chips alone. The functions are those of Mesa 25.0.7 that keep the rule.

use std::ops::RangeInclusive;

use crate::result::{check_result::CheckResult, hint::Hint, status::Status};
use amdgpu_winsys::winsys::GfxLevel::{self, Gfx6, Gfx7, Gfx8, Gfx9, Gfx10, Gfx11, Gfx11_5, Gfx12};

/// The look of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symptom {
    /// Other bytes than expected.
    Bytes,
    /// A job that does not end.
    Hang,
    Fault,
}

use Symptom::{Bytes, Fault, Hang};

struct Row {
    rule: &'static str,
    symptoms: &'static [Symptom],
    levels: RangeInclusive<GfxLevel>,
    /// The starts of the IDs of checks; empty for all.
    checks: &'static [&'static str],
    /// The kinds of rings; empty for all.
    rings: &'static [&'static str],
    text: &'static str,
    mesa: &'static str,
}

const ALL: RangeInclusive<GfxLevel> = Gfx6..=Gfx12;
/// Checks in which the command processor works.
const PACKETS: &[&str] = &["exec.", "transfer.", "order.", "gang", "sync.", "bandwidth.", "march."];
const WAITS: &[&str] = &["transfer.", "order.", "gang", "sync."];
const PROGRAMS: &[&str] = &["shader.", "draw."];
const PM4: &[&str] = &["gfx", "compute"];
const GRAPHICS: &[&str] = &["gfx"];
const COPIES: &[&str] = &["sdma"];

const ROWS: &[Row] = &[
    Row {
        rule: "stale-read",
        symptoms: &[Bytes],
        levels: Gfx10..=Gfx12,
        checks: &[],
        rings: PM4,
        text: "L2 has bytes from before the CPU or another engine wrote them: an invalidation of L2 first in each submission",
        mesa: "radv_update_preamble_cs",
    },
    Row {
        rule: "stale-read",
        symptoms: &[Hang],
        levels: Gfx9..=Gfx11_5,
        checks: WAITS,
        rings: PM4,
        text: "a packet polls its own copy in L2 of what the CPU writes: MTYPE_UC for the page",
        mesa: "radv_create_event",
    },
    Row {
        rule: "not-written-back",
        symptoms: &[Bytes],
        levels: Gfx6..=Gfx8,
        checks: PROGRAMS,
        rings: PM4,
        text: "what shaders stored is still in L2: a write-back of L2 behind CS_PARTIAL_FLUSH",
        mesa: "radv_src_access_flush",
    },
    Row {
        rule: "not-written-back",
        symptoms: &[Bytes],
        levels: Gfx12..=Gfx12,
        checks: &[],
        rings: &[],
        text: "the command processor and copy engines look behind L2: a write-back of L2 before, and an invalidation after",
        mesa: "radv_src_access_flush",
    },
    Row {
        rule: "not-written-back",
        symptoms: &[Bytes],
        levels: ALL,
        checks: &["draw."],
        rings: GRAPHICS,
        text: "a picture is still in the caches of targets: an event that flushes them, as FLUSH_AND_INV_CB_DATA_TS",
        mesa: "radv_cs_emit_cache_flush",
    },
    Row {
        rule: "early-operation",
        symptoms: &[Bytes],
        levels: Gfx6..=Gfx9,
        checks: &[],
        rings: GRAPHICS,
        text: "the prefetch parser flushed caches before the work had ended: PFP_SYNC_ME before the cache operation",
        mesa: "radv_cs_emit_cache_flush",
    },
    Row {
        rule: "race",
        symptoms: &[Bytes],
        levels: ALL,
        checks: PROGRAMS,
        rings: PM4,
        text: "shaders run on while later packets are executed: CS_PARTIAL_FLUSH or PS_PARTIAL_FLUSH",
        mesa: "radv_src_access_flush",
    },
    Row {
        rule: "race",
        symptoms: &[Bytes],
        levels: Gfx7..=Gfx12,
        checks: PACKETS,
        rings: GRAPHICS,
        text: "CP DMA runs on when later packets, or the job, end: cp_sync in the last one",
        mesa: "radv_cp_dma_wait_for_idle",
    },
    Row {
        rule: "race",
        symptoms: &[Bytes],
        levels: ALL,
        checks: &[],
        rings: COPIES,
        text: "copies of a copy engine overlap: NOP between those that depend on each other",
        mesa: "radv_sdma_emit_nop",
    },
    Row {
        rule: "pfp-ahead",
        symptoms: &[Bytes, Hang, Fault],
        levels: ALL,
        checks: &["exec.", "transfer.", "order.", "gang", "draw."],
        rings: GRAPHICS,
        text: "the prefetch parser read conditions, arguments, indices or commands before they were written: PFP_SYNC_ME",
        mesa: "radv_cs_emit_cache_flush",
    },
    Row {
        rule: "submission",
        symptoms: &[Hang],
        levels: Gfx9..=Gfx9,
        checks: &[],
        rings: GRAPHICS,
        text: "an event at the end of the pipe may hang the chip: ZPASS_DONE with an address directly before it",
        mesa: "radv_cs_emit_write_event_eop",
    },
    Row {
        rule: "submission",
        symptoms: &[Bytes],
        levels: Gfx7..=Gfx8,
        checks: PACKETS,
        rings: GRAPHICS,
        text: "an event at the end of the pipe may store before caches are flushed: two of them",
        mesa: "radv_cs_emit_write_event_eop",
    },
    Row {
        rule: "submission",
        symptoms: &[Hang, Fault],
        levels: ALL,
        checks: PACKETS,
        rings: &[],
        text: "an IB that is not aligned, or not padded: 32 bytes, and 8 dwords",
        mesa: "radv_amdgpu_cs_finalize",
    },
    Row {
        rule: "submission",
        symptoms: &[Fault],
        levels: Gfx10..=Gfx12,
        checks: PROGRAMS,
        rings: &[],
        text: "instructions are prefetched from behind the code: 192 mapped bytes there",
        mesa: "ac_align_shader_binary_for_prefetch",
    },
    Row {
        rule: "submission",
        symptoms: &[Bytes, Fault],
        levels: Gfx11..=Gfx12,
        checks: &["shader.scratch"],
        rings: &[],
        text: "WAVES of scratch memory counts those of one shader engine: memory for all of them",
        mesa: "radv_emit_compute_scratch",
    },
    Row {
        rule: "instruction",
        symptoms: &[Bytes, Hang],
        levels: Gfx6..=Gfx10,
        checks: PROGRAMS,
        rings: &[],
        text: "an instruction follows another too soon: s_nop, or a wait for a counter",
        mesa: "aco_insert_NOPs.cpp",
    },
    Row {
        rule: "instruction",
        symptoms: &[Bytes, Hang],
        levels: Gfx11..=Gfx12,
        checks: PROGRAMS,
        rings: &[],
        text: "an instruction follows another too soon: s_waitcnt_depctr or s_wait_alu",
        mesa: "aco_insert_NOPs.cpp",
    },
];

impl Row {
    fn fits(&self, level: GfxLevel, symptoms: &[Symptom], id: &str) -> bool {
        let ring = id.rsplit('.').next().unwrap_or(id).trim_end_matches(|last: char| last.is_ascii_digit());
        let has_ring = ["gfx", "compute", "sdma"].contains(&ring);
        self.levels.contains(&level)
            && self.symptoms.iter().any(|symptom| symptoms.contains(symptom))
            && (self.checks.is_empty() || self.checks.iter().any(|start| id.starts_with(start)))
            && (self.rings.is_empty() || !has_ring || self.rings.contains(&ring))
    }
}

/// Returns what a failure looks like. A request that the kernel refused is no symptom of a stream.
fn symptoms(result: &CheckResult) -> Vec<Symptom> {
    let mut all = Vec::new();
    let evidence = result.evidence.as_deref();
    if matches!(result.status, Status::Timeout | Status::Incomplete)
        || evidence.is_some_and(|found| !found.hang.is_empty())
    {
        all.push(Hang);
    }
    if evidence.is_some_and(|found| found.fault.is_some()) {
        all.push(Fault);
    }
    let is_refused = evidence.is_some_and(|found| found.refusal.is_some());
    if evidence.is_some_and(|found| found.difference.is_some()) || all.is_empty() && !is_refused {
        all.push(Bytes);
    }
    all
}

/// Returns the rules that a failure fits on a generation; none for a result that is no failure.
pub(crate) fn of(level: GfxLevel, result: &CheckResult) -> Vec<Hint> {
    // Before a GPU is open, no stream has run.
    if !result.is_failure() || result.id.starts_with("inventory.") {
        return Vec::new();
    }
    let symptoms = symptoms(result);
    let rows = ROWS.iter().filter(|row| row.fits(level, &symptoms, &result.id));
    rows.map(|Row { rule, text, mesa, .. }| Hint {
        rule: (*rule).to_owned(),
        text: (*text).to_owned(),
        mesa: (*mesa).to_owned(),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::result::evidence::{Difference, Evidence, Refusal};

    fn hints(level: GfxLevel, id: &str, status: Status, evidence: Evidence) -> Vec<String> {
        let mut result = CheckResult::new(id, status, "", Duration::ZERO);
        result.evidence = Some(Box::new(evidence));
        of(level, &result).into_iter().map(|hint| format!("{} {}", hint.rule, hint.mesa)).collect()
    }

    fn different() -> Evidence {
        Evidence { difference: Some(Difference::default()), ..Evidence::default() }
    }

    #[test]
    fn wrong_bytes_of_a_copy_fit_other_rules_on_other_generations_and_rings() {
        let copy = |level, ring: &str| hints(level, &format!("exec.copy.{ring}"), Status::Fail, different());
        let stale = "stale-read radv_update_preamble_cs".to_owned();
        assert!(copy(GfxLevel::Gfx10_3, "gfx0").contains(&stale) && copy(Gfx10, "compute1").contains(&stale));
        assert!(!copy(Gfx8, "gfx0").contains(&stale));
        assert!(copy(Gfx8, "gfx0").contains(&"early-operation radv_cs_emit_cache_flush".to_owned()));
        assert_eq!(copy(GfxLevel::Gfx10_3, "sdma0"), ["race radv_sdma_emit_nop"]);
    }

    #[test]
    fn hangs_and_faults_fit_rules_of_their_own() {
        let hang = Evidence { hang: vec!["gfx0".to_owned()], ..Evidence::default() };
        let event = "submission radv_cs_emit_write_event_eop".to_owned();
        assert!(hints(Gfx9, "exec.nop.gfx0", Status::Fail, hang.clone()).contains(&event));
        assert!(!hints(Gfx9, "exec.nop.compute0", Status::Fail, hang.clone()).contains(&event));
        assert!(!hints(Gfx11, "exec.nop.gfx0", Status::Fail, hang).contains(&event));
        let poll = "stale-read radv_create_event".to_owned();
        assert!(hints(Gfx11, "order.held.compute0", Status::Timeout, Evidence::default()).contains(&poll));
        let fault = Evidence { fault: Some("0x1000".to_owned()), ..Evidence::default() };
        let prefetch = "submission ac_align_shader_binary_for_prefetch".to_owned();
        assert!(hints(Gfx12, "shader.copy", Status::Fail, fault.clone()).contains(&prefetch));
        assert!(!hints(Gfx9, "shader.copy", Status::Fail, fault).contains(&prefetch));
    }

    #[test]
    fn what_is_no_fault_of_a_stream_has_no_hints() {
        for status in [Status::Pass, Status::Skip, Status::DmesgWarn] {
            assert_eq!(hints(Gfx11, "exec.copy.gfx0", status, different()), [""; 0]);
        }
        assert_eq!(hints(Gfx11, "inventory.open", Status::Fail, Evidence::default()), [""; 0]);
        let refused = Evidence { refusal: Some(Refusal::default()), ..Evidence::default() };
        assert_eq!(hints(Gfx11, "memory.types", Status::Fail, refused), [""; 0]);
    }
}
