//! A device that makes one mistake fails the check that is there to find it.

use std::sync::{Arc, Mutex, PoisonError};

use amdgpu_sim::{Mutation, SimDevice, SimOptions, profile};
use amdgpu_smoke::{Exit, Options, Report, Target, Word, run};
use amdgpu_winsys::winsys::Kernel;

/// Descriptors and mappings are counted for the whole process, so only one run is under way at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn run_with(mutation: Option<Mutation>, filter: &str) -> Report {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
    gpu.mutate(mutation);
    let counted = gpu.clone();
    let target = Target::over("mutant", move || Ok(Arc::new(gpu.open()) as Arc<dyn Kernel>))
        .counting(move || vec![("BOs", counted.census().bos as u64)]);
    run(&target, &Options::filtered(filter).unwrap(), &mut ())
}

/// What is broken, what is run, which check finds it, and what its evidence says.
const FOUND: [(Mutation, &str, &str, &str); 11] = [
    (Mutation::DropWrite, "exec.write.gfx0", "exec.write.gfx0", "byte 0x100 of 0x1000: found a5"),
    (Mutation::ShortCopy, "exec.copy.gfx0", "exec.copy.gfx0", " of 0x100000: found "),
    (Mutation::ShiftedCopy, "exec.copy.sdma0", "exec.copy.sdma0", "byte 0x0 of 0x100000: found "),
    (Mutation::ShortFill, "exec.fill.compute0", "exec.fill.compute0", " of 0x42000: found a5"),
    (Mutation::StalePageTable, "gfx0", "exec.write.gfx0", "the GPU lost the work"),
    (Mutation::WrongFenceValue, "exec.nop.gfx0", "exec.nop.gfx0", "no sequence number was written"),
    (Mutation::LostWakeUp, "order.syncobj", "order.syncobj", "the job was not done at the deadline"),
    (Mutation::SkippedJob, "exec.write.sdma0", "exec.write.sdma0", "byte 0x100 of 0x1000: found a5"),
    (Mutation::SwappedHandles, "exec.write.gfx0", "exec.write.gfx0", "mmap of BO"),
    (Mutation::LeakedHandle, "leak.objects", "leak.objects", "BOs "),
    (Mutation::WrongErrno, "syncobj.binary", "syncobj.binary", "EINVAL"),
];

/// Runs what finds the mutation with it and without it.
fn finds(mutation: Mutation) {
    let (_, filter, check, evidence) = *FOUND.iter().find(|(known, ..)| *known == mutation).unwrap();
    let honest = run_with(None, filter);
    assert_eq!(Exit::of(&honest), Exit::Pass, "without it: {honest:#?}");
    let report = run_with(Some(mutation), filter);
    let result = report.results.iter().find(|result| result.id == check);
    let result = result.unwrap_or_else(|| panic!("{check} did not run: {report:#?}"));
    assert_eq!(result.word, Word::Fail, "{check}: {}", result.detail);
    assert!(result.detail.contains(evidence), "{:?} does not say {evidence:?}", result.detail);
}

macro_rules! each_is_found {
    ($($test:ident: $mutation:ident,)*) => {
        $(
            #[test]
            fn $test() {
                finds(Mutation::$mutation);
            }
        )*

        #[test]
        fn no_mutation_is_left_out() {
            assert_eq!([$(Mutation::$mutation),*], Mutation::ALL);
        }
    };
}

each_is_found! {
    a_dropped_write_is_found: DropWrite,
    a_short_copy_is_found: ShortCopy,
    a_shifted_copy_is_found: ShiftedCopy,
    a_short_fill_is_found: ShortFill,
    a_stale_page_table_is_found: StalePageTable,
    a_wrong_fence_value_is_found: WrongFenceValue,
    a_lost_wake_up_is_found: LostWakeUp,
    a_skipped_job_is_found: SkippedJob,
    swapped_handles_are_found: SwappedHandles,
    a_leaked_handle_is_found: LeakedHandle,
    a_wrong_errno_is_found: WrongErrno,
}
