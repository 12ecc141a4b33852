//! Streams within streams: called where the ring can, copied where it cannot.

use amdgpu_hw::num::count;

use super::stream::StreamLevel;
use crate::{
    cs::{
        CommandList, Error, Language, Packet, Result, Stream, Target,
        pm4::{IndirectBuffer, Ring},
    },
    winsys::Error as WinsysError,
};

/// Ways in which [`Stream::execute`] may include a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inclusion {
    /// By a call where that is possible, else by a copy.
    #[default]
    Auto,
    /// By a copy. On GFX6 and GFX7 lists with indirect draws must not be called.
    Copy,
}

/// The way in which [`Stream::execute`] included a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// By a packet that calls it; the list stays alive with the stream's.
    Called,
    /// By a copy of its packets; the list is no longer needed.
    Copied,
}

impl<L: Language> Stream<L> {
    /// Runs a list here, once; it may run in other streams and submissions too.
    ///
    /// The rule is RADV's: a call from a primary stream of the graphics ring, a copy of the packets elsewhere, for MEC
    /// has no second level and the copy engine no calls at all. A list that calls others itself is copied with its calls.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_execute_secondary`.
    ///
    /// # Errors
    ///
    /// [`Error::WrongStream`], [`Error::NestedCall`], [`Error::ChainedList`], [`Error::Winsys`] for a list of another device; the stream is then
    /// as it was. What [`Stream::push`] answers when the stream cannot grow.
    pub fn execute(&mut self, list: &CommandList, inclusion: Inclusion) -> Result<Execution> {
        let stream: Target = self.language().into();
        if list.target() != stream {
            return Err(Error::WrongStream { recorded: list.target(), stream });
        }
        if list.is_chained() {
            return Err(Error::ChainedList);
        }
        if !list.recorded().is_of(self.device()) {
            return Err(WinsysError::ForeignDevice { what: "command list" }.into());
        }
        let is_primary = self.level() == StreamLevel::Primary;
        if !is_primary && list.has_calls() {
            return Err(Error::NestedCall);
        }
        let has_calls = matches!(stream, Target::Pm4(target) if target.ring == Ring::Gfx);
        if is_primary && has_calls && !list.has_calls() && inclusion == Inclusion::Auto {
            self.call(list)?;
            return Ok(Execution::Called);
        }
        self.copy(list)?;
        Ok(Execution::Copied)
    }

    /// Chained IBs return to the caller of the first, so one call runs them all.
    fn call(&mut self, list: &CommandList) -> Result<()> {
        let (Target::Pm4(target), Some((va, dwords))) = (list.target(), list.ibs().next()) else { return Ok(()) };
        let call = IndirectBuffer::call(va, count(dwords));
        call.encode(target, self.reserve(IndirectBuffer::LEN)?)?;
        self.part_mut().called.add(list.recorded());
        Ok(())
    }

    fn copy(&mut self, list: &CommandList) -> Result<()> {
        let recorded = list.recorded();
        for packets in recorded.packets() {
            // Filled from start to end: the memory is likely write-combined.
            self.reserve(packets.len())?.copy_from_slice(packets);
        }
        let part = self.part_mut();
        recorded.called().iter().for_each(|called| part.called.add(called));
        recorded.kept().iter().for_each(|binding| part.residents.add(binding));
        recorded.sets().iter().for_each(|set| part.sets.add(set));
        Ok(())
    }
}
