//! Dispatches of programs.

use ash::vk;

use super::Program;
use crate::gpu::{
    Buffer,
    commands::{Recorder, check},
};

/// The workgroups of a dispatch.
#[derive(Clone, Copy)]
pub(crate) enum Dispatch<'d> {
    /// The numbers of workgroups.
    Groups([u32; 3]),
    /// The first workgroup and the numbers of workgroups.
    Base([u32; 3], [u32; 3]),
    /// Three 32-bit numbers of workgroups at an offset of a buffer.
    Indirect(&'d Buffer<'d>, u64),
}

impl<'a> Recorder<'a> {
    /// vkCmdBeginConditionalRenderingEXT: until its end commands run if a word of the buffer is not 0, or if it is 0.
    ///
    /// # Panics
    ///
    /// If the word lies outside of the buffer, or the device has no conditional rendering.
    pub(crate) fn begin_condition(&self, buffer: &'a Buffer<'_>, offset: u64, inverted: bool) {
        check(buffer, offset, 4);
        let Some(functions) = &self.gpu.extensions.conditions else { panic!("a check records an unknown condition") };
        let flags = if inverted {
            vk::ConditionalRenderingFlagsEXT::INVERTED
        } else {
            vk::ConditionalRenderingFlagsEXT::empty()
        };
        let info = vk::ConditionalRenderingBeginInfoEXT::default().buffer(buffer.raw).offset(offset).flags(flags);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); inside the buffer, as was just checked, and the feature
        // is enabled.
        unsafe { (functions.fp().cmd_begin_conditional_rendering_ext)(self.raw, &raw const info) };
    }

    /// vkCmdEndConditionalRenderingEXT.
    ///
    /// # Panics
    ///
    /// If the device has no conditional rendering.
    pub(crate) fn end_condition(&self) {
        let Some(functions) = &self.gpu.extensions.conditions else { panic!("a check records an unknown condition") };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); a condition was begun, as the checks take care of.
        unsafe { (functions.fp().cmd_end_conditional_rendering_ext)(self.raw) };
    }

    /// Binds a program with its push constants.
    ///
    /// # Panics
    ///
    /// If there are more push constants than the program has.
    pub(crate) fn bind(&self, program: &'a Program<'_>, push: &[u8]) {
        assert!(push.len() as u64 <= u64::from(program.push), "a check pushes more constants than its program has");
        let (device, point) = (&self.gpu.device, vk::PipelineBindPoint::COMPUTE);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`).
        unsafe { device.cmd_bind_pipeline(self.raw, point, program.raw) };
        if !program.sets.is_empty() {
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once
            // and what the call reads through pointers is local (the premises of `gpu`); the sets have the layouts of the pipeline.
            unsafe { device.cmd_bind_descriptor_sets(self.raw, point, program.layout, 0, &program.sets, &[]) };
        }
        if !push.is_empty() {
            let stages = vk::ShaderStageFlags::COMPUTE;
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once
            // and what the call reads through pointers is local (the premises of `gpu`); inside the range of the layout, as was just
            // checked.
            unsafe { device.cmd_push_constants(self.raw, program.layout, stages, 0, push) };
        }
    }

    /// Dispatches the program that was bound last.
    ///
    /// # Panics
    ///
    /// If the numbers of an indirect dispatch lie outside of their buffer.
    pub(crate) fn dispatch_bound(&self, dispatch: Dispatch<'a>) {
        let device = &self.gpu.device;
        match dispatch {
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
            // (the premises of `gpu`); a pipeline and its sets are bound, as the checks take care of.
            Dispatch::Groups([x, y, z]) => unsafe { device.cmd_dispatch(self.raw, x, y, z) },
            // SAFETY: as above; the pipeline was made for any first workgroup.
            Dispatch::Base([bx, by, bz], [x, y, z]) => unsafe {
                device.cmd_dispatch_base(self.raw, bx, by, bz, x, y, z);
            },
            Dispatch::Indirect(buffer, offset) => {
                check(buffer, offset, 12);
                // SAFETY: as above; inside the buffer, as was just checked.
                unsafe { device.cmd_dispatch_indirect(self.raw, buffer.raw, offset) };
            }
        }
    }
}
