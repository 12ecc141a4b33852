//! Parts of a device that requests of one kind use together.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::kernel::{
    files::{names::Names, node::Masters},
    mm::bo::{Bo, Offsets},
    modes::{Modes, Screen},
    sched::{context::Pstate, gang::Gangs},
    userq::{Doorbells, Slots},
};

/// The tables through which files find BOs of the device.
#[derive(Debug, Default)]
pub(crate) struct BoTables {
    pub(crate) names: Mutex<Names>,
    pub(crate) offsets: Arc<Offsets<Bo>>,
}

/// The state that the queues of all files share, besides the rings.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    /// Held while a submission is ordered among all others: its dependencies, its fences, and its place in the queues.
    pub(crate) submitting: Mutex<()>,
    pub(crate) gangs: Arc<Gangs>,
    pub(crate) pstate: Mutex<Pstate>,
    /// The fences of the device's user queues in memory.
    pub(crate) slots: Arc<Slots>,
    /// The doorbells that user queues of all files have.
    pub(crate) doorbells: Arc<Doorbells>,
}

/// The display engine, and the files that may use it.
#[derive(Debug)]
pub(crate) struct Display {
    pub(crate) masters: Masters,
    /// The mode objects, for requests about modes.
    pub(crate) modes: Modes,
    /// The connected display.
    pub(crate) screen: Option<Arc<Screen>>,
}
