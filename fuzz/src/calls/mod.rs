//! A caller in C: functions of the C ABI in any order, beside a small model of what each must answer.
//!
//! Objects of each type are made, used and freed in any order, on two devices of one GPU. The default build is called within the
//! rules of C, and with null; a build with the feature `checked` also with handles that were freed, that are of another type, or
//! that are no objects. At the end all references are given back, in an order that the input chooses, and the simulated kernel
//! counts what is left.

mod engines;
mod handles;
mod memory;
mod queues;
mod streams;
mod syncs;
mod video;

use std::{
    cell::Cell,
    collections::BTreeMap,
    os::fd::{AsRawFd, OwnedFd},
    ptr::null_mut,
    sync::{Arc, OnceLock},
};

use amdgpu_sim::{SimDevice, SimKernel, SimOptions, profile};
use amdgpu_winsys_c::{border::*, heaps::*, objects::*, recording::*};
use nix::sys::eventfd::EventFd;
use parking_lot::Mutex;

use self::{
    engines::Chip,
    handles::{Facts, Kind, Objects, Picked, Typed},
};

/// Results that say that an argument, or what it stands for, will not do.
const REFUSED: [i32; 8] = [
    AGW_ERROR_INVALID_ARGUMENT,
    AGW_ERROR_UNKNOWN,
    AGW_ERROR_OUT_OF_DEVICE_MEMORY,
    AGW_ERROR_OUT_OF_HOST_MEMORY,
    AGW_ERROR_FEATURE_NOT_PRESENT,
    AGW_ERROR_INVALID_EXTERNAL_HANDLE,
    AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS,
    AGW_ERROR_MEMORY_MAP_FAILED,
];

/// [`REFUSED`], and that the object is not in the stage for it.
const UNFIT: [i32; 9] = [
    AGW_ERROR_IN_USE,
    AGW_ERROR_INVALID_ARGUMENT,
    AGW_ERROR_UNKNOWN,
    AGW_ERROR_OUT_OF_DEVICE_MEMORY,
    AGW_ERROR_OUT_OF_HOST_MEMORY,
    AGW_ERROR_FEATURE_NOT_PRESENT,
    AGW_ERROR_INVALID_EXTERNAL_HANDLE,
    AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS,
    AGW_ERROR_MEMORY_MAP_FAILED,
];

/// Results of a call that may succeed or be refused.
fn perhaps() -> Vec<i32> {
    [&[AGW_SUCCESS, AGW_TIMEOUT, AGW_INCOMPLETE, AGW_ERROR_NOT_PERMITTED], &UNFIT[..]].concat()
}

/// Bytes of the process that are given to the GPU.
const PAGES: usize = 64 << 10;

/// Returns pages that stay mapped for as long as the process lives.
fn pages() -> *mut u8 {
    static START: OnceLock<usize> = OnceLock::new();
    let start = *START.get_or_init(|| {
        let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: an anonymous mapping at addresses that the kernel picks.
        let start = unsafe { libc::mmap(null_mut(), PAGES, rights, flags, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        start.expose_provenance()
    });
    std::ptr::with_exposed_provenance_mut(start)
}

/// A step of a caller: the function, and numbers to make its arguments of.
pub type Step = (u8, u8, u8, u8);

/// Number of steps of a life at most.
const MOST_STEPS: usize = 48;

/// Steps that three of four lives begin with: a mapped BO, a queue, a stream that stores and is closed.
const START: [Step; 8] = [
    (0, 0, 7, 202),
    (4, 0, 0, 0),
    (55, 0, 0, 0),
    (47, 0, 0, 0),
    (32, 0, 0, 16),
    (34, 0, 0, 5),
    (39, 0, 0, 0),
    (52, 1, 0, 1),
];

/// Steps of some lives behind these: a queue and a stream of a video engine, and a submission.
const VIDEO_START: [Step; 5] = [(64, 0, 0, 0), (66, 0, 0, 16), (68, 0, 0, 5), (71, 0, 0, 0), (72, 1, 0, 1)];

struct Life {
    chip: &'static Chip,
    objects: Objects,
    kernels: Vec<Arc<SimKernel>>,
    descriptors: Vec<OwnedFd>,
    event: EventFd,
    /// Words that the GPU stored and the CPU found.
    found: Cell<u32>,
    /// `true` if a BO was made in any domains. In GDS, GWS or OA a submission may find no room for it.
    has_odd_domains: bool,
    /// IBs that rings of video engines accepted.
    video: u32,
    /// Numbers of submissions to each video ring of a context.
    sequences: BTreeMap<(u64, u32), u64>,
    /// Pages of the process, which stay mapped.
    pages: *mut u8,
}

impl Life {
    /// Makes an object with a function whose last argument is the place for it; a function that fails writes nothing there.
    fn make<T: Typed>(
        &mut self,
        name: &str,
        device: Option<u64>,
        fitting: &[i32],
        facts: impl FnOnce(*mut T) -> Facts,
        call: impl FnOnce(*mut *mut T) -> i32,
    ) -> i32 {
        let untouched = std::ptr::without_provenance_mut(0x1234_5678);
        let mut made = untouched;
        let result = call(&raw mut made);
        self.objects.judge(name, result, device.is_some(), fitting);
        if result == AGW_SUCCESS {
            let facts = facts(made);
            self.objects.add(T::KIND, made.expose_provenance(), device.unwrap_or_default(), facts);
        } else {
            assert_eq!(made, untouched, "{name} has failed, and has written");
        }
        result
    }

    /// Opens another device of the GPU: a file of its own.
    fn open(&mut self, gpu: &SimDevice) {
        let kernel = Arc::new(gpu.open());
        let device = device_of_kernel(Arc::clone(&kernel)).expect("a device");
        self.kernels.push(kernel);
        self.objects.add(Kind::Device, device.expose_provenance(), 0, Facts::None);
    }

    /// Chooses a descriptor: an exported one, an eventfd, or a number that is none.
    fn descriptor(&self, which: u8) -> i32 {
        match which {
            250.. => -1,
            240..250 => 1 << 20,
            230..240 => self.event.as_raw_fd(),
            _ => usize::from(which)
                .checked_rem(self.descriptors.len())
                .map_or(-1, |index| self.descriptors[index].as_raw_fd()),
        }
    }

    /// Adds or removes a reference, with the function of the handle's type.
    fn count(&mut self, kind: Kind, which: u8, is_more: bool) {
        macro_rules! counted {
            ($($kind:ident $type:ident $reference:ident $release:ident),* $(,)?) => {
                match kind {
                    $(Kind::$kind => {
                        let picked: Picked<$type> = self.objects.pick(which);
                        if is_more {
                            // SAFETY: alive, null, or what a checked build sees through.
                            let same = unsafe { $reference(picked.handle) };
                            assert_eq!(same, picked.handle);
                            if let Some(index) = picked.index {
                                self.objects.alive[index].references += 1;
                            }
                        } else {
                            self.let_go(picked.index);
                            // SAFETY: as above, and a reference of this life's.
                            unsafe { $release(picked.handle) };
                        }
                    })*
                }
            };
        }
        /// Sync objects and streams have one reference each.
        unsafe fn same<T>(handle: *mut T) -> *mut T {
            handle
        }
        if is_more && matches!(kind, Kind::Sync | Kind::Stream) {
            return;
        }
        counted! {
            Device agw_device agw_device_ref agw_device_unref,
            Bo agw_bo agw_bo_ref agw_bo_unref,
            Sync agw_sync same agw_sync_destroy,
            Ctx agw_ctx agw_ctx_ref agw_ctx_unref,
            Queue agw_queue agw_queue_ref agw_queue_unref,
            VideoQueue agw_video_queue agw_video_queue_ref agw_video_queue_unref,
            Stream agw_stream same agw_stream_destroy,
            Sparse agw_sparse agw_sparse_ref agw_sparse_unref,
            Residents agw_residents agw_residents_ref agw_residents_unref,
            Manager agw_memory_manager agw_memory_manager_ref agw_memory_manager_unref,
            Memory agw_memory agw_memory_ref agw_memory_unref,
        }
    }

    /// Counts a reference that goes.
    fn let_go(&mut self, index: Option<usize>) {
        let Some(index) = index else { return };
        let object = &mut self.objects.alive[index];
        object.references -= 1;
        if object.references == 0 {
            self.objects.remove(index);
        }
    }

    fn step(&mut self, gpu: &SimDevice, (function, a, b, c): Step) {
        match function % 80 {
            0..18 => self.memory(function % 18, a, b, c),
            18..30 => self.sync(function % 12, a, b, c),
            30..46 => self.stream(function % 16, a, b, c),
            46..57 => self.queue(function % 11, a, b, c),
            57..60 => self.count(Kind::ALL[usize::from(b) % Kind::ALL.len()], a, false),
            60 => self.count(Kind::ALL[usize::from(b) % Kind::ALL.len()], a, true),
            62 => self.open_by_descriptor(a),
            63 if self.kernels.len() < 2 => self.open(gpu),
            61 | 63 => self.ask(a, b, c),
            function => self.video(function - 64, a, b, c),
        }
    }

    /// Asks a device for facts.
    fn ask(&self, a: u8, b: u8, c: u8) {
        let device: Picked<agw_device> = self.objects.pick(a);
        let handle = device.handle;
        let (mut value, mut words, input) = (0x77, [0_u32; 256], [u32::from(c) % 8; 8]);
        let mut info = [0_u64; size_of::<agw_device_info>() / 8 + 2];
        let size = 8 + u32::from(b) % (size_of::<agw_device_info>() as u32 - 8);
        info[0] = size.into();
        // SAFETY: a handle of this life, and places as long as they are said to be.
        unsafe {
            let result = agw_device_query(handle, u32::from(b) % 16, &raw mut value);
            self.objects.judge("agw_device_query", result, device.is_good(), &perhaps());
            assert!(result == AGW_SUCCESS || value == 0x77, "agw_device_query has failed, and has written");
            let result = agw_device_get_info(handle, info.as_mut_ptr().cast());
            self.objects.judge("agw_device_get_info", result, device.is_good(), &[AGW_SUCCESS]);
            let bytes: Vec<u8> = info.iter().flat_map(|word| word.to_ne_bytes()).collect();
            assert!(bytes[size as usize..].iter().all(|&byte| byte == 0), "more than {size} bytes were written");
            let result =
                agw_device_info_raw(handle, b.into(), input.as_ptr(), words.as_mut_ptr().cast(), u32::from(c) * 4);
            self.objects.judge("agw_device_info_raw", result, device.is_good(), &perhaps());
            let result = agw_device_read_registers(
                handle,
                0x2000 + u32::from(b),
                u32::from(c) % 16,
                u32::MAX,
                words.as_mut_ptr(),
            );
            self.objects.judge("agw_device_read_registers", result, device.is_good(), &perhaps());
            let mut fault = agw_page_fault { struct_size: 24, reserved: 0, address: 0, status: 0, hub: 0 };
            let result = agw_device_page_fault(handle, &raw mut fault);
            self.objects.judge("agw_device_page_fault", result, device.is_good(), &perhaps());
            assert_eq!(agw_device_name(handle).is_null(), !device.is_good());
            assert_eq!(agw_device_fd(handle), -1, "the simulator has no descriptor");
            assert!(!agw_device_is_of_node(handle, self.descriptor(c)));
            let _ = agw_device_fragment_alignment(handle, u64::from(b) << (c % 64), 1 << (a % 64));
        }
    }

    /// Opens devices on descriptors and paths that are no nodes.
    fn open_by_descriptor(&self, a: u8) {
        let untouched = std::ptr::without_provenance_mut(0x1234_5678);
        let mut device: *mut agw_device = untouched;
        let options = agw_device_options { struct_size: 16, reserved: 0, flags: u32::from(a) % 8, pad: 0 };
        // SAFETY: a structure of its size, a text, and a place of this function.
        let results = unsafe {
            [
                agw_device_open_fd(self.descriptor(a), &raw const options, &raw mut device),
                agw_device_open(c"/dev/null".as_ptr(), &raw const options, &raw mut device),
                agw_device_open(std::ptr::null(), &raw const options, &raw mut device),
                agw_device_open(c"/dev/null".as_ptr(), &raw const options, null_mut()),
            ]
        };
        assert!(results.iter().all(|&result| result < 0 && result != AGW_ERROR_PANIC), "{results:?}");
        assert_eq!(results[2..], [AGW_ERROR_INVALID_ARGUMENT; 2]);
        assert_eq!(device, untouched, "a function has failed, and has written");
    }

    /// Gives all references back, in an order that `order` chooses.
    fn end(&mut self, order: &[Step]) {
        let mut turn = 0_usize;
        while !self.objects.alive.is_empty() {
            let number = order.get(turn % order.len().max(1)).map_or(0, |step| usize::from(step.1) + turn);
            turn += 1;
            let kind = self.objects.alive[number % self.objects.alive.len()].kind;
            // One of those that are alive, whatever the number.
            self.count(kind, (number % 240) as u8, false);
        }
    }
}

/// Numbers about a life.
#[derive(Clone, Copy, Debug)]
pub struct Lived {
    /// Calls that succeeded.
    pub successes: u32,
    /// Calls with a wrong handle.
    pub wrong: u32,
    /// Words that the GPU stored and the CPU found.
    pub found: u32,
    /// IBs that rings of video engines accepted.
    pub video: u32,
}

/// Lives a caller's life.
///
/// # Panics
///
/// When a function does not answer what the model says, or something is left at the end.
pub fn live(steps: &[Step]) -> Lived {
    /// A checked build knows the objects of the process: one life at a time.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock();
    answer_faults();
    // A life that failed leaves its objects, and the input is lived again while it is made small.
    // SAFETY: no thread but this one has handles, and nothing uses those of earlier lives.
    let of_failed = unsafe { forget_freed() };
    let chip = Chip::of(steps.first().map_or(0, |step| step.2));
    let options = SimOptions { video: true, ..SimOptions::default() };
    let gpu = SimDevice::new(profile(chip.name).expect("a chip"), options);
    let closed = gpu.open().census();
    let mut life = Life {
        chip,
        objects: Objects::default(),
        kernels: Vec::new(),
        descriptors: Vec::new(),
        event: EventFd::new().expect("an eventfd"),
        found: Cell::new(0),
        has_odd_domains: false,
        video: 0,
        sequences: BTreeMap::new(),
        pages: pages(),
    };
    life.open(&gpu);
    let (start, video): (&[Step], &[Step]) = match steps.first().map_or(0, |step| step.3 % 4) {
        0 => (&[], &[]),
        1 => (&START, &VIDEO_START),
        _ => (&START, &[]),
    };
    for &step in start.iter().chain(video).chain(steps.iter().take(MOST_STEPS)) {
        life.step(&gpu, step);
    }
    life.end(steps);
    life.descriptors.clear();
    for kernel in &life.kernels {
        assert_eq!(Arc::strong_count(kernel), 1, "a device is still open");
        assert_eq!(kernel.census(), closed, "something is left");
    }
    // SAFETY: no thread but this one has handles, and those of freed objects end with the life.
    assert_eq!(unsafe { forget_freed() }, of_failed, "objects are alive");
    let Life { objects, found, video, .. } = life;
    Lived { successes: objects.successes.get(), wrong: objects.wrong.get(), found: found.get(), video }
}
