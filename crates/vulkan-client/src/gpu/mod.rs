//! Vulkan objects with owners, and calls that are safe to make in any order.
//!
//! Every `SAFETY` comment below leans on the same premises:
//!
//! - **alive**: a handle is made by the wrapper that holds it, and destroyed by nothing but that wrapper's `Drop`; a wrapper
//!   borrows the [`Gpu`], so the device is destroyed last.
//! - **alone**: a [`Gpu`] and what borrows it stay on the thread that has them, so no two calls use one object at once (external
//!   synchronisation). A device that threads [share](SharedGpu) is one that Vulkan lets them use at once; its queues are locked.
//! - **local**: what a call reads through pointers are locals of the calling function.
//! - **done**: a [`commands::Submission`] borrows all that its commands use, and its `Drop` waits for their end; objects they use
//!   are therefore destroyed afterwards.

mod buffer;
mod commands;
mod compute;
mod extensions;
mod external;
mod features;
mod handle_type;
mod image;
mod memory;
mod program;
mod shared;
mod sparse;
mod sync;
mod time;

use std::{
    marker::PhantomData,
    sync::{Mutex, MutexGuard, PoisonError},
};

use ash::{prelude::VkResult, vk};

pub(crate) use self::{
    buffer::{Buffer, TexelView},
    commands::{Order, Recorder},
    external::received,
    handle_type::HandleType,
    image::{
        Answer, BoundImage, FormatSupport, ImageKind, ImagePart, ImageView, Importer, Part, Shape, Texture,
        TextureKind, aspect_format, chroma_shift, planes,
    },
    memory::{Memory, MemoryPlace, Source},
    program::{Constants, Dispatch, Program, Resource, Sampler, SamplerKind, Slot},
    shared::SharedGpu,
    sparse::Bind,
};
use self::{
    extensions::Extensions,
    features::{AllFeatures, Newer},
};
use crate::outcome::{ErrorContext, Stop, skip};

/// The PCI vendor id of AMD.
const AMD: u32 = 0x1002;

/// Purpose of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueKind {
    /// Draws, and all the others can.
    Graphics,
    /// Dispatches without graphics.
    Compute,
    /// Copies only.
    Transfer,
    /// Sparse binding; the queue may be one of the others.
    Sparse,
    /// Decodes video.
    Decode,
    /// Encodes video.
    Encode,
}

impl QueueKind {
    /// The queues commands are recorded for.
    pub(crate) const RECORDED: [Self; 3] = [Self::Graphics, Self::Compute, Self::Transfer];

    /// The name in a check's id.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Graphics => "graphics",
            Self::Compute => "compute",
            Self::Transfer => "transfer",
            Self::Sparse => "sparse",
            Self::Decode => "video decode",
            Self::Encode => "video encode",
        }
    }

    fn fits(self, flags: vk::QueueFlags) -> bool {
        let has = |flag| flags.contains(flag);
        match self {
            Self::Graphics => has(vk::QueueFlags::GRAPHICS),
            Self::Compute => has(vk::QueueFlags::COMPUTE) && !has(vk::QueueFlags::GRAPHICS),
            Self::Transfer => {
                has(vk::QueueFlags::TRANSFER) && !flags.intersects(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE)
            }
            Self::Sparse => has(vk::QueueFlags::SPARSE_BINDING),
            Self::Decode => has(vk::QueueFlags::VIDEO_DECODE_KHR),
            Self::Encode => has(vk::QueueFlags::VIDEO_ENCODE_KHR),
        }
    }
}

/// The first queue of the family that fits a kind best.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    /// Purpose of the queue.
    pub(crate) kind: QueueKind,
    /// Bits of its timestamps that count; 0 without timestamps.
    pub(crate) timestamp_bits: u32,
    family: u32,
    queue: vk::Queue,
}

/// A logical device with everything enabled that the checks use and the driver offers.
pub(crate) struct Gpu {
    /// `true` if a device of another vendor would have been taken.
    pub(crate) any_device: bool,
    /// Extensions enabled besides the core.
    pub(crate) extensions: Extensions,
    /// Limits and names.
    pub(crate) properties: vk::PhysicalDeviceProperties,
    features: vk::PhysicalDeviceFeatures,
    /// Features newer than Vulkan 1.0 that shaders use.
    pub(crate) newer: Newer,
    /// All features, if all are enabled.
    pub(crate) all_features: Option<AllFeatures>,
    memory: vk::PhysicalDeviceMemoryProperties,
    lanes: Vec<Lane>,
    /// Held while a queue is given work: one at a time, whoever shares the device.
    queues: Mutex<()>,
    device: ash::Device,
    physical: vk::PhysicalDevice,
    instance: ash::Instance,
    // Dropped last: it keeps the loader library in the process.
    _entry: ash::Entry,
    _one_thread: PhantomData<*const ()>,
}

/// An instance on its way to becoming a [`Gpu`]: destroyed if that fails.
struct Opening {
    instance: ash::Instance,
    entry: ash::Entry,
}

impl Gpu {
    /// Opens the first AMD device, or with `any_device` the first device of all.
    ///
    /// # Errors
    ///
    /// [`Stop::Skip`] without a Vulkan loader or such a device; [`Stop::Fail`] when the driver refuses to bring it up.
    pub(crate) fn open(any_device: bool) -> Result<Self, Stop> {
        Self::open_with(any_device, false)
    }

    /// Opens the same with all features of Vulkan 1.3 and of the extensions that only shaders use.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open); [`Stop::Skip`] without Vulkan 1.3.
    pub(crate) fn open_with_all_features(any_device: bool) -> Result<Self, Stop> {
        Self::open_with(any_device, true)
    }

    fn open_with(any_device: bool, all_features: bool) -> Result<Self, Stop> {
        // SAFETY: the loader library is the machine's own; its initialisers are as trusted as this program's.
        let entry = match unsafe { ash::Entry::load() } {
            Ok(entry) => entry,
            Err(error) => return skip(format!("no Vulkan loader: {error}")),
        };
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: local.
        let instance = match unsafe { entry.create_instance(&info, None) } {
            Ok(instance) => instance,
            Err(error) => return skip(format!("no Vulkan instance: {error}")),
        };
        let opening = Opening { instance, entry };
        let Some((physical, properties)) = opening.first(any_device).context("enumerate devices")? else {
            return skip(if any_device { "no Vulkan device" } else { "no AMD device (try --any-device)" });
        };
        opening.bring_up(physical, &properties, any_device, all_features)
    }

    /// Returns `true` if the checks of what AMD's memory does apply.
    pub(crate) const fn is_amd(&self) -> bool {
        self.properties.vendor_id == AMD
    }

    /// Returns `true` if the driver is RADV.
    pub(crate) fn is_radv(&self) -> bool {
        self.properties.device_name_as_c_str().is_ok_and(|name| name.to_string_lossy().contains("RADV"))
    }

    /// Returns the major number of Mesa's release, if the driver is RADV.
    pub(crate) fn radv_release(&self) -> Option<u32> {
        self.is_radv().then(|| vk::api_version_major(self.properties.driver_version))
    }

    /// The queue of a kind, if the device has one.
    pub(crate) fn lane(&self, kind: QueueKind) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.kind == kind)
    }

    /// Waits for the turn to give a queue work. No state is behind the lock that a panic could have left half changed.
    fn turn(&self) -> MutexGuard<'_, ()> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The queue of a kind.
    ///
    /// # Errors
    ///
    /// [`Stop::Skip`] if there is none.
    pub(crate) fn need(&self, kind: QueueKind) -> Result<&Lane, Stop> {
        self.lane(kind).map_or_else(|| skip(format!("no {} queue here", kind.name())), Ok)
    }

    /// The queue family of each queue, once.
    fn families(&self) -> Vec<u32> {
        let mut families: Vec<u32> = self.lanes.iter().map(|lane| lane.family).collect();
        families.sort_unstable();
        families.dedup();
        families
    }

    /// Returns `true` if dispatches may depend on conditions.
    pub(crate) fn has_conditions(&self) -> bool {
        self.all_features.as_ref().is_some_and(|all| all.has("conditionalRendering") == Some(true))
    }

    /// Returns `true` if shaders use addresses of buffers.
    fn has_addresses(&self) -> bool {
        self.all_features.as_ref().is_some_and(|all| all.has("bufferDeviceAddress") == Some(true))
    }

    /// Two different queues.
    ///
    /// # Errors
    ///
    /// [`Stop::Skip`] if there is but one.
    pub(crate) fn two_lanes(&self) -> Result<[&Lane; 2], Stop> {
        Ok([self.need(QueueKind::Graphics)?, self.need(QueueKind::Compute)?])
    }

    /// The features the device has, all of which are enabled.
    pub(crate) const fn features(&self) -> &vk::PhysicalDeviceFeatures {
        &self.features
    }
}

impl Opening {
    fn first(&self, any: bool) -> VkResult<Option<(vk::PhysicalDevice, vk::PhysicalDeviceProperties)>> {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`).
        let all = unsafe { self.instance.enumerate_physical_devices() }?;
        let mut described = all.into_iter().map(|physical| {
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`); `physical`
            // was just enumerated by this instance.
            (physical, unsafe { self.instance.get_physical_device_properties(physical) })
        });
        Ok(described.find(|(_, properties)| any || properties.vendor_id == AMD))
    }

    fn bring_up(
        self,
        physical: vk::PhysicalDevice,
        properties: &vk::PhysicalDeviceProperties,
        any_device: bool,
        all_features: bool,
    ) -> Result<Gpu, Stop> {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`); `physical` is
        // of this instance.
        let families = unsafe { self.instance.get_physical_device_queue_family_properties(physical) };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`); `physical` is
        // of this instance.
        let features = unsafe { self.instance.get_physical_device_features(physical) };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`); `physical` is
        // of this instance.
        let memory = unsafe { self.instance.get_physical_device_memory_properties(physical) };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`); `physical` is
        // of this instance.
        let offered = unsafe { self.instance.enumerate_device_extension_properties(physical) };
        let names = extensions::wanted(&offered.context("enumerate extensions")?, all_features);

        let chosen = choose(&families);
        let mut used: Vec<u32> = chosen.iter().map(|&(_, family)| family).collect();
        used.sort_unstable();
        used.dedup();
        let priority = [1.0];
        let queues: Vec<_> = used
            .iter()
            .map(|&family| vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&priority))
            .collect();
        let pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let newer = Newer::of(&self.instance, physical, properties);
        let (mut core_1_2, mut core_1_3) = newer.enabled();
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&pointers)
            .enabled_features(&features)
            .push_next(&mut core_1_2);
        if newer.has_1_3 {
            info = info.push_next(&mut core_1_3);
        }
        if all_features && !newer.has_1_3 {
            return skip("no Vulkan 1.3 here");
        }
        let mut all = all_features.then(|| AllFeatures::of(&self.instance, physical, &names));
        if let Some(all) = &mut all {
            info = all
                .enable(vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&pointers));
        }
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); extensions, features and families are those the device just reported. Every driver of
        // Vulkan 1.2 has timeline semaphores and host query reset (both mandatory).
        let device = unsafe { self.instance.create_device(physical, &info, None) }.context("create a device")?;

        let lanes = chosen
            .into_iter()
            .map(|(kind, family)| Lane {
                kind,
                timestamp_bits: families.get(family as usize).map_or(0, |family| family.timestamp_valid_bits),
                family,
                // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`); the
                // device was created with one queue of this family.
                queue: unsafe { device.get_device_queue(family, 0) },
            })
            .collect();
        let extensions = Extensions::load(&names, &self.instance, &device);
        let (instance, entry) = (self.instance.clone(), self.entry.clone());
        std::mem::forget(self);
        Ok(Gpu {
            any_device,
            extensions,
            properties: *properties,
            features,
            newer,
            all_features: all.map(AllFeatures::unchained),
            memory,
            lanes,
            queues: Mutex::default(),
            device,
            physical,
            instance,
            _entry: entry,
            _one_thread: PhantomData,
        })
    }
}

/// The family of each kind of queue that the device has.
fn choose(families: &[vk::QueueFamilyProperties]) -> Vec<(QueueKind, u32)> {
    let kinds = QueueKind::RECORDED.into_iter().chain([QueueKind::Sparse, QueueKind::Decode, QueueKind::Encode]);
    let first = |kind: QueueKind| (0..).zip(families).find(|(_, family)| kind.fits(family.queue_flags));
    kinds.filter_map(|kind| first(kind).map(|(index, _)| (kind, index))).collect()
}

impl Drop for Opening {
    fn drop(&mut self) {
        // SAFETY: nothing was made of the instance that still lives: `bring_up` forgets `self` once a device exists.
        unsafe { self.instance.destroy_instance(None) };
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: all wrappers borrow the Gpu, so they are gone; their work has ended (done).
        unsafe { self.device.destroy_device(None) };
        // SAFETY: its only device was just destroyed.
        unsafe { self.instance.destroy_instance(None) };
    }
}
