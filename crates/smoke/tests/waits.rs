//! The programs of the shader checks lack no wait, and have no hazard.

use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex},
};

use amdgpu_sim::{ShaderEvent, ShaderNews, ShaderWatch, SimDevice, SimOptions, profile};
use amdgpu_smoke::{Choice, Exit, Filter, Options, Target, run};

/// A chip of each generation of which there are captures.
const CHIPS: [&str; 6] = ["pitcairn", "polaris10", "vega10", "navi10", "navi21", "navi31"];

#[test]
fn shader_checks_lack_no_wait() {
    for chip in CHIPS {
        let device = SimDevice::new(profile(chip).unwrap_or_else(|| panic!("{chip}")), SimOptions::default());
        let found = Arc::new(Mutex::new((0, Vec::new())));
        let shared = Arc::clone(&found);
        let watch = ShaderWatch { waits: true, hazards: true, ..ShaderWatch::default() };
        device.watch_shaders(
            watch,
            Arc::new(move |news| {
                let mut found = shared.lock().unwrap();
                match news {
                    ShaderNews::Wave(event @ (ShaderEvent::MissingWait(_) | ShaderEvent::Hazard(_))) => {
                        found.1.push(event.to_string());
                    }
                    ShaderNews::End { .. } => found.0 += 1,
                    _ => {}
                }
                ControlFlow::Continue(())
            }),
        );
        let target = Target::over(chip, move || Ok(Arc::new(device.open())));
        let choice = Choice { filter: Some(Filter::new("^shader[.]").unwrap()), ..Choice::default() };
        let options = Options { choice, memory: Some(4 << 20), ..Options::default() };
        let report = run(&target, &options, &mut ());
        assert_eq!(Exit::of(&report), Exit::Pass, "{chip}: {report:?}");
        let (dispatches, found) = &*found.lock().unwrap();
        assert!(*dispatches > 20, "{chip}: {dispatches} dispatches");
        assert!(found.is_empty(), "{chip}: {found:#?}");
    }
}
