//! State that jobs leave on the GPU, the work they start, and the end of an endless job.

use std::sync::{Arc, Mutex};

use amdgpu_sim::gpu::{Dispatch, Scene, Shaders, Tally, Unfinished, Work};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{uapi::CtxStateFlags, vamgr::GpuVa, winsys::Ip};

use crate::support::{Rig, card, long};

/// COMPUTE_USER_DATA_0 as a dword index, and its offset among the shader registers.
const USER_DATA: u32 = 0xb900 / 4;
const USER_DATA_OFFSET: u32 = (0xb900 - 0xb000) / 4;
const DATA: u32 = crate::support::DATA as u32;

/// SET_SH_REG.
fn set_user_data(value: u32) -> [u32; 3] {
    [0xc001_7600, USER_DATA_OFFSET, value]
}

/// COPY_DATA from the register to the start of the data.
const STORE_USER_DATA: [u32; 6] = [0xc004_4000, 5 << 8, USER_DATA, 0, DATA, 0];

#[test]
fn registers_belong_to_the_context_that_set_them() {
    let device = card();
    let rig = Rig::new(&device);
    let other = rig.file.context();
    let run = |context, dwords: &[u32]| {
        let number = rig.job_of(context, Ip::Gfx, 0, dwords).send(&rig.file).unwrap();
        assert_eq!(rig.wait_until(context, Ip::Gfx, 0, number, long()), Ok(true));
        rig.load(0)
    };
    run(rig.context, &set_user_data(5));
    rig.poke(0, 77);
    assert_eq!(run(other, &STORE_USER_DATA), 0);
    run(other, &set_user_data(6));
    assert_eq!(run(rig.context, &STORE_USER_DATA), 5);
}

/// Stores the number of groups at the start of the data.
#[derive(Default)]
struct Groups(Mutex<Vec<Dispatch>>);

impl Shaders for Groups {
    fn run(&self, work: &Work, scene: &Scene<'_>) -> Result<(), Unfinished> {
        let Work::Dispatch(dispatch) = work else { return Ok(()) };
        let groups: u32 = dispatch.groups.iter().product();
        scene.memory.write(GpuVa::new(DATA.into()).unwrap(), &groups.to_le_bytes()).unwrap();
        self.0.lock().unwrap().push(*dispatch);
        Ok(())
    }
}

#[test]
fn plugged_shaders_work_on_the_memory_of_the_job() {
    let device = card();
    let rig = Rig::new(&device);
    let groups = Arc::new(Groups::default());
    device.plug_shaders(Arc::<Groups>::clone(&groups));
    for ip in [Ip::Gfx, Ip::Compute] {
        rig.poke(0, 0);
        // COMPUTE_PGM_LO and _HI, then 2 by 3 by 4 groups.
        let stream = [0xc002_7602, 0x20c, DATA >> 8, 0, 0xc003_1502, 2, 3, 4, 1];
        let number = rig.run(ip, 0, &stream).unwrap();
        rig.finish(ip, 0, number).unwrap();
        assert_eq!(rig.load(0), 24);
    }
    assert_eq!(device.tally(), Tally { draws: 0, dispatches: 2 });
    let seen = groups.0.lock().unwrap();
    assert!(seen.iter().all(|dispatch| dispatch.program.as_u64() == u64::from(DATA)), "{seen:?}");
}

#[test]
fn an_ib_that_chains_to_itself_is_a_hang_of_its_context() {
    let device = card();
    let rig = Rig::new(&device);
    let start = crate::support::IBS as u32;
    let number = rig.run(Ip::Compute, 0, &[0xc002_3f00, start, 0, 0x0090_0004]).unwrap();
    assert_eq!(rig.finish(Ip::Compute, 0, number), Err(Errno::ECANCELED));
    assert!(rig.state(rig.context).contains(CtxStateFlags::GUILTY));
    let said = device.complaints().join("\n");
    assert!(said.contains("INDIRECT_BUFFER") && said.contains("a job may run for 30ms"), "{said}");
}
