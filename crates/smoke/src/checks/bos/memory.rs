//! Device memory, as vkAllocateMemory gives it.

use amdgpu_winsys::heaps::{
    Addressing, AllocateInfo, BudgetRule, DeviceMemory, HeapBudget, MemoryPropertyFlags, UsageEntry,
};

use crate::{
    checks::check::Check,
    gpu::test_context::TestContext,
    result::outcome::{ErrorContext, Outcome, Stop, ensure, same, same_bytes},
};

pub(crate) const CHECKS: &[Check] = &[
    Check::once("memory.types", "each memory type gives memory in its window, mapped where Vulkan says so", types),
    Check::once("memory.budget", "own usage follows each allocation, and no budget passes its heap", budget),
];

const SIZE: u64 = 64 << 10;

fn types(test: &TestContext<'_>) -> Outcome {
    let types = test.memory.properties().types();
    let mut mapped = 0;
    for (index, row) in (0..).zip(types) {
        let memory = allocate(test, index)?;
        in_its_window(test, index, row.addressing, &memory)?;
        if row.properties.contains(MemoryPropertyFlags::HOST_VISIBLE) {
            holds_what_is_written(test, index, &memory)?;
            mapped += 1;
        }
    }
    Ok(format!("{} types, {mapped} of them mapped", types.len()))
}

fn allocate(test: &TestContext<'_>, memory_type: u32) -> Result<DeviceMemory, Stop> {
    let info = AllocateInfo::new(memory_type, SIZE);
    test.memory.allocate(&info).context(&format!("allocating {SIZE} bytes of type {memory_type}"))
}

fn in_its_window(
    test: &TestContext<'_>,
    index: u32,
    addressing: Addressing,
    memory: &DeviceMemory,
) -> Result<(), Stop> {
    let (info, address) = (test.device.info(), memory.address());
    let in_32_bit_window = address.high() == test.device.addresses().windows().address32_hi();
    same(
        &format!("type {index} at {address} in the 32-bit window"),
        in_32_bit_window,
        addressing == Addressing::Bits32,
    )?;
    let alignment = u64::from(info.va_alignment);
    ensure(address.is_aligned(alignment), || format!("type {index}: {address} is not a multiple of {alignment}"))
}

fn holds_what_is_written(test: &TestContext<'_>, index: u32, memory: &DeviceMemory) -> Result<(), Stop> {
    let bytes = test.pattern(index, SIZE as usize);
    let mapping = memory.map().context(&format!("mapping type {index}"))?;
    mapping.write(0, &bytes).context("writing")?;
    let mut found = vec![0; bytes.len()];
    mapping.read(0, &mut found).context("reading")?;
    same_bytes(&found, &bytes).map_err(|stop| stop.of(format_args!("type {index}")))
}

fn budget(test: &TestContext<'_>) -> Outcome {
    let properties = test.memory.properties();
    let mut least = u64::MAX;
    for (heap, row) in (0..).zip(properties.heaps()) {
        let Some((memory_type, _)) = (0..).zip(properties.types()).find(|(_, row)| row.heap == heap) else { continue };
        let before = of_heap(test, heap)?;
        let memory = allocate(test, memory_type)?;
        let during = of_heap(test, heap)?;
        same(
            &format!("own usage of heap {heap}"),
            during.usage,
            before.usage + memory.charge().map_or(0, UsageEntry::bytes),
        )?;
        for HeapBudget { budget, .. } in [before, during] {
            ensure(0 < budget && budget <= row.size, || {
                format!("the budget of heap {heap} is {budget}, its size {}", row.size)
            })?;
            least = least.min(budget);
        }
        drop(memory);
        same(&format!("own usage of heap {heap} after freeing"), of_heap(test, heap)?.usage, before.usage)?;
    }
    Ok(format!("{} heaps, smallest budget {} MiB", properties.heaps().len(), least >> 20))
}

fn of_heap(test: &TestContext<'_>, heap: u32) -> Result<HeapBudget, Stop> {
    let budgets = test.memory.budgets(BudgetRule::Corrected).context("asking for the budgets")?;
    budgets.heaps().get(heap as usize).copied().ok_or_else(|| Stop::failed(format!("heap {heap} has no budget")))
}
