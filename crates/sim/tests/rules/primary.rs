//! R6, R28, R29, 1.2, 1.5 and 11: what primary nodes have, and whom they let in.

use std::os::fd::AsRawFd;

use amdgpu_sim::SimDevice;
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{
        AUTH_MAGIC, Auth, Client, DROP_MASTER, GemCreateFlags, GemDomain, GemFlink, GemOpen, PRIME_CLOEXEC, Request,
        SCHED_OP_CONTEXT_PRIORITY_OVERRIDE, SCHED_OP_PROCESS_PRIORITY_OVERRIDE, SET_MASTER, Sched, SetVersion, Stats,
        SyncobjCreate, Unique, Version, priority,
    },
    winsys::Ip,
};

use crate::support::{Chunk, DATA, File, Job, PAGE, Rig, address_mut, card, open, patient_card};

fn primary(device: &SimDevice) -> File {
    File(device.open_primary(false))
}

impl File {
    fn bare(&self, request: Request) -> Result<(), Errno> {
        self.null(request)
    }

    fn magic(&self) -> Result<u32, Errno> {
        let mut auth = Auth::ZEROED;
        self.send(&mut auth).map(|()| auth.magic)
    }

    fn authenticate(&self, magic: u32) -> Result<(), Errno> {
        self.send_as(AUTH_MAGIC, &mut Auth { magic })
    }

    fn client(&self, idx: i32) -> Result<Client, Errno> {
        let mut client = Client { idx, ..Client::ZEROED };
        self.send(&mut client).map(|()| client)
    }

    fn flink(&self, handle: u32) -> Result<u32, Errno> {
        let mut request = GemFlink { handle, name: 0 };
        self.send(&mut request).map(|()| request.name)
    }

    fn gem_open(&self, name: u32) -> Result<(u32, u64), Errno> {
        let mut request = GemOpen { name, ..GemOpen::ZEROED };
        self.send(&mut request).map(|()| (request.handle, request.size))
    }

    fn new_bo(&self) -> Result<u32, Errno> {
        self.try_create(PAGE, 0, GemDomain::GTT, GemCreateFlags::empty())
    }
}

#[test]
fn the_first_file_is_the_master_and_others_must_be_let_in() {
    let device = card();
    let (master, guest) = (primary(&device), primary(&device));
    assert!(master.new_bo().is_ok());
    // What render nodes have without asking, unauthenticated primary files have too, as far as it is the core's.
    assert_eq!(guest.send(&mut Version::default()), Ok(()));
    assert_eq!(guest.send(&mut SyncobjCreate::default()), Ok(()));
    assert_eq!(guest.new_bo(), Err(Errno::EACCES));
    assert_eq!(guest.flink(1), Err(Errno::EACCES));
    assert_eq!(guest.send(&mut Sched::default()), Err(Errno::EACCES));
    assert_eq!(guest.client(0).map(|client| client.auth), Ok(0));
    let magic = guest.magic().unwrap();
    assert_eq!(guest.magic(), Ok(magic), "the same at every call");
    assert_eq!(guest.authenticate(magic), Err(Errno::EACCES), "only the master may");
    assert_eq!(master.authenticate(magic + 1), Err(Errno::EINVAL));
    assert_eq!((master.authenticate(magic), master.authenticate(magic)), (Ok(()), Err(Errno::EINVAL)));
    assert_eq!(guest.client(0).map(|client| client.auth), Ok(1));
    assert!(guest.new_bo().is_ok());
    assert_eq!(guest.send(&mut Sched::default()), Err(Errno::EACCES), "authenticated is not master");
}

#[test]
fn the_mastery_can_be_given_up_and_taken() {
    let device = card();
    let (master, guest) = (primary(&device), primary(&device));
    let admin = File(device.open_primary(true));
    assert!(admin.new_bo().is_ok(), "authenticated from the start");
    assert_eq!((guest.bare(SET_MASTER), guest.bare(DROP_MASTER)), (Err(Errno::EACCES), Err(Errno::EACCES)));
    assert_eq!((admin.bare(SET_MASTER), admin.bare(DROP_MASTER)), (Err(Errno::EBUSY), Err(Errno::EINVAL)));
    assert_eq!((master.bare(SET_MASTER), master.bare(DROP_MASTER)), (Ok(()), Ok(())));
    assert_eq!(master.bare(DROP_MASTER), Err(Errno::EINVAL));
    assert_eq!(master.send(&mut Sched::default()), Err(Errno::EACCES));
    assert!(master.new_bo().is_ok(), "it stays authenticated");
    assert_eq!(admin.bare(SET_MASTER), Ok(()));
    assert_eq!(master.bare(SET_MASTER), Err(Errno::EBUSY));
    drop(admin);
    assert_eq!(master.bare(SET_MASTER), Ok(()), "closing the file leaves the seat");
    drop(master);
    assert_eq!(primary(&device).client(0).map(|client| client.auth), Ok(1), "and the next to open takes it");
}

/// Source: Linux 6.12 `drm_auth.c`, `drm_authmagic`: the tokens are those of the file's own master.
#[test]
fn a_master_lets_in_only_files_that_asked_under_it() {
    let device = card();
    let (master, early) = (primary(&device), primary(&device));
    let admin = File(device.open_primary(true));
    assert_eq!(early.magic(), Ok(1));
    assert_eq!((master.bare(DROP_MASTER), admin.bare(SET_MASTER)), (Ok(()), Ok(())));
    assert_eq!(admin.authenticate(1), Err(Errno::EINVAL), "a token of the master before");
    let late = primary(&device);
    assert_eq!(late.magic(), Ok(1), "each master counts for itself");
    assert_eq!(admin.authenticate(1), Ok(()));
    assert_eq!([&early, &late].map(|file| file.new_bo().is_ok()), [false, true]);
    assert_eq!((admin.bare(DROP_MASTER), master.bare(SET_MASTER)), (Ok(()), Ok(())));
    assert_eq!(master.authenticate(1), Ok(()), "the one that comes back is the same master");
    assert!(early.new_bo().is_ok());
}

#[test]
fn a_token_is_free_again_when_its_file_is_closed() {
    let device = card();
    let (master, first) = (primary(&device), primary(&device));
    assert_eq!((first.magic(), master.authenticate(1)), (Ok(1), Ok(())));
    assert_eq!(primary(&device).magic(), Ok(2), "one that was used stays taken");
    drop(first);
    assert_eq!(primary(&device).magic(), Ok(1));
}

#[test]
fn get_stats_is_all_zeros_on_a_primary_node() {
    let device = card();
    let mut stats = Stats { count: 7, data: [7; 30] };
    assert_eq!(open(&device).send(&mut stats), Err(Errno::EACCES));
    assert_eq!(primary(&device).send(&mut stats), Ok(()));
    assert_eq!((stats.count, stats.data), (0, [0; 30]));
}

// Checks R28.
#[test]
fn get_client_answers_for_client_0() {
    let file = primary(&card());
    let client = file.client(0).unwrap();
    assert_eq!((client.auth, client.pid, client.uid), (1, std::process::id().into(), 65534));
    assert_eq!(file.client(1), Err(Errno::EINVAL));
}

#[test]
fn the_bus_id_is_known_after_set_version() {
    let file = primary(&card());
    let mut name = [0_u8; 32];
    let mut unique = Unique { unique_len: 32, unique: address_mut(&mut name) };
    file.send(&mut unique).unwrap();
    assert_eq!(unique.unique_len, 0);
    let any = SetVersion { drm_di_major: 1, drm_di_minor: 4, drm_dd_major: -1, drm_dd_minor: 0 };
    let mut version = any;
    file.send(&mut version).unwrap();
    assert_eq!((version.drm_di_minor, version.drm_dd_major, version.drm_dd_minor), (4, 3, 61));
    let mut wrong = SetVersion { drm_dd_major: 4, ..any };
    assert_eq!((file.send(&mut wrong), wrong.drm_dd_major), (Err(Errno::EINVAL), 3), "told even so");
    unique.unique_len = 32;
    file.send(&mut unique).unwrap();
    assert_eq!(name[..unique.unique_len as usize], *b"pci:0000:03:00.0");
}

// Checks R6.
#[test]
fn mode_setting_is_refused_where_there_are_no_displays() {
    let device = card();
    let (master, guest) = (primary(&device), primary(&device));
    // Framebuffers may be made by anybody, CRTCs set by the master alone.
    let [make, set] = [0xb8, 0xa2].map(|number| Request::read_write::<[u8; 64]>(b'd', number));
    assert_eq!(guest.raw(make, &mut [0; 64]), Err(Errno::EOPNOTSUPP));
    assert_eq!(guest.raw(set, &mut [0; 64]), Err(Errno::EACCES));
    assert_eq!(master.raw(set, &mut [0; 64]), Err(Errno::EOPNOTSUPP));
}

// Checks R29.
#[test]
fn a_name_is_the_same_at_every_call_and_every_open_makes_a_handle() {
    let device = card();
    let one = primary(&device);
    let other = File(device.open_primary(true));
    let bo = one.create(3 * PAGE);
    let name = one.flink(bo).unwrap();
    assert_eq!((name, one.flink(bo)), (1, Ok(1)));
    assert_eq!(one.flink(one.create(PAGE)), Ok(2));
    assert_eq!((one.flink(99), one.gem_open(99)), (Err(Errno::ENOENT), Err(Errno::ENOENT)));
    assert_eq!((other.gem_open(1), other.gem_open(1)), (Ok((1, 3 * PAGE)), Ok((2, 3 * PAGE))));
    assert_eq!(one.gem_open(1), Ok((3, 3 * PAGE)), "even where the file has one");
    assert_eq!(other.offset(1), one.offset(bo), "they are one BO");
    // The name goes with the last handle of all.
    for handle in [bo, 3] {
        one.close(handle).unwrap();
    }
    other.close(1).unwrap();
    assert_eq!(other.flink(2), Ok(1));
    other.close(2).unwrap();
    assert_eq!(one.gem_open(1), Err(Errno::ENOENT));
    assert_eq!(one.flink(one.create(PAGE)), Ok(1), "and is free again");
}

#[test]
fn bindings_stay_until_the_files_last_handle_of_the_bo_goes() {
    let file = primary(&card());
    let bo = file.create(PAGE);
    let (second, _) = file.gem_open(file.flink(bo).unwrap()).unwrap();
    file.bind(bo, 0x10_0000, PAGE).unwrap();
    file.close(bo).unwrap();
    assert_eq!(file.0.census().bindings, 1);
    file.view(second, PAGE).store(0, 1);
    file.close(second).unwrap();
    assert_eq!(file.0.census().bindings, 0);
}

#[test]
fn an_import_gives_the_handle_that_was_exported_and_not_one_of_another_name() {
    let file = primary(&card());
    let bo = file.create(PAGE);
    let (second, _) = file.gem_open(file.flink(bo).unwrap()).unwrap();
    let fd = file.dma_buf(second, PRIME_CLOEXEC).unwrap();
    assert_eq!(file.open_dma_buf(&fd), Ok(second));
    file.close(second).unwrap();
    // The dma-buf has no handle left here: the first handle was never exported.
    let third = file.open_dma_buf(&fd).unwrap();
    assert_ne!(third, bo);
    assert_eq!(file.offset(third), file.offset(bo));
}

// Checks R29.
#[test]
fn another_files_private_bo_cannot_be_opened_by_name() {
    let device = card();
    let one = primary(&device);
    let other = File(device.open_primary(true));
    let private = one.try_create(PAGE, 0, GemDomain::VRAM, GemCreateFlags::VM_ALWAYS_VALID).unwrap();
    let name = one.flink(private).unwrap();
    assert_eq!(other.gem_open(name), Err(Errno::EPERM));
    assert_eq!(other.0.census().handles, 0);
    assert!(one.gem_open(name).is_ok());
}

// Checks R82.
#[test]
fn the_master_may_have_high_priorities() {
    let device = card();
    let (master, guest) = (primary(&device), File(device.open_primary(true)));
    assert_eq!(guest.try_context(priority::HIGH), Err(Errno::EACCES));
    assert!(master.try_context(priority::VERY_HIGH).is_ok());
}

/// A host descriptor for the file, as a shim would hand out.
fn descriptor(file: &File) -> std::fs::File {
    let name = std::ffi::CString::new(format!("node {:p}", &raw const file.0)).unwrap();
    let fd = nix::sys::memfd::memfd_create(name.as_c_str(), nix::sys::memfd::MFdFlags::MFD_CLOEXEC).unwrap();
    file.0.stands_for(std::os::fd::AsFd::as_fd(&fd)).unwrap();
    fd.into()
}

#[test]
fn sched_checks_operation_priority_file_and_context() {
    let device = card();
    let (master, other) = (primary(&device), open(&device));
    let context = other.context();
    let fd = descriptor(&other);
    let good = Sched {
        op: SCHED_OP_CONTEXT_PRIORITY_OVERRIDE,
        fd: fd.as_raw_fd().cast_unsigned(),
        priority: priority::LOW,
        ctx_id: context,
    };
    let send = |request: Sched| master.send(&mut { request });
    assert_eq!(send(good), Ok(()));
    assert_eq!(send(Sched { op: SCHED_OP_PROCESS_PRIORITY_OVERRIDE, ctx_id: 99, ..good }), Ok(()));
    let null = std::fs::File::open("/dev/null").unwrap();
    let wrong = [
        Sched { op: 0, ..good },
        Sched { op: 3, ..good },
        Sched { priority: priority::UNSET, ..good },
        Sched { priority: 1, ..good },
        Sched { fd: u32::MAX, ..good },
        Sched { fd: null.as_raw_fd().cast_unsigned(), ..good },
        Sched { ctx_id: context + 1, ..good },
    ];
    for request in wrong {
        assert_eq!(send(request), Err(Errno::EINVAL), "{request:?}");
    }
    assert_eq!(other.send(&mut { good }), Err(Errno::EACCES), "a render node is never the master");
    drop(other);
    assert_eq!(send(good), Err(Errno::EINVAL), "the file is closed");
}

#[test]
fn sched_lets_a_context_go_before_others() {
    let device = patient_card();
    let (master, rig) = (primary(&device), Rig::new(&device));
    let [late, early] = [(); 2].map(|()| rig.file.context());
    let fd = descriptor(&rig.file);
    let mut request = Sched {
        op: SCHED_OP_CONTEXT_PRIORITY_OVERRIDE,
        fd: fd.as_raw_fd().cast_unsigned(),
        priority: priority::HIGH,
        ctx_id: early,
    };
    master.send(&mut request).unwrap();
    // Both wait for the same job, on the only graphics ring: the second one may go first.
    let gate = rig.run(Ip::Gfx, 0, &rig.wait_value(Ip::Gfx, 0, 1)).unwrap();
    let queue = |context, dwords: &[u32]| {
        let after = Chunk::after(rig.context, Ip::Gfx, 0, gate);
        let job: Job = rig.job_of(context, Ip::Gfx, 0, dwords).with(after);
        job.send(&rig.file).unwrap()
    };
    let copied = queue(late, &rig.copy(DATA + 8, DATA + 16));
    let stored = queue(early, &rig.store(Ip::Gfx, 8, 5));
    rig.poke(0, 1);
    for (context, number) in [(late, copied), (early, stored)] {
        assert_eq!(rig.wait_until(context, Ip::Gfx, 0, number, u64::MAX), Ok(true));
    }
    assert_eq!(rig.load(16), 5, "what was queued last ran first");
}

// Checks R209.
/// Every handle of a BO that was exported is recorded for its dma-buf, so that an import finds those that are left.
#[test]
fn an_import_answers_any_handle_that_is_recorded_for_the_dma_buf() {
    let device = card();
    let file = primary(&device);
    let bo = file.new_bo().unwrap();
    let name = file.flink(bo).unwrap();
    let second = file.gem_open(name).unwrap().0;
    let third = file.gem_open(name).unwrap().0;
    let fd = file.export(bo, PRIME_CLOEXEC).unwrap();
    assert_eq!(file.import(&fd), Ok(bo));
    file.export(second, PRIME_CLOEXEC).unwrap();
    file.close(bo).unwrap();
    assert_eq!(file.import(&fd), Ok(second), "the third was never exported");
    file.close(second).unwrap();
    let fourth = file.import(&fd).unwrap();
    assert_ne!(fourth, third, "no handle is recorded, so the import makes one");
    assert_eq!(file.import(&fd), Ok(fourth));
    file.close(fourth).unwrap();
    file.close(third).unwrap();
    drop(fd);
    assert_eq!(device.census().bos, 0);
}

// Checks R290.
#[test]
fn requests_of_drivers_that_are_no_more_do_nothing_for_a_master_of_root() {
    let device = card();
    let [root, guest] = [true, true].map(|is_admin| File(device.open_primary(is_admin)));
    let render = open(&device);
    let do_nothing = [0x12, 0x13, 0x27, 0x28].map(|number| Request::read_write::<u32>(b'd', number));
    for request in do_nothing {
        assert_eq!(root.raw(request, &mut [0; 4]), Ok(()), "{request:?}");
        assert_eq!(guest.raw(request, &mut [0; 4]), Err(Errno::EACCES), "{request:?}: not the master");
        assert_eq!(render.raw(request, &mut [0; 4]), Err(Errno::EACCES), "{request:?}");
        assert_eq!(root.bare(request), Err(Errno::EFAULT), "{request:?}");
    }
    for number in [0xa8, 0xa9] {
        let attach = Request::read_write::<[u32; 18]>(b'd', number);
        assert_eq!(root.raw(attach, &mut [0; 72]), Ok(()), "{attach:?}");
        assert_eq!(root.bare(attach), Err(Errno::EFAULT), "{attach:?}: the argument is copied all the same");
        assert_eq!(guest.raw(attach, &mut [0; 72]), Err(Errno::EACCES), "{attach:?}");
    }
    let finish = Request::write::<[u32; 2]>(b'd', 0x2c);
    assert_eq!(guest.raw(finish, &mut [0; 8]), Ok(()), "an authenticated file will do");
    assert_eq!(root.raw(Request::write::<Unique>(b'd', 0x10), &mut [0; 16]), Err(Errno::EINVAL));
    let device = card();
    let user = primary(&device);
    for request in do_nothing {
        assert_eq!(user.raw(request, &mut [0; 4]), Err(Errno::EACCES), "{request:?}: a master without root's rights");
    }
}
