//! Rules of GEM_CREATE: they know the simulated kernel's answer before it gives it.
#![expect(unsafe_code, reason = "the same request behind the library's back")]

use crate::support::{chip, chips, device};
use amdgpu_sim::{KernelRelease, SimDevice, SimOptions};
use amdgpu_winsys::{
    uapi::{Argument, GemClose, GemCreate, GemCreateFlags as Flags, GemDomain as Domain, VaFlags},
    vamgr::VaRequest,
    winsys::{
        BindError, Binding, Bo, BoMetadata, BoRequest, BoRuleError, BoundRequest, BrokenBoRule, CreateBoError, Device,
        Errno, Gfx12Tiling, GfxLevel, Tiling, UnsupportedVaFlags,
    },
};
use proptest::prelude::*;

fn with_minor(name: &str, drm_minor: i32) -> Device {
    Device::new(SimDevice::new(chip(name), SimOptions { drm_minor, ..SimOptions::default() }).open()).unwrap()
}

/// GEM_CREATE without the library's own checks.
fn kernel_says(device: &Device, request: BoRequest) -> Result<(), Errno> {
    let BoRequest { size, alignment, domains, flags } = request;
    let mut create = GemCreate { bo_size: size, alignment, domains: domains.bits(), domain_flags: flags.bits() };
    // SAFETY: the argument is the request's structure, which holds no address. It only creates an object.
    unsafe { device.kernel().ioctl(GemCreate::REQUEST, std::ptr::from_mut(&mut create).cast()) }?;
    // The answer begins with the handle.
    let mut close = GemClose { handle: create.bo_size as u32, pad: 0 };
    // SAFETY: the argument is the request's structure, which holds no address. The handle was just created here.
    unsafe { device.kernel().ioctl(GemClose::REQUEST, std::ptr::from_mut(&mut close).cast()) }?;
    Ok(())
}

fn any_request() -> impl Strategy<Value = BoRequest> {
    let sizes = prop::sample::select(vec![0, 1, 4096, 5000, 1 << 20, u64::MAX - 4094, u64::MAX]);
    let alignments = prop::sample::select(vec![0, 1, 4096, 1 << 20]);
    // Mostly few bits, or nothing would ever be granted.
    let domains = prop_oneof![
        3 => prop::sample::select(vec![0, 2, 4, 6, 8, 0x10, 0x20]),
        1 => any::<u8>().prop_map(u64::from),
    ];
    let flags =
        prop::collection::vec(0..18_u32, 0..3).prop_map(|bits| bits.iter().fold(0, |flags, bit| flags | 1 << bit));
    (sizes, alignments, domains, flags).prop_map(|(size, alignment, domains, flags)| BoRequest {
        size,
        alignment,
        domains: Domain::from_bits_retain(domains),
        flags: Flags::from_bits_retain(flags),
    })
}

proptest! {
    #[test]
    fn a_request_is_refused_exactly_when_the_kernel_would_and_with_its_errno(
        requests in prop::collection::vec(any_request(), 1..40),
        name in prop::sample::select(vec!["navi21", "polaris10", "raven"]),
    ) {
        // Later kernels refuse doorbells without user queues before they look at the size.
        let linux = SimOptions::of_kernel(KernelRelease::V6_12);
        let device = Device::new(SimDevice::new(chip(name), linux).open()).unwrap();
        for request in requests {
            let (rule, kernel) = (request.check(device.info()), kernel_says(&device, request));
            match rule {
                Ok(()) => prop_assert!(matches!(kernel, Ok(()) | Err(Errno::ENOMEM)), "{request:?}: {kernel:?}"),
                Err(rule) => prop_assert_eq!(kernel, Err(rule.errno()), "{:?}: {}", request, rule),
            }
        }
    }
}

fn refused(device: &Device, size: u64, alignment: u64, domains: Domain, flags: Flags) -> BoRuleError {
    match Bo::create(device, BoRequest { size, alignment, domains, flags }) {
        Err(CreateBoError::Rule(BrokenBoRule { rule, .. })) => rule,
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn each_broken_rule_is_named() {
    let device = with_minor("polaris10", 46);
    let rule = |size, alignment, domains, flags| refused(&device, size, alignment, domains, flags);
    let none = Flags::empty();
    assert_eq!(rule(0, 0, Domain::GTT, none), BoRuleError::ZeroSize);
    assert_eq!(rule(u64::MAX, 0, Domain::GTT, none), BoRuleError::SizeOverflow { size: u64::MAX });
    for alignment in [3, 12288, 1 << 31, u64::MAX] {
        assert_eq!(rule(1, alignment, Domain::GTT, none), BoRuleError::Alignment { alignment });
    }
    assert_eq!(rule(1, 0, Domain::DOORBELL, none), BoRuleError::Domain(Domain::DOORBELL));
    let mixed = Domain::GDS | Domain::VRAM;
    assert_eq!(rule(1, 0, mixed, none), BoRuleError::MixedDomains(mixed));
    assert_eq!(rule(1, 0, Domain::OA, Flags::VM_ALWAYS_VALID), BoRuleError::AlwaysValid(Domain::OA));
    assert_eq!(rule(1, 0, Domain::VRAM, Flags::VRAM_CONTIGUOUS), BoRuleError::Flag(Flags::VRAM_CONTIGUOUS));
    assert_eq!(rule(1, 0, Domain::VRAM, Flags::ENCRYPTED), BoRuleError::NoTmz);
    let too_old = BoRuleError::TooOld { flag: Flags::DISCARDABLE, minor: 46, needed: 47 };
    assert_eq!(rule(1, 0, Domain::VRAM, Flags::DISCARDABLE), too_old);
    assert_eq!(too_old.to_string(), "GemCreateFlags(DISCARDABLE) needs amdgpu 3.47, this is 3.46");
}

#[test]
fn every_flag_of_user_space_and_the_units_of_the_chip_can_be_had() {
    let device = device("navi21");
    for flags in [
        Flags::CPU_ACCESS_REQUIRED,
        Flags::NO_CPU_ACCESS,
        Flags::CPU_GTT_USWC,
        Flags::VRAM_CLEARED,
        Flags::VM_ALWAYS_VALID,
        Flags::EXPLICIT_SYNC,
        Flags::DISCARDABLE,
        Flags::GFX12_DCC,
    ] {
        let request = BoRequest { size: 4096, alignment: 0, domains: Domain::VRAM, flags };
        let bo = Bo::create(&device, request).unwrap();
        let kept = bo.create_info().unwrap().flags;
        // The hint is used up when the BO is placed.
        assert!(kept.contains(flags - Flags::CPU_ACCESS_REQUIRED), "{flags:?}: {kept:?}");
    }
    for domains in [Domain::GDS, Domain::GWS, Domain::OA] {
        let request = BoRequest { size: 4, alignment: 0, domains, flags: Flags::empty() };
        let bo = Bo::create(&device, request).unwrap();
        assert_eq!(bo.create_info().unwrap().domains, domains);
    }
}

#[test]
fn encrypted_memory_needs_a_chip_and_a_kernel_with_tmz() {
    // Beside those of this run, a chip with and one without.
    for name in chips().into_iter().chain(["renoir", "navi21"]) {
        let device = device(name);
        let request = BoRequest { size: 4096, alignment: 0, domains: Domain::VRAM, flags: Flags::ENCRYPTED };
        let tmz = device.info().capabilities.contains(amdgpu_winsys::winsys::Capabilities::TMZ);
        assert_eq!(Bo::create(&device, request).is_ok(), tmz, "{name}");
        assert!(name != "renoir" || tmz, "it has TMZ");
        assert!(name != "navi21" || !tmz, "it has none");
    }
}

/// W-07: libdrm's simple binding call ignores its flags and binds for reading, writing and executing.
#[test]
fn a_binding_has_the_rights_it_was_given_and_impossible_ones_are_named() {
    let device = with_minor("navi21", 46);
    let request = BoRequest { size: 4096, alignment: 0, domains: Domain::GTT, flags: Flags::empty() };
    let bo = Bo::create(&device, request).unwrap();
    let bind = |flags| {
        let lease = device.addresses().allocate(VaRequest::new(4096)).unwrap();
        Binding::new(&bo, lease, flags).map_err(|(_, error)| error)
    };
    let data = VaFlags::READABLE | VaFlags::WRITEABLE;
    let code = VaFlags::READABLE | VaFlags::EXECUTABLE;
    assert_eq!([data, code].map(|flags| bind(flags).unwrap().flags()), [data, code]);
    for flags in [data | VaFlags::PRT, data | VaFlags::NOALLOC, VaFlags::from_bits_retain(1 << 20)] {
        assert!(
            matches!(bind(flags), Err(BindError::Flags(UnsupportedVaFlags { flags: named, .. })) if named == flags),
            "{flags:?}"
        );
    }
    let newer = with_minor("navi21", 47);
    let (bo, lease) = (Bo::create(&newer, request).unwrap(), newer.addresses().allocate(VaRequest::new(4096)).unwrap());
    assert_eq!(Binding::new(&bo, lease, data | VaFlags::NOALLOC).unwrap().flags(), data | VaFlags::NOALLOC);
}

#[test]
fn tiling_words_and_the_drivers_own_bytes_travel_with_the_bo() {
    for (name, tiling) in [
        ("polaris10", Tiling::decode(GfxLevel::Gfx8, 0x12_3454)),
        ("navi21", Tiling::decode(GfxLevel::Gfx10_3, 1 << 63 | 0x1b)),
        ("navi31", Tiling::Gfx12(Gfx12Tiling::RAW_MEMORY)),
    ] {
        let device = device(name);
        let request = BoRequest { size: 4096, alignment: 0, domains: Domain::VRAM, flags: Flags::empty() };
        let bo = Bo::create(&device, request).unwrap();
        let metadata = BoMetadata { tiling: tiling.encode().unwrap(), flags: 7, data: (0..=255).collect() };
        bo.set_metadata(&metadata).unwrap();
        let other = Bo::import(&device, bo.export().unwrap()).unwrap();
        assert_eq!(other.metadata().unwrap(), metadata, "{name}");
    }
}

#[test]
fn a_bo_can_be_named_and_told_where_to_be() {
    let device = device("navi21");
    let request = BoRequest { size: 4096, alignment: 0, domains: Domain::VRAM, flags: Flags::empty() };
    let bo = Bo::create(&device, request).unwrap();
    assert_eq!(bo.name(), None);
    bo.set_name("the depth buffer");
    assert_eq!(bo.name().as_deref(), Some("the depth buffer"));
    bo.prefer(Domain::GTT).unwrap();
    assert_eq!(bo.create_info().unwrap().domains, Domain::GTT);
}

#[test]
fn a_bo_that_is_bound_as_it_is_made_has_what_was_asked_for() {
    let device = device("navi21");
    for (guard_page, priority, kept) in [(false, 0, 0), (true, 27, 27), (false, 255, 255), (true, 1000, 255)] {
        let bo = BoRequest { size: 8192, alignment: 0, domains: Domain::GTT, flags: Flags::empty() };
        let (addresses, flags) = (VaRequest::new(8192 + 4096), VaFlags::READABLE);
        let request = BoundRequest { bo, addresses, flags, priority, guard_page };
        let binding = Bo::create_bound(&device, &request).unwrap();
        assert_eq!((binding.priority(), binding.has_guard_page()), (kept, guard_page));
        assert_eq!((binding.offset(), binding.len(), binding.flags()), (0, 8192, flags));
        assert_eq!(binding.device(), &device);
        assert_eq!(binding.handle_count(), 1);
        let another = binding.clone();
        assert_eq!((&another, binding.handle_count()), (&binding, 2));
        drop(binding);
        assert_eq!((another.handle_count(), device.addresses().leased_bytes()), (1, 8192 + 4096));
        drop(another);
        assert_eq!(device.addresses().leased_bytes(), 0);
    }
}
