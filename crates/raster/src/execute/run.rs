//! Draws, from their first vertex to their last pixel.

use std::sync::Arc;

use amdgpu_surface::Chip;

use super::{
    geometry::assemble::Primitives,
    geometry::vertices::Groups,
    interface::{Drawn, Ended, Memory, Shaders},
    shade::bands::{self, Crew},
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
    run(state, chip, memory, shaders, None)
}

/// Executes a draw as [`draw`] does, with as many other threads as there are `others`, which run pixel shaders on them. They start if the
/// draw has enough pixels, and draw bands of rows. Memory contents are those of [`draw`], and so is the result, except that waves of
/// pixels end with a band.
///
/// A draw whose pixel shader may write memory, or whose metadata has bytes that several bands share, stays on the calling thread.
///
/// # Errors
///
/// Those of [`draw`]: of the uppermost band that could not be drawn.
pub fn draw_on_threads(
    state: &DrawState,
    chip: Option<&Chip>,
    memory: &(dyn Memory + Sync),
    shaders: &mut dyn Shaders,
    others: &mut [Box<dyn Shaders + Send + '_>],
) -> Result<Drawn, Ended> {
    let crew = if others.is_empty() { None } else { Some(Crew::new(memory, others)) };
    run(state, chip, memory, shaders, crew)
}

fn run(
    state: &DrawState,
    chip: Option<&Chip>,
    memory: &dyn Memory,
    shaders: &mut dyn Shaders,
    crew: Option<Crew<'_, '_>>,
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
    let mut crew = crew.filter(|_| bands::are_apart(state, &pixels));
    let mut groups = Groups::new(state, memory);
    for instance in 0..instances {
        let mut primitives = Primitives::new(state, count);
        pixels.start_instance();
        pixels.drawn.vertices += u64::from(count);
        loop {
            if memory.is_stopped() {
                return Err(Ended::Stopped);
            }
            let Some(group) = groups.next(instance, &mut primitives, shaders, &mut pixels.drawn)? else { break };
            let group = Arc::new(group);
            for drawable in &group.primitives {
                let Some(primitive) = pixels.prepare(&group, *drawable)? else { continue };
                match &mut crew {
                    Some(crew) => crew.add(primitive, &mut pixels, shaders)?,
                    None => pixels.paint(&primitive, None, shaders)?,
                }
            }
        }
    }
    if memory.is_stopped() {
        return Err(Ended::Stopped);
    }
    if let Some(crew) = &mut crew {
        crew.draw(&mut pixels, shaders)?;
    }
    pixels.flush(shaders)?;
    pixels.check()?;
    // Tests that no sample passes access memory too.
    pixels.drawn.fault = pixels.drawn.fault.or(pixels.access.fault);
    Ok(pixels.drawn)
}
