//! The test's own command streams under the simulator's strict mode.

use std::process::{Command, Stdio};

/// Chips of different generations.
const CHIPS: [&str; 6] = ["pitcairn", "polaris10", "vega10", "navi21", "navi31", "gfx1201"];

/// The checks in which CPU, rings and shaders meet in memory. Long copies are left out: the model looks at each line, which takes
/// longer than a job may without optimization.
const CHECKS: &str = r"^(transfer\.(odd|wait|clock)|order\.held|gang|shader\.(copy|scratch)|draw)";

#[test]
fn no_check_relies_on_a_memory_without_caches_or_on_work_that_is_over_at_once() {
    for (chip, mode) in CHIPS.into_iter().flat_map(|chip| [(chip, "report"), (chip, "late")]) {
        let output = Command::new(env!("CARGO_BIN_EXE_amdgpu-smoke"))
            .args(["--sim", chip, "--sim-strict", mode, "--level", "core", "--filter", CHECKS])
            .env_remove("RUST_LOG")
            .env_remove("LD_PRELOAD")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{chip}, {mode}: {text}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        for check in ["shader.scratch", "draw.clear", "draw.texture"] {
            assert!(text.contains(check), "{chip}, {mode}: {text}");
        }
    }
}
