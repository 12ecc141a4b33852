//! Every call of a small program to the kernel is refused once, for every n: the function that made it answers with a result of
//! its own, writes nothing, and leaves nothing behind.

use std::{
    ptr::{null, null_mut},
    sync::Arc,
};

use amdgpu_layers::FaultInjector;
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    uapi::{Argument as _, Cs},
    winsys::Errno,
};
use amdgpu_winsys_c::{border::*, heaps::*, objects::*, recording::*};

use super::{arguments::made, emit, kernel, last_error, request, size, store, submission};

type Kernel = Arc<FaultInjector<SimKernel>>;

/// The first function that failed, and its result.
type Refused = (&'static str, i32);

/// An object of the program, to be freed at its end.
enum Made {
    Bo(*mut agw_bo),
    Memory(*mut agw_memory),
    Manager(*mut agw_memory_manager),
    Sparse(*mut agw_sparse),
    Ctx(*mut agw_ctx),
    Queue(*mut agw_queue),
    Stream(*mut agw_stream),
    Sync(*mut agw_sync),
    Residents(*mut agw_residents),
}

impl Drop for Made {
    fn drop(&mut self) {
        // SAFETY: the one reference of each.
        unsafe {
            match *self {
                Self::Bo(bo) => agw_bo_unref(bo),
                Self::Memory(memory) => agw_memory_unref(memory),
                Self::Manager(manager) => agw_memory_manager_unref(manager),
                Self::Sparse(range) => agw_sparse_unref(range),
                Self::Ctx(ctx) => agw_ctx_unref(ctx),
                Self::Queue(queue) => agw_queue_unref(queue),
                Self::Stream(stream) => agw_stream_destroy(stream),
                Self::Sync(sync) => agw_sync_destroy(sync),
                Self::Residents(set) => agw_residents_unref(set),
            }
        }
    }
}

/// Makes an object, and sees that a failure writes nothing.
fn make<T>(
    name: &'static str,
    made: &mut Vec<Made>,
    kind: fn(*mut T) -> Made,
    call: impl FnOnce(*mut *mut T) -> i32,
) -> Result<*mut T, Refused> {
    let untouched = std::ptr::without_provenance_mut(0x1234_5678);
    let mut object = untouched;
    match call(&raw mut object) {
        AGW_SUCCESS => {
            made.push(kind(object));
            Ok(object)
        }
        result => {
            assert_eq!(object, untouched, "{name} has failed, and has written");
            Err((name, result))
        }
    }
}

/// Passes a result on.
fn done(name: &'static str, result: i32) -> Result<(), Refused> {
    if result == AGW_SUCCESS { Ok(()) } else { Err((name, result)) }
}

/// A function with its name.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: live objects, and variables of the program.
        done(stringify!($function), unsafe { $function($($argument),*) })
    };
}

/// Makes an object with a function, whose last argument is the place for it.
macro_rules! make {
    ($made:ident, $kind:ident, $function:ident($($argument:expr),* $(,)?)) => {
        make(stringify!($function), $made, Made::$kind, |out| {
            // SAFETY: live objects, and variables of the program.
            unsafe { $function($($argument,)* out) }
        })
    };
}

/// The small program: it uses an object of each kind.
fn program(device: *mut agw_device, made: &mut Vec<Made>) -> Result<(), Refused> {
    let mut pointer = null_mut();
    let bo = make!(made, Bo, agw_bo_create(device, &request(1 << 16)))?;
    call!(agw_bo_map(bo, &raw mut pointer))?;
    let manager = make!(made, Manager, agw_memory_manager_create(device, null()))?;
    let wanted = agw_memory_request {
        struct_size: size::<agw_memory_request>(),
        reserved: 0,
        size: 4096,
        address: 0,
        memory_type: 0,
        flags: AGW_MEMORY_EXPORTABLE,
        priority: 0.5,
        pad: 0,
    };
    let memory = make!(made, Memory, agw_memory_allocate(manager, &raw const wanted))?;
    let mut fd = -1;
    call!(agw_memory_export(memory, AGW_HANDLE_DMA_BUF, &raw mut fd))?;
    let imported = make!(made, Bo, agw_bo_import(device, fd, 0, 0));
    // SAFETY: the descriptor is this program's.
    unsafe { libc::close(fd) };
    imported?;
    let range = make!(made, Sparse, agw_sparse_create(device, 1 << 20, 0, 0, 0))?;
    let bind = agw_sparse_bind { offset: 0, size: 1 << 16, bo, bo_offset: 0 };
    call!(agw_sparse_change(range, &raw const bind, 1))?;
    let set = make!(made, Residents, agw_residents_create(device))?;
    call!(agw_residents_add(set, bo))?;
    let ctx = make!(made, Ctx, agw_ctx_create(device, AGW_PRIORITY_NORMAL))?;
    let queue = make!(made, Queue, agw_queue_create(ctx, AGW_IP_GFX, 0))?;
    let stream = make!(made, Stream, agw_stream_create(device, AGW_IP_GFX, 0, 64))?;
    let sync = make!(made, Sync, agw_sync_create(device, false))?;
    for round in 1..=2 {
        // SAFETY: every BO begins with its head.
        let va = unsafe { bo.cast::<agw_bo_head>().read() }.va;
        // More than the first chunk holds.
        for word in 0..40_u32 {
            emit(stream, &store(va + u64::from(word) * 4, word));
        }
        call!(agw_stream_add_bo(stream, bo))?;
        call!(agw_stream_finalize(stream))?;
        let points = [agw_sync_point { sync, point: round }];
        let submission = submission(&[stream.cast_const()], &points);
        call!(agw_queue_submit(queue, &raw const submission, null_mut()))?;
        call!(agw_sync_wait(points.as_ptr(), 1, 0, u64::MAX))?;
        call!(agw_queue_check(queue))?;
        call!(agw_stream_reset(stream))?;
    }
    let mut value = 0;
    call!(agw_sync_query(sync, &raw mut value))?;
    call!(agw_device_query(device, AGW_QUERY_GTT_USAGE, &raw mut value))?;
    call!(agw_bo_unmap(bo, false))
}

/// Results that a function may have when the kernel refuses with ENOMEM.
fn is_fitting((name, result): Refused) -> bool {
    let (host, device) = (AGW_ERROR_OUT_OF_HOST_MEMORY, AGW_ERROR_OUT_OF_DEVICE_MEMORY);
    match name {
        "agw_bo_map" | "agw_bo_unmap" => result == AGW_ERROR_MEMORY_MAP_FAILED,
        "agw_bo_import" => [host, device, AGW_ERROR_INVALID_EXTERNAL_HANDLE].contains(&result),
        "agw_stream_create" | "agw_stream_add_bo" | "agw_stream_finalize" | "agw_stream_reset" | "agw_queue_create" => {
            [host, device, AGW_ERROR_MEMORY_MAP_FAILED].contains(&result)
        }
        _ => [host, device].contains(&result),
    }
}

/// Runs the program with the n-th call refused, and returns the result of the function that failed; `None` if there was no n-th
/// call.
fn nth(n: u64) -> Option<Result<(), Refused>> {
    let kernel: Kernel = Arc::new(FaultInjector::new(kernel()));
    let closed = kernel.inner().census();
    let device = device_of_kernel(Arc::clone(&kernel)).unwrap();
    let before = kernel.inner().census();
    kernel.fail_nth(n, Errno::ENOMEM);
    let mut made = Vec::new();
    let outcome = program(device, &mut made);
    let (text, errno) = (last_error(), agw_last_errno());
    // In the order in which they were made, so that each object is freed before those that use it.
    for object in made {
        drop(object);
    }
    assert_eq!(kernel.inner().census(), before, "call {n}: {outcome:?}, {text}");
    // SAFETY: its one reference.
    unsafe { agw_device_unref(device) };
    assert_eq!(kernel.inner().census(), closed, "call {n}, without the device");
    if let Err(refused) = outcome {
        assert!(is_fitting(refused), "call {n}: {refused:?}, {text}");
        assert!(errno == 0 || errno == Errno::ENOMEM.raw(), "call {n}: {refused:?}, errno {errno}, {text}");
        assert!(!text.is_empty());
    }
    kernel.has_fired().then_some(outcome)
}

#[test]
fn a_refused_request_is_a_fitting_result_and_nothing_is_left() {
    let outcomes: Vec<_> = (0..1000).map_while(nth).collect();
    let refused = outcomes.iter().filter(|outcome| outcome.is_err()).count();
    assert!(outcomes.len() < 1000 && refused > 25, "{refused} of {} refused requests were seen", outcomes.len());
}

#[test]
fn a_submission_of_which_a_later_call_is_refused_is_partly_submitted() {
    let kernel: Kernel = Arc::new(FaultInjector::new(kernel()));
    let device = device_of_kernel(Arc::clone(&kernel)).unwrap();
    // SAFETY: live objects, and variables of this test.
    unsafe {
        let ctx = made(|ctx| agw_ctx_create(device, 0, ctx));
        let queue = made(|queue| agw_queue_create(ctx, AGW_IP_GFX, 0, queue));
        let stream = made(|stream| agw_stream_create(device, AGW_IP_GFX, 0, 64, stream));
        emit(stream, &store(0x1000, 1));
        assert_eq!(agw_stream_finalize(stream), AGW_SUCCESS);
        let many = vec![stream.cast_const(); 400];
        for (call, expected) in [(0, AGW_ERROR_UNKNOWN), (1, AGW_ERROR_PARTLY_SUBMITTED)] {
            kernel.fail_nth_ioctl(Cs::REQUEST, call, Errno::EINVAL);
            let result = agw_queue_submit(queue, &submission(&many, &[]), null_mut());
            assert_eq!(result, expected, "call {call}: {}", last_error());
        }
        agw_stream_destroy(stream);
        agw_queue_unref(queue);
        agw_ctx_unref(ctx);
        agw_device_unref(device);
    }
}
