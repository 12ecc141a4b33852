//! Hooks of the process, for the memory of objects and for log lines.

use std::{
    alloc::Layout,
    ffi::{CString, c_char, c_void},
    fmt::{self, Write},
    ptr::NonNull,
    sync::OnceLock,
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span,
};

use super::{entry::entry, failure::Failure, result::AGW_ERROR_IN_USE};

/// Log errors.
pub const AGW_LOG_ERROR: u32 = 1;
/// Log errors and warnings.
pub const AGW_LOG_WARN: u32 = 2;
/// Log a few lines for each device as well.
pub const AGW_LOG_INFO: u32 = 3;
/// Log refused requests as well.
pub const AGW_LOG_DEBUG: u32 = 4;
/// Log everything.
pub const AGW_LOG_TRACE: u32 = 5;

type Allocate = unsafe extern "C" fn(user: *mut c_void, size: usize, alignment: usize) -> *mut c_void;
type Free = unsafe extern "C" fn(user: *mut c_void, memory: *mut c_void);
type Log = unsafe extern "C" fn(user: *mut c_void, level: u32, text: *const c_char);

struct Allocator {
    allocate: Allocate,
    free: Free,
    user: *mut c_void,
}

// SAFETY: `agw_set_allocator` requires functions that any thread may call with `user`.
unsafe impl Send for Allocator {}
// SAFETY: as above.
unsafe impl Sync for Allocator {}

static ALLOCATOR: OnceLock<Allocator> = OnceLock::new();

/// Allocates memory for an object.
pub(super) fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    // Fixed when the first object is allocated, so that the same allocator frees the object.
    let own =
        ALLOCATOR.get_or_init(|| Allocator { allocate: allocate_here, free: free_here, user: std::ptr::null_mut() });
    // SAFETY: the functions meet the requirements of `agw_set_allocator`; size and alignment are those of a type.
    NonNull::new(unsafe { (own.allocate)(own.user, layout.size(), layout.align()) }.cast())
}

/// Frees the memory of an object.
///
/// # Safety
///
/// `place` came from [`allocate`], and is no longer used.
pub(super) unsafe fn free(place: NonNull<u8>) {
    if let Some(own) = ALLOCATOR.get() {
        // SAFETY: it was allocated by the same allocator.
        unsafe { (own.free)(own.user, place.as_ptr().cast()) };
    }
}

/// Alignment of all memory that the C library's `malloc` returns, on the 64-bit Linux ABIs.
const MALLOC_ALIGNMENT: usize = 2 * align_of::<usize>();

/// Allocates with the C library, if there is no hook. Its function for larger alignments is several times slower than `malloc`.
unsafe extern "C" fn allocate_here(_user: *mut c_void, size: usize, alignment: usize) -> *mut c_void {
    if alignment <= MALLOC_ALIGNMENT {
        // SAFETY: any size is valid.
        return unsafe { libc::malloc(size) };
    }
    let mut place = std::ptr::null_mut();
    // SAFETY: a variable of this function, and an alignment that is a power of two and not less than that of a pointer.
    let refused = unsafe { libc::posix_memalign(&raw mut place, alignment.max(align_of::<usize>()), size) };
    if refused == 0 { place } else { std::ptr::null_mut() }
}

unsafe extern "C" fn free_here(_user: *mut c_void, memory: *mut c_void) {
    // SAFETY: it was allocated by `allocate_here`.
    unsafe { libc::free(memory) };
}

/// Sets the functions that allocate and free the objects behind handles. May be called once, before the first device is opened.
///
/// A hook must return to its caller: it must not unwind, or leave by `longjmp` or otherwise. An exception of C++ or a panic
/// that leaves it ends the process; a jump leaves locks of the library locked.
///
/// # Safety
///
/// The functions may be called by any thread until the process ends. `allocate` returns null, or memory of the given size and
/// alignment that nothing else uses until it is passed to `free`. Neither calls the library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_set_allocator(
    allocate: Option<unsafe extern "C" fn(user: *mut c_void, size: usize, alignment: usize) -> *mut c_void>,
    free: Option<unsafe extern "C" fn(user: *mut c_void, memory: *mut c_void)>,
    user: *mut c_void,
) -> i32 {
    entry(|| {
        let (Some(allocate), Some(free)) = (allocate, free) else {
            return Err(Failure::argument("allocate, free", "is null"));
        };
        let taken = |_| Failure::new(AGW_ERROR_IN_USE, "there are objects already, or another allocator");
        ALLOCATOR.set(Allocator { allocate, free, user }).map_err(taken)
    })
}

/// Sets a function that is called with each log line up to `level`, in processes without a `tracing` subscriber. May be called
/// once for each process.
///
/// The function must return to its caller, like the hooks of `agw_set_allocator`. It may call the library, but not with the
/// objects of the call that invoked it.
///
/// # Safety
///
/// Any thread may call `log` with `user` until the process ends. The text is valid during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_set_log(
    level: u32,
    log: Option<unsafe extern "C" fn(user: *mut c_void, level: u32, text: *const c_char)>,
    user: *mut c_void,
) -> i32 {
    entry(|| {
        let Some(log) = log else { return Err(Failure::argument("log", "is null")) };
        let most = match level {
            AGW_LOG_ERROR => LevelFilter::ERROR,
            AGW_LOG_WARN => LevelFilter::WARN,
            AGW_LOG_INFO => LevelFilter::INFO,
            AGW_LOG_DEBUG => LevelFilter::DEBUG,
            AGW_LOG_TRACE => LevelFilter::TRACE,
            _ => return Err(Failure::argument("level", "is not 1 to 5")),
        };
        tracing::subscriber::set_global_default(Lines { most, log, user })
            .map_err(|_| Failure::new(AGW_ERROR_IN_USE, "the process has a subscriber already"))
    })
}

/// A subscriber that passes events to a C function.
struct Lines {
    most: LevelFilter,
    log: Log,
    user: *mut c_void,
}

// SAFETY: `agw_set_log` requires a function that any thread may call with `user`.
unsafe impl Send for Lines {}
// SAFETY: as above.
unsafe impl Sync for Lines {}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.most
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.most)
    }

    fn new_span(&self, _span: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _span: &span::Id, _values: &span::Record<'_>) {}

    fn record_follows_from(&self, _span: &span::Id, _follows: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        let level = match *event.metadata().level() {
            Level::ERROR => AGW_LOG_ERROR,
            Level::WARN => AGW_LOG_WARN,
            Level::INFO => AGW_LOG_INFO,
            Level::DEBUG => AGW_LOG_DEBUG,
            Level::TRACE => AGW_LOG_TRACE,
        };
        let text = CString::new(line.0.replace('\0', " ")).unwrap_or_default();
        // SAFETY: the caller of `agw_set_log` promised a function that may be called in this way.
        unsafe { (self.log)(self.user, level, text.as_ptr()) };
    }

    fn enter(&self, _span: &span::Id) {}

    fn exit(&self, _span: &span::Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, "{name}={value:?}"),
        };
    }
}
