//! Primary nodes: masters, authentication, and what only they answer.

use amdgpu_sim::{SimDevice, SimKernel, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{self, Argument, Auth, Client, GemCreate, Request, SetVersion, Unique, Version},
    winsys::Kernel,
};

fn device() -> SimDevice {
    SimDevice::new(profile("navi21").unwrap(), SimOptions::default())
}

#[expect(unsafe_code, reason = "raw ioctls")]
fn ioctl<A>(kernel: &SimKernel, request: Request, argument: &mut A) -> Result<(), Errno> {
    assert!(request.size() <= size_of::<A>());
    // SAFETY: the argument is at least as long as the request says, and its addresses are null or those of live buffers.
    unsafe { kernel.ioctl(request, std::ptr::from_mut(argument).cast()) }.map(drop)
}

fn version(kernel: &SimKernel) -> Result<(), Errno> {
    let mut version = Version::ZEROED;
    ioctl(kernel, Version::REQUEST, &mut version)
}

fn create(kernel: &SimKernel) -> Result<(), Errno> {
    let mut request = GemCreate { bo_size: 4096, alignment: 0, domains: 2, domain_flags: 0 };
    ioctl(kernel, GemCreate::REQUEST, &mut request)
}

#[test]
fn the_first_file_is_master_and_authenticated_and_the_next_is_not() {
    let device = device();
    let (first, second) = (device.open_primary(false), device.open_primary(false));
    assert_eq!(create(&first), Ok(()));
    assert_eq!(create(&second), Err(Errno::EACCES), "amdgpu's requests need authentication");
    assert_eq!(version(&second), Ok(()), "the core's do not");
    assert_eq!(ioctl(&second, uapi::SET_MASTER, &mut 0_u32), Err(Errno::EACCES));
    drop(first);
    let third = device.open_primary(false);
    assert_eq!(create(&third), Ok(()), "the master went with its file");
}

#[test]
fn an_administrator_is_authenticated_without_a_master() {
    let device = device();
    let (_master, admin) = (device.open_primary(false), device.open_primary(true));
    assert_eq!(create(&admin), Ok(()));
    assert_eq!(ioctl(&admin, uapi::SET_MASTER, &mut 0_u32), Err(Errno::EBUSY));
}

#[test]
fn a_master_authenticates_a_token_once() {
    let device = device();
    let (master, client) = (device.open_primary(false), device.open_primary(false));
    let mut token = Auth { magic: 0 };
    ioctl(&client, Auth::REQUEST, &mut token).unwrap();
    let first = token.magic;
    ioctl(&client, Auth::REQUEST, &mut token).unwrap();
    assert_eq!(token.magic, first);
    assert_eq!(ioctl(&client, uapi::AUTH_MAGIC, &mut token), Err(Errno::EACCES));
    assert_eq!(ioctl(&master, uapi::AUTH_MAGIC, &mut token), Ok(()));
    assert_eq!(create(&client), Ok(()));
    assert_eq!(ioctl(&master, uapi::AUTH_MAGIC, &mut token), Err(Errno::EINVAL));
}

#[test]
fn a_master_that_resigned_may_come_back() {
    let device = device();
    let file = device.open_primary(false);
    assert_eq!(ioctl(&file, uapi::DROP_MASTER, &mut 0_u32), Ok(()));
    assert_eq!(ioctl(&file, uapi::DROP_MASTER, &mut 0_u32), Err(Errno::EINVAL));
    assert_eq!(ioctl(&file, uapi::SET_MASTER, &mut 0_u32), Ok(()));
    assert_eq!(ioctl(&file, uapi::SET_MASTER, &mut 0_u32), Ok(()));
}

#[test]
fn get_client_answers_number_0_about_the_caller() {
    let device = device();
    let file = device.open_primary(false);
    let mut client = Client::ZEROED;
    ioctl(&file, Client::REQUEST, &mut client).unwrap();
    assert_eq!((client.auth, client.pid, client.uid), (1, u64::from(std::process::id()), 65_534));
    client.idx = 1;
    assert_eq!(ioctl(&file, Client::REQUEST, &mut client), Err(Errno::EINVAL));
}

#[test]
fn a_bus_id_comes_with_the_interface_version() {
    let device = device();
    let file = device.open_primary(false);
    let mut name = [0_u8; 32];
    let mut unique = Unique { unique_len: 32, unique: name.as_mut_ptr().expose_provenance() as u64 };
    ioctl(&file, Unique::REQUEST, &mut unique).unwrap();
    assert_eq!(unique.unique_len, 0);
    let mut version = SetVersion { drm_di_major: 1, drm_di_minor: 4, drm_dd_major: -1, drm_dd_minor: -1 };
    ioctl(&file, SetVersion::REQUEST, &mut version).unwrap();
    assert_eq!((version.drm_dd_major, version.drm_dd_minor), (3, SimOptions::default().drm_minor));
    unique.unique_len = 32;
    ioctl(&file, Unique::REQUEST, &mut unique).unwrap();
    assert_eq!(&name[..unique.unique_len as usize], b"pci:0000:03:00.0");
}

#[test]
fn a_render_node_answers_none_of_it() {
    let device = device();
    let file = device.open();
    let mut client = Client::ZEROED;
    assert_eq!(ioctl(&file, Client::REQUEST, &mut client), Err(Errno::EACCES));
    assert_eq!(ioctl(&file, uapi::SET_MASTER, &mut 0_u32), Err(Errno::EACCES));
    assert_eq!(device.complaints(), Vec::<String>::new());
}

#[test]
fn what_needs_a_display_is_refused_loudly() {
    let device = device();
    let file = device.open_primary(false);
    let set_crtc = Request::from_bits(0xc068_64a2);
    assert_eq!(ioctl(&file, set_crtc, &mut [0_u64; 13]), Err(Errno::EOPNOTSUPP));
    assert_eq!(device.complaints().len(), 1);
}
