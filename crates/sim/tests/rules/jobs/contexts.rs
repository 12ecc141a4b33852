//! R82 to R85 and R110: contexts, BO lists, VMIDs.

use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{
        Answered, BO_LIST_MAX_ENTRIES, BoList, BoListEntry, Ctx, CtxPstateAnswer, VM_OP_RESERVE_VMID,
        VM_OP_UNRESERVE_VMID, Vm, bo_list_op, ctx_op, priority,
    },
    winsys::Ip,
};
use zerocopy::{FromBytes, IntoBytes};

use crate::support::{Chunk, File, Job, PAGE, Rig, address, card, file, open};

impl File {
    fn ctx(&self, op: u32, flags: u32, ctx_id: u32) -> Result<(), Errno> {
        self.send(&mut Ctx { op, flags, ctx_id, priority: 0 })
    }

    fn list(&self, operation: u32, list_handle: u32, entries: &[BoListEntry]) -> Result<u32, Errno> {
        let (bo_number, bo_info_size) = (entries.len() as u32, size_of::<BoListEntry>() as u32);
        let request = BoList { operation, list_handle, bo_number, bo_info_size, bo_info_ptr: address(entries) };
        self.ask(request).map(|answer| answer.list_handle)
    }
}

fn entries(handles: &[u32]) -> Vec<BoListEntry> {
    handles.iter().map(|&bo_handle| BoListEntry { bo_handle, bo_priority: 0 }).collect()
}

// Checks R82.
#[test]
fn contexts_are_made_queried_and_freed() {
    let file = file();
    for op in [ctx_op::FREE_CTX, ctx_op::QUERY_STATE, ctx_op::QUERY_STATE2, ctx_op::GET_STABLE_PSTATE, 5, 6, 7, 0] {
        assert_eq!(file.ctx(op, 0, 1), Err(Errno::EINVAL), "{op}");
    }
    assert_eq!(file.ctx(ctx_op::ALLOC_CTX, 1, 0), Err(Errno::EINVAL));
    for harmless in [4711, priority::UNSET, priority::VERY_LOW, priority::LOW, i32::MAX] {
        file.try_context(harmless).unwrap();
    }
    for high in [priority::HIGH, priority::VERY_HIGH] {
        assert_eq!(file.try_context(high), Err(Errno::EACCES));
    }
    assert_eq!(file.ctx(ctx_op::FREE_CTX, 1, 3), Err(Errno::EINVAL));
    file.ctx(ctx_op::FREE_CTX, 0, 3).unwrap();
    assert_eq!(file.ctx(ctx_op::FREE_CTX, 0, 3), Err(Errno::EINVAL));
    assert_eq!(file.context(), 3);
}

// Checks R83.
#[test]
fn a_file_has_4095_contexts() {
    let file = file();
    assert_eq!((0..4095).map(|_| file.context()).max(), Some(4095));
    assert_eq!(file.try_context(0), Err(Errno::ENOSPC));
    file.ctx(ctx_op::FREE_CTX, 0, 77).unwrap();
    assert_eq!(file.try_context(0), Ok(77));
}

// Checks R84.
#[test]
fn bo_lists_are_made_updated_and_destroyed() {
    let file = file();
    let bo = file.create(PAGE);
    assert_eq!(file.list(bo_list_op::DESTROY, 99, &[]), Ok(0));
    assert_eq!(file.list(bo_list_op::UPDATE, 99, &entries(&[bo])), Err(Errno::ENOENT));
    assert_eq!(file.list(bo_list_op::CREATE, 0, &entries(&[bo, 99])), Err(Errno::ENOENT));
    assert_eq!(file.list(3, 0, &[]), Err(Errno::EINVAL));
    let many = BoList { bo_number: BO_LIST_MAX_ENTRIES + 1, bo_info_size: 8, bo_info_ptr: 8, ..BoList::ZEROED };
    assert_eq!(file.send(&mut { many }), Err(Errno::EINVAL));
    assert_eq!(file.send(&mut BoList { operation: bo_list_op::DESTROY, ..many }), Err(Errno::EINVAL), "read first");
    let nowhere = BoList { bo_number: 1, bo_info_size: 8, operation: bo_list_op::DESTROY, ..BoList::ZEROED };
    assert_eq!(file.send(&mut { nowhere }), Err(Errno::EFAULT));
    assert_eq!(file.list(bo_list_op::CREATE, 0, &entries(&[bo, bo])), Ok(1), "duplicates are fine");
    assert_eq!(file.list(bo_list_op::UPDATE, 1, &entries(&[])), Ok(1));
    let narrow = [bo, bo];
    let wide = [[bo, 1, 2, 3], [bo, 1, 2, 3]];
    for (bo_info_size, bo_info_ptr) in [(4, address(&narrow)), (16, address(&wide))] {
        let request = BoList { bo_number: 2, bo_info_size, bo_info_ptr, ..BoList::ZEROED };
        file.ask(request).unwrap();
    }
    assert_eq!(file.0.census().bo_lists, 3);
}

// Checks R85.
#[test]
fn a_list_keeps_its_bos() {
    let device = card();
    let rig = Rig::new(&device);
    let bo = rig.file.create(PAGE);
    let list = rig.file.list(bo_list_op::CREATE, 0, &entries(&[bo, rig.ibs])).unwrap();
    let alive = device.census().bos;
    rig.file.close(bo).unwrap();
    assert_eq!(device.census().bos, alive);
    let job = Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, rig.ib(&[]))).with_list(list);
    assert_eq!(job.send(&rig.file), Ok(1));
    rig.finish(Ip::Gfx, 0, 1).unwrap();
    rig.file.list(bo_list_op::DESTROY, list, &[]).unwrap();
    assert_eq!(device.census().bos, alive - 1);
}

// Checks R110.
#[test]
fn vmids_can_always_be_reserved() {
    let file = file();
    for op in [VM_OP_RESERVE_VMID, VM_OP_RESERVE_VMID, VM_OP_UNRESERVE_VMID, VM_OP_UNRESERVE_VMID] {
        assert_eq!(file.send(&mut Vm { op, flags: 0 }), Ok(()));
        assert_eq!(file.send(&mut Vm { op, flags: 1 }), Err(Errno::EINVAL));
    }
    assert_eq!(file.send(&mut Vm { op: 0, flags: 0 }), Err(Errno::EINVAL));
}

#[test]
fn one_context_of_the_device_owns_the_stable_pstate() {
    let device = card();
    let (one, other) = (open(&device), open(&device));
    let [mine, second] = [(); 2].map(|()| one.context());
    let foreign = other.context();
    let get = |file: &File, ctx_id| {
        let mut request = Ctx { op: ctx_op::GET_STABLE_PSTATE, ctx_id, ..Ctx::ZEROED };
        file.send(&mut request).unwrap();
        CtxPstateAnswer::read_from_prefix(request.as_bytes()).unwrap().0.flags
    };
    let set = |file: &File, id, level| file.ctx(ctx_op::SET_STABLE_PSTATE, level, id);
    assert_eq!(set(&one, mine, 5), Err(Errno::EINVAL));
    assert_eq!(set(&other, foreign, 0), Ok(()), "the level in force: nobody owns it thereby");
    assert_eq!(set(&one, mine, 4), Ok(()));
    assert_eq!((set(&one, second, 4), set(&other, foreign, 4)), (Err(Errno::EBUSY), Err(Errno::EBUSY)));
    assert_eq!((get(&one, second), get(&other, foreign)), (4, 4));
    drop(one);
    assert_eq!(get(&other, foreign), 0);
    assert_eq!(set(&other, foreign, 1), Ok(()));
    assert_eq!(Ctx::ZEROED.answer().reset_status, 0);
}
