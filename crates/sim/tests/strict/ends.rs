//! The end of a job, and what the kernel does there.

use amdgpu_sim::HazardKind;
use amdgpu_winsys::{
    cs::pm4::{AcquireMem, CacheActions, PfpSyncMe},
    winsys::Ip,
};

use crate::{
    CHIPS, Rig,
    fronts::{Act, Script},
    registers, start, start_alone, write_back,
};

/// The ways in which a job ends after a dispatch that stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Complete,
    Nothing,
    WithoutFlush,
    WithoutWriteBack,
    BeforeFlush,
    /// PFP waits until shaders are over, so the kernel's flush comes behind them.
    Joined,
    JoinedBeforeFlush,
}

fn run(chip: &str, ip: Ip, end: End) -> Rig {
    let rig = Rig::new(chip, ip);
    Script::plug(&rig, &[&[Act::Store(7)]]);
    rig.run_bare(|stream| {
        registers::set_all(stream);
        let operate = |stream: &mut _| {
            if ip == Ip::Gfx {
                amdgpu_winsys::cs::Stream::push(stream, &PfpSyncMe).unwrap();
            }
            let all = AcquireMem::each(rig.target(), CacheActions::WRITE_BACK_L2);
            all.for_each(|acquire| stream.push(&acquire).unwrap());
        };
        match end {
            End::Complete => {
                start_alone(stream);
                write_back(stream);
            }
            End::Nothing => start_alone(stream),
            End::WithoutFlush => {
                start_alone(stream);
                operate(stream);
            }
            End::WithoutWriteBack => start(stream),
            End::BeforeFlush => {
                operate(stream);
                start(stream);
            }
            End::Joined | End::JoinedBeforeFlush if ip != Ip::Gfx => start(stream),
            End::Joined => {
                start(stream);
                amdgpu_winsys::cs::Stream::push(stream, &PfpSyncMe).unwrap();
            }
            End::JoinedBeforeFlush => {
                amdgpu_winsys::cs::Stream::push(stream, &PfpSyncMe).unwrap();
                start(stream);
            }
        }
    });
    rig
}

#[test]
fn a_job_of_gfx6_waits_for_its_shaders_and_writes_l2_back_itself() {
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        let is_old = chip == "pitcairn";
        let ends = [End::Complete, End::Nothing, End::WithoutFlush, End::WithoutWriteBack, End::BeforeFlush];
        for end in ends.into_iter().chain([End::Joined, End::JoinedBeforeFlush]) {
            let rig = run(chip, ip, end);
            let found = rig.gpu.hazards();
            let is_joined = end == End::Joined && ip == Ip::Gfx;
            let expected = is_old && end != End::Complete && !is_joined;
            assert_eq!(found.len(), usize::from(expected), "{chip} {ip} {end:?}: {found:?}");
            for report in found {
                assert_eq!(report.kind, HazardKind::NotWrittenBack, "{report}");
                assert!(report.earlier.contains("a shader of DISPATCH_DIRECT"), "{report}");
                assert!(report.later.starts_with("the end of the job"), "{report}");
            }
        }
    }
}

#[test]
fn what_runs_at_the_end_of_a_job_of_gfx6_is_not_there_for_the_next_one() {
    let rig = run("pitcairn", Ip::Compute, End::Nothing);
    rig.run(|stream| rig.copy(stream));
    let kinds = rig.kinds();
    assert_eq!(kinds, [HazardKind::NotWrittenBack; 2], "the end of the job, and the copy: {:?}", rig.gpu.hazards());
    let rig = run("pitcairn", Ip::Compute, End::Complete);
    rig.run(|stream| rig.copy(stream));
    assert_eq!(rig.kinds(), []);
}
