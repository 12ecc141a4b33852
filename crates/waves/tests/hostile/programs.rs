//! Programs that jump where no instruction is, write themselves, never end, or ask for what shaders may not have.

use amdgpu_hw::GfxLevel;
use amdgpu_waves::{Access, Outcome, PageFault, Reason};

use crate::space::{BUDGET, PROGRAM, RESULT, dispatch, execute, hang, result, words};

/// Stores a register at the result, by the first lane.
fn store(register: &str) -> String {
    format!(
        "s_mov_b64 exec, 1\nv_mov_b32_e32 v2, s2\nv_mov_b32_e32 v3, s3\nv_mov_b32_e32 v4, {register}
        global_store_dword v[2:3], v4, off\ns_endpgm\n"
    )
}

/// The generations that have the text of these programs.
const BOTH: [GfxLevel; 2] = [GfxLevel::Gfx9, GfxLevel::Gfx10_3];

#[test]
fn a_jump_into_the_middle_of_an_instruction_executes_what_is_there() {
    for level in BOTH {
        // The literal is s_mov_b32 s4, 7 for whoever jumps to it.
        let literal = words(level, "s_mov_b32 s4, 7")[0];
        let rest = store("s4");
        let text = format!("s_branch 1\ns_mov_b32 s5, {literal:#x}\n{rest}");
        assert_eq!(result(level, &text), 7, "{level}");
        // Both instructions that share the dword are executed, one after the other.
        let text =
            format!("s_mov_b32 s4, 0\ns_mov_b32 s5, {literal:#x}\ns_cmp_eq_u32 s4, 7\ns_cbranch_scc0 65533\n{rest}");
        assert_eq!(result(level, &text), 7, "{level}");
        // What is there need not be an instruction.
        let (pc, reason) = hang(level, "s_branch 1\ns_mov_b32 s5, 0xffffffff\ns_endpgm");
        assert_eq!(pc, PROGRAM + 8);
        assert!(matches!(reason, Reason::Illegal(_)), "{reason}");
    }
}

#[test]
fn code_that_a_loop_overwrites_is_executed_anew_after_the_invalidation_alone() {
    for level in BOTH {
        // A loop of 40 rounds, which blocks are made of, adds a constant and replaces it in each round: s_addk_i32 s4, 1 becomes
        // s_addk_i32 s4, 3, at 0x28 behind the start.
        let later = words(level, "s_addk_i32 s4, 3")[0];
        let code = |invalidation: &str| {
            format!(
                "s_mov_b32 s4, 0\ns_movk_i32 s5, 40\nv_mov_b32_e32 v0, s0\nv_mov_b32_e32 v1, s1\ns_add_u32 s6, s0, 0x28
                v_mov_b32_e32 v0, s6\ns_mov_b32 s7, {later:#x}\nv_mov_b32_e32 v4, s7
                s_addk_i32 s4, 1\ns_nop 0\ns_nop 0\ns_nop 0\ns_nop 0
                global_store_dword v[0:1], v4, off\ns_waitcnt vmcnt(0)\n{invalidation}
                s_sub_u32 s5, s5, 1\ns_cmp_lg_u32 s5, 0\ns_cbranch_scc1 65524\n{}",
                store("s4")
            )
        };
        assert_eq!(words(level, &code("s_nop 0"))[10], words(level, "s_addk_i32 s4, 1")[0]);
        assert_eq!(result(level, &code("s_icache_inv")), 1 + 39 * 3, "{level}");
        assert_eq!(result(level, &code("s_nop 0")), 40, "{level}: what was decoded stays");
    }
}

#[test]
fn a_program_that_overwrites_its_next_instruction_for_ever_uses_up_its_budget() {
    for level in BOTH {
        // The store replaces the branch behind the invalidation by itself, so that each round decodes it again.
        let branch = words(level, "s_branch 65528")[0];
        let text = format!(
            "s_add_u32 s6, s0, 0x24\nv_mov_b32_e32 v0, s6\nv_mov_b32_e32 v1, s1\nv_mov_b32_e32 v4, {branch:#x}
            global_store_dword v[0:1], v4, off\ns_icache_inv\n.{branch:08x}\ns_endpgm"
        );
        let (_, reason) = hang(level, &text);
        assert_eq!(reason, Reason::Budget(BUDGET), "{level}");
    }
}

#[test]
fn loops_without_end_use_up_the_budget_in_scalar_and_in_vector_form() {
    for text in [
        // A scalar operation, and many, which may be a block.
        "s_add_u32 s4, s4, 1\ns_branch 65534".to_owned(),
        format!("{}s_branch 65519", "v_add_f32_e32 v1, v1, v2\n".repeat(16)),
        // Lanes that never agree.
        "v_cmp_ne_u32_e32 vcc, 0, v0\ns_cbranch_vccnz 65534\ns_endpgm".to_owned(),
        // No lane is on: every branch on EXEC is taken.
        "s_mov_b64 exec, 0\ns_cbranch_execz 65535".to_owned(),
        // A barrier in each round.
        "s_barrier\ns_branch 65534".to_owned(),
        // The wave calls itself.
        "s_getpc_b64 s[4:5]\ns_setpc_b64 s[4:5]".to_owned(),
    ] {
        for level in BOTH {
            assert_eq!(hang(level, &text).1, Reason::Budget(BUDGET), "{level}\n{text}");
        }
    }
}

#[test]
fn a_jump_out_of_memory_hangs_at_its_target() {
    for level in BOTH {
        for (low, high, target) in [
            (0_u32, 0_u32, 0_u64),
            (0xffff_fffc, 0xffff_ffff, 0xffff_ffff_fffc),
            (0x0000_0003, 0x8000_0000, 0),
            (0x1234_5678, 0x7fff, 0x7fff_1234_5678),
            // The first dword behind memory.
            (PROGRAM as u32 + 0x4000, 0, PROGRAM + 0x4000),
        ] {
            let text = format!("s_mov_b32 s4, {low:#x}\ns_mov_b32 s5, {high:#x}\ns_setpc_b64 s[4:5]");
            let (pc, reason) = hang(level, &text);
            assert_eq!(pc, target, "{level}");
            assert_eq!(reason, Reason::Fetch(PageFault { va: target, access: Access::Fetch }), "{level}");
        }
        // A relative branch leaves memory at the front; the address space ends at 48 bits.
        let (pc, reason) = hang(level, "s_branch 32768");
        assert_eq!((pc, matches!(reason, Reason::Fetch(_))), (PROGRAM + 4 - 0x2_0000, true), "{level}");
    }
}

#[test]
fn chains_of_calls_use_up_the_budget() {
    for level in BOTH {
        // Two places call each other: each call leaves the address of the other.
        let text = "s_add_u32 s4, s0, 12\ns_mov_b32 s5, s1\ns_swappc_b64 s[4:5], s[4:5]\ns_nop 0\ns_branch 65533";
        assert_eq!(hang(level, text).1, Reason::Budget(BUDGET), "{level}");
        // Each call goes 1 KiB further, through all of memory; every page has the same code.
        let step = words(level, "s_add_u32 s4, s4, 0x400\ns_swappc_b64 s[6:7], s[4:5]");
        let mut program = words(level, "s_mov_b32 s4, s0\ns_mov_b32 s5, s1");
        program.extend(&step);
        for page in 1..16 {
            program.resize(page * 256, 0);
            program.extend(&step);
        }
        let (outcome, _) = execute(&dispatch(level), &program);
        let Outcome::Hang(found) = outcome else { panic!("{level}: {outcome:?}") };
        let va = PROGRAM + 0x4000;
        assert_eq!((found.pc, found.reason), (va, Reason::Fetch(PageFault { va, access: Access::Fetch })), "{level}");
    }
}

#[test]
fn privileged_instructions_are_refused_or_do_nothing() {
    for level in BOTH {
        let (pc, reason) = hang(level, "s_nop 0\ns_rfe_b64 s[4:5]\ns_endpgm");
        assert_eq!(pc, PROGRAM + 4);
        assert!(matches!(reason, Reason::NotExecuted { .. }), "{level}: {reason}");
        assert_eq!(hang(level, "s_sethalt 1\ns_endpgm").1, Reason::Halt, "{level}");
        // Without a trap handler a trap is ignored, as are messages to the host and the priority.
        let text = format!(
            "s_movk_i32 s4, 5\ns_trap 2\ns_trap 255\ns_setprio 3\ns_sleep 127\ns_sendmsg sendmsg(MSG_INTERRUPT)\n{}",
            store("s4")
        );
        assert_eq!(result(level, &text), 5, "{level}");
    }
}

#[test]
fn a_barrier_opens_when_the_waves_that_do_not_come_have_ended() {
    for level in BOTH {
        // The first wave, whose first lane is thread 0, ends; the second waits, and stores.
        let text = format!(
            "v_readfirstlane_b32 s4, v0\ns_cmp_eq_u32 s4, 0\ns_cbranch_scc1 {}\ns_barrier\ns_barrier\n{}",
            2 + words(level, &store("s4")).len() - 1,
            store("s4")
        );
        let (outcome, space) = execute(&dispatch(level), &words(level, &text));
        assert!(matches!(outcome, Outcome::Done(_)), "{level}: {outcome:?}");
        assert_eq!(space.dword(RESULT), 64, "{level}");
        // The other way round, with a wave that waits again and again.
        let text =
            "v_readfirstlane_b32 s4, v0\ns_cmp_eq_u32 s4, 0\ns_cbranch_scc0 2\ns_barrier\ns_branch 65534\ns_endpgm";
        assert_eq!(hang(level, text).1, Reason::Budget(BUDGET), "{level}");
    }
}

#[test]
fn registers_that_indices_lead_to_are_refused_beyond_the_allocation() {
    for (index, refused) in [("0", false), ("100", true), ("-1", true), ("0x7fffffff", true), ("0x80000000", true)] {
        for level in BOTH {
            let text = if level == GfxLevel::Gfx9 {
                format!(
                    "s_mov_b32 s4, {index}\ns_set_gpr_idx_on s4, 9\nv_mov_b32_e32 v1, v2\ns_set_gpr_idx_off\ns_endpgm"
                )
            } else {
                format!("s_mov_b32 m0, {index}\nv_movrels_b32_e32 v1, v2\nv_movreld_b32_e32 v1, v2\ns_endpgm")
            };
            let (outcome, _) = execute(&dispatch(level), &words(level, &text));
            match outcome {
                Outcome::Done(_) => assert!(!refused || level == GfxLevel::Gfx9, "{level} {index}"),
                Outcome::Hang(found) => {
                    assert!(refused && matches!(found.reason, Reason::Register { .. }), "{level} {index}: {found}");
                }
                other => panic!("{level} {index}: {other:?}"),
            }
        }
    }
}
