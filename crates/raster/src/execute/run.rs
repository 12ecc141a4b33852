//! Draws, from their first vertex to their last pixel.

use amdgpu_surface::Chip;

use super::{
    geometry::assemble::Primitives,
    geometry::vertices::Groups,
    interface::{Drawn, Ended, Memory, Shaders},
    shade::pixels::Pixels,
    target::targets::Targets,
};
use crate::DrawState;

/// Executes a draw.
///
/// Memory that is not mapped reads as zero, and writes to it are dropped; the first such access is in the result.
///
/// # Errors
///
/// [`Ended`] if the draw has features that are not executed, if a wave hangs or if the job ends.
pub fn draw(
    state: &DrawState,
    chip: Option<&Chip>,
    memory: &dyn Memory,
    shaders: &mut dyn Shaders,
) -> Result<Drawn, Ended> {
    let features = state.unsupported();
    if !features.is_empty() {
        return Err(Ended::NotExecuted(features));
    }
    let (Some(count), Some(instances)) = (state.call.count, state.call.instances) else {
        return Err(Ended::Hang("the count of the draw is not known".to_owned()));
    };
    if count == 0 || instances == 0 {
        return Ok(Drawn::default());
    }
    let targets = Targets::new(state, chip).map_err(|feature| Ended::NotExecuted(vec![feature]))?;
    let mut pixels = Pixels::new(state, targets, memory);
    let mut groups = Groups::new(state, memory);
    for instance in 0..instances {
        let mut primitives = Primitives::new(state, count);
        pixels.drawn.vertices += u64::from(count);
        loop {
            if memory.is_stopped() {
                return Err(Ended::Stopped);
            }
            let Some(group) = groups.next(instance, &mut primitives, shaders, &mut pixels.drawn)? else { break };
            for primitive in &group.primitives {
                pixels.primitive(&group, *primitive, shaders)?;
            }
        }
    }
    if memory.is_stopped() {
        return Err(Ended::Stopped);
    }
    pixels.flush(shaders)?;
    pixels.check()?;
    // Tests that no sample passes access memory too.
    pixels.drawn.fault = pixels.drawn.fault.or(pixels.access.fault);
    Ok(pixels.drawn)
}
