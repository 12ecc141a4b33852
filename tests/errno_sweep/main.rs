//! Every request of every operation is refused with every errno: nothing is leaked, every error is typed and says which errno
//! it was, and afterwards the operation succeeds as if nothing had been.
//!
//! The requests of an operation are recorded, and compared with those listed for it in `operations.rs`: a request
//! that is no longer made is no longer swept, and would be missed nowhere else.
#![expect(unsafe_code, reason = "host pointers and placed mappings")]

#[path = "../support/pages.rs"]
mod pages;
#[path = "../support/mod.rs"]
mod support;

mod bench;
mod calls;
mod operations;

use std::collections::BTreeSet;

use amdgpu_sim::Census;
use amdgpu_winsys::{
    uapi,
    winsys::{Device, Errno},
};

use crate::{
    bench::Bench,
    calls::Call,
    operations::{OPERATIONS, Operation},
    support::Trouble,
};

/// Errnos with which the kernel refuses: Linux 6.12, `amdgpu_gem.c`, `amdgpu_cs.c`, `amdgpu_ctx.c`, `drm_syncobj.c`,
/// `drm_prime.c`, and `mmap`. ENODEV is a case of its own, EINTR never gets through a `Kernel`, and EAGAIN is asked again.
const ERRNOS: [Errno; 12] = [
    Errno::ENOMEM,
    Errno::EINVAL,
    Errno::EPERM,
    Errno::EACCES,
    Errno::ENOENT,
    Errno::EFAULT,
    Errno::EBUSY,
    Errno::EIO,
    Errno::ENOSPC,
    Errno::EMFILE,
    Errno::EOPNOTSUPP,
    Errno::ECANCELED,
];

/// Calls of one kind in one operation, at most.
const MOST_CALLS: u64 = 500;

/// Number of attempts for a call that an operation makes only sometimes: the kernel is not asked for a job that the GPU has
/// finished in the meantime.
const MOST_TRIES: u32 = 1000;

/// Returns `true` if an error says which errno it came from, or what that errno means there.
fn names(error: &Trouble, errno: Errno) -> bool {
    let means: &[&str] = match errno {
        // A kernel that does not know the capability, or not what it is asked to do.
        Errno::EINVAL | Errno::EOPNOTSUPP => &["NoSyncobj", "Unsupported"],
        // A priority that needs a privilege; or what Mesa's no-op shim says to a capability that it does not know.
        Errno::EACCES | Errno::EPERM => &["NotPermitted", "NoSyncobj"],
        // Another context's clocks.
        Errno::EBUSY => &["ClocksTaken"],
        // Of a submission, with how much it names.
        Errno::ENOMEM => &["OutOfMemory"],
        // A lost context is told as a loss, with what the context says of it.
        Errno::ECANCELED => &["Lost"],
        _ => &[],
    };
    let text = format!("{error:?}");
    text.contains(&format!("{errno:?}")) || means.iter().any(|word| text.contains(word))
}

/// Returns the number of times that the operation makes the call. A wrong answer to its refusal is added to `wrong`.
fn sweep(bench: &Bench, operation: &Operation, call: Call, errno: Errno, wrong: &mut Vec<String>) -> u64 {
    let before = bench.counts();
    for n in 0..MOST_CALLS {
        bench.kernel.fail_nth_where(n, errno, move |attempt| Call::of(attempt) == call);
        let outcome = (operation.run)(bench);
        let has_fired = bench.kernel.has_fired();
        bench.kernel.stop();
        let place = format!("{}: {call} {n} answered {errno}", operation.name);
        assert_eq!(bench.counts(), before, "{place}: {outcome:?}");
        match outcome {
            Err(error) if !has_fired => panic!("{}: nothing was refused, and yet: {error:?}", operation.name),
            Err(error) if !names(&error, errno) => wrong.push(format!("{place}, and the error is {error:?}")),
            Ok(()) if !has_fired => return n,
            _ => {}
        }
    }
    panic!("{}: {call} is made more than {MOST_CALLS} times", operation.name);
}

fn sweep_all(chip: &str, errnos: &[Errno]) -> BTreeSet<Call> {
    let (mut all, mut wrong) = (BTreeSet::new(), Vec::new());
    for operation in OPERATIONS {
        let bench = Bench::new(chip);
        let written: BTreeSet<Call> = operation.calls.iter().copied().collect();
        let mut made = bench.calls_of(operation);
        for _ in 1..MOST_TRIES {
            if made.is_superset(&written) {
                break;
            }
            made.extend(bench.calls_of(operation));
        }
        let missed: Vec<_> = written.difference(&made).map(Call::to_string).collect();
        assert!(missed.is_empty(), "{chip}: {} no longer makes {missed:?}, so the sweep misses them", operation.name);
        for &call in &made {
            for &errno in errnos {
                let is_refused = (0..MOST_TRIES).any(|_| sweep(&bench, operation, call, errno, &mut wrong) > 0);
                assert!(is_refused, "{chip}: {} was never refused {call}", operation.name);
            }
        }
        all.extend(made);
    }
    assert!(wrong.is_empty(), "{chip}:\n{}", wrong.join("\n"));
    all
}

#[test]
fn no_errno_of_any_request_leaks_anything_on_a_card() {
    let made = sweep_all("navi21", &ERRNOS);
    let missing: Vec<_> =
        calls::OF_THE_LIBRARY.iter().filter(|call| !made.contains(call)).map(Call::to_string).collect();
    assert_eq!(missing, Vec::<String>::new(), "no operation makes these, so nothing is known of their failures");
}

#[test]
fn no_errno_of_any_request_leaks_anything_on_an_apu() {
    sweep_all("renoir", &ERRNOS[..2]);
}

/// From some call on the GPU is gone: every call of whatever kind answers ENODEV. Nothing panics, no error is of another
/// kind, and what the kernel takes away with the file is the kernel's.
#[test]
fn a_gpu_that_is_unplugged_in_the_middle_is_told_as_such() {
    for operation in OPERATIONS {
        let mut refused = 0;
        for n in 0..MOST_CALLS {
            let bench = Bench::new("navi21");
            bench.unplug_after(n);
            let outcome = (operation.run)(&bench);
            if !bench.kernel.has_fired() {
                outcome.unwrap_or_else(|error| panic!("{}: {error:?}", operation.name));
                break;
            }
            if let Err(error) = outcome {
                refused += 1;
                // Addresses that could not be unbound are kept back, so they are not given out again.
                let text = format!("{error:?}");
                let is_told = ["ENODEV", "Lost", "Taken"].iter().any(|word| text.contains(word));
                assert!(is_told, "{}: {error:?}", operation.name);
            }
        }
        assert!(refused > 0, "{}: nobody noticed", operation.name);
    }
}

/// The device itself: nothing is left of one that could not be brought up.
#[test]
fn bring_up_fails_cleanly_with_every_errno() {
    let bench = Bench::new("navi21");
    let closed = Census::default();
    for errno in [Errno::ENOMEM, Errno::EINVAL, Errno::EIO] {
        for n in 0..MOST_CALLS {
            let kernel = bench.another_file();
            kernel.fail_nth(n, errno);
            let device = Device::new(std::sync::Arc::clone(&kernel));
            let has_fired = kernel.has_fired();
            kernel.stop();
            let error = device.err();
            assert_eq!(kernel.inner().census(), closed, "call {n} answered {errno}: {error:?}");
            assert!(has_fired || error.is_none(), "{error:?}");
            if !has_fired {
                break;
            }
        }
    }
    assert!(calls::OF_THE_LIBRARY.contains(&Call::of_request(<uapi::Info as uapi::Argument>::REQUEST)));
}
