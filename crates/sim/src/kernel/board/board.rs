//! The parts of a device that all of its rings and user queues share.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use amdgpu_hw::Ip;
use amdgpu_packets::Target;
use amdgpu_uapi::WedgedEvent;

use crate::{
    Strictness,
    features::Features,
    gpu::{Engine, OBSERVERS_ARE_BUILT},
    kernel::{
        board::facts::Facts,
        complaints::Complaints,
        health::Health,
        power::{Power, RuntimePm, clock::Ticker},
        process::identity::Process,
        sched::{
            interpreter::{Interpreter, tiling},
            processor::Executor,
            resets::RingReset,
            shader_watch::Watching,
            shaders::ShaderSlot,
            skipped::Skipped,
        },
        strict::Caches,
        sync::events::{Events, Until},
        uevents::Uevents,
    },
    testing::{control::Control, hooks::Hooks},
};

/// The parts of a device that execute: all rings and user queues of the device share them.
#[derive(Debug)]
pub(crate) struct Board {
    pub(crate) facts: Arc<Facts>,
    pub(crate) events: Arc<Events>,
    pub(crate) complaints: Arc<Complaints>,
    /// The events for user space, of the whole machine.
    uevents: Arc<Uevents>,
    pub(crate) control: Arc<Control>,
    /// `true` while the computer sleeps: processes are frozen, and nothing executes.
    pub(crate) is_asleep: AtomicBool,
    pub(crate) clock: Ticker,
    pub(crate) shaders: ShaderSlot,
    /// The draws that were not executed.
    pub(crate) skipped: Arc<Skipped>,
    /// Power management, with the activity of the rings.
    pub(crate) power: Power,
    /// Counts of hardware errors, and lasting faults.
    pub(crate) health: Health,
    /// The model of the caches, in the strict mode.
    caches: Option<Caches>,
    /// The chip, for the tiling of images.
    pub(crate) tiling: Option<amdgpu_surface::Chip>,
}

impl Board {
    pub(crate) fn new(facts: &Arc<Facts>, events: &Arc<Events>, uevents: &Arc<Uevents>) -> Self {
        let (profile, options) = (&facts.profile, &facts.options);
        let control = Arc::<Control>::default();
        let hooks: Arc<dyn Hooks> = Arc::<Control>::clone(&control);
        let clock = Ticker::new(hooks, profile.dev_info.gpu_counter_freq);
        let skipped = Arc::<Skipped>::default();
        let shaders = if options.shaders {
            ShaderSlot::new(Arc::new(Interpreter::new(options, profile, None, &skipped)))
        } else {
            ShaderSlot::default()
        };
        let runtime = facts.has_runtime_pm().then(|| RuntimePm::new(clock.clone(), options.display.is_some()));
        Self {
            facts: Arc::clone(facts),
            events: Arc::clone(events),
            complaints: Arc::default(),
            uevents: Arc::clone(uevents),
            control,
            is_asleep: AtomicBool::new(false),
            clock,
            shaders,
            skipped,
            power: Power::new(runtime),
            health: Health::default(),
            caches: Caches::new(profile.gfx_level, &profile.name, options.strictness),
            tiling: tiling(profile),
        }
    }

    /// Returns the model of the caches, in the strict mode.
    pub(crate) fn caches(&self) -> Option<&Caches> {
        self.caches.as_ref().filter(|_| OBSERVERS_ARE_BUILT)
    }

    /// Waits while the computer sleeps.
    pub(crate) fn wait_while_asleep(&self) {
        if self.is_asleep.load(Ordering::Acquire) {
            self.events.wait(Until::Never, || (!self.is_asleep.load(Ordering::Acquire)).then_some(()));
        }
    }

    /// Tells user space that a ring or the device was reset, and whose job was stuck, as far as the kernel knows and tells that.
    ///
    /// Source: Linux 7.2 `amdgpu_job.c`, `amdgpu_job_timedout`; `amdgpu_device.c`, `amdgpu_device_gpu_recover`; `drm_drv.c`,
    /// `drm_dev_wedged_event`.
    pub(crate) fn report_reset(&self, culprit: Option<&Process>) {
        if !self.facts.has(Features::WEDGED_EVENTS) {
            return;
        }
        let place = self.facts.options.place;
        let minor = place.primary_minor();
        let directory = place.directory();
        let path = format!("{}/drm/card{minor}", directory.trim_start_matches("/sys"));
        let named = culprit.filter(|process| self.facts.has(Features::WEDGED_TASK) && !process.name.is_empty());
        let process = named.map(|process| (process.pid.unsigned_abs(), process.name.clone()));
        let event = WedgedEvent { path, methods: "none".to_owned(), process };
        self.uevents.send(|number| event.to_message(minor, number));
    }

    /// Returns the control of tests over rings.
    pub(crate) fn hooks(&self) -> &dyn Hooks {
        &*self.control
    }

    /// Returns an engine of the device's chip.
    pub(crate) fn engine(&self, target: Target) -> Engine {
        Engine::new(target)
            .with_render_backends(self.facts.profile.dev_info.enabled_rb_pipes_mask)
            .with_wide_fills(self.facts.options.wide_fills)
            .with_chip(self.tiling)
            .with_late_work(self.facts.options.strictness == Strictness::Late)
    }

    /// Returns the way in which the kernel resets a ring of an IP alone.
    pub(crate) fn ring_reset(&self, ip: Ip, executor: Executor) -> RingReset {
        RingReset::of(&self.facts.options, self.facts.reset_kinds(ip), (ip, executor))
    }

    /// Reports the execution of shaders from now on.
    pub(crate) fn watch_shaders(&self, watching: Watching) {
        let Facts { profile, options, .. } = &*self.facts;
        self.shaders.plug(Arc::new(Interpreter::new(options, profile, Some(watching), &self.skipped)));
    }
}
