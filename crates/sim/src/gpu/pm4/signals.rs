//! Waits, events and stores at the end of work.

use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;
use amdgpu_packets::FieldError;
use amdgpu_packets::pm4::{Event, Register, Ring, Target};

use crate::gpu::port::Port;
use crate::gpu::step::Step;
use crate::gpu::wait::{Condition, wait_for_memory};
use crate::gpu::{Engine, Stop};
use amdgpu_packets::layout::Reader;

/// Says of a count that it was stored.
const STORED: u64 = 1 << 63;

impl Engine {
    /// WAIT_REG_MEM on registers, and its form for qwords.
    pub(super) fn wait_listed(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        const WRITE_WAIT_WRITE: u32 = 1;
        let wide = step.fields.name() == "WAIT_REG_MEM64";
        let (mask, reference) = if wide {
            (step.fields.wide("mask_lo", "mask_hi"), step.fields.wide("reference_lo", "reference_hi"))
        } else {
            (step.get("mask").into(), step.get("reference").into())
        };
        let condition = Condition { function: step.compare()?, mask, reference };
        if step.get("operation") == WRITE_WAIT_WRITE {
            let write = Register::new(step.get("write_reg"));
            self.set_register(write, reference as u32, level, step.port)?;
            let wait = Register::new(step.get("wait_reg"));
            self.get_register(wait, level, step.port)?;
            self.wait_for_register(step, wait, wide, &condition)?;
            return self.set_register(write, reference as u32, level, step.port);
        }
        if step.is_set("mem_space") {
            let va = step.aligned("poll_addr_lo", "poll_addr_hi", if wide { 8 } else { 4 })?;
            return wait_for_memory(step.port, va, wide, &condition);
        }
        let register = Register::new(step.get("poll_reg"));
        self.get_register(register, level, step.port)?;
        self.wait_for_register(step, register, wide, &condition)
    }

    /// EVENT_WRITE in forms that the library does not write, and EVENT_WRITE_ZPASS.
    pub(super) fn event_listed(&self, step: &Step<'_, '_>) -> Result<(), Stop> {
        let Reader::Ring(target) = step.reader else { return Err(step.refuse("has no place on this engine")) };
        if step.fields.name() == "EVENT_WRITE_ZPASS" {
            self.store_sample_counts(step.address("addr_lo", "addr_hi")?, step.port);
            return Ok(());
        }
        let (event, index) = (step.get("event_type"), step.get("event_index"));
        if !indices(event, target.level).contains(&index) {
            return Err(step.wrong(FieldError::Unknown { field: "event_index", value: index }));
        }
        // The dwords behind this event are no address.
        let has_address = step.fields.len() > 2 && event != u32::from(Event::PIXEL_PIPE_STAT_CONTROL.number());
        let at = if has_address { Some(step.address("addr_lo", "addr_hi")?) } else { None };
        self.event(event, at, target, step.port)
    }

    /// What an event stores. Nothing is ever drawn, so every count is zero; bit 63 says that it was stored.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_query.c`, where the layouts of the pools are.
    pub(super) fn event(&self, event: u32, at: Option<GpuVa>, target: Target, port: &Port<'_>) -> Result<(), Stop> {
        const ZPASS_DONE: u32 = Event::ZPASS_DONE.number() as u32;
        const PIXEL_PIPE_STAT_DUMP: u32 = Event::PIXEL_PIPE_STAT_DUMP.number() as u32;
        const SAMPLE_PIPELINESTAT: u32 = Event::SAMPLE_PIPELINESTAT.number() as u32;
        const SAMPLE_STREAMOUTSTATS: u32 = Event::SAMPLE_STREAMOUTSTATS.number() as u32;
        let stores = match event {
            ZPASS_DONE => target.level < GfxLevel::Gfx11,
            PIXEL_PIPE_STAT_DUMP | SAMPLE_PIPELINESTAT | SAMPLE_STREAMOUTSTATS | 1..=3 => true,
            _ => false,
        };
        let refuse = |what| Err(Stop::Refused { place: port.place(), what });
        let Some(va) = at else {
            return if stores { refuse("samples, and says nowhere to store it") } else { Ok(()) };
        };
        match event {
            _ if !stores => return refuse("names an address for an event that stores nothing"),
            ZPASS_DONE | PIXEL_PIPE_STAT_DUMP => self.store_sample_counts(va, port),
            SAMPLE_PIPELINESTAT => {
                let counters = match (target.is_mec(), target.level >= GfxLevel::Gfx11) {
                    // MEC is told the address of the one counter that it has.
                    (true, _) => 1,
                    (false, true) => 14,
                    (false, false) => 11,
                };
                port.write(va, &[0; 8 * 14][..8 * counters]);
            }
            _ => {
                port.write_u64(va, STORED);
                if let Some(written) = va.checked_add(8) {
                    port.write_u64(written, STORED);
                }
            }
        }
        Ok(())
    }

    /// Each render backend that is there stores its count, 16 bytes behind the one before.
    fn store_sample_counts(&self, va: GpuVa, port: &Port<'_>) {
        for backend in (0..32).filter(|backend| self.render_backends >> backend & 1 != 0) {
            if let Some(slot) = va.checked_add(16 * backend) {
                port.write_u64(slot, STORED);
            }
        }
    }

    /// EVENT_WRITE_EOP, EVENT_WRITE_EOS and RELEASE_MEM in forms that the library does not write.
    pub(super) fn end_of_pipe_listed(&self, step: &Step<'_, '_>) -> Result<(), Stop> {
        if step.fields.name() == "EVENT_WRITE_EOS" {
            return self.end_of_shader(step);
        }
        if step.is_set("pws_enable") {
            return Ok(());
        }
        if step.get("dst_sel") > 1 {
            return Err(step.refuse("writes a queue's pointers, which is the kernel's to do"));
        }
        let port = step.port;
        match step.get("data_sel") {
            0 => {}
            1 => port.write_dwords(step.aligned("addr_lo", "addr_hi", 4)?, &[step.get("data_lo")]),
            2 => port.write_u64(step.aligned("addr_lo", "addr_hi", 8)?, step.fields.wide("data_lo", "data_hi")),
            5 => {
                let va = step.aligned("addr_lo", "addr_hi", 4)?;
                let offset =
                    if step.fields.has("gds_offset") { step.get("gds_offset") } else { step.get("data_lo") & 0xffff };
                let dwords =
                    if step.fields.has("gds_dwords") { step.get("gds_dwords") } else { step.get("data_lo") >> 16 };
                self.store_gds(step, va, offset, dwords)?;
            }
            // The clocks: GPU, system, and the emulated one of shaders.
            _ => port.write_u64(step.aligned("addr_lo", "addr_hi", 8)?, port.env().clock.ticks()),
        }
        Ok(())
    }

    fn end_of_shader(&self, step: &Step<'_, '_>) -> Result<(), Stop> {
        let va = step.aligned("addr_lo", "addr_hi", 4)?;
        match step.get("command") {
            1 => self.store_gds(step, va, step.get("gds_index"), step.get("gds_dwords"))?,
            2 => step.port.write_dwords(va, &[step.get("data")]),
            _ => return Err(step.refuse("stores an append counter, which is not simulated")),
        }
        Ok(())
    }

    /// OCCLUSION_QUERY: the sum of what begin and end are apart.
    pub(super) fn occlusion_query(&self, step: &Step<'_, '_>) -> Result<(), Stop> {
        let pairs = step.aligned("start_addr_lo", "start_addr_hi", 16)?;
        let to = step.aligned("query_addr_lo", "query_addr_hi", 4)?;
        let sum = self.samples_between(step, pairs, true)?.unwrap_or_default();
        step.port.write_dwords(to, &[sum as u32]);
        Ok(())
    }
}

/// The indices that an event goes with. AMD PAL numbers the stream-out statistics of GFX11 by stream, Mesa does not.
const fn indices(event: u32, level: GfxLevel) -> &'static [u32] {
    match event {
        21 if (level as u8) < GfxLevel::Gfx11 as u8 => &[1],
        56 | 57 => &[1],
        30 => &[2],
        1..=3 | 32 => &[3, 8, 9, 10, 11],
        7 | 15 | 16 => &[4],
        _ => &[0],
    }
}

/// Whether a packet's ring is the graphics one, or one of GFX6's, which read the graphics forms.
pub(super) fn is_graphics(step: &Step<'_, '_>) -> bool {
    !matches!(step.reader, Reader::Ring(target) if target.ring == Ring::Compute && target.is_mec())
}
