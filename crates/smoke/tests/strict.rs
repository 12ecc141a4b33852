//! The test's own command streams under the simulator's strict mode.

use std::process::{Command, Stdio};

/// A chip of each generation that the simulator has.
const CHIPS: [&str; 7] = ["pitcairn", "polaris10", "vega10", "navi10", "navi21", "vangogh", "navi31"];

#[test]
fn no_check_relies_on_a_memory_without_caches() {
    for chip in CHIPS {
        let output = Command::new(env!("CARGO_BIN_EXE_amdgpu-smoke"))
            .args(["--sim", chip, "--sim-strict", "report", "--level", "core"])
            .env_remove("RUST_LOG")
            .env_remove("LD_PRELOAD")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{chip}: {text}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("shader.scratch"), "{chip}: {text}");
    }
}
