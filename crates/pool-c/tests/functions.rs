//! The functions, as C calls them, on a captured tree.
#![expect(unsafe_code, reason = "calls of C functions")]
#![expect(clippy::multiple_unsafe_ops_per_block, reason = "each block is one step of a test, for one reason")]

use std::{
    ffi::{CStr, CString, c_char},
    fs,
    mem::MaybeUninit,
    path::{Path, PathBuf},
    ptr::{null, null_mut},
};

use amdgpu_pool_c::{
    BAD_ARGUMENT, CFit, CGpu, CHeap, CLimit, NO_GPU, OK, OUT_OF_RANGE, Pool, UNKNOWN, amdgpu_pool_count,
    amdgpu_pool_fits, amdgpu_pool_free, amdgpu_pool_gpu, amdgpu_pool_heap, amdgpu_pool_limit, amdgpu_pool_look,
    amdgpu_pool_missing,
};

/// A card with 4 GiB that sleeps, of which 1 GiB are used.
fn tree(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let device = root.join("sys/class/drm/renderD128/device");
    fs::create_dir_all(device.join("power")).unwrap();
    fs::create_dir_all(root.join("proc")).unwrap();
    for (file, text) in [
        ("uevent", "DRIVER=amdgpu\nPCI_ID=1002:67DF\nPCI_SLOT_NAME=0000:03:00.0\n"),
        ("power/runtime_status", "suspended\n"),
        ("mem_info_vram_total", "4294967296\n"),
        ("mem_info_vram_used", "1073741824\n"),
    ] {
        fs::write(device.join(file), text).unwrap();
    }
    root
}

fn look(root: &str, flags: u32) -> (i32, *mut Pool, String) {
    let (root, mut pool, mut message) = (CString::new(root).unwrap(), null_mut(), [1 as c_char; 40]);
    // SAFETY: the root is a C string, and both outputs are writable.
    let result = unsafe { amdgpu_pool_look(root.as_ptr(), flags, &raw mut pool, message.as_mut_ptr(), message.len()) };
    let end = message.iter().position(|&byte| byte == 0).unwrap_or(0);
    let text = message[..end].iter().map(|&byte| char::from(byte.cast_unsigned())).collect();
    (result, pool, text)
}

/// A structure of zeros with its size.
fn sized<T>(size: usize) -> T {
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: each structure begins with its size as 32 bits.
    unsafe { value.as_mut_ptr().cast::<u32>().write(u32::try_from(size).unwrap()) };
    // SAFETY: zeros are a value of each: numbers and pointers.
    unsafe { value.assume_init() }
}

#[test]
fn figures_and_reasons_are_those_of_the_tree() {
    let root = tree("figures");
    let (result, pool, _) = look(root.to_str().unwrap(), 0);
    assert_eq!(result, OK);
    // SAFETY: the pool is alive until it is freed below, and the structures have their sizes.
    unsafe {
        assert_eq!(amdgpu_pool_count(pool), 1);
        let mut gpu: CGpu = sized(size_of::<CGpu>());
        assert_eq!(amdgpu_pool_gpu(pool, 0, &raw mut gpu), OK);
        assert_eq!(CStr::from_ptr(gpu.pci), c"0000:03:00.0");
        assert_eq!((gpu.kind, gpu.is_asleep, gpu.device_id), (1, 1, 0x67df));
        assert_eq!((gpu.vram_total, gpu.available, gpu.vram_usable), (4 << 30, 3 << 30, UNKNOWN));
        assert_eq!((gpu.gtt_total, gpu.own_vram, gpu.heaps), (UNKNOWN, UNKNOWN, 0));
        let mut fit: CFit = sized(size_of::<CFit>());
        assert_eq!(amdgpu_pool_fits(pool, 0, 1 << 30, &raw mut fit), OK);
        assert_eq!((fit.verdict, fit.is_in_one_piece, fit.own_memory, fit.lacking), (1, 1, 1 << 30, 0));
        assert_eq!(amdgpu_pool_fits(pool, 0, 5 << 30, &raw mut fit), OK);
        assert_eq!((fit.verdict, fit.own_memory, fit.lacking), (0, 0, 2 << 30));
        assert!(CStr::from_ptr(fit.reason.as_ptr()).to_str().unwrap().contains("2147483648 bytes are lacking"));
        let mut limit: CLimit = sized(size_of::<CLimit>());
        assert_eq!(amdgpu_pool_limit(pool, 0, 0, &raw mut limit), OK);
        assert_eq!((CStr::from_ptr(limit.name), limit.bytes, limit.state), (c"vram", 4 << 30, 1));
        assert_eq!(amdgpu_pool_limit(pool, 0, gpu.limits, &raw mut limit), OUT_OF_RANGE);
        let (mut source, mut reason) = (null(), null());
        let lines: Vec<_> = (0..gpu.missing)
            .map(|line| {
                assert_eq!(amdgpu_pool_missing(pool, 0, line, &raw mut source, &raw mut reason), OK);
                CStr::from_ptr(source).to_str().unwrap().to_owned()
            })
            .collect();
        assert!(lines.contains(&"INFO".to_owned()) && lines.contains(&"mem_info_gtt_total".to_owned()), "{lines:?}");
        amdgpu_pool_free(pool);
    }
}

#[test]
fn a_shorter_structure_is_written_as_far_as_it_goes() {
    let root = tree("shorter");
    let (_, pool, _) = look(root.to_str().unwrap(), 0);
    // SAFETY: the pool is alive, and the library writes no more than the size says.
    unsafe {
        let mut gpu: CGpu = sized(16);
        assert_eq!(amdgpu_pool_gpu(pool, 0, &raw mut gpu), OK);
        assert_eq!((gpu.struct_size, gpu.kind, gpu.pci.is_null(), gpu.render.is_null()), (16, 1, false, true));
        let mut nothing: CGpu = sized(0);
        assert_eq!(amdgpu_pool_gpu(pool, 0, &raw mut nothing), BAD_ARGUMENT);
        amdgpu_pool_free(pool);
    }
}

#[test]
fn bad_arguments_and_machines_without_gpus_are_told_apart() {
    let (result, pool, message) = look("/nonexistent", 0);
    assert_eq!((result, pool.is_null()), (NO_GPU, true));
    assert!("no amdgpu GPU: /sys/class/drm: not there".starts_with(&message), "{message}");
    assert_eq!(message.len(), 39, "cut to the buffer, in which a zero ends it");
    let (result, _, message) = look("/", 64);
    assert_eq!((result, message.as_str()), (BAD_ARGUMENT, "flags has a bit that is unknown"));
    let root = tree("bad");
    let (_, pool, _) = look(root.to_str().unwrap(), 2);
    // SAFETY: null is allowed everywhere; the pool is alive.
    unsafe {
        assert_eq!(amdgpu_pool_look(null(), 0, null_mut(), null_mut(), 0), BAD_ARGUMENT);
        assert_eq!(amdgpu_pool_count(null()), 0);
        assert_eq!(amdgpu_pool_gpu(null(), 0, null_mut()), BAD_ARGUMENT);
        assert_eq!(amdgpu_pool_gpu(pool, 0, null_mut()), BAD_ARGUMENT);
        let mut gpu: CGpu = sized(size_of::<CGpu>());
        assert_eq!(amdgpu_pool_gpu(pool, 1, &raw mut gpu), OUT_OF_RANGE);
        let mut heap: CHeap = sized(size_of::<CHeap>());
        assert_eq!(amdgpu_pool_heap(pool, 0, 0, &raw mut heap), OUT_OF_RANGE, "it sleeps, so there are none");
        assert_eq!(amdgpu_pool_missing(pool, 0, 0, null_mut(), null_mut()), BAD_ARGUMENT);
        amdgpu_pool_free(pool);
        amdgpu_pool_free(null_mut());
    }
}
