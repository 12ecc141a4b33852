//! Buffer objects.

use amdgpu_winsys::{
    cs,
    heaps::{AllocateError, AllocateInfo, AllocateMemoryError},
    uapi::{GemCreateFlags, GemDomain},
    winsys::{
        AccessError, Bo, BoMetadata, BoRequest, Errno, Ip, MapError, Mapping, PAGE_SIZE, SetMetadataError, Unmappable,
    },
};

use crate::{
    checks::check::Check,
    gpu::test_context::TestContext,
    result::outcome::{ErrorContext, Outcome, Stop, ensure, refused, same, same_bytes},
};

pub(crate) const CHECKS: &[Check] = &[
    Check::once("bo.create", "BOs are created in VRAM and GTT, and the kernel remembers them as asked", create),
    Check::once("bo.map", "two CPU mappings of a BO show the same bytes, also when one of them is gone", map),
    Check::once("bo.metadata", "the words stored with a BO come back", metadata).needing_a_kernel(),
    Check::once("bo.refusals", "what cannot be is refused with an error that says what it is", refusals),
];

const MAPPABLE: GemCreateFlags = GemCreateFlags::CPU_ACCESS_REQUIRED;

fn bo(test: &TestContext<'_>, size: u64, domains: GemDomain, flags: GemCreateFlags) -> Result<Bo, Stop> {
    let request = BoRequest { size, alignment: PAGE_SIZE, domains, flags };
    Bo::create(&test.device, request).context("creating a BO")
}

fn create(test: &TestContext<'_>) -> Outcome {
    /// More than a page and no multiple of one.
    const SIZE: u64 = 5000;
    let mut confirmed = 0;
    for domain in [GemDomain::GTT, GemDomain::VRAM] {
        let bo = bo(test, SIZE, domain, MAPPABLE)?;
        same("size", bo.size(), 2 * PAGE_SIZE)?;
        match bo.create_info() {
            // A stand-in kernel leaves the answer as it was.
            Ok(info) if info.size == 0 && test.is_stand_in() => {}
            Ok(info) => {
                same("size the kernel remembers", info.size, 2 * PAGE_SIZE)?;
                same("domain the kernel remembers", info.domains, domain)?;
                confirmed += 1;
            }
            Err(_) if test.is_stand_in() => {}
            Err(error) => return Err(error).context("asking what the kernel remembers"),
        }
    }
    Ok(format!("{SIZE} bytes became two pages in GTT and in VRAM; the kernel confirmed {confirmed} of 2"))
}

fn map(test: &TestContext<'_>) -> Outcome {
    let bo = bo(test, 2 * PAGE_SIZE, GemDomain::GTT, MAPPABLE)?;
    let len = 2 * PAGE_SIZE as usize;
    let first = Mapping::new(&bo).context("mapping it")?;
    let second = Mapping::new(&bo).context("mapping it again")?;
    let (ours, theirs) = (test.pattern(1, len), test.pattern(2, len));
    let mut seen = vec![0; len];
    first.write(0, &ours).context("writing through the first mapping")?;
    second.read(0, &mut seen).context("reading through the second mapping")?;
    same_bytes(&seen, &ours)?;
    second.write(0, &theirs).context("writing through the second mapping")?;
    drop(second);
    first.read(0, &mut seen).context("reading through the first mapping")?;
    same_bytes(&seen, &theirs)?;
    Ok(format!("{len} bytes both ways"))
}

fn metadata(test: &TestContext<'_>) -> Outcome {
    let bo = bo(test, PAGE_SIZE, GemDomain::GTT, GemCreateFlags::empty())?;
    let stored = BoMetadata { tiling: 0, flags: 0x5a, data: test.pattern(3, 64) };
    bo.set_metadata(&stored).context("storing metadata")?;
    let found = bo.metadata().context("fetching metadata")?;
    same("flags", found.flags, stored.flags)?;
    same_bytes(&found.data, &stored.data)?;
    Ok(format!("{} bytes", stored.data.len()))
}

/// Only what the library itself refuses: kernels differ in what they let pass.
fn refusals(test: &TestContext<'_>) -> Outcome {
    let types = test.memory.properties().types();
    let allocate = |memory_type, size| test.memory.allocate(&AllocateInfo::new(memory_type, size));
    let is = |wanted: AllocateError| move |error: &AllocateMemoryError| *error == wanted.into();
    let count = types.len() as u32;
    refused("an allocation of no bytes", allocate(0, 0), is(AllocateError::ZeroSize { memory_type: 0 }))?;
    let no_type = AllocateError::NoSuchType { memory_type: count, count };
    refused("an allocation of no type", allocate(count, 4096), is(no_type))?;
    let beyond =
        |error: &AllocateMemoryError| matches!(error, AllocateMemoryError::Request(AllocateError::BeyondHeap { .. }));
    refused("an allocation of all bytes there are", allocate(0, u64::MAX), beyond)?;

    let hidden = bo(test, PAGE_SIZE, GemDomain::VRAM | GemDomain::GTT, GemCreateFlags::NO_CPU_ACCESS)?;
    let no_access = Unmappable::NoCpuAccess { handle: hidden.handle() };
    let unmappable = |error: &MapError| *error == MapError::Unmappable(no_access);
    refused("mapping a BO without CPU access", Mapping::new(&hidden), unmappable)?;
    let misaligned = BoRequest { size: 1, alignment: 3, domains: GemDomain::GTT, flags: MAPPABLE };
    let created = Bo::create(&test.device, misaligned);
    refused("an alignment of 3", created, |error| error.errno() == Some(Errno::EINVAL))?;
    let long = BoMetadata { data: vec![0; 257], ..BoMetadata::default() };
    let range = |error: &SetMetadataError| matches!(error, SetMetadataError::OutOfRange(_));
    refused("257 bytes of metadata", hidden.set_metadata(&long), range)?;

    let shown = bo(test, PAGE_SIZE, GemDomain::GTT, MAPPABLE)?;
    let mapping = Mapping::new(&shown).context("mapping a page")?;
    refused("a load past the end", mapping.load_u32(PAGE_SIZE), |error| matches!(error, AccessError::OutOfRange(_)))?;
    ensure(test.queue(crate::gpu::ring::Ring { ip: Ip::Compute, index: u32::MAX }).is_err(), || {
        "a queue on a ring that does not exist was not refused".to_owned()
    })?;
    let capacity = cs::Stream::new(&test.device, cs::pm4::Target::gfx(test.device.info().gfx_level), 0);
    refused("a stream without room", capacity, |error| {
        matches!(error, cs::RecordError::StreamCapacity { dwords: 0, .. })
    })?;
    Ok("9 requests".to_owned())
}
