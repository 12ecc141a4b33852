//! The late schedule: what an engine has issued is executed when something waits for it.
//!
//! Hardware executes dispatches, draws and the DMA of the command processor concurrently with the packets behind them, so they may be
//! over as late as the packet that waits for them. A stream that lacks a wait has other results then than in the order of its packets: a
//! reader finds what was in memory before, and work finds inputs that later packets have overwritten.
//!
//! The schedule is one that hardware may choose, and is the same each time. Dispatches are in order among themselves, and so are draws,
//! stores at the end of the pipe, and DMA. The prefetch parser is ahead of all of them: what it reads is what was there when it last
//! waited, which the memory of the job sees to. The schedule is kinder than hardware in three ways: copies of copy engines do not
//! overlap, an event that samples counters waits for the work before it, and no job starts before the DMA of the one before it on the
//! ring is over.

use amdgpu_hw::GfxLevel;
use amdgpu_packets::pm4::{CoherCntl, Event, Ring, Target};

use crate::gpu::{
    Engine, Environment, Scene, State, Stop, Unfinished, Work,
    budget::Budget,
    dma,
    late::{Data, Issued, Kind, Source, Store, Transfer},
    port::Port,
    step::Step,
};

/// The number of draws, dispatches and stores that may be open at once, and that of DMA packets. Hardware has no room for any number
/// either.
const MOST_OPEN: usize = 4096;

/// The bits with which SURFACE_SYNC waits for draws to colour and depth targets.
const TARGETS: CoherCntl = CoherCntl::DEST_BASE_0
    .union(CoherCntl::DEST_BASE_1)
    .union(CoherCntl::DEST_BASE_2)
    .union(CoherCntl::DEST_BASE_3)
    .union(CoherCntl::CB_DEST_BASE)
    .union(CoherCntl::DB_DEST_BASE);

/// The kind of work for which a packet waits.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan`: `radv_src_access_flush` and `radv_cs_emit_cache_flush` for partial flushes, events and the waits
/// behind them, `radv_cp_dma_wait_for_idle` for DMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    Dispatches,
    Draws,
    /// Dispatches and draws.
    Shaders,
    /// Dispatches, draws and the stores behind them.
    Pipe,
    Dma,
    All,
}

impl Join {
    /// Returns the work before which an event does not happen.
    pub(super) fn of_event(event: Event) -> Option<Self> {
        match event {
            Event::CS_PARTIAL_FLUSH => Some(Self::Dispatches),
            // The vertex shaders of a draw are followed by its pixel shaders, so a wait for the former is taken for one for both.
            Event::PS_PARTIAL_FLUSH | Event::VS_PARTIAL_FLUSH | Event::ZPASS_DONE | Event::PIXEL_PIPE_STAT_DUMP => {
                Some(Self::Draws)
            }
            Event::SAMPLE_PIPELINESTAT => Some(Self::Shaders),
            _ => None,
        }
    }

    /// Returns the work for which SURFACE_SYNC, or ACQUIRE_MEM before GFX10, waits: draws to the targets that it names.
    pub(super) fn of_coher(bits: u32) -> Option<Self> {
        CoherCntl::from_bits_retain(bits).intersects(TARGETS).then_some(Self::Draws)
    }

    /// Returns `true` if the packet waits for this work of the pipe.
    const fn includes(self, kind: &Kind) -> bool {
        match (self, kind) {
            (Self::Pipe | Self::All, _) | (Self::Shaders, Kind::Work(..)) => true,
            (Self::Dispatches, Kind::Work(work, _)) => matches!(work, Work::Dispatch(_)),
            (Self::Draws, Kind::Work(work, _)) => !matches!(work, Work::Dispatch(_)),
            _ => false,
        }
    }
}

impl Engine {
    /// Executes a draw or dispatch: at once, or late.
    pub(super) fn issue(&mut self, work: Work, port: &Port<'_>) -> Result<(), Stop> {
        if self.late.is_none() {
            return perform(&work, &self.state, port);
        }
        let state = Box::new(self.state.with_counters_of_zero());
        self.defer(Kind::Work(work, state), port)
    }

    /// Executes a store at the end of the pipe or of shaders: at once, or late.
    pub(super) fn issue_store(&mut self, store: Store, port: &Port<'_>) -> Result<(), Stop> {
        if self.late.is_none() {
            put(store, port);
            return Ok(());
        }
        self.defer(Kind::Store(store), port)
    }

    fn defer(&mut self, kind: Kind, port: &Port<'_>) -> Result<(), Stop> {
        let Some(late) = &mut self.late else { return Ok(()) };
        late.pipe.push(Issued { kind, place: port.place() });
        if late.pipe.len() > MOST_OPEN { self.join(Join::Pipe, port.env(), port.budget()) } else { Ok(()) }
    }

    /// Executes a transfer by DMA: at once, or late if nothing waits for it.
    ///
    /// MEC and GFX6 execute DMA in order, as the model of the strict mode has it.
    pub(super) fn issue_transfer(
        &mut self,
        transfer: Transfer,
        waits: bool,
        target: Target,
        port: &Port<'_>,
    ) -> Result<(), Stop> {
        let is_late = !waits && target.ring == Ring::Gfx && target.level >= GfxLevel::Gfx7;
        match &mut self.late {
            Some(late) if is_late && late.dma.len() < MOST_OPEN => {
                late.dma.push(transfer);
                Ok(())
            }
            _ => {
                self.join(Join::Dma, port.env(), port.budget())?;
                move_bytes(&transfer, port)
            }
        }
    }

    /// Returns `true` if there is work that was issued and is not executed yet.
    pub(super) fn is_behind(&self) -> bool {
        self.late.as_ref().is_some_and(|late| !late.is_empty())
    }

    /// Executes what a packet waits for.
    pub(super) fn join_for(&mut self, join: Join, step: &Step<'_, '_>) -> Result<(), Stop> {
        self.join(join, step.port.env(), step.port.budget())
    }

    /// Executes the work that something waits for.
    pub(super) fn join(&mut self, join: Join, env: &Environment<'_>, budget: &Budget) -> Result<(), Stop> {
        let Some(late) = &mut self.late else { return Ok(()) };
        let joined: Vec<_> = late.pipe.extract_if(.., |issued| join.includes(&issued.kind)).collect();
        let transfers = if matches!(join, Join::Dma | Join::All) { std::mem::take(&mut late.dma) } else { Vec::new() };
        for Issued { kind, place } in joined {
            let port = Port::new(env, budget, place);
            match kind {
                Kind::Store(store) => put(store, &port),
                Kind::Work(work, state) => {
                    perform(&work, &state, &port)?;
                    self.state.count_samples(state.samples());
                    self.state.count_statistics(&state.statistics());
                }
            }
        }
        transfers.iter().try_for_each(|transfer| move_bytes(transfer, &Port::new(env, budget, transfer.place)))
    }
}

/// Passes a draw or dispatch to the executor of shaders.
fn perform(work: &Work, state: &State, port: &Port<'_>) -> Result<(), Stop> {
    let (env, place) = (port.env(), port.place());
    let scene = Scene { state, memory: env.memory, place, job: env.job };
    if let Some(observer) = env.observer() {
        observer.shaders(true);
    }
    let ran = env.shaders.run(work, &scene);
    if let Some(observer) = env.observer() {
        observer.shaders(false);
    }
    ran.map_err(|unfinished| match unfinished {
        Unfinished::Hang => Stop::Wave { place },
        Unfinished::Cancelled => Stop::WavesCancelled { place },
    })
}

fn move_bytes(transfer: &Transfer, port: &Port<'_>) -> Result<(), Stop> {
    match transfer.source {
        Source::Memory(from) => dma::copy(port, transfer.to, from, transfer.bytes),
        Source::Pattern(pattern) => dma::fill(port, transfer.to, pattern, transfer.bytes),
    }
}

fn put(store: Store, port: &Port<'_>) {
    match store.data {
        Data::Dword(value) => port.write_dwords(store.to, &[value]),
        Data::Qword(value) => port.write_u64(store.to, value),
        Data::Clock => port.write_u64(store.to, port.env().clock.ticks()),
    }
}
