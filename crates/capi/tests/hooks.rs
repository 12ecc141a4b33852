//! The two hooks of the process: the allocator of objects, and the receiver of log lines.
//!
//! Both are set once for a process, so the tests of this program take turns.
#![expect(unsafe_code, reason = "the functions are C's")]
#![expect(clippy::multiple_unsafe_ops_per_block, reason = "each block is one step of a test, for one reason")]

use std::{
    collections::HashMap,
    ffi::{CStr, c_char, c_void},
    ptr::null_mut,
    sync::{
        Mutex, MutexGuard, Once,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys_c::{border::*, objects::*, recording::*};

static TURN: Mutex<()> = Mutex::new(());
/// Sizes of what the allocator has given out, by address.
static MEMORY: Mutex<Option<HashMap<usize, usize>>> = Mutex::new(None);
/// `true` if the allocator is to refuse.
static IS_EMPTY: AtomicBool = AtomicBool::new(false);
static LINES: Mutex<Vec<(u32, String)>> = Mutex::new(Vec::new());

/// An address that no allocation has, to see that a hook gets the one it was set with.
const USER: usize = 0x5afe;

fn user() -> *mut c_void {
    std::ptr::without_provenance_mut(USER)
}

extern "C" fn allocate(user: *mut c_void, size: usize, alignment: usize) -> *mut c_void {
    assert_eq!(user.addr(), USER);
    if IS_EMPTY.load(Ordering::Relaxed) {
        return null_mut();
    }
    let mut place = null_mut();
    // SAFETY: a variable of this function; alignments of objects are powers of two, and here at least a pointer's.
    assert_eq!(unsafe { libc::posix_memalign(&raw mut place, alignment.max(8), size) }, 0);
    let before = MEMORY.lock().unwrap().get_or_insert_default().insert(place.addr(), size);
    assert_eq!(before, None);
    place
}

extern "C" fn free(user: *mut c_void, memory: *mut c_void) {
    assert_eq!(user.addr(), USER);
    let size = MEMORY.lock().unwrap().get_or_insert_default().remove(&memory.addr());
    assert!(size.is_some(), "{memory:?} was not allocated here, or was freed already");
    // SAFETY: `allocate` gave it, and it is not freed twice.
    unsafe { libc::free(memory) };
}

extern "C" fn log(user: *mut c_void, level: u32, text: *const c_char) {
    assert_eq!(user.addr(), USER);
    // A hook may call in.
    assert_eq!(agw_version(), AGW_VERSION_MAJOR << 16 | AGW_VERSION_MINOR);
    // SAFETY: a text that is valid during the call.
    let text = unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned();
    LINES.lock().unwrap().push((level, text));
}

/// Waits for the turn of a test, with both hooks set.
fn turn() -> MutexGuard<'static, ()> {
    static SET: Once = Once::new();
    let turn = TURN.lock().unwrap();
    // SAFETY: functions of this program that any thread may call.
    SET.call_once(|| unsafe {
        assert_eq!(agw_set_allocator(None, Some(free), user()), AGW_ERROR_INVALID_ARGUMENT);
        assert_eq!(agw_set_allocator(Some(allocate), Some(free), user()), AGW_SUCCESS);
        assert_eq!(agw_set_log(6, Some(log), user()), AGW_ERROR_INVALID_ARGUMENT);
        assert_eq!(agw_set_log(AGW_LOG_DEBUG, Some(log), user()), AGW_SUCCESS);
    });
    turn
}

fn live() -> usize {
    MEMORY.lock().unwrap().get_or_insert_default().len()
}

#[test]
fn every_object_comes_from_the_allocator_and_goes_back_to_it() {
    let _turn = turn();
    let before = live();
    let device = device_of_kernel(SimKernel::open(profile("navi21").unwrap())).unwrap();
    let (mut sync, mut ctx, mut stream, mut residents) = (null_mut(), null_mut(), null_mut(), null_mut());
    // SAFETY: a live device, and variables of this test.
    let results = unsafe {
        [
            agw_sync_create(device, false, &raw mut sync),
            agw_ctx_create(device, AGW_PRIORITY_NORMAL, &raw mut ctx),
            agw_stream_create(device, AGW_IP_GFX, 0, 64, &raw mut stream),
            agw_residents_create(device, &raw mut residents),
        ]
    };
    assert_eq!(results, [AGW_SUCCESS; 4]);
    assert_eq!(live() - before, 5, "one for each object");
    // Without memory: the result says so, nothing is written, and nothing stays.
    IS_EMPTY.store(true, Ordering::Relaxed);
    let (mut used, mut refused) = ([0; 2], null_mut());
    // SAFETY: as above.
    let results = unsafe {
        let before = agw_device_query(device, AGW_QUERY_OWN_GTT, &raw mut used[0]);
        let refused = agw_stream_create(device, AGW_IP_GFX, 0, 64, &raw mut refused);
        [before, refused, agw_device_query(device, AGW_QUERY_OWN_GTT, &raw mut used[1])]
    };
    IS_EMPTY.store(false, Ordering::Relaxed);
    assert_eq!(results, [AGW_SUCCESS, AGW_ERROR_OUT_OF_HOST_MEMORY, AGW_SUCCESS]);
    assert!(refused.is_null());
    assert_eq!(used[0], used[1]);
    // SAFETY: one reference each, and one that is added.
    unsafe {
        agw_ctx_unref(agw_ctx_ref(ctx));
        agw_device_unref(device);
        agw_sync_destroy(sync);
        agw_ctx_unref(ctx);
        agw_stream_destroy(stream);
        agw_residents_unref(residents);
        assert_eq!(agw_set_allocator(Some(allocate), Some(free), user()), AGW_ERROR_IN_USE);
    }
    // A checked build keeps the addresses of what was freed.
    assert_eq!(live() - before, if cfg!(feature = "checked") { 5 } else { 0 });
}

#[test]
fn every_log_line_arrives_once_with_its_level_and_its_fields() {
    let _turn = turn();
    LINES.lock().unwrap().clear();
    let threads = [0, 1, 2, 3].map(|thread| {
        thread::spawn(move || {
            for line in 0..100 {
                tracing::error!(thread, line, "of the test");
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    tracing::warn!(name = "a\0b", "zero");
    tracing::info!("information");
    tracing::debug!(?TURN, "detail");
    tracing::trace!("below the level");
    let lines = LINES.lock().unwrap();
    for thread in 0..4 {
        for line in 0..100 {
            let text = format!("of the test thread={thread} line={line}");
            let count = lines.iter().filter(|&(level, got)| *level == AGW_LOG_ERROR && *got == text).count();
            assert_eq!(count, 1, "{text}: {lines:?}");
        }
    }
    let levels = |wanted: u32| lines.iter().filter(move |(level, _)| *level == wanted).map(|(_, text)| text.as_str());
    assert_eq!(levels(AGW_LOG_WARN).collect::<Vec<_>>(), ["zero name=\"a\\0b\""]);
    assert_eq!(levels(AGW_LOG_INFO).collect::<Vec<_>>(), ["information"]);
    assert!(levels(AGW_LOG_DEBUG).any(|text| text.starts_with("detail TURN=Mutex")), "{lines:?}");
    assert_eq!(levels(AGW_LOG_TRACE).count(), 0);
    // SAFETY: as in `turn`.
    assert_eq!(unsafe { agw_set_log(AGW_LOG_INFO, Some(log), user()) }, AGW_ERROR_IN_USE);
}
