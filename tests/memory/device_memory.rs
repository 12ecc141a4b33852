//! Device memory asks of the kernel what RADV asks, call by call, on every captured chip.

use std::sync::Arc;

use crate::support::{RadvResults, chip, chips_with_answers, number};
use amdgpu_layers::{Answered, Forward, Ioctl, Layer};
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    heaps::{AllocateError, AllocateFlags, AllocateInfo, BudgetRule, MemoryManager, Replay, TableOptions, VkResult},
    uapi::{self, Argument},
    winsys::{Device, Unmappable},
};
use parking_lot::Mutex;
use serde_json::{Value, json};

/// Writes down the calls that the recordings hold.
#[derive(Default)]
struct Notes(Mutex<Vec<Value>>);

impl Notes {
    fn take(&self) -> Vec<Value> {
        std::mem::take(&mut *self.0.lock())
    }
}

/// Returns a call in the recording's words, if it is of a kind that the recording holds.
fn note(call: &Ioctl<'_>) -> Option<Value> {
    let hex = |value: u64| format!("{value:#x}");
    Some(match call.request().number() {
        number if number == uapi::GemCreate::REQUEST.number() => {
            let create: uapi::GemCreate = call.read();
            json!({
                "ioctl": "GEM_CREATE",
                "bo_size": hex(create.bo_size),
                "alignment": hex(create.alignment),
                "domains": hex(create.domains),
                "domain_flags": hex(create.domain_flags),
            })
        }
        number if number == uapi::GemVa::REQUEST.number() => {
            let va: uapi::GemVa = call.read();
            let operation = ["", "MAP", "UNMAP", "CLEAR", "REPLACE"][va.operation as usize];
            json!({
                "ioctl": "GEM_VA",
                "operation": operation,
                "has_handle": va.handle != 0,
                "flags": hex(va.flags.into()),
                "va_address": hex(va.va_address),
                "offset_in_bo": hex(va.offset_in_bo),
                "map_size": hex(va.map_size),
            })
        }
        number if number == uapi::GemClose::REQUEST.number() => json!({ "ioctl": "GEM_CLOSE" }),
        number if number == uapi::PrimeHandle::REQUEST.number() => {
            json!({ "ioctl": "PRIME_HANDLE_TO_FD", "flags": hex(call.read::<uapi::PrimeHandle>().flags.into()) })
        }
        _ => return None,
    })
}

impl Layer for Notes {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        self.0.lock().extend(note(&call));
        call.forward()
    }
}

struct Bench {
    notes: Arc<Forward<SimKernel, Notes>>,
    device: Device,
    manager: MemoryManager,
    recorded: RadvResults,
}

fn bench(name: &str) -> Bench {
    let inner = SimDevice::new(chip(name), SimOptions::RECORDING).open();
    let notes = Arc::new(Notes::default().over(inner));
    let device = Device::new(Arc::clone(&notes)).unwrap();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    notes.layer().take();
    Bench { notes, device, manager, recorded: RadvResults::read(name) }
}

#[test]
fn heaps_and_types_of_an_opened_device_are_radvs() {
    for name in chips_with_answers() {
        let bench = bench(name);
        let tables = bench.manager.properties();
        let heaps: Vec<Value> = tables
            .heaps()
            .iter()
            .map(|heap| json!([format!("{:#x}", heap.size), format!("{:#x}", heap.flags.bits())]))
            .collect();
        let types: Vec<Value> =
            tables.types().iter().map(|ty| json!([ty.heap, format!("{:#x}", ty.properties.bits())])).collect();
        let recorded = bench.recorded.default();
        let recorded_heaps: Vec<Value> =
            list(&recorded["memoryHeaps"]).iter().map(|heap| json!([heap["size"], heap["flags"]])).collect();
        let recorded_types: Vec<Value> =
            list(&recorded["memoryTypes"]).iter().map(|ty| json!([ty["heapIndex"], ty["propertyFlags"]])).collect();
        assert_eq!(heaps, recorded_heaps, "{name}");
        assert_eq!(types, recorded_types, "{name}");
        let budgets = bench.manager.budgets(BudgetRule::Radv).unwrap();
        for (budget, heap) in budgets.heaps().iter().zip(list(&recorded["memoryHeaps"])) {
            assert_eq!(budget.budget, number(&heap["heapBudget"]), "{name}");
            assert_eq!(budget.usage, 0, "{name}");
        }
    }
}

#[test]
fn an_allocation_and_its_end_make_radvs_calls() {
    let mut compared = 0;
    for name in chips_with_answers() {
        let bench = bench(name);
        for probe in list(&bench.recorded.default()["allocationProbes"]) {
            let Some(info) = request_of(probe) else { continue };
            let memory = bench.manager.allocate(&info).unwrap();
            let what = format!("{name}: {} of {}", probe["probe"], probe["allocationSize"]);
            let alignment = number(&probe["allocate"][0]["alignment"]);
            same_calls(&what, &bench.notes.layer().take(), list(&probe["allocate"]), alignment);
            same_window(&what, &bench, memory.address().as_u64(), probe["vaWindow"].as_str().unwrap());
            if let Some(export) = probe.get("export") {
                memory.bo().export().unwrap();
                same_calls(&what, &bench.notes.layer().take(), list(export), alignment);
            }
            drop(memory);
            let calls = bench.notes.layer().take();
            if let Some(free) = probe.get("free") {
                same_calls(&what, &calls, list(free), alignment);
            }
            compared += 1;
        }
    }
    assert!(compared >= 10 * chips_with_answers().len(), "only {compared} probes were compared");
}

/// Host pointers are imported, not allocated.
fn request_of(probe: &Value) -> Option<AllocateInfo> {
    let memory_type = u32::try_from(number(&probe["memoryTypeIndex"])).unwrap();
    let info = AllocateInfo::new(memory_type, number(&probe["allocationSize"]));
    Some(match probe["probe"].as_str().unwrap() {
        "plain" | "size" | "device address" => info,
        "device address capture/replay" => AllocateInfo { replay: Replay::Capture, ..info },
        "export dma-buf" | "export opaque fd" => AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..info },
        "import host pointer" => return None,
        other => panic!("unknown probe {other:?}"),
    })
}

/// Equal but for absolute addresses, which depend on what RADV allocated before (those are as far apart and as aligned),
/// and for flags and size of UNMAP, at which the kernel does not look: RADV unmaps a guard page twice that way.
fn same_calls(what: &str, ours: &[Value], recorded: &[Value], alignment: u64) {
    let without_addresses = |calls: &[Value]| {
        let base = calls.iter().filter(|call| call["ioctl"] == "GEM_VA").map(|call| number(&call["va_address"])).min();
        let relative = |mut call: Value| {
            if let Some(address) = call.get("va_address").map(number) {
                call["va_address"] = json!(address - base.unwrap());
            }
            if call["operation"] == "UNMAP" {
                (call["flags"], call["map_size"]) = (Value::Null, Value::Null);
            }
            call
        };
        calls.iter().cloned().map(relative).collect::<Vec<_>>()
    };
    assert_eq!(without_addresses(ours), without_addresses(recorded), "{what}");
    let map = ours.iter().find(|call| call["operation"] == "MAP");
    if let Some(map) = map {
        assert!(number(&map["va_address"]).is_multiple_of(alignment), "{what}: {map}");
    }
}

fn same_window(what: &str, bench: &Bench, address: u64, window: &str) {
    let range = &bench.recorded.windows()[window];
    let (start, end) = (number(&range["start"]), number(&range["end"]));
    assert!((start..end).contains(&address), "{what}: {address:#x} is not in {window}");
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

#[test]
fn each_type_takes_its_addresses_where_radv_does() {
    for name in chips_with_answers() {
        let bench = bench(name);
        for (index, ty) in list(&bench.recorded.default()["memoryTypes"]).iter().enumerate() {
            let memory = bench.manager.allocate(&AllocateInfo::new(index as u32, 64 << 10)).unwrap();
            let what = format!("{name}: type {index}");
            same_window(&what, &bench, memory.address().as_u64(), ty["request"]["va_window"].as_str().unwrap());
            assert_eq!(memory.binding().has_guard_page(), ty["request"]["guard_page"], "{what}");
            assert_eq!(format!("{:#x}", memory.binding().flags().bits()), ty["request"]["va_flags"], "{what}");
        }
    }
}

#[test]
fn a_captured_address_can_be_had_again_and_only_once() {
    let bench = bench("navi21");
    let wish = |replay| AllocateInfo { replay, ..AllocateInfo::new(0, 1 << 20) };
    let first = bench.manager.allocate(&wish(Replay::Capture)).unwrap();
    let captured = first.address();
    let taken = bench.manager.allocate(&wish(Replay::At(captured))).unwrap_err();
    assert_eq!(taken.vk_result(), VkResult::InvalidOpaqueCaptureAddress, "{taken}");
    drop(first);
    let again = bench.manager.allocate(&wish(Replay::At(captured))).unwrap();
    assert_eq!(again.address(), captured);
}

#[test]
fn what_cannot_be_allocated_says_why_and_leaves_nothing() {
    let bench = bench("navi21");
    let before = (bench.notes.inner().census(), bench.device.addresses().leased_bytes());
    let heap_size = bench.manager.properties().heaps()[0].size;
    for (info, expected) in [
        (AllocateInfo::new(0, 0), AllocateError::ZeroSize { memory_type: 0 }),
        (AllocateInfo::new(99, 1), AllocateError::NoSuchType { memory_type: 99, count: 11 }),
        (AllocateInfo::new(0, heap_size + 1), AllocateError::BeyondHeap { size: heap_size + 1, heap: 0, heap_size }),
    ] {
        assert_eq!(bench.manager.allocate(&info).unwrap_err(), expected.into());
    }
    assert_eq!((bench.notes.inner().census(), bench.device.addresses().leased_bytes()), before);
}

#[test]
fn memory_without_cpu_access_is_not_mapped() {
    let bench = bench("navi21");
    let memory = bench.manager.allocate(&AllocateInfo::new(0, 4096)).unwrap();
    let handle = memory.bo().handle();
    let error = memory.map().map(drop).unwrap_err();
    assert_eq!(error, Unmappable::NoCpuAccess { handle }.into());
    assert_eq!(error.vk_result(), VkResult::MemoryMapFailed);
}

#[test]
fn the_ledger_follows_allocations_and_ends_at_zero() {
    let bench = bench("vega10");
    let usage = || {
        let budgets = bench.manager.budgets(BudgetRule::Radv).unwrap();
        budgets.heaps().iter().map(|heap| heap.usage).collect::<Vec<_>>()
    };
    let memories: Vec<_> =
        (0..7).map(|index| bench.manager.allocate(&AllocateInfo::new(index, 1 << 20)).unwrap()).collect();
    let mut expected = vec![0; 3];
    for memory in &memories {
        expected[memory.heap() as usize] += 1 << 20;
    }
    assert_eq!(usage(), expected);
    drop(memories);
    assert_eq!(usage(), [0, 0, 0]);
}
