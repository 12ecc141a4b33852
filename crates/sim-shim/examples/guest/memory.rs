//! The guest's memory, and the GPU's.

use amdgpu_winsys::uapi::{
    Argument as _, BoList, BoListEntry, GemCreate, GemUserptr, Info, PRIME_RDWR, PrimeHandle, UserptrFlags, bo_list_op,
    query,
};
use nix::errno::Errno;

use crate::node::{RENDER, census, close_handle, create, in_child, ioctl, ioctl_at, map, open};

/// An address that is never mapped, below the first page that a process may map.
const NOWHERE: u64 = 0x10;

/// Bad addresses are EFAULT, of the argument and inside it.
pub(crate) fn faults() {
    use std::os::fd::AsRawFd as _;
    let node = open(RENDER);
    for bad in [std::ptr::null_mut(), std::ptr::without_provenance_mut(NOWHERE as usize)] {
        assert_eq!(ioctl_at(node.as_raw_fd(), GemCreate::REQUEST, bad), Err(Errno::EFAULT));
    }
    let mut info = Info { return_pointer: NOWHERE, return_size: 4, query: query::ACCEL_WORKING, input: [0; 4] };
    assert_eq!(ioctl(&node, &mut info), Err(Errno::EFAULT));
    let mut list = BoList {
        operation: bo_list_op::CREATE,
        list_handle: 0,
        bo_number: 1,
        bo_info_size: size_of::<BoListEntry>() as u32,
        bo_info_ptr: NOWHERE,
    };
    assert_eq!(ioctl(&node, &mut list), Err(Errno::EFAULT));
    assert_eq!(create(&node, 4096), Ok(1), "nothing was made by the calls that failed");
}

/// An argument in memory that the process may only read is EFAULT, and is not changed.
pub(crate) fn read_only() {
    use std::os::fd::AsRawFd as _;
    let node = open(RENDER);
    let page = map_anonymous();
    let request = GemCreate { bo_size: 4096, alignment: 0, domains: crate::node::GTT, domain_flags: 0 };
    let argument: *mut GemCreate = std::ptr::with_exposed_provenance_mut(page as usize);
    #[expect(unsafe_code, reason = "memory of the guest's own")]
    // SAFETY: the page was just mapped, and nothing else uses it.
    unsafe {
        argument.write(request);
    }
    protect(page, libc::PROT_READ);
    assert_eq!(ioctl_at(node.as_raw_fd(), GemCreate::REQUEST, argument.cast()), Err(Errno::EFAULT));
    #[expect(unsafe_code, reason = "memory of the guest's own")]
    // SAFETY: as before; it can still be read.
    let found = unsafe { argument.read() };
    assert_eq!((found.bo_size, found.domains), (4096, crate::node::GTT), "it was changed");
    protect(page, libc::PROT_NONE);
    assert_eq!(ioctl_at(node.as_raw_fd(), GemCreate::REQUEST, argument.cast()), Err(Errno::EFAULT));
    protect(page, libc::PROT_READ | libc::PROT_WRITE);
    assert_eq!(ioctl_at(node.as_raw_fd(), GemCreate::REQUEST, argument.cast()), Ok(()));
}

#[expect(unsafe_code, reason = "mprotect")]
fn protect(page: u64, rights: libc::c_int) {
    // SAFETY: a page that `map_anonymous` made, which nothing of Rust's is in.
    let done = unsafe { libc::mprotect(std::ptr::with_exposed_provenance_mut(page as usize), 4096, rights) };
    assert_eq!(done, 0);
}

/// A mapping keeps its BO and its file, also in parts, and in a child.
pub(crate) fn mappings() {
    const LEN: usize = 64 << 10;
    let node = open(RENDER);
    let handle = create(&node, LEN as u64).expect("a BO");
    let mapping = map(&node, handle, LEN).expect("a mapping");
    mapping.store(5);
    let second = map(&node, handle, LEN).expect("a second mapping");
    assert_eq!(second.load(), 5);
    second.unmap(0, LEN);
    close_handle(&node, handle).expect("GEM_CLOSE");
    drop(node);
    assert_eq!(mapping.load(), 5);
    assert!(census().starts_with("open 0 mapped 1\ncard0 navi21 files 1 bos 1 "), "{}", census());
    in_child(|| assert_eq!(mapping.load(), 5));
    mapping.unmap(0, LEN / 2);
    assert!(census().starts_with("open 0 mapped 1\n"), "{}", census());
    mapping.unmap(LEN / 2, LEN / 2);
    assert!(census().starts_with("open 0 mapped 0\ncard0 navi21 files 0 bos 0 "), "{}", census());
    in_child(|| {
        let node = open(RENDER);
        let handle = create(&node, LEN as u64).expect("a BO");
        map(&node, handle, LEN).expect("a mapping that ends with the process");
    });
    assert!(census().starts_with("open 0 mapped 0\ncard0 navi21 files 0 bos 0 "), "{}", census());
}

/// A dma-buf is mapped to its end and no further, and not privately, whatever the file behind it could.
pub(crate) fn dma_buf_mappings() {
    const LEN: usize = 64 << 10;
    const END: libc::off_t = 64 << 10;
    const RIGHTS: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;
    let node = open(RENDER);
    let export = |flags| {
        let handle = create(&node, LEN as u64).expect("a BO");
        let mut export = PrimeHandle { handle, flags, fd: -1 };
        ioctl(&node, &mut export).expect("an export");
        export.fd
    };
    let (writable, readable) = (export(PRIME_RDWR), export(0));
    for (fd, len, rights, flags, offset, outcome) in [
        (writable, LEN, RIGHTS, libc::MAP_SHARED, 0, Ok(())),
        (writable, 1, libc::PROT_READ, libc::MAP_SHARED, END - 4096, Ok(())),
        (writable, LEN + 1, libc::PROT_READ, libc::MAP_SHARED, 0, Err(Errno::EINVAL)),
        (writable, 4096, RIGHTS, libc::MAP_SHARED, END, Err(Errno::EINVAL)),
        (writable, LEN, libc::PROT_READ, libc::MAP_PRIVATE, 0, Err(Errno::EINVAL)),
        (readable, LEN, libc::PROT_READ, libc::MAP_SHARED, 0, Ok(())),
        (readable, LEN + 1, libc::PROT_READ, libc::MAP_SHARED, 0, Err(Errno::EINVAL)),
        (readable, LEN, RIGHTS, libc::MAP_SHARED, 0, Err(Errno::EACCES)),
        (readable, LEN + 1, RIGHTS, libc::MAP_SHARED, 0, Err(Errno::EACCES)),
    ] {
        #[expect(unsafe_code, reason = "mmap")]
        // SAFETY: no address is asked for, so nothing that exists is replaced.
        let address = unsafe { libc::mmap(std::ptr::null_mut(), len, rights, flags, fd, offset) };
        let mapped = if address == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(()) };
        assert_eq!(mapped, outcome, "{len} bytes from {offset} of {fd}, rights {rights}, flags {flags}");
    }
}

/// Pages of a process are looked up in that process.
pub(crate) fn user_pages() {
    let page = map_anonymous();
    let node = open(RENDER);
    let flags = (UserptrFlags::ANONONLY | UserptrFlags::REGISTER | UserptrFlags::VALIDATE).bits();
    let mut request = GemUserptr { addr: page, size: 4096, flags, handle: 0 };
    ioctl(&node, &mut request).expect("a BO of the guest's own pages");
    let mut nowhere = GemUserptr { addr: 0x10_0000_0000_0000, handle: 0, ..request };
    assert_eq!(ioctl(&node, &mut nowhere), Err(Errno::EFAULT));
}

#[expect(unsafe_code, reason = "mmap")]
fn map_anonymous() -> u64 {
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: no address is asked for, so nothing that exists is replaced.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), 4096, rights, flags, -1, 0) };
    assert_ne!(page, libc::MAP_FAILED);
    page.expose_provenance() as u64
}
