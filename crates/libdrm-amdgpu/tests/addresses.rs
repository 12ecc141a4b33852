//! Addresses beside those of libdrm: the same random requests on managers of both libraries.

#![expect(unsafe_code, reason = "functions of shared libraries")]

mod support;

use std::{
    ffi::{CString, c_int, c_uint, c_void},
    os::unix::ffi::OsStrExt as _,
    path::Path,
    ptr,
};

use support::{missing, ours, theirs};

type Pointer = *mut c_void;

/// The functions of a library that need no device.
struct Library {
    new: unsafe extern "C" fn() -> Pointer,
    initialize: unsafe extern "C" fn(Pointer, u64, u64, u64, u64, u32),
    /// libdrm has it since 2.4.125.
    initialize2: Option<unsafe extern "C" fn(Pointer, u64, u64, u64, u64, u32, u32)>,
    fact: Option<unsafe extern "C" fn(Pointer, c_uint, *mut u32) -> c_int>,
    end: unsafe extern "C" fn(Pointer),
    take: unsafe extern "C" fn(Pointer, c_uint, u64, u64, u64, *mut u64, *mut Pointer, u64) -> c_int,
    give: unsafe extern "C" fn(Pointer) -> c_int,
}

impl Library {
    #[expect(clippy::missing_transmute_annotations, reason = "the fields have the types")]
    /// Opens a library; returns the name of a function that it lacks if there is one, as old releases of libdrm do.
    fn open(path: &Path) -> Result<Self, &'static str> {
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: a path that ends with NUL; the library's constructors do nothing.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!library.is_null(), "{path:?} cannot be loaded");
        let symbol = |name: &'static str| {
            let name = CString::new(name).unwrap();
            // SAFETY: a library that stays open, and a name that ends with NUL.
            unsafe { libc::dlsym(library, name.as_ptr()) }
        };
        let needed = |name| Some(symbol(name)).filter(|symbol| !symbol.is_null()).ok_or(name);
        macro_rules! function {
            ($symbol:expr) => {
                // SAFETY: the function has this type in the header of libdrm.
                unsafe { std::mem::transmute($symbol) }
            };
        }
        Ok(Self {
            new: function!(needed("amdgpu_va_manager_alloc")?),
            initialize: function!(needed("amdgpu_va_manager_init")?),
            initialize2: function!(symbol("amdgpu_va_manager_init2")),
            fact: function!(symbol("amdgpu_va_manager_query_sw_info")),
            end: function!(needed("amdgpu_va_manager_deinit")?),
            take: function!(needed("amdgpu_va_range_alloc2")?),
            give: function!(needed("amdgpu_va_range_free")?),
        })
    }
}

/// A manager of a library.
struct Manager<'l> {
    library: &'l Library,
    object: Pointer,
}

impl<'l> Manager<'l> {
    fn new(library: &'l Library, [low, low_max, high, high_max]: [u64; 4], alignment: u32, splits: bool) -> Self {
        // SAFETY: no arguments.
        let object = unsafe { (library.new)() };
        match library.initialize2.filter(|_| splits) {
            // SAFETY: a manager that was just made, and numbers.
            Some(initialize) => unsafe { initialize(object, low, low_max, high, high_max, alignment, 1) },
            // SAFETY: as above.
            None => unsafe { (library.initialize)(object, low, low_max, high, high_max, alignment) },
        }
        Self { library, object }
    }

    fn take(&self, [size, alignment, required, flags]: [u64; 4]) -> (c_int, u64, Pointer) {
        let (mut address, mut range) = (0x55, ptr::null_mut());
        // SAFETY: a manager, numbers, and places for the answers.
        let code = unsafe {
            (self.library.take)(self.object, 0, size, alignment, required, &raw mut address, &raw mut range, flags)
        };
        (code, address, range)
    }

    fn give(&self, range: Pointer) -> c_int {
        // SAFETY: a range of this library that is out, or null.
        unsafe { (self.library.give)(range) }
    }

    /// Returns the control bit, where the library tells it.
    fn control_bit(&self) -> Option<(c_int, u32)> {
        let mut bit = 0;
        // SAFETY: a manager, and a place for the answer.
        let code = unsafe { (self.library.fact?)(self.object, 0, &raw mut bit) };
        Some((code, bit))
    }
}

impl Drop for Manager<'_> {
    fn drop(&mut self) {
        // SAFETY: a manager that is not used any more.
        unsafe { (self.library.end)(self.object) };
        // SAFETY: the contract is that the client frees the memory, which malloc gave.
        unsafe { libc::free(self.object) };
    }
}

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }
}

const GIB: u64 = 1 << 30;
const HIGH: u64 = 0xffff_8000_0000_0000;

/// Bounds and alignments: those of chips, and odd ones.
const MANAGERS: &[([u64; 4], u32)] = &[
    ([0x20_0000, 1 << 47, HIGH, 0xffff_ffff_ffe0_0000], 4096),
    ([0x20_0000, (1 << 36) - 0x20_0000, 0, 0], 4096),
    ([0x1_0000, 1 << 47, HIGH, 0xffff_ffff_ffbf_0000], 65536),
    ([0x20_0000, 1 << 47, HIGH, HIGH + 64 * GIB], 4096),
    ([0, 16 * GIB, 0, 0], 4096),
    ([0x10_0000, GIB, 0, 0], 4096),
    ([0x10_0800, 6 * GIB + 0x123, HIGH + 0x700, HIGH + 8 * GIB], 4096),
    ([0x20_0000, 6 * GIB, 0, 0], 256),
];

/// Requests that clients make.
fn usual(numbers: &mut Numbers, low: u64) -> [u64; 4] {
    let most = numbers.of(&[4096, 65536, 1 << 20, 64 << 20]);
    let size = 1 + numbers.below(most);
    let alignment = numbers.of(&[0, 1, 4096, 65536, 2 << 20]);
    let required = match numbers.below(10) {
        0 => low.next_multiple_of(1 << 21) + (numbers.below(1 << 10) << 21),
        1 => HIGH + (numbers.below(1 << 10) << 21),
        2 => 4 * GIB + (numbers.below(1 << 20) << 12),
        _ => 0,
    };
    [size, alignment, required, numbers.below(8)]
}

/// Requests that only tests make.
fn unusual(numbers: &mut Numbers, low: u64) -> [u64; 4] {
    let [size, alignment, required, flags] = usual(numbers, low);
    match numbers.below(8) {
        0 => [0, alignment, required, flags],
        1 => [size, numbers.of(&[3, 4097, 0x1800, 0x3000, 12_345_678]), 0, flags],
        2 => [size, 0, required + 1, flags],
        3 => [numbers.of(&[u64::MAX, 1 << 47, 1 << 62, u64::MAX - 4096]), alignment, 0, flags],
        _ => [size, alignment, required, flags | numbers.below(2) << 40],
    }
}

/// Makes the same requests of both libraries.
fn compare(requests: impl Fn(&mut Numbers, u64) -> [u64; 4], steps: u64) {
    let Some(theirs) = theirs() else { return };
    let theirs = match Library::open(&theirs) {
        Ok(library) => library,
        Err(lacks) => return missing(&format!("{} has no {lacks}", theirs.display())),
    };
    let ours = Library::open(&ours()).unwrap();
    for (number, &(bounds, alignment)) in MANAGERS.iter().enumerate() {
        for splits in [false, true] {
            if splits && theirs.initialize2.is_none() {
                continue;
            }
            let managers = [&theirs, &ours].map(|library| Manager::new(library, bounds, alignment, splits));
            let [expected, found] = managers.each_ref().map(Manager::control_bit);
            assert!(expected.is_none() || expected == found, "{number}: {expected:x?} {found:x?}");
            let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15 ^ number as u64);
            let mut live: Vec<[Pointer; 2]> = Vec::new();
            for step in 0..steps {
                if !live.is_empty() && numbers.below(100) < 48 {
                    let ranges = live.swap_remove(numbers.below(live.len() as u64) as usize);
                    let codes = [0, 1].map(|side| managers[side].give(ranges[side]));
                    assert_eq!(codes, [0, 0], "manager {number}, step {step}");
                    continue;
                }
                let request = requests(&mut numbers, bounds[0]);
                let [expected, found] = managers.each_ref().map(|manager| manager.take(request));
                assert_eq!(
                    (expected.0, expected.1),
                    (found.0, found.1),
                    "manager {number}, split {splits}, step {step}: {request:x?}"
                );
                if expected.0 == 0 {
                    live.push([expected.2, found.2]);
                }
            }
            for ranges in live {
                assert_eq!([0, 1].map(|side| managers[side].give(ranges[side])), [0, 0]);
            }
        }
    }
}

#[test]
fn clients_get_the_addresses_that_libdrm_gives_them() {
    compare(usual, 20_000);
}

#[test]
fn unusual_requests_get_the_addresses_and_errors_of_libdrm() {
    compare(unusual, 6_000);
}

#[test]
fn a_range_may_be_freed_after_its_manager_and_a_manager_is_made_again() {
    let library = Library::open(&ours()).unwrap();
    let manager = Manager::new(&library, MANAGERS[0].0, 4096, true);
    let (code, _, range) = manager.take([4096, 0, 0, 0]);
    assert_eq!(code, 0);
    // SAFETY: a manager.
    unsafe { (library.end)(manager.object) };
    // A manager that was not initialised, and null.
    assert_eq!(manager.take([4096, 0, 0, 0]).0, -libc::EINVAL);
    assert_eq!(manager.give(range), 0);
    assert_eq!(manager.give(ptr::null_mut()), 0);
    // SAFETY: a manager, and numbers.
    unsafe { (library.initialize)(manager.object, 0x20_0000, 1 << 40, 0, 0, 4096) };
    assert_eq!(manager.take([4096, 0, 0, 0]).1, 4 * GIB);
}
