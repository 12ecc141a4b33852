//! The tables, requests and budgets that RADV 26.2.6 computed for captured and derived chips under fifteen options.
//!
//! Every recorded field about memory is compared, and a field that this test does not know makes it fail. Not compared,
//! because they are no business of heaps:
//!
//! * `size`, `alignment` and the dedicated-allocation answers of `bufferMemoryRequirements`: rules about buffers;
//! * the absolute addresses in `allocationProbes`, which depend on what the driver allocated before; their alignment and
//!   everything else about the calls is compared;
//! * in the probes that import a host pointer, all but the memory type: such memory has no GEM_CREATE.

use crate::captures::{devices, facts, load, number, number32, options};
use amdgpu_winsys::{
    heaps::*,
    uapi::{GemCreateFlags, GemDomain, VaFlags},
};
use serde_json::Value;

/// One recorded run: a device under one option.
struct Run {
    name: String,
    variant: String,
    recorded: Value,
    memory: MemoryProperties,
    has_high_half: bool,
}

impl Run {
    /// The recorded value of `key`: a variant holds only what it changes.
    fn recorded(&self, key: &str) -> &Value {
        self.recorded["variants"][&self.variant].get(key).unwrap_or(&self.recorded["default"][key])
    }

    fn entries(&self, key: &str) -> &[Value] {
        self.recorded(key).as_array().unwrap()
    }

    /// The recorded allocations. Under an option only the plain one was made.
    fn probes(&self) -> impl Iterator<Item = &Value> {
        let all = self.variant == "default";
        self.entries("allocationProbes").iter().filter(move |probe| all || probe["probe"] == "plain")
    }
}

fn every_run() -> Vec<Run> {
    let mut runs = Vec::new();
    for device in devices() {
        let device = device.as_str();
        let recorded = load("radv", device);
        let has_high_half = number(&load("devices", device)["dev_info"]["high_va_offset"]) != 0;
        let mut variants: Vec<_> = recorded["variants"].as_object().unwrap().keys().cloned().collect();
        variants.push("default".to_owned());
        for variant in variants {
            let memory = MemoryProperties::new(&facts(device), &options(&variant));
            let name = format!("{device}, {variant}");
            runs.push(Run { name, variant, recorded: recorded.clone(), memory, has_high_half });
        }
    }
    assert_eq!(runs.len(), devices().len() * 16, "a default and fifteen variants each");
    assert!(devices().len() >= 21, "only {:?}", devices());
    runs
}

/// The names of an object's fields are exactly `known`.
#[track_caller]
fn assert_fields(object: &Value, known: &[&str], run: &Run) {
    let mut fields: Vec<_> = object.as_object().unwrap().keys().map(String::as_str).collect();
    let mut known = known.to_vec();
    fields.sort_unstable();
    known.sort_unstable();
    assert_eq!(fields, known, "{}: recorded fields that this test does not compare", run.name);
}

fn names(flags: impl Iterator<Item = (&'static str, MemoryPropertyFlags)>) -> Vec<Value> {
    flags.map(|(name, _)| name.into()).collect()
}

#[test]
fn heaps_have_radvs_sizes_flags_and_order() {
    for run in every_run() {
        let recorded = run.entries("memoryHeaps");
        assert_eq!(run.memory.heaps().len(), recorded.len(), "{}", run.name);
        let idle = run.memory.budgets(&OwnUsage::default(), &SystemUsage::default(), BudgetRule::Radv);
        for ((heap, budget), recorded) in run.memory.heaps().iter().zip(idle.heaps()).zip(recorded) {
            assert_fields(recorded, &["size", "flags", "flagNames", "heapBudget", "heapUsage"], &run);
            assert_eq!(heap.size, number(&recorded["size"]), "{}", run.name);
            assert_eq!(heap.flags.bits(), number32(&recorded["flags"]), "{}", run.name);
            let names: Vec<Value> = heap.flags.iter_names().map(|(name, _)| name.into()).collect();
            assert_eq!(&names, recorded["flagNames"].as_array().unwrap(), "{}", run.name);
            assert_eq!(budget.budget, number(&recorded["heapBudget"]), "{}", run.name);
            assert_eq!(budget.usage, number(&recorded["heapUsage"]), "{}", run.name);
        }
    }
}

#[test]
fn memory_types_have_radvs_properties_order_and_requests() {
    for run in every_run() {
        let recorded = run.entries("memoryTypes");
        assert_eq!(run.memory.types().len(), recorded.len(), "{}", run.name);
        for (index, (ty, recorded)) in (0..).zip(run.memory.types().iter().zip(recorded)) {
            let at = format!("{}, type {index}", run.name);
            assert_fields(recorded, &["heapIndex", "propertyFlags", "propertyFlagNames", "is32bit", "request"], &run);
            assert_eq!(ty.heap, number32(&recorded["heapIndex"]), "{at}");
            assert_eq!(ty.properties.bits(), number32(&recorded["propertyFlags"]), "{at}");
            assert_eq!(&names(ty.properties.iter_names()), recorded["propertyFlagNames"].as_array().unwrap(), "{at}");
            assert_eq!(Some(ty.addressing == Addressing::Bits32), recorded["is32bit"].as_bool(), "{at}");

            let plan = run.memory.resolve(&AllocateInfo::new(index, 64 << 10)).unwrap();
            let wanted = &recorded["request"];
            let fields = ["domains", "domain_flags", "alignment", "va_flags", "va_window", "guard_page"];
            assert_fields(wanted, &fields, &run);
            assert_eq!(plan.bo.domains, domains(&wanted["domains"]), "{at}");
            assert_eq!(plan.bo.flags, create_flags(&wanted["domain_flags"]), "{at}");
            assert_eq!(plan.bo.alignment, number(&wanted["alignment"]), "{at}");
            assert_eq!(plan.va_flags, va_flags(&wanted["va_flags"]), "{at}");
            assert_eq!(Some(window(&run, plan.addressing)), wanted["va_window"].as_str(), "{at}");
            assert_eq!(Some(plan.guard_page), wanted["guard_page"].as_bool(), "{at}");
        }
    }
}

#[test]
fn type_masks_are_radvs() {
    for run in every_run() {
        let narrow = TypeMask::from_bits(number32(run.recorded("memoryTypes32bit")));
        assert_eq!(run.memory.types_32bit(), narrow, "{}", run.name);
        for buffer in run.entries("bufferMemoryRequirements") {
            let (addressing, is_protected) = match buffer["buffer"].as_str().unwrap() {
                "resource descriptor buffer" | "DGC preprocess" => (Addressing::Bits32, false),
                "storage" | "uniform" | "transfer, 1 MiB" | "sparse" => (Addressing::Bits64, false),
                "protected storage" => (Addressing::Bits64, true),
                other => panic!("{}: unknown kind of buffer: {other}", run.name),
            };
            let types = run.memory.buffer_types(addressing, is_protected);
            // RADV offers protected types for buffers that are not, which Vulkan forbids: such memory cannot be bound to them.
            let refused = if is_protected { 0 } else { run.memory.types_protected().bits() };
            assert_eq!(types.bits(), number32(&buffer["memoryTypeBits"]) & !refused, "{}: {buffer}", run.name);
        }
        let host_pointer = run.recorded("hostPointerProperties");
        assert_fields(host_pointer, &["handleType", "result", "memoryTypeBits"], &run);
        assert_eq!(host_pointer["handleType"], "HOST_ALLOCATION_EXT", "{}", run.name);
        assert_eq!(host_pointer["result"], "VK_SUCCESS", "{}", run.name);
        assert_eq!(run.memory.host_pointer_types().bits(), number32(&host_pointer["memoryTypeBits"]), "{}", run.name);
    }
}

#[test]
fn allocations_make_radvs_calls() {
    let mut seen = 0;
    for run in every_run() {
        for probe in run.probes().filter(|probe| probe["probe"] != "import host pointer") {
            let at = format!("{}: {probe}", run.name);
            let mut info = AllocateInfo::new(number32(&probe["memoryTypeIndex"]), number(&probe["allocationSize"]));
            match probe["probe"].as_str().unwrap() {
                "export dma-buf" | "export opaque fd" => info.flags = AllocateFlags::EXPORTABLE,
                "device address capture/replay" => info.replay = Replay::Capture,
                "plain" | "size" | "device address" => {}
                _ => panic!("unknown probe in {at}"),
            }
            let plan = run.memory.resolve(&info).unwrap();
            assert_eq!(probe["result"], "VK_SUCCESS", "{at}");
            assert_eq!(probe["vaWindow"].as_str(), Some(window(&run, plan.addressing)), "{at}");
            let calls = probe["allocate"].as_array().unwrap().iter();
            let calls: Vec<_> = calls.filter(|call| call["ioctl"] != "SYNCOBJ_TIMELINE_WAIT").collect();
            assert_eq!(calls.len(), if plan.guard_page { 3 } else { 2 }, "{at}");
            assert_creates(calls[0], &plan, &at);
            let address = assert_maps(calls[1], plan.va_flags, plan.bo.size, &at);
            assert!(address.is_multiple_of(plan.va_alignment), "{at}");
            if let Some(guard) = calls.get(2) {
                let behind = assert_maps(guard, plan.guard_va_flags(), 4096, &at);
                assert_eq!(behind, address + plan.bo.size, "{at}");
                assert_eq!(plan.va_size, plan.bo.size + 4096, "{at}");
            }
            seen += 1;
        }
    }
    assert_eq!(seen, devices().len() * (12 + 15), "twelve by default, one under each option");
}

fn assert_creates(call: &Value, plan: &AllocationPlan, at: &str) {
    assert_eq!(call["ioctl"], "GEM_CREATE", "{at}");
    assert_eq!(plan.bo.size, number(&call["bo_size"]), "{at}");
    assert_eq!(plan.bo.alignment, number(&call["alignment"]), "{at}");
    assert_eq!(plan.bo.domains, domains(&call["domains"]), "{at}");
    assert_eq!(plan.bo.flags, create_flags(&call["domain_flags"]), "{at}");
}

/// Checks a GEM_VA and returns its address.
fn assert_maps(call: &Value, flags: VaFlags, size: u64, at: &str) -> u64 {
    assert_eq!((&call["ioctl"], &call["operation"]), (&"GEM_VA".into(), &"MAP".into()), "{at}");
    assert_eq!((&call["has_handle"], &call["offset_in_bo"]), (&true.into(), &"0x0".into()), "{at}");
    assert_eq!(flags, va_flags(&call["flags"]), "{at}");
    assert_eq!(size, number(&call["map_size"]), "{at}");
    number(&call["va_address"])
}

#[test]
fn imported_host_pointers_use_the_type_that_offers_it() {
    for run in every_run() {
        for probe in run.probes().filter(|probe| probe["probe"] == "import host pointer") {
            let used = number32(&probe["memoryTypeIndex"]);
            assert!(run.memory.host_pointer_types().contains(used), "{}", run.name);
        }
    }
}

/// Row 74. Replays 16 MiB of each type in turn, all of it kept, on top of what the driver itself had allocated.
#[test]
fn budgets_follow_radvs_through_a_series_of_allocations() {
    for run in every_run() {
        let tracker = UsageTracker::new(run.memory.facts().page_size());
        let mut charges = Vec::new();
        for step in run.entries("budgetProbe") {
            if step.get("after").is_some() {
                assert_fields(step, &["after", "heapBudget", "heapUsage"], &run);
                assert_eq!(step["after"], "device creation", "{}", run.name);
                charges.extend(drivers_own(&run, &tracker, step));
            } else {
                let fields = ["memoryTypeIndex", "allocationSize", "result", "heapBudget", "heapUsage"];
                assert_fields(step, &fields, &run);
                assert_eq!(step["result"], "VK_SUCCESS", "{}", run.name);
                let info = AllocateInfo::new(number32(&step["memoryTypeIndex"]), number(&step["allocationSize"]));
                let plan = run.memory.resolve(&info).unwrap();
                charges.push(tracker.charge(plan.account, plan.bo.size));
            }
            // The recorded system refuses the usage queries, which RADV takes as zero.
            let budgets = run.memory.budgets(&tracker.usage(), &SystemUsage::default(), BudgetRule::Radv);
            let budget = |key: &str| step[key].as_array().unwrap().iter().map(number).collect::<Vec<_>>();
            let (ours, usage): (Vec<_>, Vec<_>) = budgets.heaps().iter().map(|heap| (heap.budget, heap.usage)).unzip();
            assert_eq!(ours, budget("heapBudget"), "{}: {step}", run.name);
            assert_eq!(usage, budget("heapUsage"), "{}: {step}", run.name);
        }
        drop(charges);
        assert_eq!(tracker.usage(), OwnUsage::default(), "{}", run.name);
    }
}

/// Returns the driver's own allocations. Where heaps have several accounts, only the sum is recorded, and only the sum
/// counts.
fn drivers_own(run: &Run, tracker: &UsageTracker, step: &Value) -> Vec<Charge> {
    let account = |kind| match kind {
        HeapKind::InvisibleVram => Account::InvisibleVram,
        HeapKind::VisibleVram => Account::VisibleVram,
        HeapKind::Gtt => Account::Gtt,
    };
    let usage = step["heapUsage"].as_array().unwrap();
    run.memory.heaps().iter().zip(usage).map(|(heap, used)| tracker.charge(account(heap.kind), number(used))).collect()
}

fn domains(value: &Value) -> GemDomain {
    GemDomain::from_bits(number(value)).unwrap()
}

fn create_flags(value: &Value) -> GemCreateFlags {
    GemCreateFlags::from_bits(number(value)).unwrap()
}

fn va_flags(value: &Value) -> VaFlags {
    VaFlags::from_bits(number32(value)).unwrap()
}

/// RADV always asks for the high half, and gets the low one where there is no other.
fn window(run: &Run, addressing: Addressing) -> &'static str {
    match (run.has_high_half, addressing) {
        (true, Addressing::Bits64) => "high",
        (true, Addressing::Bits32) => "high_32",
        (false, Addressing::Bits64) => "low",
        (false, Addressing::Bits32) => "32",
    }
}
